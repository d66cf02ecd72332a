"""How many goals of each family a designed skill asks for, and how large its comparisons can be."""

from collections import Counter
from collections.abc import Iterator, Mapping

from skillstill_training.authoring.goal import SPLITS, Split
from skillstill_training.design.draft import Design
from skillstill_training.run.recipe import EvaluationConfig, GoalConfig

Counts = Mapping[str, Mapping[Split, int]]


def count_goals(design: Design, lent: Counts) -> tuple[Mapping[Split, int], Counts]:
    """Return the counts for all families, and for those that differ from the lender's.

    Of what was proposed there is no more than that: the borrowed families make up for it.
    """
    trained = [one.name for one in design.families if not one.held_out]
    trained += [one.name for one in design.declared.kinds if not one.held_out] if design.declared else []
    proposed = dict(_proposed(design))
    plan = GoalConfig(families={name: lent[name] for name in [one.name for one in design.families] if name in lent})
    lacking = EvaluationConfig().calibration - sum(one["validation"] for one in proposed.values())
    if not trained or sum(plan.wanted(name, "validation") for name in trained) >= lacking:
        return {}, {**plan.families, **proposed}
    least = -(-lacking // len(trained))
    raised = {name: {**one, **_raise_counts(one, least)} for name, one in plan.families.items()}
    return {**plan.per_family, **_raise_counts(plan.per_family, least)}, {**raised, **proposed}


def measured_in(design: Design) -> int | None:
    """Return the workspaces that a difference can come from, if they are fewer than are wanted by default."""
    tested = sum(one.split == "test" for one in design.workspaces)
    return tested if 0 < tested < EvaluationConfig().workspaces else None


def _raise_counts(counts: Mapping[Split, int], least: int) -> Mapping[Split, int]:
    return {"validation": max(counts["validation"], least)} if "validation" in counts else {}


def _proposed(design: Design) -> Iterator[tuple[str, Mapping[Split, int]]]:
    counts = Counter((one.family, one.split) for one in design.proposed)
    for name in dict.fromkeys(one.family for one in design.proposed):
        yield name, {split: counts[name, split] for split in SPLITS}
