"""The step that makes a workspace: a mistake in one function of a package, which tests of it notice."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from random import Random

from pydantic import JsonValue
from skillstill_training.workspaces import Trials, WorkspaceSourceError, in_own_loop, trials

from .generator.mutants import Mutant, mutants_of

SKILL = Path(__file__).parent
TRIES = 60  # mutants, one of a function
MOST = 8  # tests that may fail: if more do, anybody sees what is broken, and `run_tests` shows no more
NOTED = 2  # failures of a workspace


def mutate(tree: Path, rng: Random) -> dict[str, JsonValue]:
    """Change one function, so that tests fail which passed before.

    Note `mutant`, its place and operator; `failures` as `trials.Failure`; `passing`, a test that still passes.
    """
    return in_own_loop(_mutate, tree, rng)


async def _mutate(tree: Path, rng: Random) -> dict[str, JsonValue]:
    async with trials(tree, SKILL) as tests:
        if not await tests.passes():
            raise WorkspaceSourceError("its tests do not pass as they are")
        for mutant in islice(mutants_of(tree, rng), TRIES):
            (tree / mutant.path).write_bytes(mutant.after)
            if noted := await _noticed(tests, rng):
                return {"mutant": _place(mutant), **noted}
            (tree / mutant.path).write_bytes(mutant.before)
    raise WorkspaceSourceError(f"none of {TRIES} mutants fails 1 to {MOST} tests of it")


async def _noticed(tests: Trials, rng: Random) -> dict[str, JsonValue] | None:
    """Return the tests that notice a mutant, and one that does not; None if none does, or too many do."""
    failing = await tests.failing()
    if not 1 <= len(failing) <= MOST:
        return None
    found = [await tests.failure(test) for test in rng.sample(failing, min(NOTED, len(failing)))]
    failures: list[JsonValue] = [one.noted for one in found if one]
    return {"failures": failures, "passing": await _passing(tests, failing)} if failures else None


async def _passing(tests: Trials, failing: Sequence[str]) -> str:
    """Return the first test that passes in the file of one that fails; empty if there is none."""
    for other in await tests.collected(failing[0].partition("::")[0]):
        if other not in failing and await tests.passes(other):
            return other
    return ""


def _place(mutant: Mutant) -> dict[str, JsonValue]:
    return {
        "path": mutant.path,
        "first": mutant.first,
        "last": mutant.last,
        "function": mutant.function,
        "operator": mutant.operator,
    }
