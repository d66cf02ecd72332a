"""From a scorecard to a verdict, and to a release only where every gate holds."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from skillstill.contract import provenance_hash, serving_hash
from skillstill.errors import GateError, StageError
from skillstill.runtime import check_fresh, reason_to_remeasure
from skillstill.skills import releases
from skillstill.skills.calibration import Calibration
from skillstill.skills.familiarity import Familiarity
from skillstill.skills.registry import ListedEntry, Registry, read_registry
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile
from skillstill.util.storage import write_atomically
from skillstill_training.evaluation.calibration import GradedAnswer, GradedField
from skillstill_training.evaluation.looks import log_look
from skillstill_training.evaluation.verdicts import judge_scorecard
from skillstill_training.run.base import HUBS
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import EvaluationConfig, load_recipe
from skillstill_training.run.scorecard import (
    ArmName,
    ArmScore,
    Count,
    Difference,
    ExportProof,
    FieldGain,
    FieldResult,
    FieldScore,
    Gate,
    Interval,
    Scorecard,
    Selective,
    Trained,
)
from skillstill_training.stages.publish import publish, recalibrate, record_field, registry_of
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import write_lines

pytestmark = pytest.mark.anyio
PARITY = Gate(name="parity", passed=True, told="torch and llama.cpp say the same")
PROOF = ExportProof(adapter="2" * 64, base="1" * 64, gate=PARITY)
BASE = ModelFile(source="file:elsewhere.gguf", sha256="1" * 64)
ADAPTER = ModelFile(source="file:6-adapter.gguf", sha256="2" * 64)
CALIBRATION = Calibration(means=(0.0,), scales=(1.0,), weights=(1.0,), bias=0.0, threshold=0.9, goals=400)


def between(value: float, low: float, high: float) -> Interval:
    return Interval(value=value, low=low, high=high)


def arm(name: ArmName, success: float, **others: Any) -> ArmScore:
    solved = Count(solved=int(100 * success), asked=100)
    parts = {"families": {"direct": solved}, "unseen": solved, "seen": solved, "by_calls": {"1": solved}}
    return ArmScore.model_validate(
        {"arm": name, "label": name, "success": between(success, success - 0.1, success + 0.1), "goals": solved}
        | {"seconds": 3.14159, **parts, **others}
    )


def field_test(asked: int = 300, larger: tuple[float, float] | None = (0.1, 0.3), right: int = 150) -> FieldResult:
    """Ours right in 60 % of the questions, so many points better than the larger model."""
    shares = dict.fromkeys(("good", "right", "silently_wrong", "unwarned", "led"), between(0.6, 0.5, 0.7))
    verdicts = {"right": right, "handed back rightly": 30, "wrong, no warning": 12}
    ours = FieldScore.model_validate(
        {"arm": "ours", "label": "ours", "questions": asked, "workspaces": 15, "unwarned_answers": 90, **shares}
        | {"verdicts": verdicts, "by_sort": {}, "by_workspace": {}, "seconds": 1.25}
    )
    gains = (
        (FieldGain(other="larger-direct", questions=60, workspaces=15, points=between(0.2, *larger)),) if larger else ()
    )
    return FieldResult(
        skill="settings",
        split="test",
        base=BASE,
        adapter=ADAPTER,
        contract="",
        machine="2 cores",
        scores=(ours,),
        gains=gains,
    )


def scorecard(*, without: Iterable[str] = (), **changes: Any) -> Scorecard:
    """Ours at 80 %, far above everything else; `changes` in low and high bounds by arm, or in its own fields."""
    bounds: dict[ArmName, tuple[float, float]] = {
        "stock": (0.5, 0.7), "larger": (0.1, 0.3), "baseline": (0.1, 0.3), "wrong": (0.4, 0.9), "teacher": (-0.3, -0.1)
    }  # fmt: skip
    bounds |= {name: changes.pop(name) for name in tuple(changes) if name in bounds}
    found = {name: (low + high) / 2 for name, (low, high) in bounds.items()}
    arms = [arm("ours", 0.8, **changes.pop("ours", {})), *(arm(one, 0.8 - found[one]) for one in bounds)]
    size = {"n": changes.pop("n", 60), "workspaces": changes.pop("workspaces", 8)}
    differences = [
        Difference(other=one, on=on, points=between(found[one], *bounds[one]), **size)
        for one in bounds
        for on in ("all", "unseen")
    ]
    return Scorecard(
        skill="settings",
        base=BASE,
        adapter=ADAPTER,
        dialect="lines/1",
        goals="3" * 64,
        machine="2 cores",
        trained=changes.pop("trained", Trained(traces=48, tokens=900, learned_tokens=90, seconds=9, seed=1, loss=0.1)),
        arms=tuple(one for one in arms if one.arm not in without),
        differences=tuple(one for one in differences if one.other not in without),
        selective=Selective(
            calibrated_on=changes.pop("calibrated_on", 400),
            threshold=0.9,
            coverage=0.6,
            accuracy=0.96,
            escalated=40,
            rightly=0.7,
            curve=(),
        ),
        calibration=CALIBRATION,
        causes=(),
        field=changes.pop("field", field_test()),
        **changes,
    )


@pytest.mark.parametrize(
    ("changes", "verdict", "failed"),
    [
        ({}, "released", []),
        ({"stock": (-0.01, 0.2)}, "not better than its base", ["stock"]),
        ({"larger": (-0.01, 0.2)}, "not good enough", ["larger"]),
        ({"baseline": (-0.2, -0.01)}, "better as a plain script", ["baseline"]),
        ({"baseline": (-0.2, 0.0)}, "released", []),
        ({"baseline": (-0.2, -0.01), "stock": (-0.2, 0.1)}, "not better than its base", ["stock", "baseline"]),
        ({"wrong": (0.3, 0.48)}, "not better than its base", ["wrong"]),
        ({"ours": {"repeated": 0.01}}, "not good enough", ["repeats"]),
        ({"ours": {"misused": 0.02}}, "not good enough", ["misuse"]),
        ({"ours": {"by_calls": {"3+": {"solved": 0, "asked": 9}}}}, "not good enough", ["cells"]),
        ({"ours": {"families": {"linked": {"solved": 0, "asked": 9}}}}, "not good enough", ["cells"]),
        ({"ours": {"goals": {"solved": 0, "asked": 0}}}, "not verifiable", ["checks"]),
        ({"without": ["ours"]}, "not verifiable", ["checks"]),
        ({"without": ["larger"]}, "not verifiable", ["larger"]),
        ({"without": ["baseline"]}, "not verifiable", ["baseline"]),
        ({"without": ["wrong"]}, "not verifiable", ["wrong"]),
        ({"n": 59}, "not verifiable", ["stock", "larger", "baseline", "wrong"]),
        ({"workspaces": 7}, "not verifiable", ["stock", "larger", "baseline", "wrong"]),
        ({"n": 59, "ours": {"misused": 0.02}}, "not good enough", ["stock", "larger", "baseline", "wrong", "misuse"]),
        ({"calibrated_on": 399}, "not verifiable", ["confidence"]),
        ({"field": None}, "not verifiable", ["field"]),
        ({"field": field_test(asked=29)}, "not verifiable", ["field"]),
        ({"field": field_test(larger=(-0.01, 0.2))}, "not good enough", ["field larger"]),
        ({"field": field_test(larger=None)}, "not verifiable", ["field larger"]),
        ({"without": ["wrong"], "baseline": (-0.2, -0.01)}, "better as a plain script", ["baseline", "wrong"]),
    ],
)
def test_each_verdict_has_its_reason(changes: dict[str, Any], verdict: str, failed: list[str]) -> None:
    found = judge_scorecard(scorecard(**changes), [PARITY], EvaluationConfig())
    assert found.verdict == verdict
    assert [gate.name for gate in found.gates if not gate.passed] == failed


def test_a_gate_tells_what_came_and_what_was_expected() -> None:
    gates = {gate.name: gate.told for gate in judge_scorecard(scorecard(), [PARITY], EvaluationConfig()).gates}
    assert gates["stock"] == "+60.0 points (+50.0 to +70.0, 60 goals) against the stock base; expected a lower bound above 0"  # fmt: skip # noqa: E501
    assert gates["wrong"].startswith("15.0% with another skill's adapter, 80.0% with ours on the same goals")
    assert gates["cells"] == "something solved in each of 2 cells"


def test_an_arm_that_the_recipe_does_not_ask_for_may_be_absent() -> None:
    found = judge_scorecard(
        scorecard(without=["larger", "wrong"]), [PARITY], EvaluationConfig(arms=("baseline", "stock", "ours"))
    )
    assert found.verdict == "released"
    told = next(gate.told for gate in found.gates if gate.name == "larger")
    assert told == "not run: the larger stock model; the recipe does not ask for it"


def test_if_only_natural_questions_judge_made_ones_are_told() -> None:
    careless = scorecard(ours={"misused": 0.05, "by_calls": {"3+": {"solved": 0, "asked": 9}}})
    found = judge_scorecard(careless, [PARITY], EvaluationConfig(arms=("ours",)))
    assert found.verdict == "released"
    assert {"cells", "misuse"}.isdisjoint(gate.name for gate in found.gates)


def test_a_recipe_may_want_less_and_never_more_than_is_enough() -> None:
    small = scorecard(n=9, workspaces=2, calibrated_on=18)
    assert (
        judge_scorecard(small, [PARITY], EvaluationConfig(paired=9, workspaces=2, calibration=18)).verdict == "released"
    )
    told = {
        gate.name: gate.told
        for gate in judge_scorecard(small, [PARITY], EvaluationConfig(paired=200, calibration=900)).gates
    }
    assert told["stock"] == "9 goals in 2 workspaces against the stock base; expected at least 60 in 8"
    assert told["confidence"] == "the confidence comes from 18 validation goals; expected at least 400"


@pytest.mark.parametrize("masks", [0, 900])
def test_masks_and_parity_come_before_all_figures(masks: int) -> None:
    all_learned = Trained(traces=1, tokens=900, learned_tokens=masks, seconds=1, seed=1, loss=0.1)
    assert (
        judge_scorecard(scorecard(trained=all_learned, stock=(-1, 0)), [PARITY], EvaluationConfig()).verdict
        == "parity failed"
    )
    broken = Gate(name="parity", passed=False, told="KL 0.54")
    assert judge_scorecard(scorecard(stock=(-1, 0)), [broken], EvaluationConfig()).verdict == "parity failed"


@pytest.fixture
def evaluated(settings: Path, frozen: RunFolder) -> RunFolder:
    """A run whose scorecard deserves a release."""
    frozen.exported.write_bytes(b"GGUF, an adapter")
    _evaluated(settings, frozen)
    return frozen


def _evaluated(settings: Path, folder: RunFolder, **changes: Any) -> None:
    adapter = ModelFile(source="file:6-adapter.gguf", sha256=file_sha256(folder.exported))
    card = scorecard(**changes).model_copy(update={"adapter": adapter, "goals": file_sha256(folder.goals)})
    contract = serving_hash(load_skill(settings), card.base, adapter)
    write_atomically(folder.scorecard, card.model_copy(update={"contract": contract}).model_dump_json())


async def test_a_release_is_what_the_runtime_serves(settings: Path, evaluated: RunFolder) -> None:
    registry = registry_of(settings)
    assert registry == settings.parent / "registry.json"
    assert publish(settings, evaluated, registry, PROOF).verdict == "released"
    listed = Registry(registry).entry("settings")
    entry, skill = listed.entry, listed.skill()
    assert (entry.state, entry.skill, entry.base, entry.calibration) == ("released", "settings", BASE, CALIBRATION)
    assert entry.measured
    counted = {"right": 150, "handed_back": 30, "sure": 90, "silently_wrong": 12}
    field = {"asked": 300, "workspaces": 15, **counted, "led": 0.6}
    made = {"success": 0.8, "n": 100, "seconds": 3.14, "sure": 0.6, "right": 0.96}
    assert entry.measured.model_dump() == {**made, "field": {**field, "seconds": 1.25}}
    assert entry.expectation.startswith("Measured: 180 of 300 natural questions right or rightly handed back, a ")
    assert entry.adapter
    assert Path(entry.adapter.source.removeprefix("file:")).read_bytes() == evaluated.exported.read_bytes()
    assert entry.serving_hash == serving_hash(skill, BASE, entry.adapter)
    assert entry.provenance_hash == provenance_hash(settings, file_sha256(evaluated.goals))
    check_fresh(listed, skill)
    assert reason_to_remeasure(listed) == "", "what was released beside the skill is no part of its provenance"


async def test_a_release_says_how_its_base_behaves_if_that_is_here(
    settings: Path, evaluated: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert publish(settings, evaluated, registry_of(settings), PROOF).verdict == "released"
    assert read_registry(registry_of(settings)).entries[0].base_behaviour is None
    here = load_skill(settings).subagent.base
    monkeypatch.setattr(f"{__name__}.BASE", here)
    _evaluated(settings, evaluated)
    publish(settings, evaluated, registry_of(settings), PROOF.model_copy(update={"base": here.sha256}))
    behaviour = read_registry(registry_of(settings)).entries[0].base_behaviour
    assert behaviour
    assert (behaviour.vocabulary, [len(one.likeliest) for one in behaviour.texts]) == (49_152, [8] * 6)


async def test_the_scorecard_with_its_verdict_lies_in_the_run_and_beside_the_adapter(
    settings: Path, evaluated: RunFolder
) -> None:
    released = publish(settings, evaluated, registry_of(settings), PROOF)
    beside = next(file for file in (settings / "releases").glob("*.json"))
    assert Scorecard.model_validate_json(evaluated.scorecard.read_text("utf-8")) == released
    shipped = Scorecard.model_validate_json(beside.read_text("utf-8"))
    assert shipped.model_copy(update={"adapter": released.adapter}) == released
    assert shipped.adapter.source == f"beside:settings/releases/{beside.stem}.gguf", "not a path of one machine"
    assert beside.with_suffix(".gguf").is_file()


async def test_whoever_shares_the_repository_can_read_what_was_released(settings: Path, evaluated: RunFolder) -> None:
    registry = registry_of(settings)
    publish(settings, evaluated, registry, PROOF)
    evaluated.exported.write_bytes(b"GGUF, a better adapter")
    _evaluated(settings, evaluated)
    publish(settings, evaluated, registry, PROOF)
    shipped = [registry, *(settings / "releases").iterdir()]
    assert {file.suffix for file in shipped} == {".json", ".gguf"}
    assert len(shipped) == 6, "the registry, two adapters and their scorecards, the entry that stood before"
    assert {file.stat().st_mode & 0o777 for file in shipped} == {0o644}
    assert (settings / "releases").stat().st_mode & 0o777 == 0o755


async def test_a_known_entry_keeps_its_title_and_description_and_can_be_gone_back_to(
    settings: Path, evaluated: RunFolder
) -> None:
    registry = registry_of(settings)
    old: dict[str, Any] = {"name": "settings", "title": "Ours", "description": "As we say it.", "state": "untrained"}
    old |= {"skill": "settings", "base": BASE.model_dump(), "search_hint": "keys"}
    registry.write_text(json.dumps({"version": 1, "entries": [old]}), encoding="utf-8")
    before = read_registry(registry)
    publish(settings, evaluated, registry, PROOF)
    entry = read_registry(registry).entries[0]
    assert (entry.title, entry.description, entry.search_hint) == ("Ours", "As we say it.", "keys")
    publish(settings, evaluated, registry, PROOF)
    assert read_registry(registry).entries[0] == entry, "published once more, it is the same release"
    releases.rollback(Registry(registry).entry("settings"))
    assert read_registry(registry) == before


async def test_a_release_on_a_larger_base_stands_beside_the_default_one(
    settings: Path, evaluated: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = registry_of(settings)
    publish(settings, evaluated, registry, PROOF)
    larger = ModelFile(source="file:somewhere/larger.gguf", sha256=next(iter(HUBS)))
    monkeypatch.setattr(f"{__name__}.BASE", larger)
    _evaluated(settings, evaluated, field=field_test(right=151))
    publish(settings, evaluated, registry, PROOF.model_copy(update={"base": larger.sha256}), "0.5b")
    default, beside = read_registry(registry).entries
    assert (default.label, beside.label) == ("settings", "settings@0.5b")
    assert beside.base.source.startswith("hf:Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/"), "not a path of one machine"
    assert Registry(registry).entry("settings@0.5b").entry.base.sha256 == larger.sha256
    assert Registry(registry).entry("settings").entry.size is None, "the larger base is not on this machine"


async def test_a_release_on_a_larger_base_has_to_answer_more_of_what_people_ask(
    settings: Path, evaluated: RunFolder
) -> None:
    registry = registry_of(settings)
    publish(settings, evaluated, registry, PROOF)
    again = publish(settings, evaluated, registry, PROOF, "0.5b")
    assert again.verdict == "not good enough"
    gate = next(gate for gate in again.gates if gate.name == "default")
    assert gate.told == "60.0% of natural questions, the default release 60.0%; expected more"
    assert [entry.label for entry in read_registry(registry).entries] == ["settings"]


@pytest.mark.parametrize(
    ("changes", "parity", "verdict"),
    [
        ({"stock": (-0.1, 0.1)}, True, "not better than its base"),
        ({"baseline": (-0.3, -0.1)}, True, "better as a plain script"),
        ({"ours": {"misused": 0.5}}, True, "not good enough"),
        ({}, False, "parity failed"),
        ({"without": ["ours"]}, True, "not verifiable"),
    ],
)
async def test_without_a_release_nothing_is_registered(
    settings: Path, evaluated: RunFolder, changes: dict[str, Any], parity: bool, verdict: str
) -> None:
    _evaluated(settings, evaluated, **changes)
    before = sorted(settings.parent.rglob("*"))
    proof = PROOF.model_copy(update={"gate": PARITY.model_copy(update={"passed": parity})})
    found = publish(settings, evaluated, registry_of(settings), proof)
    assert found.verdict == verdict
    assert sorted(settings.parent.rglob("*")) == before
    assert Scorecard.model_validate_json(evaluated.scorecard.read_text("utf-8")) == found


@pytest.mark.parametrize(
    "at", ["skillstill.skills.releases.write_registry", "skillstill.skills.releases.write_atomically"]
)
async def test_who_is_killed_before_the_registry_has_released_nothing(
    settings: Path, evaluated: RunFolder, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    registry = registry_of(settings)
    publish(settings, evaluated, registry, PROOF)
    before = registry.read_bytes()
    evaluated.exported.write_bytes(b"GGUF, a better adapter")
    _evaluated(settings, evaluated)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(at, killed)
        with pytest.raises(KeyboardInterrupt):
            publish(settings, evaluated, registry, PROOF)
    assert registry.read_bytes() == before
    assert publish(settings, evaluated, registry, PROOF).verdict == "released"
    entry = Registry(registry).entry("settings").entry
    assert entry.adapter
    assert entry.adapter.sha256 == file_sha256(evaluated.exported)


async def test_what_was_measured_on_something_else_is_refused(settings: Path, evaluated: RunFolder) -> None:
    registry = registry_of(settings)
    evaluated.exported.write_bytes(b"GGUF, another adapter")
    with pytest.raises(StageError, match="was measured on other goals or another adapter: evaluate again"):
        publish(settings, evaluated, registry, PROOF)
    evaluated.scorecard.unlink()
    with pytest.raises(StageError, match="is missing: type `skillstill evaluate settings` first"):
        publish(settings, evaluated, registry, PROOF)
    evaluated.goals.write_text("", encoding="utf-8")
    with pytest.raises(GateError, match="was changed after it was frozen"):
        publish(settings, evaluated, registry, PROOF)
    assert not registry.exists()


@pytest.mark.parametrize(
    ("old", "new"), [('system = "settings"', 'system = "keys"'), ('tools = ["search"]', 'tools = ["search", "read"]')]
)
async def test_what_would_be_served_otherwise_than_it_was_measured_is_refused(
    settings: Path, evaluated: RunFolder, old: str, new: str
) -> None:
    subagent = settings / "subagent.toml"
    subagent.write_text(subagent.read_text("utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(StageError, match="changed since; type `skillstill evaluate settings` again"):
        publish(settings, evaluated, registry_of(settings), PROOF)
    assert not registry_of(settings).exists()


async def test_a_proof_on_another_base_is_none(settings: Path, evaluated: RunFolder) -> None:
    with pytest.raises(StageError, match="on another base than it was measured on: type `skillstill export settings`"):
        publish(settings, evaluated, registry_of(settings), PROOF.model_copy(update={"base": "9" * 64}))
    earlier = PROOF.model_copy(update={"base": ""})
    assert publish(settings, evaluated, registry_of(settings), earlier).verdict == "released"


async def test_a_run_of_a_few_goals_is_held_to_the_recipe_of_the_skill(settings: Path, evaluated: RunFolder) -> None:
    evaluated.save_recipe(load_recipe(settings).changed(few=2))
    _evaluated(settings, evaluated, calibrated_on=2)
    found = publish(settings, evaluated, registry_of(settings), PROOF)
    assert (found.verdict, registry_of(settings).exists()) == ("not verifiable", False)


async def test_test_goals_that_another_adapter_was_measured_on_release_none(
    settings: Path, evaluated: RunFolder, tmp_path: Path
) -> None:
    beside = RunFolder(evaluated.path.with_name("2"))
    write_lines(beside.goals, [goal for goal in evaluated.frozen_goals() if goal.split == "test"])  # the same test set
    ours = Scorecard.model_validate_json(evaluated.scorecard.read_text("utf-8")).adapter
    log_look(evaluated, ("ours",), ours)
    log_look(beside, ("baseline", "ours"), ours)
    assert publish(settings, evaluated, registry_of(settings), PROOF).verdict == "released"
    log_look(beside, ("ours",), BASE)
    found = publish(settings, evaluated, registry_of(settings), PROOF)
    told = [gate.told for gate in found.gates if not gate.passed]
    assert (found.verdict, len(told)) == ("not good enough", 1)
    assert told[0].startswith("these test goals have been looked at with another adapter: change `seed` in recipe.toml")


async def test_a_skill_outside_its_registry_s_folder_is_one_sentence(
    settings: Path, evaluated: RunFolder, tmp_path: Path
) -> None:
    with pytest.raises(StageError, match="the folder of its registry: name one with --registry"):
        publish(settings, evaluated, tmp_path / "elsewhere" / "registry.json", PROOF)
    assert not (settings / "releases").exists()


async def test_a_field_test_of_the_release_is_recorded_without_another_release(
    settings: Path, evaluated: RunFolder
) -> None:
    registry = registry_of(settings)
    publish(settings, evaluated, registry, PROOF)
    before = read_registry(registry).entries[0]
    assert before.adapter
    again = field_test(asked=400).model_copy(update={"adapter": before.adapter})
    record_field(settings, registry, again)
    (entry,) = read_registry(registry).entries
    assert entry.measured
    assert entry.measured.field
    assert (entry.measured.field.asked, entry.before) == (400, before.before)
    card = settings / "releases" / f"{before.adapter.sha256[:12]}.json"
    assert Scorecard.model_validate_json(card.read_text(encoding="utf-8")).field == again
    with pytest.raises(StageError, match="--split test"):
        record_field(settings, registry, again.model_copy(update={"split": "validation"}))


async def test_the_threshold_of_a_release_rises_by_field_questions_and_the_adapter_stays(
    settings: Path, evaluated: RunFolder
) -> None:
    registry = registry_of(settings)
    publish(settings, evaluated, registry, PROOF)
    before = read_registry(registry).entries[0]
    assert before.calibration
    wrong = [GradedAnswer(f"own/{at}", (9.0,), right=False, unwarned_wrong=True) for at in range(100)]
    familiarity = Familiarity(weights="AAAA", scale=1.0, bias=0.0, least=0.0)
    raised = recalibrate(settings, registry, GradedField(100, wrong), familiarity)
    (entry,) = read_registry(registry).entries
    assert (raised.threshold, raised.familiarity) == (1, familiarity)
    assert entry.calibration == raised
    assert entry.measured
    assert entry.measured.sure is None, "no answer is sure any more"
    assert (entry.adapter, entry.serving_hash, entry.before) == (before.adapter, before.serving_hash, before.before)
    with pytest.raises(StageError, match="no release of other with a calibrated confidence"):
        recalibrate(settings.with_name("other"), registry, GradedField(100, wrong), None)


async def test_a_scorecard_that_cannot_be_read_is_told_by_its_file(settings: Path, evaluated: RunFolder) -> None:
    registry = registry_of(settings)
    publish(settings, evaluated, registry, PROOF)
    (entry,) = read_registry(registry).entries
    assert entry.adapter
    card = settings / "releases" / f"{entry.adapter.sha256[:12]}.json"
    write_atomically(card, card.read_text(encoding="utf-8").replace('"verdict"', '"judgement"'))
    with pytest.raises(StageError, match=card.name):
        recalibrate(settings, registry, GradedField(100, []), None)


@pytest.mark.parametrize(
    "entry", [one for one in Registry().entries() if one.entry.adapter], ids=lambda one: one.entry.name
)
def test_the_scorecard_of_a_bundled_release_can_be_read(entry: ListedEntry) -> None:
    assert entry.entry.adapter
    card = entry.skill_folder / "releases" / f"{entry.entry.adapter.sha256[:12]}.json"
    assert Scorecard.model_validate_json(card.read_text(encoding="utf-8")).verdict
