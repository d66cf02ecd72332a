"""Go: go.mod and go.sum."""

import re

from skillstill.facts.readers.project.findings import Findings
from skillstill.facts.readers.trees import decoded

_BLOCK = re.compile(r"(\w+)\s*\(\s*")
_REQUIREMENT = re.compile(r"(\S+)\s+(v\S+)\s*(?://\s*(indirect)?.*)?")
_SUM = re.compile(r"(\S+) (v[^\s/]+) h1:\S+\s*")


def read_go_mod(_name: str, data: bytes) -> Findings:
    found = Findings("go")
    block, module, language = "", "", None
    place = 0
    for number, line in enumerate(decoded(data).split("\n"), 1):
        bare = line.strip()
        opened = _BLOCK.fullmatch(bare)
        if bare.startswith("//"):
            continue
        if opened is not None or bare.startswith(")"):
            block = opened[1] if opened else ""
            continue
        word, _, rest = (block, "", bare) if block else bare.partition(" ")
        if word == "module":
            module, place = rest.partition("//")[0].strip().strip('"'), number
        elif word == "go":
            language = rest.partition("//")[0].strip()
        elif word == "require" and (match := _REQUIREMENT.fullmatch(rest.strip())) is not None:
            found.add_dependency((number, number), match[1].strip('"'), match[2], "runtime", match[3] or "require")
        elif word == "tool" and rest:
            found.add_dependency((number, number), rest.strip(), None, "dev", "tool")
    if module:
        found.add_package((place, place), module, None, None, language)
    return found


def read_go_sum(_name: str, data: bytes) -> Findings:
    """Return the modules whose content is summed up; those whose go.mod alone is are not used."""
    found = Findings("go")
    for number, line in enumerate(decoded(data).split("\n"), 1):
        match = _SUM.fullmatch(line)
        if match is not None:
            found.add_dependency((number, number), match[1], match[2], "locked", "")
    return found
