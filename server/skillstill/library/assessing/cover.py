"""Which of our own tools would do what a skill's tools do for it, and which of our own skills it resembles."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from skillstill.library.assessing.sheet import Sheet
from skillstill.tools import TOOLS
from skillstill.types import Frozen

Archetype = Literal["explore", "logs", "tables", "none"]
ALIKE = 3  # lines that must speak of an archetype's material
# Claude Code's tools, and the programs that a text tells a shell to run.
OURS: Mapping[str, tuple[str, ...]] = {
    "Read": ("read", "outline"),
    "NotebookRead": ("read",),
    "Grep": ("search",),
    "Glob": ("find",),
    "LS": ("list",),
    "grep": ("search",),
    "rg": ("search",),
    "find": ("find",),
    "ls": ("list",),
    "tree": ("list",),
    "cat": ("read",),
    "head": ("read",),
    "tail": ("read",),
    "sed": ("read",),
    "wc": ("tally",),
    "sort": ("tally",),
    "uniq": ("tally",),
    "journalctl": ("entries", "tally"),
    "sqlite3": ("describe", "sql"),
    "duckdb": ("describe", "sql"),
    "psql": ("describe", "sql"),
    "mysql": ("describe", "sql"),
}
SMALL_TALK = {"TodoWrite", "TodoRead", "AskUserQuestion", "ExitPlanMode", "cd", "echo", "export", "mkdir"}
NEEDED: Mapping[Archetype, tuple[str, ...]] = {"logs": ("tally", "entries"), "tables": ("describe", "sql")}
_PROGRAM = re.compile(r"^\s*(?:[$>!]\s*)?([a-z][\w.-]*)(?=\s|$)")
_MATERIAL: Mapping[Archetype, re.Pattern[str]] = {
    "explore": re.compile(
        r"\b(?:codebase|source code|code base|entry points?|call (?:chain|graph|path)s?|callers?|functions?|classes|"
        r"modules?|definitions?|symbols?|imports?|repositor(?:y|ies)|execution path|stack traces?|root cause)\b",
        re.IGNORECASE,
    ),
    "logs": re.compile(
        r"\blogs\b|\blog (?:files?|lines?|entries|levels?|patterns?|quer\w+)\b|\b(?:incident|retries|timeouts?|"
        r"error rates?|spikes?|anomal\w+|occurrences?)\b",
        re.IGNORECASE,
    ),
    "tables": re.compile(
        r"\bSQL\b|\b(?:tables?|columns?|rows?|joins?|group by|aggregat\w+|data ?sets?|csv|dataframes?|null rates?|"
        r"schemas?|distributions?)\b",
        re.IGNORECASE,
    ),
}


class Cover(Frozen):
    """Its tools, and ours. `used` are those that it declares or, where it declares none, the programs it names."""

    used: tuple[str, ...] = ()
    declared: bool = False
    ours: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()


def cover(sheet: Sheet, archetype: Archetype) -> Cover:
    """Where nothing is declared or named, the tools of the archetype."""
    declared = sheet.definition.tools
    used = tuple(dict.fromkeys(declared or programs(sheet)))
    wanted = {ours for tool in used for ours in OURS.get(tool, ())} | set(NEEDED.get(archetype, ()))
    if archetype == "explore":
        wanted |= {"list", "find", "search", "outline", "read"}
    return Cover(
        used=used,
        declared=bool(declared),
        ours=tuple(name for name in TOOLS if name in wanted),
        uncovered=tuple(tool for tool in used if tool not in OURS and tool not in SMALL_TALK),
    )


def programs(sheet: Sheet) -> Iterator[str]:
    """The programs that its shell lines begin with."""
    for line in sheet.of("command"):
        if found := _PROGRAM.match(line.text):
            yield found[1]


def nearest_archetype(sheet: Sheet) -> Archetype:
    """The one whose material its description (counted thrice) and its text speak of most, if that is often."""
    counts = {archetype: _mentions(sheet, pattern) for archetype, pattern in _MATERIAL.items()}
    best = max(counts, key=lambda archetype: counts[archetype])
    return best if counts[best] >= ALIKE else "none"


def _mentions(sheet: Sheet, material: re.Pattern[str]) -> int:
    summary = sum(3 * len(material.findall(line.text)) for line in sheet.of("summary"))
    return summary + sum(1 for line in sheet.of("opening", "heading", "prose") if material.search(line.text))
