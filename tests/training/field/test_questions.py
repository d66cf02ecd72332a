"""The files of field questions: what is refused, and what a look at the test part takes."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from skillstill.errors import StageError, UsageError
from skillstill_training.field.draft import read_drafts
from skillstill_training.field.looks import FieldLook, log_field_look
from skillstill_training.field.question import FieldQuestion, Gold, freeze_questions, load_questions, prompt_of
from skillstill_training.util.jsonl import read_lines, write_lines

from tests.scenes import SHOP, write

GOLD = Gold(outcome="answer", answer="30", facts=(("30",),))


def question(number: int, prompt: str = "how long does it wait", after: str = "") -> FieldQuestion:
    return FieldQuestion(id=f"shop/{number:02d}", prompt=prompt, after=after, gold=GOLD, checked="agreed")


def skill_with(tmp_path: Path, *questions: FieldQuestion, split: str = "test") -> Path:
    write_lines(tmp_path / "field" / "questions" / f"{split}.jsonl", questions)
    return tmp_path


def test_test_questions_are_asked_only_as_they_were_frozen(tmp_path: Path) -> None:
    folder = skill_with(tmp_path, question(1))
    with pytest.raises(StageError, match="--freeze"):
        load_questions(folder, "test")
    freeze_questions(folder)
    assert load_questions(folder, "test") == [question(1)]
    skill_with(tmp_path, question(1, "how long, roughly?"))
    with pytest.raises(StageError, match="changed since it was frozen"):
        load_questions(folder, "test")


def test_first_questions_about_tidy_folders_are_a_test_of_their_own(tmp_path: Path) -> None:
    skill_with(tmp_path, question(1))
    folder = skill_with(tmp_path, question(2), split="plain")
    with pytest.raises(StageError, match="--freeze"):
        load_questions(folder, "plain")
    freeze_questions(folder)
    assert load_questions(folder, "plain") == [question(2)]
    log_field_look(folder, "plain", ["ours"], "a" * 64, "release 10")
    (look,) = read_lines(folder / "field" / "looks.jsonl", FieldLook)
    assert look.questions == (folder / "field" / "plain.sha256").read_text().strip()
    skill_with(tmp_path, question(2, "how long, roughly?"), split="plain")
    with pytest.raises(StageError, match="changed since it was frozen"):
        load_questions(folder, "plain")


def test_each_look_at_test_questions_is_logged_with_its_reason(tmp_path: Path) -> None:
    folder = skill_with(tmp_path, question(1))
    frozen = freeze_questions(folder)
    with pytest.raises(UsageError, match="--reason"):
        log_field_look(folder, "test", ["ours"], "a" * 64, " ")
    log_field_look(folder, "test", ["ours"], "a" * 64, "release 10")
    (look,) = read_lines(folder / "field" / "looks.jsonl", FieldLook)
    assert (look.reason, look.questions, look.arms) == ("release 10", frozen, ("ours",))


def test_an_id_that_is_there_twice_or_a_follow_up_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="shop/01 is there twice"):
        load_questions(skill_with(tmp_path, question(1), question(1), split="train"), "train")
    with pytest.raises(StageError, match="shop/02 follows a question that is not there"):
        load_questions(skill_with(tmp_path, question(2, after="shop/01"), split="train"), "train")


def test_a_follow_up_is_asked_with_what_it_follows() -> None:
    known = {one.id: one for one in (question(1, "where is retry"), question(2, "and its default?", after="shop/01"))}
    assert prompt_of(known["shop/02"], known) == "where is retry\n\nand its default?"


def test_questions_of_ones_own_are_read_as_they_are_typed(tmp_path: Path) -> None:
    lines: list[dict[str, object]] = [
        {"prompt": "where is the price worked out", "places": ["shop/pricing.py:1-3"], "places_asked": "any"},
        {"prompt": "and who calls it?", "after": 1, "outcome": "absent"},
    ]
    first, second = read_drafts(drafts(tmp_path, *lines), SHOP, "own")
    assert (first.id, first.gold.outcome, second.after) == ("own/01", "answer", "own/01")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"prompt": "x", "places": ["shop/gone.py:1"], "places_asked": "any"}, "there is no shop/gone.py"),
        ({"prompt": "x", "places": ["shop/pricing.py:9000"], "places_asked": "any"}, "the file has"),
        ({"prompt": "x"}, "expected facts, or places that are asked for"),
        ({"prompt": "x", "facts": [["30"]], "after": 4}, "expected the number of an earlier line, got 4"),
        ({"prompt": "x", "facts": [[" "]]}, "expected each fact as one or more texts"),
    ],
)
def test_a_line_that_cannot_be_judged_is_refused_with_its_number(
    tmp_path: Path, line: dict[str, object], problem: str
) -> None:
    with pytest.raises(StageError, match=rf"mine\.jsonl:1: .*{problem}"):
        read_drafts(drafts(tmp_path, line), SHOP, "own")


def test_a_place_in_a_packed_log_is_a_line_of_its_text(tmp_path: Path) -> None:
    (tmp_path / "app.log.gz").write_bytes(gzip.compress(b"one\ntwo\nthree\n"))
    (asked,) = read_drafts(
        drafts(tmp_path, {"prompt": "x", "facts": [["3"]], "places": ["app.log.gz:3"]}), tmp_path, "own"
    )
    assert asked.gold.places == ("app.log.gz:3",)


def test_a_place_in_a_database_names_a_table_that_is_there(tmp_path: Path) -> None:
    shelf = SHOP.parent / "shelf"
    wanted = {"prompt": "x", "facts": [["3"]], "places": ["library.db:nothing.id"]}
    with pytest.raises(StageError, match="there is no table nothing"):
        read_drafts(drafts(tmp_path, wanted), shelf, "own")


def drafts(folder: Path, *lines: Mapping[str, object]) -> Path:
    return write(folder, {"mine.jsonl": "".join(json.dumps(line) + "\n" for line in lines)}) / "mine.jsonl"
