"""Describe the right answer of a goal in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from skillstill.types import Span

from skillstill_training.authoring.checks import (
    Absent,
    Check,
    Declined,
    Judged,
    Locations,
    Members,
    Quoted,
    Rows,
    Value,
)

MANY = 24  # items or rows that are listed


@dataclass(frozen=True, slots=True)
class Gold:
    """The right answer: `lead` introduces the items or rows, `note` contains further conditions."""

    lead: str
    items: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    note: str = ""


def describe_gold(check: Check) -> Gold:
    """Describe the right answer that a check accepts."""
    match check:
        case Locations():
            return _locations(check)
        case Value():
            return _value(check)
        case Members():
            return _members(check)
        case Rows():
            return _rows(check)
        case Quoted():
            return _quoted(check)
        case Absent():
            return Gold("it is not there", note="and the answer cites the searches that found nothing")
        case Declined():
            return Gold("handed back", note="the tools cannot do this")
        case Judged():
            asked = tuple(one.asks for one in check.criteria)
            return Gold("judged by a teacher, not verified", _few(asked), note="and each of them has to hold")
        case _:
            assert_never(check)


def format_place(span: Span) -> str:
    """Format a place: `path`, `path:line` or `path:first-last`."""
    if not span.first:
        return span.path
    return f"{span.path}:{span.first}" if span.first == span.last else f"{span.path}:{span.first}-{span.last}"


def _locations(check: Locations) -> Gold:
    note = "and no other place" if check.precision == 1 else ""
    first = check.gold[0]
    one = "the place" if first.first else "the file"
    lead = "a line of" if first.last > first.first else one
    return Gold(_how_many(check.gold, check.recall, lead), _few(list(map(format_place, check.gold))), note=note)


def _value(check: Value) -> Gold:
    accepted = (check.gold, *check.also)
    lead = "the value" if len(accepted) == 1 else "one of the values"
    return Gold(lead, _few(accepted), note=_but_not(check.wrong))


def _members(check: Members) -> Gold:
    extra = 1 - check.precision
    note = _but_not(check.others) if not extra else f"up to {extra:.0%} others may be named"
    return Gold(_how_many(check.gold, check.recall, "the name"), _few(check.gold), note=note)


def _rows(check: Rows) -> Gold:
    lead = (
        "the row" if len(check.gold) == 1 else f"{len(check.gold)} rows, in {'this' if check.ordered else 'any'} order"
    )
    left = len(check.gold) - MANY
    return Gold(lead, rows=check.gold[:MANY], note=f"and {left} rows more" if left > 0 else "")


def _quoted(check: Quoted) -> Gold:
    where = f"from {format_place(check.place)}" if check.place else ""
    return Gold("the words", (check.gold,), note=", ".join(filter(None, [where, _but_not(check.wrong)])))


def _how_many(gold: Sequence[object], recall: float, one: str) -> str:
    needed = math.ceil(recall * len(gold) - 1e-9)  # 0.1 * 30 is a little more than 3
    if len(gold) == 1:
        return one
    return "all of" if needed == len(gold) else "one of" if needed == 1 else f"at least {needed} of"


def _but_not(wrong: Sequence[str]) -> str:
    return f"not {', '.join(_few(wrong))}" if wrong else ""


def _few(items: Sequence[str]) -> tuple[str, ...]:
    return (*items[:MANY], f"and {len(items) - MANY} more") if len(items) > MANY else tuple(items)
