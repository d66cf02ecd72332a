"""Which checkpoint is kept: the one that solves most of some fixed validation goals, in the loop that ships.

Loss does not tell: it counts tokens, and one wrong token can spoil a run (reference: `docs/experiments.md`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.models.sources import given
from skillstill.skill import load_skill

from skillstill_training.arms import Contest
from skillstill_training.chosen import Chosen
from skillstill_training.families import load_families
from skillstill_training.folder import RunFolder
from skillstill_training.gguf_lora import Layout, read_peft, write_lora
from skillstill_training.material import roots_of
from skillstill_training.recipe import EvaluatePlan, TrainPlan
from skillstill_training.resampling import success
from skillstill_training.scorecard import Outcome


@dataclass(frozen=True, slots=True)
class Choice:
    """A checkpoint, and how it did; `success` is the equal-weight mean over families, 0..1."""

    checkpoint: Path
    solved: int
    success: float

    @property
    def step(self) -> int:
        return step_of(self.checkpoint)


OnTried = Callable[[Choice, int, int], None]  # after so many of so many goals


def best_checkpoint(skill_folder: Path, folder: RunFolder, base: Path, plan: TrainPlan, told: OnTried) -> Choice:
    """Of equals the last, which has seen most."""
    checkpoints = sorted(folder.adapter.glob("checkpoint-*"), key=step_of)
    return max((_tried(one, skill_folder, folder, base, plan, told) for one in checkpoints), key=_rank)


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("checkpoint-"))


def _rank(choice: Choice) -> tuple[float, int]:
    return choice.success, choice.step


def _tried(
    checkpoint: Path, skill_folder: Path, folder: RunFolder, base: Path, plan: TrainPlan, told: OnTried
) -> Choice:
    with TemporaryDirectory() as work:
        file = Path(work, "adapter.gguf")
        layout = Layout.of(base)
        write_lora(file, layout.placed(read_peft(checkpoint)), layout, "F16")
        return anyio.run(partial(_solved, checkpoint, file, skill_folder, folder, base, plan, told))


async def _solved(
    checkpoint: Path, adapter: Path, skill_folder: Path, folder: RunFolder, base: Path, plan: TrainPlan, told: OnTried
) -> Choice:
    skill, families = load_skill(skill_folder), {family.name: family for family in load_families(skill_folder)}
    models = LocalModels(LocalOptions(offline=True))
    contest = Contest(skill_folder, skill, families, models, given(base), given(adapter))
    arm = contest.arm("ours")
    assert arm
    held_out = {name for name, family in families.items() if family.held_out}
    some = EvaluatePlan(calibration=plan.episodes)
    goals = [one for one in Chosen.of(folder.frozen_goals(), held_out, some).validation if one.family not in held_out]
    roots = roots_of(skill_folder, {goal.workspace for goal in goals})
    outcomes: list[Outcome] = []
    choice = Choice(checkpoint, 0, 0.0)
    for goal in goals:
        outcomes.append(await arm.solve(goal, roots[goal.workspace]))
        choice = Choice(checkpoint, sum(one.passed for one in outcomes), success(outcomes).value)
        told(choice, len(outcomes), len(goals))
    return choice
