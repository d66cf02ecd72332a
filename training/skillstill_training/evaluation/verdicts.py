"""Judge a scorecard: the gates of a release, each with a sentence, and the verdict that follows from them."""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from skillstill_training.evaluation.calibration import MIN_GOALS
from skillstill_training.run.recipe import EvaluationConfig
from skillstill_training.run.scorecard import ArmName, ArmScore, Difference, Gate, Scorecard, Verdict

# The number of pairs that a comparison needs. A recipe may ask for fewer, which everybody can read there; more are not
# needed. With 60 pairs the interval of a difference is some 12 points to either side.
MIN_PAIRS = 60
MAX_RATE = 0.01  # the share of goals with repeated or refused calls must be lower
# The first verdict with a failed gate applies. If only gates that are not listed here failed: "not good enough".
VERDICTS: Sequence[tuple[Verdict, Collection[str]]] = (
    ("not verifiable", {"checks"}),
    ("parity failed", {"parity", "masks"}),
    ("not better than its base", {"stock", "wrong"}),
    ("better as a plain script", {"baseline"}),
)


def judge_scorecard(scorecard: Scorecard, other_gates: Sequence[Gate], plan: EvaluationConfig) -> Scorecard:
    """Return the scorecard with its gates and verdict. `other_gates` were judged elsewhere and count as well.

    The gate of a comparison fails if its arm is in the plan and did not run, or ran on fewer goals or workspaces than
    the plan asks for. Such gates are not `measured`: if no other gate failed, the verdict is "not verifiable".
    """
    gates = tuple(_gates(scorecard, other_gates, plan))
    return scorecard.model_copy(update={"gates": gates, "verdict": _verdict(gates)})


def _verdict(gates: Sequence[Gate]) -> Verdict:
    failed = {gate.name for gate in gates if not gate.passed and gate.measured}
    if not failed:
        return "released" if all(gate.passed for gate in gates) else "not verifiable"
    return next((verdict for verdict, names in VERDICTS if failed & set(names)), "not good enough")


def _gates(scorecard: Scorecard, other_gates: Sequence[Gate], plan: EvaluationConfig) -> Iterator[Gate]:
    ours = scorecard.arm("ours")
    if ours is None or not ours.goals.asked:
        yield Gate(name="checks", passed=False, told="no goal with a machine check was asked")
        return
    yield Gate(name="checks", passed=True, told=f"{ours.goals.asked} goals, each with a machine check")
    yield from other_gates
    yield _mask_gate(scorecard)
    yield _confidence_gate(scorecard, plan)
    yield _stock_gate(scorecard, "stock", "the stock base", plan)
    yield _stock_gate(scorecard, "larger", "the larger stock model", plan)
    yield _baseline_gate(scorecard, plan)
    yield _wrong_adapter_gate(scorecard, plan)
    yield from _field_gates(scorecard, plan)
    if "baseline" in plan.arms:  # else made goals are told, and natural questions judge
        yield _cell_gate(ours)
        yield _rate_gate("repeats", ours.repeated, "made a call twice")
        yield _rate_gate("misuse", ours.misused, "made a call that was refused or could not be read")


def _mask_gate(scorecard: Scorecard) -> Gate:
    learned, tokens = scorecard.trained.learned_tokens, scorecard.trained.tokens
    sentence = f"{learned:,} of {tokens:,} training tokens were learned; expected some and not all"
    return Gate(name="masks", passed=0 < learned < tokens, told=sentence)


def _confidence_gate(scorecard: Scorecard, plan: EvaluationConfig) -> Gate:
    min_goals, goals = min(MIN_GOALS, plan.calibration), scorecard.selective.calibrated_on
    sentence = f"the confidence comes from {goals} validation goals; expected at least {min_goals}"
    return Gate(name="confidence", passed=goals >= min_goals, told=sentence, measured=goals >= min_goals)


def _stock_gate(scorecard: Scorecard, other: ArmName, label: str, plan: EvaluationConfig) -> Gate:
    difference = _difference(scorecard, other, "all")
    if difference is None:
        return _not_run_gate(other, label, plan.arms)
    if few := _too_few_gate(difference, label, plan):
        return few
    sentence = f"{_format_points(difference)} against {label}; expected a lower bound above 0"
    return Gate(name=other, passed=difference.points.low > 0, told=sentence)


def _baseline_gate(scorecard: Scorecard, plan: EvaluationConfig) -> Gate:
    difference, label = _difference(scorecard, "baseline", "unseen"), "the plain script on unseen wordings"
    if difference is None:
        return _not_run_gate("baseline", label, plan.arms)
    if few := _too_few_gate(difference, label, plan):
        return few
    sentence = f"{_format_points(difference)} against {label}; expected an upper bound of 0 or above"
    return Gate(name="baseline", passed=difference.points.high >= 0, told=sentence)


def _wrong_adapter_gate(scorecard: Scorecard, plan: EvaluationConfig) -> Gate:
    """Return the gate that fails if another skill's adapter solves half as many goals as ours, or more.

    On the goals that both were asked, our success is the success of the wrong adapter plus the difference.
    """
    difference, wrong = _difference(scorecard, "wrong", "all"), scorecard.arm("wrong")
    if difference is None or wrong is None:
        return _not_run_gate("wrong", "another skill's adapter", plan.arms)
    if few := _too_few_gate(difference, "another skill's adapter", plan):
        return few
    share = wrong.success.value
    sentence = (
        f"{share:.1%} with another skill's adapter, {share + difference.points.value:.1%} with ours on the same goals"
    )
    return Gate(name="wrong", passed=share < difference.points.value, told=f"{sentence}; expected less than half")


def _field_gates(scorecard: Scorecard, plan: EvaluationConfig) -> Iterator[Gate]:
    """Yield the gates of the field test: it was made, and the larger stock model, asked directly, is worse."""
    if not plan.field:
        return
    ours = scorecard.field.score("ours") if scorecard.field else None
    asked = ours.questions if ours else 0
    sentence = f"{asked} natural questions on real folders were asked; expected at least {plan.field} (docs/field.md)"
    yield Gate(name="field", passed=asked >= plan.field, told=sentence, measured=asked >= plan.field)
    if not (scorecard.field and "larger" in plan.arms):
        return
    label, gain = "the larger stock model, asked directly", scorecard.field.gain("larger-direct")
    if gain is None:
        yield _not_run_gate("larger", label, plan.arms).model_copy(update={"name": "field larger"})
        return
    low, high = 100 * gain.points.low, 100 * gain.points.high
    points = f"{100 * gain.points.value:+.1f} points ({low:+.1f} to {high:+.1f}, {gain.questions} field questions)"
    sentence = f"{points} against {label}; expected a lower bound above 0"
    yield Gate(name="field larger", passed=gain.points.low > 0, told=sentence)


def _cell_gate(ours: ArmScore) -> Gate:
    """Return the gate that fails if nothing was solved in one of the families or one of the numbers of calls."""
    cells = {**ours.families, **{f"goals of {calls} calls": count for calls, count in ours.by_calls.items()}}
    unsolved = [name for name, count in cells.items() if count.asked and not count.solved]
    sentence = (
        f"nothing solved of {', '.join(unsolved)}" if unsolved else f"something solved in each of {len(cells)} cells"
    )
    return Gate(name="cells", passed=not unsolved, told=sentence)


def _rate_gate(name: str, share: float, mistake: str) -> Gate:
    return Gate(name=name, passed=share < MAX_RATE, told=f"{share:.2%} {mistake}; expected less than {MAX_RATE:.0%}")


def _difference(scorecard: Scorecard, other: ArmName, on: Literal["all", "unseen", "hard"]) -> Difference | None:
    return next((one for one in scorecard.differences if (one.other, one.on) == (other, on) and one.n), None)


def _not_run_gate(other: ArmName, label: str, asked: Collection[ArmName]) -> Gate:
    planned = other in asked
    sentence = f"not run: {label}; the recipe {'asks' if planned else 'does not ask'} for it"
    return Gate(name=other, passed=not planned, told=sentence, measured=False)


def _too_few_gate(difference: Difference, label: str, plan: EvaluationConfig) -> Gate | None:
    """Return a failed gate if the comparison has too few goals or workspaces, else None."""
    goals, workspaces = min(MIN_PAIRS, plan.paired), plan.workspaces
    if difference.n >= goals and difference.workspaces >= workspaces:
        return None
    sentence = f"{difference.n} goals in {difference.workspaces} workspaces against {label}"
    wanted = f"expected at least {goals} in {workspaces}"
    return Gate(name=difference.other, passed=False, told=f"{sentence}; {wanted}", measured=False)


def _format_points(difference: Difference) -> str:
    low, high = 100 * difference.points.low, 100 * difference.points.high
    return f"{100 * difference.points.value:+.1f} points ({low:+.1f} to {high:+.1f}, {difference.n} goals)"
