"""Which checkpoint is kept: the one that solves most of some fixed validation goals, in the loop that ships.

Loss does not tell: it counts tokens, and one wrong token can spoil a run (reference: `docs/experiments.md`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from skillstill.contract import behaviour_hash
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.models.sources import model_file
from skillstill.skills.skill import load_skill

from skillstill_training.authoring.families import families_by_name
from skillstill_training.authoring.goal import Goal
from skillstill_training.evaluation.arms import Arm, ArmFactory
from skillstill_training.evaluation.distributed_arm import distributed_arm
from skillstill_training.evaluation.resampling import success_interval
from skillstill_training.evaluation.subset import Subset
from skillstill_training.executors.executor import IN_PROCESS, Executor
from skillstill_training.gguf.lora import Layout, read_peft, write_lora
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import EvaluationConfig
from skillstill_training.run.scorecard import Outcome
from skillstill_training.util.jsonl import read_lines, write_lines
from skillstill_training.util.tasks import each
from skillstill_training.workspaces import workspace_roots


@dataclass(frozen=True, slots=True)
class CheckpointTrial:
    """A checkpoint, and how it did; `success` is the equal-weight mean over families, 0..1."""

    checkpoint: Path
    solved: int
    success: float

    @property
    def step(self) -> int:
        return step_of(self.checkpoint)


OnTried = Callable[[CheckpointTrial, int, int], None]  # after so many of so many goals


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.removeprefix("checkpoint-"))


class Trials:
    """Fixed validation goals, drawn evenly over families, and the loop that a checkpoint is tried in."""

    def __init__(
        self,
        skill_folder: Path,
        run: RunFolder,
        base: Path,
        episodes: int,
        *,
        offline: bool = False,
        executor: Executor = IN_PROCESS,
    ) -> None:
        families = families_by_name(skill_folder)
        held_out = {name for name, family in families.items() if family.held_out}
        trained = [goal for goal in run.frozen_goals() if goal.family not in held_out]
        chosen = Subset.select(trained, held_out, EvaluationConfig(calibration=episodes)).validation
        self.goals: Sequence[Goal] = [goal for goal in chosen if not goal.is_judged]
        self.roots = workspace_roots(skill_folder, {goal.workspace for goal in self.goals}, offline)
        self.layout, self.executor = Layout.of(base), executor
        skill = load_skill(skill_folder).sized(run.recipe().size)
        self.behaviour = behaviour_hash(skill)[:12]
        self.factory = partial(
            ArmFactory,
            folder=skill_folder,
            skill=skill,
            families=families,
            models=LocalModels(LocalOptions(offline=True)),
            base=model_file(base),
            offline=True,
        )

    def best(self, checkpoints: Iterable[Path], told: OnTried) -> CheckpointTrial:
        """Return the best checkpoint, of equals the last, which has seen most."""
        return max((self.tried(one, told) for one in checkpoints), key=lambda choice: (choice.success, choice.step))

    def tried(self, checkpoint: Path, told: OnTried) -> CheckpointTrial:
        """Return what became of the goals lies beside the checkpoint: there a person reads why it failed.

        Under another name with another loop, in which they might have come to something else.
        """
        file = checkpoint / f"episodes.{self.behaviour}.jsonl"
        if not file.exists():
            with TemporaryDirectory() as work:
                adapter = Path(work, "adapter.gguf")
                write_lora(adapter, self.layout.placed(read_peft(checkpoint)), self.layout, "F16")
                arm = distributed_arm(self.factory(adapter=model_file(adapter)), "ours", self.executor)
                assert arm
                write_lines(file, anyio.run(self._solved, arm, checkpoint, told))
        choice = _choice(checkpoint, read_lines(file, Outcome))
        told(choice, len(self.goals), len(self.goals))
        return choice

    async def _solved(self, arm: Arm, checkpoint: Path, told: OnTried) -> Sequence[Outcome]:
        outcomes: dict[str, Outcome] = {}

        async def solve(goal: Goal) -> None:
            told(_choice(checkpoint, list(outcomes.values())), len(outcomes), len(self.goals))
            outcomes[goal.id] = await arm.solve(goal, self.roots[goal.workspace])

        await each(self.goals, solve, self.executor.at_once(1))
        return [outcomes[goal.id] for goal in self.goals]


def _choice(checkpoint: Path, outcomes: Sequence[Outcome]) -> CheckpointTrial:
    """Return what that comes to; of no goals nothing, so that the last checkpoint is the best."""
    success = success_interval(outcomes).value if outcomes else 0.0
    return CheckpointTrial(checkpoint, sum(one.passed for one in outcomes), success)
