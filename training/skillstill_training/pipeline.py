"""The whole way, `skillstill train SKILL`: from a skill folder to a release, or to the reason why there is none.

What the stages leave in the run folder is all the state there is. A stage whose artifact is younger than what it was
made from is left out, so the same command goes on where a kill or a budget ended it; an evaluation keeps its rows by
what they depend on, and publishing twice is publishing once.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
from skillstill.errors import StageError
from skillstill.models.sources import given, locate
from skillstill.registry import Registry
from skillstill.skill import load_skill
from skillstill.types import ModelFile

from skillstill_training.dataset import make_dataset
from skillstill_training.evaluate import evaluate
from skillstill_training.folder import RunFolder
from skillstill_training.goals import Listener, make_goals
from skillstill_training.jsonl import write_text
from skillstill_training.publish import publish
from skillstill_training.recipe import TrainPlan, load_recipe
from skillstill_training.report import write_report
from skillstill_training.scorecard import Scorecard, Verdict
from skillstill_training.shipping.shipped import parity_of, proof_file
from skillstill_training.teachers.batch import Progress as TraceProgress

TOKENS_A_MINUTE = 5_800  # that one core of 2020 trains on SmolLM2-135M; a budget in tokens is the same everywhere
Tell = Callable[[int, int, str], None]  # how many are done, of how many, what else there is to say
Teach = Callable[[RunFolder, Callable[[TraceProgress], None]], TraceProgress]  # who solves the training goals


class Screen(Protocol):
    """Who is told how far the way is."""

    def stage(self, name: str) -> AbstractContextManager[Tell]: ...

    def kept(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Order:
    """What a person asked for. `base` takes the place of the skill's own; `larger` and `wrong` are compared with."""

    teach: Teach
    registry: Path
    base: Path | None = None
    larger: Path | None = None
    wrong: Path | None = None
    minutes: int | None = None
    offline: bool = False


@dataclass(frozen=True, slots=True)
class Rivals:
    """A larger stock model; a wrong adapter, by default that of some other release on the same base."""

    larger: ModelFile | None
    registry: Path
    wrong: ModelFile | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """The verdict, and the page that tells why; without goals there is no page, and `why` says it all."""

    verdict: Verdict
    scorecard: Scorecard | None = None
    report: Path | None = None
    why: str = ""


def train_skill(skill_folder: Path, folder: RunFolder, order: Order, screen: Screen) -> Ending:
    """Whatever is not there yet, from goals to verdict. Raises StageError, BaseError and ModelError."""
    if not (skill_folder / "goals.py").is_file():
        return Ending("not verifiable", why=f"{skill_folder} has no goals.py: nothing could check an answer")
    base = given(order.base) if order.base else load_skill(skill_folder).subagent.base
    weights = locate(base, offline=order.offline)
    stage = partial(_stage, screen)
    stage("goals", _frozen(folder), (), lambda tell: _make_goals(skill_folder, folder, order, tell))
    stage("traces", folder.traces, (folder.goals,), lambda tell: order.teach(folder, partial(_solved, tell)))
    stage("dataset", folder.dataset, (folder.traces,), lambda _: make_dataset(skill_folder, folder))
    stage(
        "training",
        trained_file(folder),
        (folder.dataset, noted_base(folder, base)),
        lambda tell: _train(skill_folder, folder, weights, order, tell),
    )
    stage("export", proof_file(folder), (trained_file(folder),), lambda _: _ship(skill_folder, folder, weights))
    if not (parity := parity_of(folder)).passed:  # measuring it would take an hour and change nothing
        return Ending("parity failed", why=parity.told)
    larger, wrong = (given(file) if file else None for file in (order.larger, order.wrong))
    rivals = Rivals(larger, order.registry, wrong)
    with screen.stage("evaluate") as tell:
        measure(skill_folder, folder, base, rivals, tell, offline=order.offline)
    scorecard = publish(skill_folder, folder, order.registry, parity)
    assert scorecard.verdict
    return Ending(scorecard.verdict, scorecard, write_report(folder))


def resumed(runs: Path, skill_folder: Path) -> RunFolder:
    """The newest run of this skill by its recipe as it is now, if its goals still hold; else a new one."""
    name = skill_folder.absolute().name
    try:
        latest = RunFolder.latest(runs, name)
        latest.frozen_goals()
        same = latest.recipe() == load_recipe(skill_folder)
    except StageError:  # none yet, or one that nothing can go on from
        same = False
    return latest if same else RunFolder.new(runs, name)


def measure(
    skill_folder: Path, folder: RunFolder, base: ModelFile, rivals: Rivals, tell: Tell, *, offline: bool = False
) -> Scorecard:
    """What the exported adapter is worth against its rivals. Raises UsageError where there is none yet."""
    name = load_skill(skill_folder).name
    work = partial(
        evaluate,
        skill_folder,
        folder,
        given(folder.exported),
        base=base,
        larger=rivals.larger,
        wrong=rivals.wrong or _another(rivals.registry, name, base),
        offline=offline,
        on_progress=lambda one: tell(one.done, one.goals, f"{one.arm} on {one.split}: {one.solved} solved"),
    )
    return anyio.run(work)


def _another(registry: Path, name: str, base: ModelFile) -> ModelFile | None:
    """The adapter of some other release on this base. Raises RegistryError."""
    entries = (listed.entry for listed in Registry(registry if registry.exists() else None).entries())
    fit = (one.adapter for one in entries if one.name != name and one.base.sha256 == base.sha256 and one.adapter)
    return next(fit, None)


def within(plan: TrainPlan, minutes: int | None) -> TrainPlan:
    """The plan with no more tokens than so many minutes take."""
    if minutes is None:
        return plan
    return plan.model_copy(update={"tokens": min(plan.tokens, minutes * TOKENS_A_MINUTE)})


def noted_base(folder: RunFolder, base: ModelFile) -> Path:
    """A file of the run that says which base it trains, and is as old as that decision."""
    file, text = folder.path / "base.json", base.model_dump_json(indent=1) + "\n"
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        write_text(file, text)
    return file


def trained_file(folder: RunFolder) -> Path:
    """What training writes last."""
    return folder.adapter / "trained.json"


def _stage(screen: Screen, name: str, made: Path, of: Sequence[Path], work: Callable[[Tell], object]) -> None:
    if _fresh(made, of):
        screen.kept(name)
        return
    with screen.stage(name) as tell:
        work(tell)


def _fresh(made: Path, of: Sequence[Path]) -> bool:
    return made.exists() and all(made.stat().st_mtime_ns >= source.stat().st_mtime_ns for source in of)


def _frozen(folder: RunFolder) -> Path:
    return folder.path / "frozen.json"


def _make_goals(skill_folder: Path, folder: RunFolder, order: Order, tell: Tell) -> None:
    listener = Listener(
        lambda source: tell(0, 0, f"workspace {source.name}"),
        lambda tally: tell(tally.made, tally.wanted, f"{tally.split} {tally.family}"),
    )
    anyio.run(partial(make_goals, skill_folder, folder, offline=order.offline, listener=listener))


def _solved(tell: Tell, progress: TraceProgress) -> None:
    tell(progress.done, progress.goals, f"{progress.kept} kept")


def _train(skill_folder: Path, folder: RunFolder, weights: Path, order: Order, tell: Tell) -> None:
    from skillstill_training.sft import make_adapter  # of the extra `training`, which measuring does without

    plan = within(folder.recipe().train, order.minutes)
    make_adapter(skill_folder, folder, weights, plan, lambda one: tell(one.step, one.steps, one.note))


def _ship(skill_folder: Path, folder: RunFolder, weights: Path) -> None:
    from skillstill_training.shipping import ship  # as above

    ship(folder, weights, name=skill_folder.absolute().name)
