"""Making on a Ray cluster: the bytes are those of one process, whoever dies in between."""

import json
import shutil
import sys
from pathlib import Path

import anyio
import pytest
from skillstill import cli
from skillstill.models.scripted import ScriptedModel
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile
from skillstill_training.authoring.families import load_families
from skillstill_training.evaluation.arm_runs import run_arm
from skillstill_training.evaluation.arms import ArmFactory
from skillstill_training.evaluation.distributed_arm import distributed_arm
from skillstill_training.executors import ray_cluster
from skillstill_training.executors.executor import IN_PROCESS, Executor
from skillstill_training.field.arms import FieldRow
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import ArmName, Outcome
from skillstill_training.util.jsonl import read_lines
from skillstill_training.workspaces import workspace_roots

from tests.scenes import SHOP, ScriptedModels, move_home, write
from tests.training.executors.conftest import TwoMachines

ARMS_WITHOUT_A_MODEL: tuple[ArmName, ...] = ("baseline", "teacher")
KILLS = """

def kill_worker() -> None:
    import os, signal
    from pathlib import Path

    try:
        Path({flag!r}).unlink()
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def flag(settings: Path, tmp_path: Path) -> Path:
    """A file: if it is there, the next plan of `settings` that looks up removes it and kills its own process."""
    flag, goals = tmp_path / "kill", settings / "goals.py"
    text = goals.read_text(encoding="utf-8").replace("    seen = yield", "    kill_worker()\n    seen = yield", 1)
    goals.write_text(text + KILLS.format(flag=str(flag)), encoding="utf-8")
    return flag


def skillstill(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["skillstill", *map(str, words)])
    with pytest.raises(SystemExit) as left:
        cli.main()
    return left.value.code


def test_goals_and_traces_have_the_same_bytes_on_a_cluster_though_a_worker_is_killed(
    settings: Path, flag: Path, cluster: TwoMachines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, spread = tmp_path / "alone", tmp_path / "spread"
    assert skillstill(monkeypatch, "goals", settings, "--few", "4", "--runs", alone) == 0
    assert skillstill(monkeypatch, "traces", settings, "--runs", alone) == 0
    move_home(tmp_path / "another home", monkeypatch)  # one without those proofs
    for command in (("goals", settings, "--few", "4"), ("traces", settings)):
        flag.touch()
        assert skillstill(monkeypatch, *command, "--runs", spread, "--ray", cluster.address) == 0
        assert not flag.exists(), "nobody was killed"
    first, second = (RunFolder.latest(runs, "settings") for runs in (alone, spread))
    assert first.goals.read_bytes() == second.goals.read_bytes()
    assert first.traces.read_bytes() == second.traces.read_bytes()
    assert list(cluster.home.rglob("parcels/*/settings")), "nothing travelled to the other machine"


def test_what_a_cluster_gives_up_goes_on_without_it(
    settings: Path,
    flag: Path,
    frozen: RunFolder,
    cluster: TwoMachines,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(ray_cluster, "RETRIES", 0)
    flag.touch()
    traces = ("traces", settings, "--run", frozen.path, "--limit", "12")
    assert skillstill(monkeypatch, *traces, "--ray", cluster.address) != 0
    assert "what is done so far is kept: type the same command again" in " ".join(capsys.readouterr().err.split())
    assert frozen.part("constructed").exists()
    assert skillstill(monkeypatch, *traces) == 0
    assert len(frozen.traces.read_bytes().splitlines()) == 12


def test_a_cluster_measures_what_one_process_measures(
    settings: Path, frozen: RunFolder, cluster: TwoMachines, monkeypatch: pytest.MonkeyPatch
) -> None:
    move_home(settings.parent / "another home", monkeypatch)
    with ray_cluster.executor_at(cluster.address) as executor:
        for name in ARMS_WITHOUT_A_MODEL:
            assert measured(settings, frozen, name, executor) == measured(settings, frozen, name, IN_PROCESS)


def test_field_questions_are_answered_alike_and_without_a_cluster_it_says_what_to_type(
    cluster: TwoMachines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [{"prompt": "where is a price worked out", "outcome": "absent"}, {"prompt": "tax?", "outcome": "absent"}]
    mine = write(tmp_path, {"mine.jsonl": "".join(json.dumps(one) + "\n" for one in asked)}) / "mine.jsonl"
    question = ("field", "explore", "--questions", mine, "--workspace", SHOP, "--arms", "retrieval", "--runs")

    def answers(runs: Path) -> list[FieldRow]:
        rows = read_lines(next(runs.rglob("validation.retrieval.*.jsonl")), FieldRow)
        return sorted((row.model_copy(update={"seconds": 0.0}) for row in rows), key=lambda row: row.question)

    assert skillstill(monkeypatch, *question, tmp_path / "alone") == 0
    assert skillstill(monkeypatch, *question, tmp_path / "spread", "--ray", cluster.address) == 0
    assert answers(tmp_path / "alone") == answers(tmp_path / "spread")
    assert skillstill(monkeypatch, *question, tmp_path / "none", "--ray", "127.0.0.1:1") == 1
    assert "no Ray cluster answers at 127.0.0.1:1" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "ray", None)
    assert skillstill(monkeypatch, *question, tmp_path / "none", "--ray", "local") == 1
    assert "type `pip install 'skillstill[ray]'`" in " ".join(capsys.readouterr().err.split())


def measured(settings: Path, run: RunFolder, name: ArmName, executor: Executor) -> list[Outcome]:
    goals = [goal for goal in run.frozen_goals() if goal.split == "test"]
    roots = workspace_roots(settings, {goal.workspace for goal in goals})
    shutil.rmtree(run.outcomes("test", name).parent, ignore_errors=True)
    unused = ModelFile(source="file:none.gguf", sha256="0" * 64)
    families = {family.name: family for family in load_families(settings)}
    factory = ArmFactory(
        folder=settings,
        skill=load_skill(settings),
        families=families,
        models=ScriptedModels(ScriptedModel([])),
        base=unused,
        adapter=unused,
    )
    arm = distributed_arm(factory, name, executor)
    assert arm
    outcomes = anyio.run(
        lambda: run_arm(arm, "test", goals, roots, run.outcomes, lambda progress: None, executor.at_once(1))
    )
    return [outcome.model_copy(update={"seconds": 0.0}) for outcome in outcomes]
