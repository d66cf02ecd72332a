"""An answer that quotes lines is told with the lines around them, if the skill wants that."""

from pathlib import Path

import pytest
from skillstill.run.context import in_context
from skillstill.skills.skill import Around
from skillstill.workspace import Workspace

TEXT = "one\n\ntwo\nthree\nfour\nfive\nsix\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "notes.txt").write_text(TEXT)
    return Workspace(tmp_path)


def test_a_quoted_line_stands_among_those_around_it_without_empty_ones(workspace: Workspace) -> None:
    told = in_context("notes.txt:3: Section: two", Around(above=2, below=3), workspace)
    assert told == "  one\nnotes.txt:3: Section: two\n  three\n  four\n  five"


def test_two_quoted_lines_share_the_room(workspace: Workspace) -> None:
    told = in_context("notes.txt:3: two\nnotes.txt:7: six", Around(above=2, below=3), workspace)
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
def test_any_other_answer_stays_as_it_is(workspace: Workspace, answer: str) -> None:
    assert in_context(answer, Around(above=2, below=3), workspace) == answer


def test_nothing_is_added_unless_the_skill_wants_it(workspace: Workspace) -> None:
    assert in_context("notes.txt:3: two", Around(), workspace) == "notes.txt:3: two"
