"""Goals for tests of a skill's families: drafts in a wording, proven with the real tools."""

from collections.abc import Iterable, Sequence

from skillstill_training.authoring.families import Family
from skillstill_training.authoring.goal import Draft, Goal
from skillstill_training.sampling.goal_builder import GoalBuilder, UnfitGoal
from skillstill_training.workspaces import BuiltWorkspace


async def prove_drafts(
    drafts: Iterable[Draft], family: Family, built: BuiltWorkspace, builder: GoalBuilder, wordings: Sequence[str]
) -> list[Goal]:
    """Return the goals of the drafts, in one wording after the other, without prompts that give the answer away."""
    goals = []
    for at, draft in enumerate(drafts):
        wording = (f"train/{at}", wordings[at % len(wordings)])
        try:
            goal = builder.compose(draft, family, built, "train", [wording])
        except UnfitGoal:
            continue
        goals.append(await builder.prove(goal, family, built))
    return goals
