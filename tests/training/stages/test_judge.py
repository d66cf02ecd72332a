"""Judged figures of a student: who is asked what, what nobody pays for twice, and what is never made of them."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from skillstill import cli
from skillstill.errors import BudgetSpent, GateError, TeacherError
from skillstill.models.remote import Endpoint
from skillstill.types import ModelFile
from skillstill_training.authoring.checks import Criterion, Judged
from skillstill_training.cli.judged_output import print_judged
from skillstill_training.report.page.page import write_page
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.judged import JudgedFigures, read_judged
from skillstill_training.run.scorecard import Outcome
from skillstill_training.stages.judge import ENOUGH, JudgingOptions, held_out, judge_student
from skillstill_training.stages.publish import publish
from skillstill_training.teachers import TraceRow
from skillstill_training.teachers.forecast import Forecast
from skillstill_training.teachers.large_models import EndpointModel
from skillstill_training.teachers.ledger import Budget, Ledger, Price
from skillstill_training.teachers.probe import interleave_families
from skillstill_training.teachers.rubric import RubricJudge
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import read_lines, write_lines

from tests.scenes import write
from tests.server.models.openai_server import OpenAiServer
from tests.training.design.test_rubric import CRITERIA, Mind
from tests.training.stages.test_evaluate import Stands
from tests.training.stages.test_publish import PROOF
from tests.training.teachers.toy import QUICK

pytestmark = pytest.mark.anyio
RUBRIC = Judged(criteria=tuple(Criterion(**one) for one in CRITERIA))
BASE = ModelFile(source="file:base.gguf", sha256="b" * 64)
ASK = 25  # tokens that the server says it used
PROOF_ASKS = 9  # three attempts, each spoiled in three ways


@dataclass
class Scene:
    """A skill with a rubric, its run as the stage `export` leaves it, a student that knows a part, and a judge."""

    settings: Path
    run: RunFolder
    models: Stands
    mind: Mind
    adapter: ModelFile
    ledger: Ledger

    async def judged(self, **options: object) -> JudgedFigures:
        judge = RubricJudge(EndpointModel(Endpoint(self.mind.server.url, "big")), self.ledger, QUICK, "figures")
        one_by_one = JudgingOptions(at_once=1, **options)  # type: ignore[arg-type]
        return await judge_student(self.settings, self.run, BASE, self.adapter, judge, one_by_one, models=self.models)

    def outcomes(self, arm: str) -> list[Outcome]:
        files = [self.run.attempts(split, arm) for split in ("validation", "test")]
        return [row for file in files for row in read_lines(file, Outcome)]


@pytest.fixture
def scene(settings: Path, traced: RunFolder, server: OpenAiServer) -> Iterator[Scene]:
    goals = traced.frozen_goals()
    chosen = [interleave_families([goal for goal in goals if goal.split == split], most) for split, most in COUNTS]
    traced.exported.write_bytes(b"GGUF")
    adapter = ModelFile(source=f"file:{traced.exported}", sha256=file_sha256(traced.exported))
    models = Stands(settings, traced, lambda goal: int(goal.id, 16) % 3 > 0, adapter)
    judged = [goal.model_copy(update={"check": RUBRIC}) for part in chosen for goal in part]
    write_lines(traced.goals, judged)
    traced.freeze(settings)
    known = {row.trace.prompt: row.trace.report.answer for row in read_lines(traced.traces, TraceRow) if row.trace}
    server.turns = mind = Mind(server)  # type: ignore[assignment]
    mind.holds = lambda question, answer: answer == known.get(question, answer) and "77777" not in answer
    mind.evidence = ""  # it quotes what the tools have shown
    with Ledger(traced.path / "ledger.jsonl", Price.parse("1,1,10")) as ledger:
        yield Scene(settings, traced, models, mind, adapter, ledger)


COUNTS = (("train", 1_000), ("validation", 3), ("test", 9))


async def test_the_share_is_that_of_all_goals_whose_answers_hold_every_criterion(scene: Scene) -> None:
    scene.mind.always = {1}
    figures = await scene.judged()
    ours = scene.outcomes("ours")
    answered = [one for one in ours if one.status == "answered"]
    right = [one for one in answered if one.trace and "77777" not in one.trace.report.answer]
    assert (figures.n, len(ours), figures.splits) == (12, 12, ("validation", "test"))
    assert 0 < len(right) < len(answered) < len(ours), "some are wrong, and some are handed back"
    assert figures.student.good.value == pytest.approx(len(right) / 12, abs=1e-4)
    assert figures.student.good.low < figures.student.good.value < figures.student.good.high
    first, *others = [one.share for one in figures.student.criteria]
    assert first == pytest.approx(len(answered) / 12, abs=1e-4)
    assert others == [pytest.approx(len(right) / 12, abs=1e-4)] * 3
    assert [one.asks for one in figures.student.criteria] == [one["asks"] for one in CRITERIA]
    assert (figures.untrained.good.value, figures.gain.value) == (0, figures.student.good.value)
    assert read_judged(scene.run) == figures


async def test_what_is_handed_back_is_asked_of_nobody_and_each_ask_is_in_the_ledger(scene: Scene) -> None:
    figures = await scene.judged()
    answered = figures.student.answered + figures.untrained.answered
    assert answered < 2 * figures.n
    assert len(scene.mind.server.requests) == PROOF_ASKS + answered
    assert figures.tokens == ASK * len(scene.mind.server.requests)
    assert figures.usd == pytest.approx(sum(one.usd or 0 for one in scene.ledger.entries), abs=1e-6)
    assert {entry.purpose for entry in scene.ledger.entries} == {"figures"}


async def test_interrupted_it_goes_on_and_neither_runs_nor_asks_anything_twice(scene: Scene) -> None:
    scene.ledger.budget = Budget(tokens=(PROOF_ASKS + 4) * ASK)
    with pytest.raises(BudgetSpent, match="the same command with a larger budget goes on"):
        await scene.judged()
    assert not scene.run.judged.exists()
    with scene.run.verdicts.open("a", encoding="utf-8") as file:
        file.write('{"key": "torn')
    scene.ledger.budget = Budget()
    figures = await scene.judged()
    assert len(scene.models.leased) == 2 * figures.n
    assert len(scene.mind.server.requests) == PROOF_ASKS + figures.student.answered + figures.untrained.answered
    assert await scene.judged() == figures
    assert len(scene.models.leased) == 2 * figures.n


async def test_another_adapter_is_judged_anew_and_the_base_is_not(scene: Scene) -> None:
    first = await scene.judged()
    asked = len(scene.mind.server.requests)
    scene.run.exported.write_bytes(b"GGUF of another training")
    assert read_judged(scene.run) is None, "figures of another adapter are not shown"
    scene.adapter = ModelFile(source=scene.adapter.source, sha256=file_sha256(scene.run.exported))
    second = await scene.judged()
    assert second.untrained == first.untrained
    assert second.student.good.value == 0
    assert len(scene.mind.server.requests) == asked + second.student.answered


async def test_a_judge_that_lets_a_spoiled_attempt_pass_judges_no_student(scene: Scene) -> None:
    scene.mind.holds = lambda question, answer: True
    with pytest.raises(TeacherError, match="the rubric is refused: its judge accepts an empty answer"):
        await scene.judged()
    assert (scene.models.leased, scene.run.judged.exists()) == ([], False)


async def test_whoever_pays_hears_first_what_is_left_and_can_leave_it_at_that(scene: Scene) -> None:
    heard: list[Forecast] = []

    def refuses(forecast: Forecast) -> bool:
        heard.append(forecast)
        return False

    with pytest.raises(TeacherError, match="nothing more was spent; what was answered is kept"):
        await scene.judged(agrees=refuses)
    figures = await scene.judged()
    (forecast,) = heard
    assert forecast.judged == figures.student.answered + figures.untrained.answered
    assert (forecast.tokens, forecast.seen) == (forecast.judged * ASK, PROOF_ASKS)
    assert str(forecast).startswith(f"{forecast.judged} answers to judge: about {forecast.tokens} tokens")
    assert len(scene.mind.server.requests) == PROOF_ASKS + forecast.judged
    assert await scene.judged(agrees=refuses) == figures, "nothing is left to pay, and nobody is asked"


async def test_wherever_figures_are_shown_stands_who_judged(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    figures = await scene.judged()
    label = f"judged by endpoint:{scene.mind.server.url}#big"
    assert f"What it answers, {label} <small>not verified</small>" in write_page(scene.run).read_text(encoding="utf-8")
    print_judged(figures, scene.run, as_json=False)
    out = capsys.readouterr().out
    assert out.startswith(f"{label}, not verified: answers to 12 validation and test goals")
    assert all(one["asks"] in out for one in CRITERIA)
    assert "verified success" not in out.lower()


async def test_nothing_is_registered_of_judged_figures_even_beside_a_scorecard(scene: Scene) -> None:
    figures = await scene.judged()
    scene.run.scorecard.write_text(figures.model_dump_json(), encoding="utf-8")
    registry = scene.settings.parent / "registry.json"
    with pytest.raises(GateError, match="there is nothing to verify, and nothing to register"):
        publish(scene.settings, scene.run, registry, PROOF)
    assert not registry.exists()


async def test_goals_that_programs_check_are_not_judged(scene: Scene, settings_goals: RunFolder) -> None:
    scene.run.goals.write_bytes(settings_goals.goals.read_bytes())
    scene.run.freeze(scene.settings)
    with pytest.raises(GateError, match="programs check these goals, and no rubric judges them"):
        await scene.judged()
    assert not scene.mind.server.requests


def test_validation_goals_are_asked_only_if_test_goals_are_few(settings_goals: RunFolder) -> None:
    goals = settings_goals.frozen_goals()
    tests = [goal for goal in goals if goal.split == "test"]
    many = [*goals, *tests, *tests][: len(goals) + ENOUGH]
    assert {goal.split for goal in held_out(goals)} == {"validation", "test"}
    assert {goal.split for goal in held_out(many)} == {"test"}


@pytest.mark.parametrize("command", ["train", "judge"])
def test_without_a_teacher_that_can_judge_it_says_so_before_anything_is_done(
    settings: Path,
    frozen: RunFolder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    write(settings, {"rubric.toml": ""})
    monkeypatch.setattr(
        sys, "argv", ["skillstill", command, str(settings), "--run", str(frozen.path), "--teacher", "constructed"]
    )
    with pytest.raises(SystemExit) as exit:
        cli.main()
    assert exit.value.code == 64
    assert (
        "settings: a rubric judges its answers, and a rubric needs a teacher that can judge" in capsys.readouterr().err
    )
    assert not frozen.traces.exists()
