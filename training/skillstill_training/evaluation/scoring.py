"""Outcomes summed up: what an arm is worth, how much more ours is, and what ours fails of."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from skillstill_training.evaluation.resampling import gain, success
from skillstill_training.run.scorecard import Arm, ArmScore, Cause, Count, Difference, Outcome
from skillstill_training.util.reasons import kind_of

NAMED = 5  # goals of a cause that are told
MOST = 3  # calls from which on they are told together

Outcomes = Sequence[Outcome]


def score(arm: Arm, label: str, outcomes: Outcomes) -> ArmScore:
    """All of it without the held-out families, which are told beside it."""
    headline = [one for one in outcomes if not one.held_out]
    return ArmScore(
        arm=arm,
        label=label,
        success=success(headline),
        goals=_count(headline),
        families=_counts(headline, lambda one: one.family),
        held_out=_counts([one for one in outcomes if one.held_out], lambda one: one.family),
        unseen=_count([one for one in headline if one.unseen]),
        seen=_count([one for one in headline if not one.unseen]),
        by_calls=_counts(headline, lambda one: str(one.calls) if one.calls < MOST else f"{MOST}+"),
        repeated=_mean(headline, lambda one: one.repeated),
        misused=_mean(headline, lambda one: one.misused),
        turns=_mean(headline, lambda one: one.turns),
        read_tokens=_mean(headline, lambda one: one.read_tokens),
        written_tokens=_mean(headline, lambda one: one.written_tokens),
        saved_tokens=_mean(headline, lambda one: one.saved_tokens),
        seconds=_mean(headline, lambda one: one.seconds),
    )


def differences(solved: Mapping[Arm, Outcomes], hard: Collection[str]) -> Iterator[Difference]:
    """Ours against each other arm, on the goals that both were asked; nothing where there are none."""
    ours = [one for one in solved["ours"] if not one.held_out]
    parts: Mapping[str, Outcomes] = {
        "all": ours,
        "unseen": [one for one in ours if one.unseen],
        "hard": [one for one in ours if one.family in hard],
    }
    for other, theirs in solved.items():
        asked = {one.goal for one in theirs}
        for on, part in parts.items():
            both = [one for one in part if one.goal in asked]
            if both and other != "ours":
                told = {"other": other, "on": on, "n": len(both), "workspaces": len({one.workspace for one in both})}
                yield Difference.model_validate(told | {"points": gain(both, theirs)})


def causes(outcomes: Outcomes) -> Iterator[Cause]:
    """Of the goals that were not solved, the commonest kind first."""
    found: dict[str, list[str]] = defaultdict(list)
    for one in outcomes:
        if not (one.passed or one.held_out):
            found[_kind(one)].append(one.goal)
    for kind, goals in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        yield Cause(kind=kind, count=len(goals), goals=tuple(goals[:NAMED]))


def _kind(outcome: Outcome) -> str:
    return f"{outcome.status}: {kind_of(outcome.why)}"


def _count(outcomes: Outcomes) -> Count:
    return Count(solved=sum(one.passed for one in outcomes), asked=len(outcomes))


def _counts(outcomes: Outcomes, by: Callable[[Outcome], str]) -> Mapping[str, Count]:
    return {name: _count([one for one in outcomes if by(one) == name]) for name in sorted(set(map(by, outcomes)))}


def _mean(outcomes: Outcomes, of: Callable[[Outcome], float]) -> float:
    return round(sum(map(of, outcomes)) / max(1, len(outcomes)), 4)
