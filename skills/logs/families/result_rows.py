"""Functions with which plans read the rows of a result."""

import re
from collections.abc import Sequence

from skillstill_training.authoring import SeenResult

GROUP = re.compile(r"([\d,]+) × (.*), first (?:line )?(\S+)")


def found_nothing(seen: SeenResult) -> bool:
    return seen.text.startswith("no ")


def absence_answer(tried: Sequence[SeenResult]) -> str:
    return f"There is none ({', '.join(one.id for one in tried)} found nothing)."


def row_at(seen: SeenResult, place: str) -> str:
    """Return the row about that place. Raise LookupError if it is not shown."""
    rows = [line for line in seen.lines if line.startswith(f"{place}: ")]
    if not rows:
        raise LookupError(f"{place} is not shown")
    return rows[0]


def is_shown(seen: SeenResult, place: str) -> bool:
    return any(line.startswith(f"{place}: ") for line in seen.lines)


def row_of(seen: SeenResult, name: str) -> str:
    """Return the row of the group of that name: count, name, first place. Raise LookupError if it is not shown."""
    if not (rows := _rows_of(seen, name)):
        raise LookupError(f"no group {name!r}")
    return rows[0]


def has_row(seen: SeenResult, name: str) -> bool:
    return bool(_rows_of(seen, name))


def first_place(row: str) -> str:
    """Return the place of the group's first entry."""
    return row.rpartition(" ")[2]


def _rows_of(seen: SeenResult, name: str) -> list[str]:
    return [line for line in seen.lines if (group := GROUP.fullmatch(line)) and group[2] == name]


def place_of(row: str) -> str:
    """Return the place of the row's entry."""
    return row.split(": ", 1)[0]


def rows_shown(seen: SeenResult) -> int:
    return len(seen.places)
