"""Goals for tests of a skill's families: drafts in a wording, proven with the real tools."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import wraps
from typing import Any

from skillstill_training.authoring.families import Family
from skillstill_training.authoring.goal import Draft, Goal
from skillstill_training.sampling.goal_builder import GoalBuilder, UnfitGoal
from skillstill_training.workspaces import BuiltWorkspace

MakeGoals = Callable[..., Awaitable[list[Goal]]]


def once(make: MakeGoals) -> MakeGoals:
    """Make goals once of the same arguments: several tests look at the same ones, and proving them takes seconds."""
    known: dict[tuple[int, ...], tuple[object, list[Goal]]] = {}  # with the arguments, whose ids else come again

    @wraps(make)
    async def made(*arguments: Any) -> list[Goal]:
        if (key := tuple(map(id, arguments))) not in known:
            known[key] = arguments, await make(*arguments)
        return known[key][1]

    return made


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
