"""From a name and a prompt to a stored trace: what a runtime gives a model, and what it refuses to begin."""

import json
import logging
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from skillstill.contract import provenance_hash, serving_hash
from skillstill.errors import ModelError, SkillError, UsageError
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import store
from skillstill.runtime import Runtime, check_fresh, reason_to_remeasure
from skillstill.skills.calibration import FEATURES
from skillstill.skills.registry import ListedEntry, Registry
from skillstill.types import Decision, DialectName, ModelFile

from tests.scenes import ROOT, UNTRAINED, Scripted, ScriptedModels

pytestmark = pytest.mark.anyio
LOOK = call("search", pattern="class Cart")
CLAIM = "Cart is defined in cart.py:1."
GIVES_UP = "escalate: I cannot tell"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "cart.py").write_text("class Cart(dict): ...\n", encoding="utf-8")
    return folder


def registry(folder: Path, **entry: Any) -> Registry:
    """A registry of one entry: the bundled one before any release, changed."""
    document = json.loads(UNTRAINED.read_text(encoding="utf-8"))
    document["entries"][0] |= entry
    (folder / "skills").symlink_to(ROOT / "skills")
    (folder / "registry.json").write_text(json.dumps(document), encoding="utf-8")
    return Registry(folder / "registry.json")


def released(folder: Path, **others: Any) -> Registry:
    explore = Registry().entry("explore")
    adapter = ModelFile(source="file:adapter.gguf", sha256="0" * 64)
    digest = serving_hash(explore.skill(), explore.entry.base, adapter)
    return registry(folder, state="released", adapter=adapter.model_dump(), serving_hash=digest, **others)


async def test_an_untrained_entry_is_told_the_whole_skill(scripted: Scripted, project: Path) -> None:
    trace = await scripted([LOOK, CLAIM]).run("explore", "Where is Cart?", project)
    assert trace.messages[0].content.startswith("You answer one question about the code")
    assert trace.release == "explore@untrained"
    assert store.load("last") == trace


async def test_a_release_gets_one_system_line_and_leases_its_adapter(tmp_path: Path, project: Path) -> None:
    models = ScriptedModels(ScriptedModel([LOOK, CLAIM]))
    trace = await Runtime(released(tmp_path), models).run("explore", "Where is Cart?", project)
    assert trace.messages[0].content == "explore"
    assert models.specs[0].dialect is DialectName.LINES
    assert models.specs[0].adapter


async def test_a_release_whose_contract_changed_is_stale(tmp_path: Path, project: Path) -> None:
    changed = registry(tmp_path, state="released", serving_hash="0" * 64)
    with pytest.raises(ModelError, match="explore is stale"):
        await Runtime(changed, ScriptedModels(ScriptedModel([]))).run("explore", "Where is Cart?", project)


NONE, ONE = [0] * len(FEATURES), [1] * len(FEATURES)
CALIBRATION = {"means": NONE, "scales": ONE, "weights": NONE, "bias": 3.0, "goals": 400}
SURE = call("search", pattern="class Cart").model_copy(update={"decisions": (Decision(token="x", logprob=-0.1),)})


@pytest.mark.parametrize(("threshold", "last"), [(0.9, CLAIM), (0.96, "(Unsure: check before relying on it.)")])
async def test_an_answer_below_the_threshold_says_so_in_its_last_line(
    tmp_path: Path, project: Path, threshold: float, last: str
) -> None:
    runtime = Runtime(
        released(tmp_path, calibration=CALIBRATION | {"threshold": threshold}),
        ScriptedModels(ScriptedModel([SURE, CLAIM])),
    )
    trace = await runtime.run("explore", "Where is Cart?", project)
    assert trace.confidence == 0.9526, "a bias of 3 and nothing else"
    assert (trace.report.said.splitlines()[0], trace.report.said.splitlines()[-1]) == (CLAIM, last)
    assert (trace.report.status, trace.report.evidence) == ("answered", ("cart.py:1",))
    assert store.load("last") == trace


async def test_a_confidence_is_that_of_what_the_model_said_itself(tmp_path: Path, project: Path) -> None:
    """As in validation, where no line tells what was asked: by the answer's length it would else be another."""
    none = "There is none (r1 found nothing)."
    weights = [-1.0 * (name == "length") for name in FEATURES]
    entry = released(tmp_path, calibration=CALIBRATION | {"bias": 4.0, "weights": weights})
    said: list[Any] = [call("search", pattern="Unicorn").model_copy(update={"decisions": SURE.decisions}), none]
    trace = await Runtime(entry, ScriptedModels(ScriptedModel(said))).run("explore", "Where is Unicorn?", project)
    assert trace.report.sources == ("r1: search(Unicorn)",)
    assert trace.confidence == round(1 / (1 + math.exp(math.log1p(len(none)) - 4)), 4)


async def test_what_is_handed_back_needs_no_such_line(tmp_path: Path, project: Path) -> None:
    runtime = Runtime(released(tmp_path, calibration=CALIBRATION), ScriptedModels(ScriptedModel([GIVES_UP])))
    trace = await runtime.run("explore", "Where is Cart?", project)
    assert trace.report.status == "escalate"
    assert "Unsure" not in trace.report.text


def test_a_release_whose_skill_changed_should_be_measured_again_but_serves(tmp_path: Path) -> None:
    skill = ROOT / "skills" / "explore"
    kept = {"goals_hash": "1" * 64, "provenance_hash": provenance_hash(skill, "1" * 64)}
    same = released(tmp_path, **kept).entry("explore")
    assert reason_to_remeasure(same) == ""
    changed = ListedEntry(same.entry.model_copy(update={"goals_hash": "2" * 64}), same.origin)
    assert (
        f"changed since it was measured: type `skillstill evaluate {ROOT / 'skills' / 'explore'}`"
        in reason_to_remeasure(changed)
    )
    check_fresh(changed, changed.skill())


async def test_an_answer_that_only_a_result_bears_out_says_what_was_asked(scripted: Scripted, project: Path) -> None:
    said: list[Any] = [call("search", pattern="Unicorn"), "There is none (r1 found nothing)."]
    trace = await scripted(said).run("explore", "Where is Unicorn?", project)
    assert trace.report.text == "There is none (r1 found nothing).\nr1: search(Unicorn)"


async def test_a_long_prompt_may_name_a_place_too(scripted: Scripted, project: Path) -> None:
    trace = await scripted(["escalate: no"]).run("explore", "x" * 8_000, project, within="src/app.py")
    assert trace.prompt == f"In src/app.py: {'x' * 8_000}"


async def test_another_base_is_for_untrained_entries_only(tmp_path: Path, project: Path) -> None:
    models, base = ScriptedModels(ScriptedModel([LOOK, CLAIM])), ModelFile(source="file:other.gguf", sha256="1" * 64)
    trace = await Runtime(Registry(), models, base).run("explore", "Where is Cart?", project)
    assert (models.specs[0].base, trace.model) == (base, "file:other.gguf")
    with pytest.raises(UsageError, match="run it without --base"):
        await Runtime(released(tmp_path), models, base).run("explore", "Where is Cart?", project)


async def test_a_missing_model_is_a_failed_report_that_says_what_to_type(tmp_path: Path, project: Path) -> None:
    gone = {"source": "package:no-such-distribution/model.gguf", "sha256": "0" * 64}
    runtime = Runtime(registry(tmp_path, base=gone), LocalModels(LocalOptions()))
    trace = await runtime.run("explore", "Where is Cart?", project)
    assert trace.report.status == "failed"
    assert "type `pip install no-such-distribution`" in trace.report.answer
    assert trace.run in trace.report.answer


async def test_a_skill_that_cannot_be_read_is_named(tmp_path: Path, project: Path) -> None:
    with pytest.raises(SkillError, match=r"SKILL\.md"):
        await Runtime(registry(tmp_path, skill="nowhere"), ScriptedModels(ScriptedModel([]))).run(
            "explore", "Where is Cart?", project
        )


async def test_a_trace_that_cannot_be_stored_costs_no_report(
    scripted: Scripted, project: Path, caplog: pytest.LogCaptureFixture, home: Path
) -> None:
    store.folder().parent.mkdir(parents=True)
    store.folder().write_text("a file where the folder should be", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        trace = await scripted([LOOK, CLAIM]).run("explore", "Where is Cart?", project)
    assert trace.report.status == "answered"
    assert f"the trace of run {trace.run} is not stored" in caplog.text


def test_a_full_disk_is_one_sentence_and_the_answer_stands(project: Path) -> None:
    """A limit on file size stands for the disk: the same write fails, for real."""
    script = f"""
import anyio, resource, sys
from contextlib import nullcontext
from pathlib import Path
from skillstill.models.scripted import ScriptedModel, call
from skillstill.skills.registry import Registry
from skillstill.runtime import Runtime
class Models:
    def lease(self, spec): return nullcontext(ScriptedModel([call("list"), "cart.py (r1)"]))
    def label(self, spec): return "scripted"
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
trace = anyio.run(Runtime(Registry(), Models()).run, "explore", "Which files?", Path({str(project)!r}))
print(trace.report.text)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "cart.py (r1)\nr1: list()\n"
    assert "is not stored" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(store.folder().iterdir()), "no half a file is left"


async def test_no_run_is_kept_when_traces_are_off(project: Path, home: Path) -> None:
    runtime = Runtime(Registry(), ScriptedModels(ScriptedModel([LOOK, CLAIM])), keep_traces=False)
    await runtime.run("explore", "Where is Cart?", project)
    assert not list(home.rglob("*.jsonl"))


async def test_the_python_door_is_one_function(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from skillstill import subagent

    models = ScriptedModels(ScriptedModel([LOOK, CLAIM]))
    monkeypatch.setattr("skillstill.models.pool.LocalModels", lambda _: models)
    report = await subagent("Where is Cart?", "explore", project)
    assert (report.status, report.evidence) == ("answered", ("cart.py:1",))
