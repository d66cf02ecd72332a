"""What plans read off a result, as anyone who sees it could."""

import re
from collections.abc import Sequence

from skillstill_training.authoring import SeenResult

GROUP = re.compile(r"([\d,]+) × (.*), first (?:line )?(\S+)")


def found_nothing(seen: SeenResult) -> bool:
    return seen.text.startswith("no ")


def absent(tried: Sequence[SeenResult]) -> str:
    return f"There is none ({', '.join(one.id for one in tried)} found nothing)."


def row_at(seen: SeenResult, place: str) -> str:
    """The row about that place. Raises LookupError where it is not shown."""
    rows = [line for line in seen.lines if line.startswith(f"{place}: ")]
    if not rows:
        raise LookupError(f"{place} is not shown")
    return rows[0]


def is_shown(seen: SeenResult, place: str) -> bool:
    return any(line.startswith(f"{place}: ") for line in seen.lines)


def row_of(seen: SeenResult, name: str) -> str:
    """The row of the group of that name: count, name, first place. Raises LookupError where it is not shown."""
    if not (found := _rows_of(seen, name)):
        raise LookupError(f"no group {name!r}")
    return found[0]


def has_row(seen: SeenResult, name: str) -> bool:
    return bool(_rows_of(seen, name))


def first_of(row: str) -> str:
    """Where a group begins."""
    return row.rpartition(" ")[2]


def _rows_of(seen: SeenResult, name: str) -> list[str]:
    return [line for line in seen.lines if (group := GROUP.fullmatch(line)) and group[2] == name]


def place_of(row: str) -> str:
    """Where an entry stands."""
    return row.split(": ", 1)[0]


def rows_shown(seen: SeenResult) -> int:
    return len(seen.places)
