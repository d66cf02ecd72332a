"""The ways to read a pattern that a model gives: as it is, then taken literally, then both in any case."""

from collections.abc import Iterator
from dataclasses import dataclass

from skillstill.tools.ripgrep import Case

SPECIAL = frozenset(".^$*+?{}[]|()\\")  # a pattern without these reads the same literally
CASES: tuple[tuple[Case, str], ...] = (("--case-sensitive", ""), ("--ignore-case", "none in this case"))


@dataclass(frozen=True, slots=True)
class Reading:
    """One of them; `remark` tells whoever gave the pattern what was done with it, empty where nothing was."""

    case: Case
    literal: bool
    remark: str


def readings(pattern: str) -> Iterator[Reading]:
    """The strictest first."""
    for case, other in CASES:
        for literal in (False, True) if SPECIAL & set(pattern) else (False,):
            remarks = ", ".join(filter(None, ["taken literally" if literal else "", other]))
            yield Reading(case, literal, f" ({remarks})" if remarks else "")
