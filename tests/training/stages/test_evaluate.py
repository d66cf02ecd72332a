"""The stage that measures: every arm on the same goals, nothing asked twice, one scorecard."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from skillstill.contract import serving_hash
from skillstill.errors import GateError, ModelError, StageError
from skillstill.skills.skill import load_skill
from skillstill.types import Decision, DialectName, Message, Model, ModelFile, ModelSpec, ToolSchema, Usage
from skillstill_training.authoring.families import load_families
from skillstill_training.authoring.goal import Goal
from skillstill_training.authoring.oracle import OracleModel
from skillstill_training.episode import oracle_context
from skillstill_training.evaluation.arm_runs import ArmProgress, OnProgress
from skillstill_training.evaluation.comparisons import Comparisons
from skillstill_training.evaluation.looks import LoggedLook
from skillstill_training.field.looks import FieldLook
from skillstill_training.field.question import FieldQuestion, Gold, freeze_questions
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import EvaluationConfig
from skillstill_training.run.scorecard import ArmName, Count, Outcome, Scorecard
from skillstill_training.stages.evaluate import EvaluationOptions, evaluate
from skillstill_training.util.jsonl import read_lines, write_lines
from skillstill_training.workspaces import tree, workspace_roots

from tests.scenes import write

pytestmark = pytest.mark.anyio

OURS, OTHER, LARGER = (ModelFile(source=f"file:{name}.gguf", sha256=name[0] * 64) for name in ("a", "b", "c"))
PLAN = EvaluationConfig(calibration=18, paired=9)
SURE, UNSURE = -0.05, -2.0  # log-probabilities
TRAINED = '{"traces": 48, "tokens": 9, "learned_tokens": 3, "seconds": 1, "seed": 1, "loss": 0.5}'


class Stand:
    """A subagent that solves the goals which it knows as their plan does, and answers the others with a guess."""

    def __init__(self, skill: Path, goals: Sequence[Goal], knows: Callable[[Goal], bool]) -> None:
        self.families = {family.name: family for family in load_families(skill)}
        self.goals = {goal.prompt: goal for goal in goals}
        self.knows = knows
        self.plan: OracleModel | None = None

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        goal = self.goals[messages[1].content]
        planner = self.families[goal.family].plan
        assert planner
        self.plan = self.plan or OracleModel(planner(goal, context := oracle_context(goal, 0)), context)
        turn = await self.plan.complete(messages, tools, max_tokens=max_tokens)
        if not (self.knows(goal) or turn.calls):
            turn = Message(role="assistant", content="It is 77777 (r1).")
        logprob = SURE if self.knows(goal) else UNSURE
        usage = Usage(prompt=sum(len(message.content) for message in messages))  # a letter a token
        return turn.model_copy(update={"decisions": (Decision(token="x", logprob=logprob),) * 3, "usage": usage})


class Stands:
    """Leases one for each run; counts them by adapter, and breaks down where `lasts` are spent."""

    def __init__(self, skill: Path, folder: RunFolder, knows: Callable[[Goal], bool], ours: ModelFile = OURS) -> None:
        self.skill, self.goals, self.knows, self.ours = skill, folder.frozen_goals(), knows, ours
        self.leased: list[ModelSpec] = []
        self.lasts = 10_000

    @asynccontextmanager
    async def lease(self, spec: ModelSpec) -> AsyncIterator[Model]:
        if len(self.leased) >= self.lasts:
            raise ModelError("the machine is switched off")
        self.leased.append(spec)
        yield Stand(self.skill, self.goals, lambda goal: spec.adapter == self.ours and self.knows(goal))

    def label(self, spec: ModelSpec) -> str:
        return spec.base.source


Scene = tuple[Path, RunFolder, Stands]


@pytest.fixture
def scene(settings: Path, frozen: RunFolder) -> Scene:
    """Frozen goals, a trained adapter, and a subagent that knows all but every fourth goal."""
    write(frozen.adapter, {"trained.json": TRAINED})
    return settings, frozen, Stands(settings, frozen, lambda goal: int(goal.id, 16) % 4 > 0)


async def measured(
    scene: Scene,
    adapter: ModelFile = OURS,
    *,
    on_progress: OnProgress = lambda progress: None,
    **changed: object,
) -> Scorecard:
    settings, folder, models = scene
    options = {"comparisons": Comparisons(larger=LARGER, wrong=OTHER), "plan": PLAN, **changed}
    return await evaluate(
        settings,
        folder,
        adapter,
        EvaluationOptions(**options),  # type: ignore[arg-type]
        models=models,
        on_progress=on_progress,
    )


def rows(folder: RunFolder, arm: ArmName) -> Sequence[Outcome]:
    return read_lines(folder.outcomes("test", arm), Outcome)


async def test_test_workspaces_that_a_model_has_made_are_counted(scene: Scene) -> None:
    sources = scene[0] / "sources.toml"
    text = sources.read_text(encoding="utf-8")
    sources.write_text(text.replace('split = "test"', 'split = "test"\nmade_by = "big"'), encoding="utf-8")
    assert (await measured(scene)).made == text.count('split = "test"') > 0


async def test_every_arm_is_scored_ours_and_the_baseline_on_all_goals_slow_ones_on_a_paired_part(
    scene: Scene,
) -> None:
    scorecard = await measured(scene)
    scores = {one.arm: one for one in scorecard.arms}
    assert list(scores) == ["baseline", "stock", "larger", "ours", "wrong", "teacher"]
    assert {name: one.goals.asked for name, one in scores.items()} == {
        "baseline": 24, "stock": 9, "larger": 9, "ours": 24, "wrong": 9, "teacher": 9,
    }  # fmt: skip
    assert scores["teacher"].success.value == 1
    assert scores["stock"].success.value == scores["wrong"].success.value < scores["ours"].success.value < 1
    assert {family: count.asked for family, count in scores["stock"].families.items()} == {
        "beyond": 3, "direct": 3, "linked": 3,
    }  # fmt: skip
    assert Scorecard.model_validate_json(scene[1].scorecard.read_text(encoding="utf-8")) == scorecard
    assert scorecard.contract == serving_hash(load_skill(scene[0]), scorecard.base, OURS)
    assert (scorecard.gates, scorecard.verdict, scorecard.trained.traces) == ((), None, 48)


async def test_success_is_what_the_checks_say_and_held_out_families_stand_beside_it(scene: Scene) -> None:
    ours = (await measured(scene)).arm("ours")
    assert ours
    goals = [goal for goal in scene[1].frozen_goals() if goal.split == "test"]
    known = {family: [scene[2].knows(goal) for goal in goals if goal.family == family] for family in ours.families}
    assert ours.families == {family: Count(solved=sum(all), asked=8) for family, all in known.items()}
    assert ours.success.value == pytest.approx(sum(map(sum, known.values())) / 24, abs=1e-4)
    assert {family: count.asked for family, count in ours.held_out.items()} == {"again": 4}
    assert ours.unseen.asked + ours.seen.asked == sum(count.asked for count in ours.by_calls.values()) == 24
    assert set(ours.by_calls) <= {"0", "1", "2", "3+"}


async def test_a_difference_is_taken_on_the_goals_that_both_were_asked(scene: Scene) -> None:
    found = {(one.other, one.on): one for one in (await measured(scene)).differences}
    assert {other for other, _ in found} == {"baseline", "stock", "larger", "wrong", "teacher"}
    assert found["baseline", "all"].n == 24
    assert found["baseline", "hard"].n == 8
    assert {one.workspaces for one in found.values()} == {1}
    assert found["stock", "all"].n == 9
    assert found["stock", "all"].points.value > 0 >= found["teacher", "all"].points.value


async def test_each_failure_of_ours_has_a_cause(scene: Scene) -> None:
    scorecard = await measured(scene)
    failed = {one.goal: one for one in rows(scene[1], "ours") if not (one.passed or one.held_out)}
    assert sum(cause.count for cause in scorecard.causes) == len(failed) > 0
    assert {goal for cause in scorecard.causes for goal in cause.goals} <= failed.keys()
    assert {cause.kind for cause in scorecard.causes} >= {
        "answered: it does not state …",
        "escalate: it was given without a successful tool call",
    }


async def test_an_outcome_holds_its_trace_without_clock_machine_and_schemas(scene: Scene) -> None:
    await measured(scene)
    one = next(one for one in rows(scene[1], "ours") if one.passed and one.status == "answered")
    assert one.trace
    assert (one.trace.workspace, one.trace.tools, one.trace.tally.seconds) == ("chrome", (), 0)
    assert one.features
    assert one.turns == one.trace.tally.turns == one.calls + 1


async def test_what_a_right_answer_saves_its_caller_is_what_was_read_on_the_way_to_it(scene: Scene) -> None:
    scorecard = await measured(scene)
    outcomes = [one for one in rows(scene[1], "ours") if one.trace]
    for one in outcomes:
        assert one.trace
        read = sum(len(message.content) for message in one.trace.messages if message.role == "tool")
        assert one.saved_tokens == (read if one.passed else 0)
    ours = scorecard.arm("ours")
    assert ours
    told = [one.saved_tokens for one in outcomes if not one.held_out]
    assert ours.saved_tokens == pytest.approx(sum(told) / len(told), abs=1e-3)


async def test_a_confidence_is_calibrated_on_validation_goals(scene: Scene) -> None:
    scorecard = await measured(scene)
    assert scorecard.calibration
    assert (scorecard.selective.calibrated_on, scorecard.calibration.goals) == (18, 18)
    answers = [one for one in rows(scene[1], "ours") if one.status == "answered"]
    right = [scorecard.calibration.confidence(one.features) for one in answers if one.passed]
    wrong = [scorecard.calibration.confidence(one.features) for one in answers if not one.passed]
    assert min(right) > max(wrong)


async def test_an_evaluation_that_broke_off_goes_on_and_asks_nothing_twice(scene: Scene) -> None:
    models = scene[2]
    models.lasts = 25
    with pytest.raises(ModelError, match="switched off"):
        await measured(scene)
    kept = next(scene[1].outcomes("test", "ours").parent.rglob("validation.ours.jsonl"))
    kept.write_text(kept.read_text(encoding="utf-8") + '{"goal": "torn', encoding="utf-8")
    models.lasts = 10_000
    scorecard = await measured(scene)
    assert len(models.leased) == 18 + 28 + 3 * 9
    assert await measured(scene) == scorecard
    assert len(models.leased) == 18 + 28 + 3 * 9


async def test_another_adapter_is_asked_anew_and_nobody_else_is(scene: Scene) -> None:
    await measured(scene)
    before = len(scene[2].leased)
    await measured(scene, OTHER, comparisons=Comparisons(larger=LARGER))
    assert [spec.adapter for spec in scene[2].leased[before:]] == [OTHER] * (18 + 28)
    assert not any(one.passed for one in rows(scene[1], "ours") if one.family == "linked")


async def test_another_loop_is_asked_anew(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    await measured(scene)
    before = len(scene[2].leased)
    monkeypatch.setattr("skillstill.contract.hashes.DECODING", "otherwise")
    await measured(scene)
    assert len(scene[2].leased) == 2 * before
    kept = [file.parent.name for file in scene[1].path.rglob("test.baseline.jsonl")]
    assert len(kept) == 2, "the baseline knows no loop: one key, and what is told"


async def test_stock_models_are_told_the_skill_and_a_tuned_one_its_line(scene: Scene) -> None:
    await measured(scene)
    told = {
        arm: {one.trace.messages[0].content for one in rows(scene[1], arm) if one.trace} for arm in ("ours", "stock")
    }
    assert told["ours"] == {"settings"}
    assert len(told["stock"]) == 1
    assert min(map(len, told["stock"])) > 100
    dialects = {spec.adapter: spec.dialect for spec in scene[2].leased}
    assert dialects == {OURS: DialectName.LINES, OTHER: DialectName.LINES, None: DialectName.HERMES}


async def test_arms_whose_file_nobody_named_are_left_out_and_ours_never_is(scene: Scene) -> None:
    scorecard = await measured(scene, comparisons=Comparisons(), arms=("baseline", "larger", "wrong"))
    assert [one.arm for one in scorecard.arms] == ["baseline", "ours"]


async def test_each_look_at_the_test_set_is_logged_once(scene: Scene) -> None:
    await measured(scene)
    await measured(scene)
    await measured(scene, OTHER, arms=("baseline",))
    looks = read_lines(scene[1].looks, LoggedLook)
    assert [(len(look.arms), look.adapter) for look in looks] == [(6, OURS.sha256), (2, OTHER.sha256)]


async def test_progress_tells_arm_split_and_how_many_are_solved(scene: Scene) -> None:
    told: list[ArmProgress] = []
    scorecard = await measured(scene, on_progress=told.append)
    last = {(one.split, one.arm): one for one in told}
    assert last["validation", "ours"].done == last["validation", "ours"].goals == 18
    teacher = scorecard.arm("teacher")
    assert teacher
    assert last["test", "teacher"].solved == teacher.goals.solved


async def test_goals_in_training_wordings_are_few_and_the_choice_is_the_same_for_every_adapter(scene: Scene) -> None:
    plan = EvaluationConfig(calibration=18, per_family=3, seen=1, arms=("baseline",))
    scorecard = await measured(scene, plan=plan)
    asked = [one.goal for one in rows(scene[1], "ours")]
    ours = scorecard.arm("ours")
    assert ours
    assert (ours.unseen.asked, ours.seen.asked) == (9, 3)
    await measured(scene, OTHER, plan=plan)
    assert [one.goal for one in rows(scene[1], "ours")] == asked


async def test_a_model_that_cannot_run_at_all_is_no_score_of_zero(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: Stand, *messages: object, **limits: object) -> Message:
        raise ModelError("llama.cpp cannot load the adapter a.gguf: it is for another base")

    monkeypatch.setattr(Stand, "complete", broken)
    with pytest.raises(
        StageError, match=r"failed on each of the 18 validation goals: llama\.cpp cannot load the adapter"
    ):
        await measured(scene)
    assert not scene[1].scorecard.exists()


async def test_a_run_that_fails_is_an_outcome_and_is_tried_again_the_next_time(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Stand.complete

    async def stumbling(self: Stand, messages: Sequence[Message], *rest: object, **limits: int) -> Message:
        if self.goals[messages[1].content].family == "again":
            raise ModelError("no memory")
        return await whole(self, messages, *rest, **limits)  # type: ignore[arg-type]

    monkeypatch.setattr(Stand, "complete", stumbling)
    await measured(scene)
    failed = [one for one in rows(scene[1], "ours") if one.status == "failed"]
    assert [(one.family, one.why) for one in failed] == [("again", "no memory")] * 4
    monkeypatch.undo()
    before = len(scene[2].leased)
    await measured(scene)
    assert len(scene[2].leased) == before + 4


async def test_too_few_validation_goals_are_said_before_anyone_looks_at_a_test(scene: Scene) -> None:
    with pytest.raises(GateError, match="at least 400 validation goals, here are 18"):
        await measured(scene, plan=EvaluationConfig())
    assert not scene[1].looks.exists()
    assert not scene[2].leased, "nobody was asked"


async def test_without_a_trained_adapter_one_is_told_to_train_it(scene: Scene) -> None:
    (scene[1].adapter / "trained.json").unlink()
    with pytest.raises(StageError, match="train the adapter first"):
        await measured(scene)


async def test_an_adapter_is_measured_on_field_questions_too_and_each_look_is_logged(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, folder, models = scene
    goal = next(one for one in folder.frozen_goals() if one.split == "test" and models.knows(one))
    root = workspace_roots(settings, {goal.workspace})[goal.workspace]
    source = f'[[workspace]]\nname = "own"\nsplit = "test"\nsource = "folder:{root}"\nsha256 = "{tree.sha256(root)}"\n'
    gold = Gold(outcome="answer", answer="nobody can say that so", facts=(("a fact that no answer states",),))
    asked = FieldQuestion(id="own/01", prompt=goal.prompt, gold=gold, checked="agreed")
    write(settings, {"field/sources.toml": source})
    write_lines(settings / "field" / "questions" / "test.jsonl", [asked])
    freeze_questions(settings)
    monkeypatch.setattr("skillstill_training.stages.evaluate.FIELD_GATES", ("ours", "retrieval"))
    scorecard = await measured(scene)
    assert scorecard.field
    assert [(one.arm, one.questions) for one in scorecard.field.scores] == [("ours", 1), ("retrieval", 1)]
    assert (folder.field / "test.html").is_file()
    (look,) = read_lines(settings / "field" / "looks.jsonl", FieldLook)
    assert (look.adapter, look.reason) == (OURS.sha256, f"evaluation of {folder.path.name}")
