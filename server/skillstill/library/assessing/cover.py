"""Which of our own tools would do what a skill's tools do for it, and which of our own skills it resembles."""

import logging
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import field_validator

from skillstill.library.assessing.sheet import Sheet
from skillstill.skills.lending import DESIGN, lending_folders
from skillstill.tools import BUNDLED, TOOLS
from skillstill.types import Frozen
from skillstill.util.text import one_line

Archetype = str  # a skill that brings a design.toml, or NO_ARCHETYPE
NO_ARCHETYPE: Archetype = "none"
ALIKE = 3  # lines that must speak of the topics of an archetype
ACTING = {
    "Bash",
    "BashOutput",
    "Edit",
    "KillShell",
    "MultiEdit",
    "NotebookEdit",
    "Write",
    "runNotebooks",
    "runTasks",
    "runTests",
    "shell",
}  # tools of others that execute or change something
SMALL_TALK = {"TodoWrite", "TodoRead", "AskUserQuestion", "ExitPlanMode", "cd", "echo", "export", "mkdir"}
log = logging.getLogger(__name__)
_PROGRAM = re.compile(r"^\s*(?:[$>!]\s*)?([a-z][\w.-]*)(?=\s|$)")


class Lender(Frozen):
    """How a skill is lent, as its design.toml says: the topics that it is for, and the tools it needs.

    steps      what its families cannot do without in folders of the user's own
    families   read by the training package, which chooses among them
    """

    topics: re.Pattern[str]
    tools: tuple[str, ...]
    steps: tuple[str, ...] = ()
    families: Mapping[str, Mapping[str, Any]] = {}

    @field_validator("topics")
    @classmethod
    def in_any_case(cls, topics: re.Pattern[str]) -> re.Pattern[str]:
        return re.compile(topics.pattern, re.IGNORECASE)


def lenders() -> Mapping[Archetype, Lender]:
    """Return the skills that can be lent, by name. One whose design.toml is wrong is not among them, and is logged."""
    found = {name: _lender(folder / DESIGN) for name, folder in lending_folders().items()}
    return {name: lender for name, lender in found.items() if lender}


def _lender(file: Path) -> Lender | None:
    try:
        return _parse(file.read_text("utf-8"))
    except (OSError, ValueError) as error:  # ValueError: neither UTF-8 nor TOML, or a field that is wrong
        log.warning("%s is left out: %s", file, one_line(str(error), 200))
        return None


@cache
def _parse(text: str) -> Lender:
    return Lender.model_validate(tomllib.loads(text))


@cache
def our_tools() -> Mapping[str, tuple[str, ...]]:
    """Return those of our tools that do what another tool or program does, by its name."""
    found = (files("skillstill.tools").joinpath(name, DESIGN).read_text("utf-8") for name in BUNDLED)
    return {name: tuple(ours) for text in found for name, ours in tomllib.loads(text)["stands_for"].items()}


class Cover(Frozen):
    """Its tools, and ours. `used` are those that it declares or, if it declares none, the programs it names."""

    used: tuple[str, ...] = ()
    declared: bool = False
    ours: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()

    @property
    def acts(self) -> bool:
        """Return whether what ours do not do is to execute something or to change files: programs always do."""
        return bool(self.uncovered) and (not self.declared or any(_named(tool) in ACTING for tool in self.uncovered))

    @property
    def only_looks(self) -> bool:
        """Return whether nothing that it uses, ours or not, executes or changes something: programs always do."""
        return not self.used if not self.declared else not any(_named(tool) in ACTING for tool in self.used)


def _named(tool: str) -> str:
    """Return its name without what is allowed of it."""
    return tool.partition("(")[0]


def cover(sheet: Sheet, archetype: Archetype) -> Cover:
    """Return the tools of the archetype if nothing is declared or named."""
    declared = sheet.definition.tools
    used = tuple(dict.fromkeys(declared or programs(sheet)))
    wanted = {ours for tool in used for ours in our_tools().get(tool, ())}
    if lender := lenders().get(archetype):
        wanted |= {*lender.tools}
    return Cover(
        used=used,
        declared=bool(declared),
        ours=tuple(name for name in dict.fromkeys((*TOOLS, *sorted(wanted))) if name in wanted),
        uncovered=tuple(tool for tool in used if tool not in our_tools() and tool not in SMALL_TALK),
    )


def programs(sheet: Sheet) -> Iterator[str]:
    """Yield the programs that its shell lines begin with."""
    for line in sheet.of("command"):
        if found := _PROGRAM.match(line.text):
            yield found[1]


def nearest_archetype(sheet: Sheet) -> Archetype:
    """Return the one whose topics its description (counted thrice) and its text speak of most, if that is often."""
    counts = {archetype: _mentions(sheet, lender.topics) for archetype, lender in lenders().items()}
    best = max(counts, key=lambda archetype: counts[archetype])
    return best if counts[best] >= ALIKE else NO_ARCHETYPE


def _mentions(sheet: Sheet, topics: re.Pattern[str]) -> int:
    summary = sum(3 * len(topics.findall(line.text)) for line in sheet.of("summary"))
    return summary + sum(1 for line in sheet.of("opening", "heading", "prose") if topics.search(line.text))
