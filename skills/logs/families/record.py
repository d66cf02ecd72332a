"""The event record of a workspace, as its steps noted it: the truth that goals are made of.

It is what the logs say and not how a tool reads them: no tool takes part in it.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from skillstill_training.authoring import BuiltWorkspace, Span

NAMES = {"ERROR": ("error", "errors"), "WARN": ("warning", "warnings"), "": ("entry", "entries")}

NAME = re.compile(r"[\w.-]+")  # of a component that can be asked for; systemd's helpers are called `(sd-pam)`


class RecordEntry(NamedTuple):
    """`at` is in milliseconds of the day; the other fields are those that `steps.py` notes."""

    path: str
    first: int
    last: int
    at: int
    level: str
    component: str
    kind: str
    request: str
    message: str
    facts: dict[str, Any]

    @property
    def place(self) -> Span:
        return Span(path=self.path, first=self.first, last=self.last)

    @property
    def second(self) -> int:
        return self.at // 1000

    @property
    def clock(self) -> str:
        return clock(self.second)

    @property
    def minute(self) -> str:
        return self.clock[:5]


@dataclass(frozen=True)
class LogRecord:
    """`entries` in order of time. `levels`: whether they tell any. `absent`: services that are not there."""

    entries: tuple[RecordEntry, ...]
    levels: bool
    absent: tuple[str, ...]
    needles: frozenset[str]

    @cached_property
    def components(self) -> Sequence[str]:
        return sorted({entry.component for entry in self.entries if NAME.fullmatch(entry.component)})

    @cached_property
    def files(self) -> Sequence[str]:
        return sorted({entry.path for entry in self.entries})

    @cached_property
    def of_level(self) -> dict[str, list[RecordEntry]]:
        """By level; all of them under the empty name."""
        named = {level: [one for one in self.entries if one.level == level] for level in NAMES if level}
        return {"": [*self.entries], **named}

    @cached_property
    def of_request(self) -> dict[str, list[RecordEntry]]:
        found: dict[str, list[RecordEntry]] = {}
        for entry in self.entries:
            if entry.request:
                found.setdefault(entry.request, []).append(entry)
        return found

    @cached_property
    def stated_levels(self) -> Sequence[str]:
        """The levels that a question may name, errors more often; without a name, entries of any are meant."""
        return ("ERROR", "ERROR", "WARN", "WARN", "") if self.levels else ("",)

    def told(self, fact: str, level: str = "") -> list[RecordEntry]:
        """The entries that tell such a fact."""
        return [entry for entry in self.of_level[level] if fact in entry.facts]

    @cached_property
    def text(self) -> str:
        """All that is told, in lower case: what is not in it is not there."""
        return "\n".join(f"{entry.component} {entry.message}" for entry in self.entries).lower()


_KNOWN: dict[Path, LogRecord] = {}  # by the root of the workspace


def record(built: BuiltWorkspace) -> LogRecord:
    """That of the workspace, made once."""
    if built.root not in _KNOWN:
        _KNOWN[built.root] = _made(built.notes)
    return _KNOWN[built.root]


def _made(notes: Mapping[str, Any]) -> LogRecord:
    rows = sorted((RecordEntry(*row) for row in notes["entries"]), key=lambda one: (one.at, one.path, one.first))
    return LogRecord(tuple(rows), notes["levels"], tuple(notes.get("absent", ())), frozenset(notes.get("needles", ())))


def clock(second: int) -> str:
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def single(counted: Counter[Any]) -> Any:
    """What is counted most, None where that is not one alone."""
    ranked = counted.most_common(2)
    return ranked[0][0] if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]) else None
