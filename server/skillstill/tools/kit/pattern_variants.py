"""The ways to read a pattern that a model gives: as it is, then taken literally, both in any case, otherwise joined."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from skillstill.tools.kit.ripgrep import BadPattern, Case
from skillstill.util.text import one_line

SPECIAL = frozenset(".^$*+?{}[]|()\\")  # a pattern without these reads the same literally
JOINED = re.compile(r"[^\W_]+(?:[-_. ][^\W_]+)+")  # a name of several words
BETWEEN_LETTERS = re.compile(r"(?<=[^\W\d_])[-_. ](?=[^\W\d_])")
NOT_READ = "its pattern could not be read"
CASES: tuple[tuple[Case, str], ...] = (("--case-sensitive", ""), ("--ignore-case", "none in this case"))


@dataclass(frozen=True, slots=True)
class Reading:
    """One of them; `remark` tells whoever gave the pattern what was done with it, empty if nothing was."""

    pattern: str
    case: Case
    literal: bool
    remark: str


def readings(pattern: str) -> Iterator[Reading]:
    """Yield the strictest first."""
    for case, other in CASES:
        for literal in (False, True) if SPECIAL & set(pattern) else (False,):
            remarks = ", ".join(filter(None, ["taken literally" if literal else "", other]))
            yield Reading(pattern, case, literal, f" ({remarks})" if remarks else "")


def respellings(pattern: str) -> Iterator[Reading]:
    """Yield a name as others join its words: `timetable-loader` and `timetable loader` for `timetable_loader`.

    Letters may stand together, numbers not: `10.0.0.1` is not in `10001`.
    """
    if JOINED.fullmatch(pattern) and BETWEEN_LETTERS.search(pattern):
        words = BETWEEN_LETTERS.sub("[-_. ]?", pattern)
        yield Reading(rf"\b{words}\b", "--ignore-case", literal=False, remark=" (none in this spelling)")


def lacking(error: BadPattern) -> str:
    """Return a remark on what ripgrep lacks for this pattern.

    Empty for what is none, and is rightly taken literally.
    """
    return f"; not read as a pattern: {one_line(str(error), 80)}" if "not supported" in str(error) else ""
