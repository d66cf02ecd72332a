"""An arm asked many goals: each outcome on disk as soon as it is there, and never asked for twice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillstill.errors import StageError
from skillstill.skills.calibration import features

from skillstill_training.authoring.goal import Goal, Split
from skillstill_training.evaluation.arms import Arm
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Arm as Name
from skillstill_training.run.scorecard import Outcome
from skillstill_training.util.jsonl import Appender, read_lines, write_lines


@dataclass(frozen=True, slots=True)
class ArmProgress:
    """How far one arm is with the goals of one split."""

    arm: Name
    split: Split
    goals: int
    done: int
    solved: int


OnProgress = Callable[[ArmProgress], None]


async def run_arm(
    arm: Arm, split: Split, goals: Sequence[Goal], roots: Mapping[str, Path], folder: RunFolder, told: OnProgress
) -> Sequence[Outcome]:
    """The outcomes of these goals in their order, which then lie at `folder.outcomes(split, arm)`.

    They grow under the arm's key: what was solved there is not solved again, but where it failed to run. One goal at a
    time: a base decodes one turn at a time anyway, and seconds are those of a run that has the machine for itself.

    Raises StageError where no goal could be run at all.
    """
    whole = folder.outcomes(split, arm.name)
    kept = whole.parent / arm.key / whole.name
    done = _resumed(kept)
    with Appender(kept) as file:
        for at, goal in enumerate(goals, 1):
            if goal.id not in done:
                done[goal.id] = await arm.solve(goal, roots[goal.workspace])
                file.append([done[goal.id]])
            solved = sum(done[one.id].passed for one in goals[:at])
            told(ArmProgress(arm.name, split, goals=len(goals), done=at, solved=solved))
    outcomes = [done[goal.id] for goal in goals]
    if outcomes and all(one.status == "failed" for one in outcomes):
        raise StageError(f"{arm.label} failed on each of the {len(outcomes)} {split} goals: {outcomes[0].why}")
    write_lines(whole, outcomes)
    return outcomes


def _resumed(file: Path) -> dict[str, Outcome]:
    """What an earlier run left, by goal, its last line perhaps torn; with the features that a confidence has today."""
    if not file.exists():
        return {}
    rows = [row for row in read_lines(file, Outcome, torn=True) if row.status != "failed"]
    rows = [row.model_copy(update={"features": features(row.trace)}) if row.trace else row for row in rows]
    write_lines(file, rows)
    return {row.goal: row for row in rows}
