"""How tests of a skill's families come to goals: drafted, said, proven."""

from collections.abc import Iterable, Sequence

from skillstill_training.authoring.families import Family
from skillstill_training.authoring.goal import Draft, Goal
from skillstill_training.sampling.composer import Composer, Unfit
from skillstill_training.workspaces import Material


async def proven(
    drafts: Iterable[Draft], family: Family, material: Material, composer: Composer, wordings: Sequence[str]
) -> list[Goal]:
    """The goals of the drafts, in one wording after the other; a prompt that gives its answer away makes none."""
    goals = []
    for at, draft in enumerate(drafts):
        wording = (f"train/{at}", wordings[at % len(wordings)])
        try:
            goal = composer.compose(draft, family, material, "train", [wording])
        except Unfit:
            continue
        goals.append(await composer.prove(goal, family, material))
    return goals
