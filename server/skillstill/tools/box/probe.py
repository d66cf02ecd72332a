"""Runs inside the sandbox: a project's tests by pytest, and which functions of the project each of them entered.

Its text is what the tool `suspects` hands to Python, so it imports nothing of ours. It prints one JSON object and ends
at once, whatever threads the tests have left behind.
"""

import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ROOT = f"{Path.cwd()}{os.sep}"
OPTIONS = ("-q", "-p", "no:cacheprovider", "--continue-on-collection-errors")
# What is told stays below the limit of a sandbox on output: of many, those that are asked for come first.
FAILING, PASSING = 20, 50  # tests
FUNCTIONS = 200  # those that the fewest passing tests entered
LONGEST = 10.0  # seconds of one test
SAID = 1_000  # characters of how a test failed, the last ones


class Probe:
    """A plugin of pytest. Only calls are traced, so a test takes about twice its time.

    files, names   of tests that are asked for: those are run first
    seconds        after which no other test is begun
    """

    def __init__(self, files: list[str], names: list[str], seconds: float) -> None:
        self.files, self.names, self.ends = {*files}, {*names}, time.monotonic() + seconds
        self.entered: set[CodeType] = set()
        self.failing: dict[str, dict[str, Any]] = {}
        self.passing: list[str] = []
        self.by_passing: Counter[CodeType] = Counter()
        self.by_failing: dict[CodeType, list[str]] = {}
        self.left = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: not self._is_asked_for(item.nodeid))
        self.left = len(items)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        if time.monotonic() > self.ends:
            item.session.shouldstop = "time"
        self.left -= 1
        self.entered.clear()
        _trace(self._enter)
        signal.setitimer(signal.ITIMER_REAL, LONGEST)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            _trace(None)
            self._count(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failing.setdefault(report.nodeid, _failure(report))
        elif report.when == "call" and report.passed:
            self.passing.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failing[report.nodeid] = _failure(report)

    def _enter(self, frame: FrameType, event: str, argument: object) -> None:
        self.entered.add(frame.f_code)

    def _count(self, test: str) -> None:
        own = [code for code in self.entered if code.co_filename.startswith(ROOT)]
        if test in self.failing:
            for code in own:
                self.by_failing.setdefault(code, []).append(test)
        elif test in self.passing[-1:]:
            self.by_passing.update(own)

    def _is_asked_for(self, test: str) -> bool:
        file, *names = test.partition("[")[0].split("::")
        return file in self.files or not self.names.isdisjoint(names)

    def told(self) -> dict[str, Any]:
        """Return what was seen, as spectrum.Spectrum has it; failing tests of a function by their numbers."""
        failing = sorted(self.failing, key=lambda test: not self._is_asked_for(test))[:FAILING]
        codes = sorted(self.by_failing, key=lambda code: self.by_passing[code] / len(self.by_failing[code]))[:FUNCTIONS]
        return {
            "failing": [{"test": test, **self.failing[test]} for test in failing],
            "failed": len(self.failing),
            "passing": len(self.passing),
            "named": [one for one in self.passing if self._is_asked_for(one)][:PASSING],
            "left": self.left,
            "functions": [self._function(code, failing) for code in codes],
        }

    def _function(self, code: CodeType, failing: list[str]) -> dict[str, Any]:
        entered = {*self.by_failing[code]}
        numbers = [at for at, test in enumerate(failing) if test in entered]
        return {**_place(code), "failing": numbers, "passing": self.by_passing[code]}


def _give_up(number: int, frame: FrameType | None) -> None:
    """Skip a test that takes too long, so that it tells nothing. It is raised within the test."""
    raise pytest.skip.Exception("it takes too long")


def _trace(function: Any) -> None:
    sys.settrace(function)
    threading.settrace(function)


def _place(code: CodeType) -> dict[str, Any]:
    last = max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)
    name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
    return {"path": code.co_filename[len(ROOT) :], "first": code.co_firstlineno, "last": last, "name": name}


def _failure(report: Any) -> dict[str, Any]:
    """Return the places of the project that its traceback goes through, the innermost last, and what it says."""
    return {"places": list(_frames(report.longrepr)), "said": report.longreprtext[-SAID:]}


def _frames(longrepr: Any) -> Iterator[tuple[str, int]]:
    for entry in getattr(getattr(longrepr, "reprtraceback", None), "reprentries", ()):
        found = getattr(entry, "reprfileloc", None)
        path = os.path.abspath(found.path) if found else ""  # noqa: PTH100 - pytest's are relative to where it runs
        if found and path.startswith(ROOT):
            yield path[len(ROOT) :], found.lineno


def main(arguments: str) -> None:
    sys.argv, sys.path = sys.argv[:1], [*filter(os.path.isdir, [f"{ROOT}src"]), *sys.path]
    probe, out = Probe(**json.loads(arguments)), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    signal.signal(signal.SIGALRM, _give_up)
    if pytest.main([*OPTIONS], plugins=[probe]) == pytest.ExitCode.USAGE_ERROR:  # options of plugins that are not here
        pytest.main([*OPTIONS, "-o", "addopts="], plugins=[probe])
    with os.fdopen(out, "w") as stream:
        stream.write(f"\n{json.dumps(probe.told())}")
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
