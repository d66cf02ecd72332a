"""What a router knows of a subagent: what its skill's texts say, and which kinds of files it reads."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from skillstill.errors import SkillError
from skillstill.routing.folder import Kind
from skillstill.skills.registry import ListedEntry, RegistryEntry, is_bundled
from skillstill.skills.skill import Skill, read_skill
from skillstill.tools import BUNDLED
from skillstill.util.hashed_words import words

ALL: frozenset[Kind] = frozenset({"code", "documents", "logs", "tables"})
MOST_TEXT = 300_000  # characters of a skill's wordings
_TEXT = re.compile(r'"((?:[^"\\\n]|\\.)+)"')
_OF_READER: Mapping[str, frozenset[Kind]] = {
    "code": frozenset({"code"}),
    "config": frozenset({"documents"}),
    "documents": frozenset({"documents"}),
    "project": frozenset({"code", "documents"}),
    "logs": frozenset({"logs"}),
    "data": frozenset({"tables"}),
}
_OF_TOOLSET: Mapping[str, frozenset[Kind]] = {
    "code": frozenset({"code", "documents"}),
    "logs": frozenset({"logs"}),
    "tables": frozenset({"tables"}),
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A subagent.

    texts       how often each word stands in its texts
    kinds       of files that it reads
    only_looks  its tools execute nothing: it can do no more than answer
    is_learned  the router has learned its field questions
    """

    name: str
    texts: Counter[str]
    kinds: frozenset[Kind]
    only_looks: bool
    is_learned: bool


def candidate(listed: ListedEntry, learned: Collection[str] = ()) -> Candidate | None:
    """Return what is known of a subagent; None if its skill cannot be read: it cannot run either.

    Of bundled ones of the names in `learned` the texts are left out: their field questions say more.
    """
    try:
        skill = read_skill(listed.skill_folder)
    except SkillError:
        return None
    entry = listed.entry
    is_learned = entry.name in learned and is_bundled(listed.origin)
    texts = Counter[str]() if is_learned else described(entry, skill) + Counter(words(_wordings(listed.skill_folder)))
    return Candidate(entry.name, texts, _kinds(skill), skill.subagent.workspace.mode == "read", is_learned)


def described(entry: RegistryEntry, skill: Skill) -> Counter[str]:
    """Return how often each word stands in what is said of a subagent, and in what an untrained model is told."""
    said = (entry.title, entry.description, entry.search_hint, skill.description, skill.instructions)
    return Counter(words("\n".join(said)))


def _kinds(skill: Skill) -> frozenset[Kind]:
    """Return the kinds that its readers read, else its tools. Those of its own folder may read anything."""
    readers, tools = skill.subagent.readers, skill.subagent.tools
    toolsets = {tool: name for name, named in BUNDLED.items() for tool in named}
    if readers:
        return frozenset().union(*(_OF_READER.get(reader, ALL) for reader in readers))
    special = [tool for tool in tools if toolsets.get(tool) != "code"] or tools  # all may list and read
    return frozenset().union(*(_OF_TOOLSET.get(toolsets.get(tool, ""), ALL) for tool in special))


def _wordings(folder: Path) -> str:
    """Return how people put its questions, if the skill has such a file: the texts of a TOML file, as far as it goes.

    Parsing all of a large one takes a second, and what comes later in it says the same in other words.
    """
    try:
        with (folder / "wordings" / "train.toml").open(encoding="utf-8") as file:
            return "\n".join(_TEXT.findall(file.read(MOST_TEXT)))
    except (OSError, ValueError):
        return ""
