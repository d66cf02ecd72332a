"""What a scorecard is worth: the gates of a release, each with its sentence, and the verdict that follows from them."""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from skillstill_training.evaluation.calibration import LEAST
from skillstill_training.run.recipe import EvaluationConfig
from skillstill_training.run.scorecard import Arm, ArmScore, Difference, Gate, Scorecard, Verdict

# A recipe may want less, where anybody can read it; of more, these are enough. 60 pairs tell a difference to some 12
# points, so that a release stands out by more.
PAIRED = 60
CARELESS = 0.01  # the share of goals, from which repeated or refused calls are too many
# The first verdict with a gate that did not hold is the one; a gate that stands nowhere here makes it the last.
VERDICTS: Sequence[tuple[Verdict, Collection[str]]] = (
    ("not verifiable", {"checks"}),
    ("parity failed", {"parity", "masks"}),
    ("not better than its base", {"stock", "wrong"}),
    ("better as a plain script", {"baseline"}),
)


def judged(scorecard: Scorecard, known: Sequence[Gate], plan: EvaluationConfig) -> Scorecard:
    """The scorecard with its gates and verdict, those `known` from elsewhere among them.

    An arm of the plan that did not run fails its gate, and so does one on fewer goals or workspaces than it wants. That
    is no reason for any other verdict than that nothing could be verified: a comparison may still say anything.
    """
    gates = tuple(_gates(scorecard, known, plan))
    return scorecard.model_copy(update={"gates": gates, "verdict": _verdict(gates)})


def _verdict(gates: Sequence[Gate]) -> Verdict:
    failed = {gate.name for gate in gates if not gate.passed and gate.measured}
    if not failed:
        return "released" if all(gate.passed for gate in gates) else "not verifiable"
    return next((verdict for verdict, names in VERDICTS if failed & set(names)), "not good enough")


def _gates(scorecard: Scorecard, known: Sequence[Gate], plan: EvaluationConfig) -> Iterator[Gate]:
    ours = scorecard.arm("ours")
    if ours is None or not ours.goals.asked:
        yield Gate(name="checks", passed=False, told="no goal with a machine check was asked")
        return
    yield Gate(name="checks", passed=True, told=f"{ours.goals.asked} goals, each with a machine check")
    yield from known
    yield _masks(scorecard)
    yield _calibrated(scorecard, plan)
    yield _above(scorecard, "stock", "the stock base", plan)
    yield _above(scorecard, "larger", "the larger stock model", plan)
    yield _not_below_the_baseline(scorecard, plan)
    yield _wrong(scorecard, plan)
    yield _cells(ours)
    yield _careful("repeats", ours.repeated, "made a call twice")
    yield _careful("misuse", ours.misused, "made a call that was refused or could not be read")


def _masks(scorecard: Scorecard) -> Gate:
    learned, tokens = scorecard.trained.learned_tokens, scorecard.trained.tokens
    told = f"{learned:,} of {tokens:,} training tokens were learned; expected some and not all"
    return Gate(name="masks", passed=0 < learned < tokens, told=told)


def _calibrated(scorecard: Scorecard, plan: EvaluationConfig) -> Gate:
    least, goals = min(LEAST, plan.calibration), scorecard.selective.calibrated_on
    told = f"the confidence comes from {goals} validation goals; expected at least {least}"
    return Gate(name="confidence", passed=goals >= least, told=told, measured=goals >= least)


def _above(scorecard: Scorecard, other: Arm, called: str, plan: EvaluationConfig) -> Gate:
    found = _difference(scorecard, other, "all")
    if found is None:
        return _not_run(other, called, plan.arms)
    if few := _too_few(found, called, plan):
        return few
    told = f"{_points(found)} against {called}; expected a lower bound above 0"
    return Gate(name=other, passed=found.points.low > 0, told=told)


def _not_below_the_baseline(scorecard: Scorecard, plan: EvaluationConfig) -> Gate:
    found, called = _difference(scorecard, "baseline", "unseen"), "the plain script on unseen wordings"
    if found is None:
        return _not_run("baseline", called, plan.arms)
    if few := _too_few(found, called, plan):
        return few
    told = f"{_points(found)} against {called}; expected an upper bound of 0 or above"
    return Gate(name="baseline", passed=found.points.high >= 0, told=told)


def _wrong(scorecard: Scorecard, plan: EvaluationConfig) -> Gate:
    """On the goals that both were asked, ours solves what the wrong adapter does and the difference on top."""
    found, wrong = _difference(scorecard, "wrong", "all"), scorecard.arm("wrong")
    if found is None or wrong is None:
        return _not_run("wrong", "another skill's adapter", plan.arms)
    if few := _too_few(found, "another skill's adapter", plan):
        return few
    share = wrong.success.value
    told = f"{share:.1%} with another skill's adapter, {share + found.points.value:.1%} with ours on the same goals"
    return Gate(name="wrong", passed=share < found.points.value, told=f"{told}; expected less than half")


def _cells(ours: ArmScore) -> Gate:
    """Families, and numbers of calls: none may be lost for the others' sake."""
    cells = {**ours.families, **{f"goals of {calls} calls": count for calls, count in ours.by_calls.items()}}
    lost = [name for name, count in cells.items() if count.asked and not count.solved]
    told = f"nothing solved of {', '.join(lost)}" if lost else f"something solved in each of {len(cells)} cells"
    return Gate(name="cells", passed=not lost, told=told)


def _careful(name: str, share: float, did: str) -> Gate:
    return Gate(name=name, passed=share < CARELESS, told=f"{share:.2%} {did}; expected less than {CARELESS:.0%}")


def _difference(scorecard: Scorecard, other: Arm, on: Literal["all", "unseen", "hard"]) -> Difference | None:
    return next((one for one in scorecard.differences if (one.other, one.on) == (other, on) and one.n), None)


def _not_run(other: Arm, called: str, asked: Collection[Arm]) -> Gate:
    wanted = other in asked
    told = f"not run: {called}; the recipe {'asks' if wanted else 'does not ask'} for it"
    return Gate(name=other, passed=not wanted, told=told, measured=False)


def _too_few(found: Difference, called: str, plan: EvaluationConfig) -> Gate | None:
    """The gate of a comparison that is too small to say anything; None where it is not."""
    goals, workspaces = min(PAIRED, plan.paired), plan.workspaces
    if found.n >= goals and found.workspaces >= workspaces:
        return None
    told = f"{found.n} goals in {found.workspaces} workspaces against {called}"
    wanted = f"expected at least {goals} in {workspaces}"
    return Gate(name=found.other, passed=False, told=f"{told}; {wanted}", measured=False)


def _points(found: Difference) -> str:
    low, high = 100 * found.points.low, 100 * found.points.high
    return f"{100 * found.points.value:+.1f} points ({low:+.1f} to {high:+.1f}, {found.n} goals)"
