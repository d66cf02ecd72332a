"""Tests of a tree as the tool `run_tests` runs them, in the sandbox that a skill declares, and what they print."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import JsonValue
from skillstill.sandbox.choice import chosen
from skillstill.sandbox.sandbox import Completed, Sandbox, SandboxPlan
from skillstill.skills.skill import load_skill
from skillstill.tools.box.output import ENVIRONMENT, plain
from skillstill.tools.box.testing import PYTEST

FAILED = 1  # pytest's exit code if tests ran and some failed
FAILURE = re.compile(r"^FAILED (\S+\.py::[^\s\[]+)", re.MULTILINE)  # all cases of a test are one
COLLECTED = re.compile(r"^(\S+\.py::[^\s\[]+)", re.MULTILINE)
FRAME = re.compile(r"^(\w[\w./-]*\.py):(\d+): in \S+$", re.MULTILINE)
CHANGING = re.compile(r"0x[0-9a-f]{6,}|/tmp/")  # addresses and names that another run has not


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that fails, alone and each time alike.

    path, line   the innermost place of the tree in its traceback, that of its first case if it has several
    output       what pytest printed, without the time that it took
    """

    test: str
    path: str
    line: int
    output: str

    @property
    def noted(self) -> dict[str, JsonValue]:
        return asdict(self)


class Trials:
    """Test runs in one sandbox around a tree."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    async def passes(self, *targets: str) -> bool:
        return (await self._run(*targets)).code == 0

    async def failing(self) -> Sequence[str]:
        """Return the tests that fail of all; none if something else went wrong, or none of them ran."""
        done = await self._run()
        complete = done.code == FAILED and not done.is_cut and "\nERROR " not in done.output
        return [*dict.fromkeys(FAILURE.findall(plain(done.output)))] if complete else []

    async def collected(self, file: str) -> Sequence[str]:
        """Return the tests of a file."""
        done = await self._run("--collect-only", file)
        return [*dict.fromkeys(COLLECTED.findall(plain(done.output)))]

    async def failure(self, test: str) -> Failure | None:
        """Return how a test fails if it is run alone; None if it does not, or not the same way twice."""
        runs = [await self._run(test) for _ in range(2)]
        first, again = (_printed(plain(done.output)) for done in runs)
        frames = FRAME.findall(first.partition("\nE ")[0])
        if any(done.code != FAILED for done in runs) or first != again or CHANGING.search(first) or not frames:
            return None
        path, line = frames[-1]
        return Failure(test, path, int(line), first)

    async def _run(self, *targets: str) -> Completed:
        return await self.sandbox.exec([*PYTEST.command, *targets], environment=ENVIRONMENT)


@asynccontextmanager
async def trials(tree: Path, skill_folder: Path) -> AsyncIterator[Trials]:
    """Open the sandbox of a skill around a tree. Raise SandboxError if none can be had."""
    use = load_skill(skill_folder).subagent.sandbox
    async with (await chosen()).open(tree, SandboxPlan(packages=use.packages, limits=use.limits)) as sandbox:
        yield Trials(sandbox)


def _printed(output: str) -> str:
    """Return the lines from the failure on, without the last, which says how long it took."""
    lines = output.rstrip().split("\n")
    start = next((at for at, line in enumerate(lines) if PYTEST.failure.fullmatch(line)), 0)
    return "\n".join(lines[start:-1])
