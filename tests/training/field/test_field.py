"""`skillstill field`: arms answer natural questions about real folders, and a person can read what they said."""

import json
import sys
from pathlib import Path

import pytest
from skillstill import cli
from skillstill.models.scripted import ScriptedModel, call
from skillstill.skills.calibration import FEATURES, Calibration
from skillstill.types import Decision, Message, ModelFile
from skillstill_training.evaluation.baseline import Answer, load_baseline
from skillstill_training.field.arms import FieldRow
from skillstill_training.field.draft import read_drafts
from skillstill_training.field.measure import FieldOptions, FieldSet, FieldTest, Subject
from skillstill_training.run.scorecard import FieldArmName, FieldResult
from skillstill_training.stages.field import ask_field
from skillstill_training.util.jsonl import read_lines, write_lines

from tests.scenes import ROOT, SHOP, ScriptedModels, write

pytestmark = pytest.mark.anyio
EXPLORE = ROOT / "skills" / "explore"
BASE = ModelFile(source="file:base.gguf", sha256="1" * 64)
ASKED = [
    {"prompt": "where is the price of a cart worked out", "places": ["shop/cart.py:1-40"], "places_asked": "any"},
    {"prompt": "is there a loyalty programme?", "outcome": "absent"},
    {"prompt": "how much did we sell last week", "outcome": "beyond"},
]
LOOK = call("search", pattern="def total")
ANSWERS: list[Message | str | Exception] = [LOOK, "shop/cart.py:12: it adds up the lines", LOOK, "Yes.", "escalate: no"]


def own_questions(tmp_path: Path) -> Path:
    return write(tmp_path, {"mine.jsonl": "".join(json.dumps(one) + "\n" for one in ASKED)}) / "mine.jsonl"


def field_set(tmp_path: Path) -> FieldSet:
    questions = read_drafts(own_questions(tmp_path), SHOP, "own")
    return FieldSet(questions, {one.id: one for one in questions}, {"own": SHOP})


async def measured(subject: Subject, tmp_path: Path, models: ScriptedModels, arm: FieldArmName = "ours") -> FieldTest:
    options = FieldOptions(arms=(arm,))
    return await ask_field(EXPLORE, subject, field_set(tmp_path), tmp_path / "out", options, models=models)


async def asked(tmp_path: Path, models: ScriptedModels, arm: FieldArmName = "ours") -> FieldResult:
    return (await measured(Subject(BASE), tmp_path, models, arm)).result


async def test_each_answer_is_judged_and_can_be_read(tmp_path: Path) -> None:
    result = await asked(tmp_path, ScriptedModels(ScriptedModel(ANSWERS)))
    (ours,) = result.scores
    assert ours.questions == 3
    assert ours.verdicts["handed back rightly"] == 1
    page = (tmp_path / "out" / "validation.html").read_text(encoding="utf-8")
    assert "where is the price of a cart worked out" in page
    assert "<script" not in page
    written = FieldResult.model_validate_json((tmp_path / "out" / "validation.json").read_text(encoding="utf-8"))
    assert written == result


async def test_what_was_asked_is_not_asked_again_unless_the_question_changed(tmp_path: Path) -> None:
    await asked(tmp_path, ScriptedModels(ScriptedModel(ANSWERS)))
    again = ScriptedModels(ScriptedModel([]))
    await asked(tmp_path, again)
    assert not again.specs
    (file,) = (tmp_path / "out").glob("validation.ours.*.jsonl")
    *others, last = read_lines(file, FieldRow)
    write_lines(file, [*others, last.model_copy(update={"prompt": "it was put otherwise"})])
    await asked(tmp_path, again)
    assert len(again.specs) == 1


async def test_a_confidence_is_fitted_to_what_the_model_says_itself(tmp_path: Path) -> None:
    none = (0.0,) * len(FEATURES)
    doubting = Calibration(means=none, scales=(1.0,) * len(FEATURES), weights=none, bias=-5.0, threshold=1.0)
    served = Subject.served(BASE, None, doubting)
    told = []
    for subject in (served, served.to_calibrate(None)):
        doubted = LOOK.model_copy(update={"decisions": (Decision(token="x", logprob=-3.0),)})
        said = [doubted, "It adds up the lines (r1).", *ANSWERS[2:]]
        test = await measured(subject, tmp_path, ScriptedModels(ScriptedModel(said)))
        told.append(test.judged["ours"][0].row.answer.text)
    assert told[0].startswith("  "), "an unsure answer gives way to what is read off"
    assert told[1] == "It adds up the lines (r1)."


async def test_a_search_without_a_model_hands_over_places_and_never_answers(tmp_path: Path) -> None:
    (found,) = (await asked(tmp_path, ScriptedModels(ScriptedModel([])), "retrieval")).scores
    assert found.verdicts.get("right", 0) == 0
    assert found.led.value > 0


def load_baseline_untrained(skill: Path) -> Answer:
    """The baseline of `explore` after two steps of the three minutes in which it learns what a question is about."""
    answer = load_baseline(skill)
    sys.modules["skillstill_baseline_explore_words"].STEPS = 2  # type: ignore[attr-defined]
    return answer


@pytest.mark.usefixtures("as_shipped")
def test_own_questions_are_asked_of_the_release_by_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("skillstill_training.field.arms.load_baseline", load_baseline_untrained)
    arms = ("--arms", "ours,baseline", "--runs", tmp_path / "runs", "--threads", 1, "--json")
    words = ("field", EXPLORE, "--questions", own_questions(tmp_path), "--workspace", SHOP, *arms)
    monkeypatch.setattr(sys, "argv", ["skillstill", *map(str, words)])
    with pytest.raises(SystemExit) as exit:
        cli.main()
    assert not exit.value.code
    told = json.loads(capsys.readouterr().out)
    assert [(one["arm"], one["questions"]) for one in told["scores"]] == [("ours", 3), ("baseline", 3)]
    assert told["adapter"]["sha256"].startswith("7e4be70029f6")
    assert (tmp_path / "runs" / "explore" / "field" / "mine" / "validation.html").is_file()
