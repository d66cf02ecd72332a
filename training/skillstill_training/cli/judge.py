"""`skillstill judge`: what the judge of a rubric makes of a trained student."""

from pathlib import Path
from typing import Annotated

import typer
from skillstill.console.options import Json

from skillstill_training.cli.data import Offline, Rates, Ray, Run, Runs, Skill, Spending, Yes, run_folder, skill_folder
from skillstill_training.cli.release import TrainedBase, check_extra, hired_teacher, trained_base

JudgeName = Annotated[
    str,
    typer.Option(
        "--teacher",
        help="The large model that judges: claude-code[:MODEL], anthropic:MODEL, or URL#MODEL; "
        "keys: ANTHROPIC_API_KEY, SKILLSTILL_ENDPOINT_KEY.",
    ),
]


def judge(
    skill: Skill,
    teacher: JudgeName,
    runs: Runs = Path("runs"),
    run: Run = None,
    base: TrainedBase = None,
    price: Rates = "",
    budget: Spending = "",
    yes: Yes = False,
    ray: Ray = "",
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Let a large model judge a student and its untrained base by the skill's rubric. That verifies nothing.

    Interrupted, the same command goes on.

    Example: skillstill judge first-reader --teacher anthropic:claude-sonnet-5-5
    """
    check_extra()

    from skillstill.errors import UsageError

    from skillstill_training.cli.judged_output import print_judged
    from skillstill_training.cli.release_output import stage_screen
    from skillstill_training.cli.teachers import judge_at
    from skillstill_training.executors.ray_cluster import executor_at
    from skillstill_training.stages.judge import NEEDS_TEACHER

    folder = skill_folder(skill)
    run_dir, hired = run_folder(run, runs, folder), hired_teacher(teacher, price, budget, yes=yes)
    if hired is None:
        raise UsageError(f"{folder.absolute().name}: {NEEDS_TEACHER}")
    file = trained_base(base, run_dir, folder)
    with run_dir.alone(), executor_at(ray) as executor, stage_screen() as screen, screen.stage("judge") as tell:
        figures = judge_at(folder, hired, offline, executor)(run_dir, file, tell)
    print_judged(figures, run_dir, as_json=json)
    return 0
