"""The entries of a workspace's logs, as its steps noted them: goals are made from them, not from the tools' results."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from skillstill_training.authoring import BuiltWorkspace, Span

LEVEL_NAMES = {"ERROR": ("error", "errors"), "WARN": ("warning", "warnings"), "": ("entry", "entries")}

NAME = re.compile(r"[\w.-]+")  # of a component that questions may name; systemd's helpers have names like `(sd-pam)`


class RecordEntry(NamedTuple):
    """One log entry. `at` is in milliseconds of the day; `steps.py` describes the other fields."""

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
    """All entries in order of time. `levels`: whether they have any. `absent`: names of services that do not exist."""

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
        """Return the entries by level, and all of them under the empty name."""
        named = {level: [one for one in self.entries if one.level == level] for level in LEVEL_NAMES if level}
        return {"": [*self.entries], **named}

    @cached_property
    def of_request(self) -> dict[str, list[RecordEntry]]:
        requests: dict[str, list[RecordEntry]] = {}
        for entry in self.entries:
            if entry.request:
                requests.setdefault(entry.request, []).append(entry)
        return requests

    @cached_property
    def stated_levels(self) -> Sequence[str]:
        """Return the levels to draw from, errors more often; an empty one means entries of any level."""
        return ("ERROR", "ERROR", "WARN", "WARN", "") if self.levels else ("",)

    def with_fact(self, fact: str, level: str = "") -> list[RecordEntry]:
        """Return the entries of the level that have this fact."""
        return [entry for entry in self.of_level[level] if fact in entry.facts]

    @cached_property
    def text(self) -> str:
        """Return all components and messages in lower case."""
        return "\n".join(f"{entry.component} {entry.message}" for entry in self.entries).lower()


_RECORDS: dict[Path, LogRecord] = {}  # by the root of the workspace


def record(built: BuiltWorkspace) -> LogRecord:
    """Return the record of the workspace, which is built once."""
    if built.root not in _RECORDS:
        _RECORDS[built.root] = _build(built.notes)
    return _RECORDS[built.root]


def _build(notes: Mapping[str, Any]) -> LogRecord:
    rows = sorted((RecordEntry(*row) for row in notes["entries"]), key=lambda one: (one.at, one.path, one.first))
    return LogRecord(tuple(rows), notes["levels"], tuple(notes.get("absent", ())), frozenset(notes.get("needles", ())))


def clock(second: int) -> str:
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def single_most_common(counted: Counter[Any]) -> Any:
    """Return the most frequent item; None if there is a tie or none."""
    ranked = counted.most_common(2)
    return ranked[0][0] if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]) else None
