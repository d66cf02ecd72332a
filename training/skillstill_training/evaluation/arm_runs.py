"""Run one arm on many goals. Each outcome is stored as soon as it is there, and no goal is run twice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillstill.errors import StageError
from skillstill.skills.calibration import features

from skillstill_training.authoring.goal import Goal, Split
from skillstill_training.evaluation.arms import Arm
from skillstill_training.run.scorecard import ArmName, Outcome
from skillstill_training.util.jsonl import Appender, read_lines, write_lines
from skillstill_training.util.tasks import each


@dataclass(frozen=True, slots=True)
class ArmProgress:
    """The progress of one arm on the goals of one split."""

    arm: ArmName
    split: Split
    goals: int
    done: int
    solved: int


OnProgress = Callable[[ArmProgress], None]


async def run_arm(
    arm: Arm,
    split: Split,
    goals: Sequence[Goal],
    roots: Mapping[str, Path],
    places: Callable[[Split, str], Path],
    on_progress: OnProgress,
    at_once: int = 1,
) -> Sequence[Outcome]:
    """Return the outcomes of these goals in their order, and write them to `places(split, arm)`.

    Outcomes are first appended to a file under the arm's key. A goal that is in this file is not run again, unless its
    run failed. Goals run one at a time in one process, so that seconds are measured without other runs on the
    machine.

    Raises StageError if no goal could be run at all.
    """
    file = places(split, arm.name)
    appended = file.parent / arm.key / file.name
    done = _earlier_outcomes(appended)
    with Appender(appended) as log:

        async def solve(goal: Goal) -> None:
            if goal.id not in done:
                outcome = await arm.solve(goal, roots[goal.workspace])
                log.append([outcome])
                done[goal.id] = outcome
            found = [done[other.id].passed for other in goals if other.id in done]
            on_progress(ArmProgress(arm.name, split, goals=len(goals), done=len(found), solved=sum(found)))

        await each(goals, solve, at_once)
    outcomes = [done[goal.id] for goal in goals]
    if outcomes and all(outcome.status == "failed" for outcome in outcomes):
        raise StageError(f"{arm.label} failed on each of the {len(outcomes)} {split} goals: {outcomes[0].why}")
    write_lines(file, outcomes)
    return outcomes


def _earlier_outcomes(file: Path) -> dict[str, Outcome]:
    """Return the outcomes of an interrupted run by goal, with their confidence features computed anew.

    The last line of the file may be torn. Failed runs are left out.
    """
    if not file.exists():
        return {}
    rows = [row for row in read_lines(file, Outcome, torn=True) if row.status != "failed"]
    rows = [row.model_copy(update={"features": features(row.trace)}) if row.trace else row for row in rows]
    write_lines(file, rows)
    return {row.goal: row for row in rows}
