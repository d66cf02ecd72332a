"""The tool that runs a project's tests: which way, the files at its root say; what failed, and where."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field

from skillstill.errors import Refusal
from skillstill.sandbox.sandbox import Completed
from skillstill.tools.box.output import ENVIRONMENT, PLACE, ending, excerpt, named_place, plain, sandbox_of
from skillstill.tools.kit.tool import ROW, Line, Result
from skillstill.util.text import shorten
from skillstill.workspace import Workspace

FAILURES = 8  # that are shown
LAST = 3  # lines of a failure
NO_PROGRAM = 127  # exit code
MISUSED = 4  # pytest's exit code if it does not know an option, or a file
SOURCE_FIRST = 'PYTHONPATH="$PWD/src${PYTHONPATH:+:$PYTHONPATH}" exec "$@"'


@dataclass(frozen=True, slots=True)
class TestRunner:
    """A program that runs tests, and how to read what it writes.

    whole     arguments if all tests are to run
    failure   the line that a failure begins with; `name` is that of the test
    end       the line after all failures
    counts    lines that say how many passed and failed
    says      what begins the lines of a failure that say why, if anything does
    """

    name: str
    command: tuple[str, ...]
    failure: re.Pattern[str]
    end: re.Pattern[str]
    counts: re.Pattern[str]
    says: tuple[str, ...] = ("",)
    whole: tuple[str, ...] = ()


PYTEST = TestRunner(
    "pytest",
    ("python3", "-m", "pytest", "-q", "--tb=short", "--color=no", "-p", "no:cacheprovider"),
    re.compile(r"_{2,} (?P<name>(?!summary).+?) _{2,}"),
    re.compile(r"=+ (?:short test summary info|warnings summary) =+|\d+ (?:failed|error)"),
    re.compile(r"(?:=+ )?((?:\d+ \w+(?:, )?)+ in [\d.]+s.*?|no tests ran.*?)(?: =+)?"),
    says=("E ",),
)
UNITTEST = TestRunner(
    "unittest",
    ("python3", "-m", "unittest"),
    re.compile(r"(?:FAIL|ERROR): (?P<name>.+)"),
    re.compile(r"Ran \d+ tests?.*"),
    re.compile(r"(Ran \d+ tests? in .*|OK.*|FAILED \(.*\)|NO TESTS RAN)"),
    whole=("discover",),
)
NODE = TestRunner(
    "node --test",
    ("node", "--test", "--test-reporter=tap"),
    re.compile(r"\s*not ok \d+ - (?P<name>.+)"),
    re.compile(r"1\.\.\d+"),
    re.compile(r"# ((?:tests|pass|fail) \d+)"),
    says=("error:", "expected:", "actual:"),
)
GO = TestRunner(
    "go test",
    ("go", "test"),
    re.compile(r"\s*--- FAIL: (?P<name>\S+).*"),
    re.compile(r"FAIL"),
    re.compile(r"((?:ok|FAIL)\s+\S+\s.*)"),
    whole=("./...",),
)
CARGO = TestRunner(
    "cargo test",
    ("cargo", "test", "--offline", "--quiet"),
    re.compile(r"---- (?P<name>.+) stdout ----"),
    re.compile(r"failures:"),
    re.compile(r"(test result: .*)"),
)
MARKS = {"Cargo.toml": CARGO, "go.mod": GO, "package.json": NODE}  # files at the root that say how
ENDINGS = {".rs": CARGO, ".go": GO, ".js": NODE, ".mjs": NODE, ".cjs": NODE, ".ts": NODE, ".mts": NODE}


async def run_tests(
    workspace: Workspace,
    target: Annotated[str, Field(max_length=200, description="a test file or folder; empty: all tests")] = "",
) -> Result:
    """Run the project's tests with pytest, unittest, node, go or cargo: how many failed, which, where and why."""
    if target.startswith("-"):
        raise Refusal(f"{target!r} is an option: name a test file or folder")
    runner = await _runner(workspace, PurePosixPath(target).suffix)
    arguments = [target] if target else runner.whole
    done = await _run(workspace, [*runner.command, *arguments])
    if runner is PYTEST and done.code == MISUSED:  # the project's own options are of plugins that are not here
        done = await _run(workspace, [*runner.command, "-o", "addopts=", *arguments])
    if done.code == NO_PROGRAM:
        raise Refusal(f"{runner.name} is not in the sandbox: {shorten(done.output.strip(), 100)}")
    return Result(tuple(_told(workspace, runner, done)))


async def _run(workspace: Workspace, command: Sequence[str]) -> Completed:
    """Run a command with a folder `src` on Python's path, as if what is in it were installed."""
    whole = ["sh", "-c", SOURCE_FIRST, "sh", *command] if (workspace.root / "src").is_dir() else command
    return await sandbox_of(workspace).exec(whole, environment=ENVIRONMENT)


async def _runner(workspace: Workspace, suffix: str) -> TestRunner:
    """Return how the tests are run: as the test's own language wants, or what lies at the root."""
    sandbox = sandbox_of(workspace)
    marked = next((one for name, one in MARKS.items() if (workspace.root / name).is_file()), None)
    if found := ENDINGS.get(suffix) or (marked if suffix != ".py" else None):
        return found
    return UNITTEST if (await sandbox.exec(["python3", "-c", "import pytest"])).code else PYTEST


def _told(workspace: Workspace, runner: TestRunner, done: Completed) -> Iterator[Line]:
    lines = plain(done.output).splitlines()
    counts = [found[1] for line in lines if (found := runner.counts.fullmatch(line.strip()))]
    yield Line(f"{runner.name}: {'; '.join((*counts, ending(done)))}")
    failures = list(_failures(runner, lines))
    for failure in failures[:FAILURES]:
        yield from _shown(workspace, failure)
    if (rest := len(failures) - FAILURES) > 0:
        yield Line(f"… {rest} more failures", omits=rest)
    if done.code and not failures:
        yield from excerpt([Line(line) for line in lines], done.is_cut)


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that failed: what was written about it, and the lines of that which say why."""

    test: str
    lines: Sequence[str]
    why: Sequence[str]


def _failures(runner: TestRunner, lines: Sequence[str]) -> Iterator[Failure]:
    starts = [at for at, line in enumerate(lines) if runner.failure.fullmatch(line)]
    for at, following in zip(starts, [*starts, len(lines)][1:], strict=True):
        body = list(takewhile(lambda line: not runner.end.fullmatch(line), lines[at + 1 : following]))
        said = [line.strip() for line in body if line.strip(" =-")]  # no rules
        found = runner.failure.fullmatch(lines[at])
        assert found
        yield Failure(found["name"], body, ([line for line in said if line.startswith(runner.says)] or said)[-LAST:])


def _shown(workspace: Workspace, failure: Failure) -> Iterator[Line]:
    """Yield a failure behind the last place of the workspace that is named in it."""
    spans = [
        span for line in failure.lines for found in PLACE.finditer(line) if (span := named_place(workspace, found))
    ]
    yield Line.at(spans[-1].path, spans[-1].first, failure.test) if spans else Line(failure.test)
    for line in failure.why:
        yield Line(f"  {shorten(line, ROW)}")
