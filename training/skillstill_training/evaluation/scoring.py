"""Summaries of outcomes: the score of each arm, the differences between arms, and the causes of failures."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from skillstill_training.evaluation.resampling import gain_interval, success_interval
from skillstill_training.run.scorecard import ArmName, ArmScore, Cause, Count, Difference, Outcome
from skillstill_training.util.reasons import kind_of

EXAMPLES = 5  # goals that are listed with a cause
MANY_CALLS = 3  # goals with at least so many calls are counted together

Outcomes = Sequence[Outcome]


def score_arm(arm: ArmName, label: str, outcomes: Outcomes) -> ArmScore:
    """Return the score of an arm. Held-out families count only in the field `held_out`."""
    headline = [one for one in outcomes if not one.held_out]
    return ArmScore(
        arm=arm,
        label=label,
        success=success_interval(headline),
        goals=_count(headline),
        families=_counts(headline, lambda one: one.family),
        held_out=_counts([one for one in outcomes if one.held_out], lambda one: one.family),
        unseen=_count([one for one in headline if one.unseen]),
        seen=_count([one for one in headline if not one.unseen]),
        by_calls=_counts(headline, lambda one: str(one.calls) if one.calls < MANY_CALLS else f"{MANY_CALLS}+"),
        repeated=_mean(headline, lambda one: one.repeated),
        misused=_mean(headline, lambda one: one.misused),
        turns=_mean(headline, lambda one: one.turns),
        read_tokens=_mean(headline, lambda one: one.read_tokens),
        written_tokens=_mean(headline, lambda one: one.written_tokens),
        saved_tokens=_mean(headline, lambda one: one.saved_tokens),
        seconds=_mean(headline, lambda one: one.seconds),
    )


def compare_arms(outcomes: Mapping[ArmName, Outcomes], hard: Collection[str]) -> Iterator[Difference]:
    """Yield the difference between ours and each other arm, on the goals that both were asked, if there are any."""
    ours = [one for one in outcomes["ours"] if not one.held_out]
    parts: Mapping[str, Outcomes] = {
        "all": ours,
        "unseen": [one for one in ours if one.unseen],
        "hard": [one for one in ours if one.family in hard],
    }
    for other, theirs in outcomes.items():
        asked = {one.goal for one in theirs}
        for on, part in parts.items():
            both = [one for one in part if one.goal in asked]
            if both and other != "ours":
                sizes = {"n": len(both), "workspaces": len({one.workspace for one in both})}
                yield Difference.model_validate(
                    {"other": other, "on": on, "points": gain_interval(both, theirs), **sizes}
                )


def count_causes(outcomes: Outcomes) -> Iterator[Cause]:
    """Yield the causes of failures with their counts, the commonest first. Held-out families are left out."""
    goals_by_kind: dict[str, list[str]] = defaultdict(list)
    for one in outcomes:
        if not (one.passed or one.held_out):
            goals_by_kind[_kind(one)].append(one.goal)
    for kind, goals in sorted(goals_by_kind.items(), key=lambda item: (-len(item[1]), item[0])):
        yield Cause(kind=kind, count=len(goals), goals=tuple(goals[:EXAMPLES]))


def _kind(outcome: Outcome) -> str:
    return f"{outcome.status}: {kind_of(outcome.why)}"


def _count(outcomes: Outcomes) -> Count:
    return Count(solved=sum(one.passed for one in outcomes), asked=len(outcomes))


def _counts(outcomes: Outcomes, by: Callable[[Outcome], str]) -> Mapping[str, Count]:
    return {name: _count([one for one in outcomes if by(one) == name]) for name in sorted(set(map(by, outcomes)))}


def _mean(outcomes: Outcomes, of: Callable[[Outcome], float]) -> float:
    return round(sum(map(of, outcomes)) / max(1, len(outcomes)), 4)
