"""Which functions failing tests enter and passing ones do not, and so which is likeliest to hold the mistake."""

import math
import re
from collections.abc import Sequence

from skillstill.types import Frozen

NAMED, TRACED, SAID = 0.6, 0.3, 0.2  # beside 0..1 for what was run; chosen on real mistakes (docs/experiments.md)
TEST_CODE = re.compile(r"(?:^|/)tests?/|(?:^|/)(?:test_[^/]*|conftest)\.py$|_tests?\.py$")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


class Failing(Frozen):
    """How a test failed: the places of the project in its traceback, the innermost last, and what was said."""

    test: str
    places: tuple[tuple[str, int], ...]
    said: str


class Function(Frozen):
    """A function that failing tests entered.

    name      with the class that it is in
    failing   those tests, as indices of Spectrum.failing; passing: how many of the others entered it
    """

    path: str
    first: int
    last: int
    name: str
    failing: frozenset[int]
    passing: int

    @property
    def is_test_code(self) -> bool:
        return bool(TEST_CODE.search(self.path))

    def holds(self, path: str, line: int) -> bool:
        return path == self.path and self.first <= line <= self.last


class Spectrum(Frozen):
    """A run of a project's tests.

    failing     those that are asked for first, and not all of very many
    failed      how many failed; passing: how many passed
    named       tests that were asked for and pass
    left        tests that were not begun, for want of time
    functions   those that at least one failing test entered
    """

    failing: tuple[Failing, ...]
    failed: int
    passing: int
    named: tuple[str, ...]
    left: int
    functions: tuple[Function, ...]

    def indices_of(self, tests: Sequence[str]) -> Sequence[int]:
        """Return the indices of these failing tests."""
        return [at for at, one in enumerate(self.failing) if one.test in tests]


def rank_suspects(spectrum: Spectrum, tests: Sequence[str]) -> Sequence[Function]:
    """Return the functions that these failing tests entered, the likeliest first; code of tests is none of them.

    How much more often failing tests enter a function than passing ones do is Ochiai's coefficient, which Abreu,
    Zoeteweij and van Gemund found best (On the Accuracy of Spectrum-based Fault Localization, 2007). Names that a
    test shares with a function, its traceback and its words add to it.
    """
    meant = frozenset(spectrum.indices_of(tests))
    entered = [one for one in spectrum.functions if meant & one.failing and not one.is_test_code]
    words = set().union(*(_words(test.partition("::")[2]) for test in tests))
    failures = [spectrum.failing[at] for at in meant]
    return sorted(entered, key=lambda one: -_suspicion(one, meant, words, failures))


def _suspicion(function: Function, meant: frozenset[int], words: set[str], failures: Sequence[Failing]) -> float:
    ran = len(meant & function.failing)
    last, own = function.name.rpartition(".")[2], _words(function.name)
    traced = any(function.holds(*place) for failure in failures for place in failure.places)
    said = any(re.search(rf"\b{re.escape(last)}\b", failure.said) for failure in failures)
    alike = len(own & words) / max(1, len(own | words))
    return ran / math.sqrt(len(meant) * (ran + function.passing)) + NAMED * alike + TRACED * traced + SAID * said


def _words(name: str) -> set[str]:
    return {word.lower() for word in WORD.findall(name)} - {"test", "tests"}
