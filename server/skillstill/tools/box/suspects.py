"""The tool that says which functions a failing test blames: all tests are run, and what each of them entered counts."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from skillstill.errors import Refusal
from skillstill.tools.box.output import ENVIRONMENT, ending, sandbox_of
from skillstill.tools.box.spectrum import Spectrum, rank_suspects
from skillstill.tools.kit.tool import ROW, Line, Result
from skillstill.types import PROMPT_CHARACTERS, Copied, Span
from skillstill.util.text import clean, shorten
from skillstill.workspace import Workspace

PROBE = Path(__file__).with_name("probe.py")
SECONDS = 15.0  # after which no other test is begun
SHOWN = 5  # suspects; tests that fail likewise
TEST_ID = re.compile(r"[\w./-]+\.py(?:::\w+)*")
TEST_NAME = re.compile(r"\b(?:test_\w+|Test\w+)")


async def suspects(
    workspace: Workspace,
    text: Annotated[
        str,
        Field(max_length=PROMPT_CHARACTERS, description="what names a test, or what pytest printed; empty: all tests"),
        Copied(),
    ] = "",
) -> Result:
    """Run a Python project's tests with pytest, and show the five functions that are likeliest to hold the mistake: the
    failing tests enter them and passing ones do not."""
    spectrum = await _measured(workspace, text)
    failing = [one.test for one in spectrum.failing]
    meant = _meant([*failing, *spectrum.named], text)
    if tests := [test for test in meant or failing if test in failing]:
        return Result((*_failing_lines(spectrum, tests), *_suspect_lines(spectrum, tests)), guess=True)
    if meant:
        more = f", like {len(meant) - 1} more that are meant" if meant[1:] else ""
        return Result((Line(f"{meant[0]} passes{more}"),))
    if spectrum.left:
        return Result((Line(f"{spectrum.passing} tests pass{_left(spectrum)}"),))
    return Result((Line(f"all {spectrum.passing} tests pass"),), empty=True)


async def _measured(workspace: Workspace, text: str) -> Spectrum:
    """Return what the tests did, those first that a text names. Raise Refusal if they cannot be run."""
    asked = json.dumps({"files": sorted(_files(text)), "names": sorted(_names(text)), "seconds": SECONDS})
    program = PROBE.read_text(encoding="utf-8")
    done = await sandbox_of(workspace).exec(["python3", "-c", program, asked], environment=ENVIRONMENT)
    *said, last = [line for line in clean(done.output).splitlines() if line.strip()] or [ending(done)]
    try:
        spectrum = _of_project(workspace, Spectrum.model_validate_json(last))
    except ValidationError as error:
        raise Refusal(f"the tests could not be run with pytest: {shorten(last, 100)}") from error
    if not (spectrum.failing or spectrum.passing):
        raise Refusal(f"pytest ran no test: {shorten(next(reversed(said), 'it found none'), 100)}")
    return spectrum


def _of_project(workspace: Workspace, spectrum: Spectrum) -> Spectrum:
    """Return it without places that the workspace does not have: tests are strangers' code, and may say anything."""
    named = {one.path for one in spectrum.functions} | {path for one in spectrum.failing for path, _ in one.places}
    lengths = {path: _length(workspace, path) for path in named}
    functions = tuple(one for one in spectrum.functions if 0 < one.first <= one.last <= lengths[one.path])
    failing = tuple(
        one.model_copy(update={"places": tuple(place for place in one.places if 0 < place[1] <= lengths[place[0]])})
        for one in spectrum.failing
    )
    return spectrum.model_copy(update={"functions": functions, "failing": failing})


def _length(workspace: Workspace, path: str) -> int:
    """Return how many lines a file of the workspace has; 0 if it has no such file."""
    try:
        with workspace.resolve(path).open("rb") as file:
            return sum(1 for _ in file)
    except (Refusal, OSError):
        return 0


def _files(text: str) -> set[str]:
    return {one.partition("::")[0] for one in TEST_ID.findall(text)}


def _names(text: str) -> set[str]:
    return set(TEST_NAME.findall(text))


def _meant(tests: Sequence[str], text: str) -> Sequence[str]:
    """Return the tests that a text names: by their ids, else by their names, their classes, their files."""
    files, names = _files(text), _names(text)
    plain = {test: test.partition("[")[0] for test in tests}
    by_id = [test for test, one in plain.items() if "::" in one and re.search(rf"{re.escape(one)}(?!\w)", text)]
    by_name = [test for test, one in plain.items() if one.rpartition("::")[2] in names]
    by_class = [test for test, one in plain.items() if names.intersection(one.split("::")[1:-1])]
    return by_id or by_name or by_class or [test for test, one in plain.items() if one.partition("::")[0] in files]


def _failing_lines(spectrum: Spectrum, tests: Sequence[str]) -> Iterator[Line]:
    """Yield each failing test with the innermost place of its traceback, and why the first one fails."""
    failures = [spectrum.failing[at] for at in spectrum.indices_of(tests)]
    for failure in failures[:SHOWN]:
        text = f"{failure.test} fails"
        yield Line.at(*failure.places[-1], text) if failure.places else Line(text)
    why = [line.strip() for line in failures[0].said.split("\n") if line.startswith("E ")]
    rest = (spectrum.failed if len(tests) == len(spectrum.failing) else len(tests)) - SHOWN
    more = [f"… and {rest} more fail"] if rest > 0 else []
    yield Line(shorten("; ".join([*more, *why[:2]]), ROW), omits=max(0, rest))


def _suspect_lines(spectrum: Spectrum, tests: Sequence[str]) -> Iterator[Line]:
    found, meant = rank_suspects(spectrum, tests), frozenset(spectrum.indices_of(tests))
    yield Line(
        f"suspects, the likeliest first{_left(spectrum)}:" if found else "no function of the project was entered"
    )
    for one in found[:SHOWN]:
        counts = f"{len(meant & one.failing)} of {len(meant)} failing, {one.passing} of {spectrum.passing} passing"
        span = Span(path=one.path, first=one.first, last=one.last)
        yield replace(Line.at(one.path, one.first, f"{one.name} ({counts})"), spans=(span,))


def _left(spectrum: Spectrum) -> str:
    return f"; {spectrum.left} tests were not run for want of time" if spectrum.left else ""
