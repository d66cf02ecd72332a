"""An answer that quotes lines is told with the lines around them, if the skill wants that."""

from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
from skillstill.models.scripted import ScriptedModel
from skillstill.run.context import LinesOf, in_context, lines_in
from skillstill.run.finish import finish
from skillstill.run.loop import Brief, run
from skillstill.skills.skill import Around, load_skill
from skillstill.types import Message, ToolCall
from skillstill.workspace import Workspace

from tests.scenes import ROOT, write

pytestmark = pytest.mark.anyio

TEXT = "one\n\ntwo\nthree\nfour\nfive\nsix\n"


@pytest.fixture
def lines(tmp_path: Path) -> LinesOf:
    (tmp_path / "notes.txt").write_text(TEXT)
    return partial(lines_in, Workspace(tmp_path))


def test_a_quoted_line_stands_among_those_around_it_without_empty_ones(lines: LinesOf) -> None:
    told = in_context("notes.txt:3: Section: two", Around(above=2, below=3), lines)
    assert told == "  one\nnotes.txt:3: Section: two\n  three\n  four\n  five"


def test_two_quoted_lines_share_the_room(lines: LinesOf) -> None:
    told = in_context("notes.txt:3: two\nnotes.txt:7: six", Around(above=2, below=3), lines)
    assert told == "notes.txt:3: two\n  three\n  five\nnotes.txt:7: six"


def test_no_line_is_told_twice(lines: LinesOf) -> None:
    told = in_context("notes.txt:4: three\nnotes.txt:5: four", Around(above=2, below=3), lines)
    assert told == "  two\nnotes.txt:4: three\nnotes.txt:5: four\n  five"


@pytest.mark.parametrize("quote", ["gone.txt:3: two", "notes.txt:900: two", "notes.txt:0: two"])
def test_a_line_that_is_not_there_stands_alone(lines: LinesOf, quote: str) -> None:
    assert in_context(quote, Around(above=2, below=3), lines) == quote


@pytest.mark.parametrize(
    "answer",
    [
        "two (notes.txt:3).",
        "notes.txt:3: two\nand that is all",
        "\n".join(f"notes.txt:{line}: text" for line in (3, 4, 5)),
    ],
)
def test_an_answer_that_says_anything_else_has_no_context(lines: LinesOf, answer: str) -> None:
    assert in_context(answer, Around(above=2, below=3), lines) == ""


def test_nothing_is_added_unless_the_skill_wants_it(lines: LinesOf) -> None:
    assert in_context("notes.txt:3: two", Around(), lines) == ""


async def test_the_caller_reads_the_context_and_nothing_else_takes_it_for_what_the_model_said(tmp_path: Path) -> None:
    text = "# no retries of the payment\nATTEMPTS = 7\nBURST = 8192\nNAME = 'abc'\n"
    root = write(tmp_path / "root", {"pay.py": text})
    skill = load_skill(ROOT / "skills" / "explore")
    subagent = skill.subagent.model_copy(update={"quotes": Around(above=2, below=3)})
    look = Message(role="assistant", calls=(ToolCall(name="search", arguments={"pattern": "ATTEMPTS"}),))
    model = ScriptedModel([look, "pay.py:2: ATTEMPTS = 7"])
    brief = Brief(skill=skill.model_copy(update={"subagent": subagent}), prompt="how many attempts?", system="explore")
    report = finish(await run(brief, nullcontext(model), Workspace(root))).report
    assert (report.answer, report.evidence, report.notes) == ("pay.py:2: ATTEMPTS = 7", ("pay.py:2",), ())
    assert report.said == "  # no retries of the payment\npay.py:2: ATTEMPTS = 7\n  BURST = 8192\n  NAME = 'abc'"
