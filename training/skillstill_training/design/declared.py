"""What a person declares about a skill: `kinds.toml`, and the readers whose tables its queries ask."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillstill.errors import GoalsError, UsageError
from skillstill.facts.readers import BUNDLED
from skillstill.facts.worker import load_readers

from skillstill_training.authoring.kinds import FILE, Kind, load_kinds

QUERY = "query"  # the tool that a SELECT of a kind is asked through
_ASKED = re.compile(r"\b(?:from|join)\s+([a-z_]\w*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Declared:
    """The kinds, the text that they stand in, the tools of their calls, and the readers of the tables that they ask."""

    text: str
    kinds: tuple[Kind, ...]
    tools: tuple[str, ...]
    readers: tuple[str, ...]


def read_declared(file: Path) -> Declared:
    """Raise GoalsError for what is wrong in it, UsageError for a name that a skill folder would not find it by."""
    if file.name != FILE:
        raise UsageError(f"--kinds: expected a file called {FILE}, got {file.name}")
    kinds = load_kinds(file.parent)
    if not kinds:
        raise UsageError(f"--kinds: there is no {file}")
    if silent := [kind.name for kind in kinds if not kind.test]:
        raise GoalsError(f"{file}: kind {silent[0]!r}: test: expected wordings by another hand, for the test alone")
    return Declared(file.read_text(encoding="utf-8"), kinds, tuple(dict.fromkeys(_tools(kinds))), _readers(file, kinds))


def check_same(declared: Declared, skill: Path) -> None:
    """Raise UsageError if a skill folder, which is gone on with, was written from other kinds."""
    file = skill / FILE
    if not file.is_file() or file.read_text(encoding="utf-8") != declared.text:
        raise UsageError(
            f"{skill} is there already, with other kinds: remove it to begin anew, or go on with it without --kinds"
        )


def _tools(kinds: tuple[Kind, ...]) -> Iterator[str]:
    yield QUERY
    for call in (call for kind in kinds for call in (*kind.calls, *kind.miss)):
        if not isinstance(call, str):
            yield str(call["tool"])


def _readers(file: Path, kinds: tuple[Kind, ...]) -> tuple[str, ...]:
    """Return the bundled readers that have a table which a query names. Raise GoalsError if none has one."""
    asked = {table.lower() for kind in kinds for query in _queries(kind) for table in _ASKED.findall(query)}
    readers = zip(BUNDLED, load_readers(BUNDLED.values()), strict=True)
    having = {name: {table.name for table in reader.tables} for name, reader in readers}
    found = tuple(name for name, tables in having.items() if asked & tables)
    if not found:
        known = ", ".join(sorted({table for tables in having.values() for table in tables}))
        raise GoalsError(f"{file}: its queries name no table of a bundled reader; there are {known}")
    return found


def _queries(kind: Kind) -> Iterator[str]:
    yield from (kind.draw, kind.gold, kind.wrong)
    yield from (call for call in kind.calls if isinstance(call, str))
