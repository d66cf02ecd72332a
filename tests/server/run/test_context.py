"""An answer that quotes lines is told with the lines around them, if the skill wants that."""

from functools import partial
from pathlib import Path

import pytest
from skillstill.run.context import LinesOf, in_context, lines_in
from skillstill.skills.skill import Around
from skillstill.workspace import Workspace

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


@pytest.mark.parametrize(
    "answer",
    [
        "two (notes.txt:3).",
        "notes.txt:3: two\nand that is all",
        "\n".join(f"notes.txt:{line}: text" for line in (3, 4, 5)),
        "gone.txt:3: two",
        "notes.txt:900: two",
    ],
)
def test_any_other_answer_stays_as_it_is(lines: LinesOf, answer: str) -> None:
    assert in_context(answer, Around(above=2, below=3), lines) == answer


def test_nothing_is_added_unless_the_skill_wants_it(lines: LinesOf) -> None:
    assert in_context("notes.txt:3: two", Around(), lines) == "notes.txt:3: two"
