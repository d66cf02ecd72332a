"""Verification by agreement, for goals without a check: two independent attempts that give the same answer.

This is weaker than any check: a model that makes the same mistake twice agrees with itself. It finds answers that were
guessed. The loop has already checked that both answers quote only what a tool has shown.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from skillstill.types import Span

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import NEGATIVE, PASSED, Judgement, failed
from skillstill_training.authoring.numbers import numbers_in, same_number

NEAR = 3  # lines: one answer quotes a decorator or docstring, the other the definition
SHARE = 0.5  # of the places, or of the names, in either answer that both must contain
Item = TypeVar("Item")
# Words in backticks, and words of a form that only code has: snake_case, dotted.names, CamelCase, CONSTANTS, calls().
MARKED = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`")
CODE = re.compile(r"\b(?:[A-Za-z]\w*(?:[._]\w+)+|[A-Z]?[a-z]+[A-Z]\w*|[A-Z][A-Z0-9]{2,}|\w+(?=\(\)))")


def agree(one: Attempt, other: Attempt) -> Judgement:
    """Return whether two attempts at the same prompt agree; if not, the judgement contains the difference.

    Both must be answers. Both must state that something is absent, or neither. Half of the places that either names
    must be in both: in the same file, at most NEAR lines apart. Both must state the same numbers. If both mention
    names from code, half of these names must be in both. Numbers and names from the prompt do not count. Two answers
    with nothing to compare do not agree.
    """
    for attempt in (one, other):
        if attempt.status != "answered":
            return failed(f"an attempt ended as {attempt.status}")
    if _states_absence(one) != _states_absence(other):
        return failed("only one attempt says that there is none")
    if not _overlap(one.places, other.places, _near):
        return failed("the attempts name different places")
    if not _overlap(_numbers(one), _numbers(other), same_number, share=1.0):
        return failed("the attempts state different numbers")
    names = _names(one), _names(other)
    if all(names) and not _overlap(*names, str.__eq__):
        return failed("the attempts name different things")
    comparable = _states_absence(one) or one.places or _numbers(one) or all(names)
    return PASSED if comparable else failed("the attempts name nothing that can be compared")


def _states_absence(attempt: Attempt) -> bool:
    return not attempt.places and NEGATIVE.search(attempt.rest) is not None


def _near(one: Span, other: Span) -> bool:
    return one.path == other.path and one.first <= other.last + NEAR and other.first <= one.last + NEAR


def _numbers(attempt: Attempt) -> Sequence[str]:
    asked = numbers_in(attempt.prompt)
    return [number for number in attempt.numbers if not any(same_number(number, known) for known in asked)]


def _names(attempt: Attempt) -> Sequence[str]:
    names = dict.fromkeys([*MARKED.findall(attempt.answer), *CODE.findall(attempt.rest)])
    return [name for name in names if name not in attempt.prompt]


def _overlap(
    ones: Sequence[Item], others: Sequence[Item], same: Callable[[Item, Item], bool], *, share: float = SHARE
) -> bool:
    """Return whether at least this share of all items has an equal on the other side. True if there are no items."""
    shared = [one for one in ones if any(same(one, other) for other in others)]
    shared += [other for other in others if any(same(one, other) for one in ones)]
    return len(shared) >= share * (len(ones) + len(others))
