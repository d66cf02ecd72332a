"""What the judgements of a field test come to: shares with intervals, by sort of question and by workspace."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median_high

from skillstill.skills.calibration import features
from skillstill.types import Frozen

from skillstill_training.evaluation.calibration import GradedAnswer, GradedField
from skillstill_training.evaluation.resampling import ClusteredValue, bootstrap_mean
from skillstill_training.field.arms import FieldRow
from skillstill_training.field.judge import FieldAnswer, FieldJudgement, Verdict, judge_answer
from skillstill_training.field.question import FieldQuestion
from skillstill_training.run.scorecard import FieldArmName, FieldGain, FieldScore, Interval

RIGHT, HANDED_BACK_RIGHTLY = Verdict.RIGHT.value, Verdict.HANDED_BACK_RIGHTLY.value  # as `verdicts` counts them
SILENTLY_WRONG, WARNED_WRONG = "wrong, no warning", "wrong, with a warning"
ALL = "all"  # the one stratum of a mean in which each question has the same weight


class Judged(Frozen):
    """A question, what an arm answered, and what that is worth."""

    question: FieldQuestion
    row: FieldRow
    judgement: FieldJudgement


def judge_rows(questions: Sequence[FieldQuestion], rows: Sequence[FieldRow]) -> Sequence[Judged]:
    """Return the rows judged, in the order of the questions. Questions without a row are left out."""
    by_id = {row.question: row for row in rows}
    pairs = ((one, by_id[one.id]) for one in questions if one.id in by_id)
    return [
        Judged(question=one, row=row, judgement=judge_answer(one.gold, row.answer, row.prompt)) for one, row in pairs
    ]


def graded_field(judged: Sequence[Judged]) -> GradedField:
    """Return the answers that were given, each with what its confidence is made of."""
    return GradedField(len(judged), tuple(_graded(judged)))


def _graded(judged: Sequence[Judged]) -> Iterator[GradedAnswer]:
    for one in judged:
        trace = one.row.trace
        if trace and trace.report.status == "answered" and (found := features(trace)):
            verdict = one.judgement.verdict
            warned = FieldAnswer.of_trace(trace).warned  # whatever its confidence
            yield GradedAnswer(
                one.question.id, found, verdict is Verdict.RIGHT, verdict is Verdict.WRONG and not warned
            )


def score_field(arm: FieldArmName, label: str, judged: Sequence[Judged]) -> FieldScore:
    """Return the score of an arm."""
    answered = [one for one in judged if one.row.answer.status == "answered" and not one.judgement.warned]
    placed = [one for one in judged if one.question.gold.outcome == "answer" and one.question.gold.places]
    return FieldScore(
        arm=arm,
        label=label,
        questions=len(judged),
        workspaces=len({one.question.workspace for one in judged}),
        good=_share(judged, lambda one: one.judgement.is_good),
        right=_share(judged, _is_right),
        silently_wrong=_share(judged, lambda one: one.judgement.is_silently_wrong),
        unwarned=_share(answered, _is_right),
        unwarned_answers=len(answered),
        led=_share(placed, lambda one: one.judgement.led),
        verdicts=Counter(verdict_text(one.judgement) for one in judged),
        by_sort=_counts(judged, lambda one: one.question.sort or "unsorted"),
        by_workspace=_counts(judged, lambda one: one.question.workspace),
        seconds=_median([one.row.seconds for one in judged]),
        read_tokens=_mean([one.row.read_tokens for one in judged]),
        written_tokens=_mean([one.row.written_tokens for one in judged]),
    )


def measure_gain(other: FieldArmName, ours: Sequence[Judged], theirs: Sequence[Judged]) -> FieldGain | None:
    """Return our share of good answers less theirs; None if no question was put to both."""
    their = {one.question.id: one for one in theirs}
    pairs = [(one, their[one.question.id]) for one in ours if one.question.id in their]
    if not pairs:
        return None
    points = bootstrap_mean(
        [
            ClusteredValue(one.question.workspace, ALL, float(one.judgement.is_good) - float(two.judgement.is_good))
            for one, two in pairs
        ]
    )
    workspaces = len({one.question.workspace for one, _ in pairs})
    return FieldGain(other=other, questions=len(pairs), workspaces=workspaces, points=points)


def verdict_text(judgement: FieldJudgement) -> str:
    """Return the verdict as people read it: a wrong answer with or without a warning."""
    if judgement.verdict is Verdict.WRONG:
        return WARNED_WRONG if judgement.warned else SILENTLY_WRONG
    return judgement.verdict.value


def _is_right(one: Judged) -> bool:
    return one.judgement.verdict is Verdict.RIGHT


def _share(judged: Sequence[Judged], holds: Callable[[Judged], bool]) -> Interval:
    return bootstrap_mean([ClusteredValue(one.question.workspace, ALL, float(holds(one))) for one in judged])


def _counts(judged: Sequence[Judged], by: Callable[[Judged], str]) -> Mapping[str, tuple[int, int]]:
    groups = sorted({by(one) for one in judged})
    parts = {name: [one for one in judged if by(one) == name] for name in groups}
    return {name: (sum(one.judgement.is_good for one in part), len(part)) for name, part in parts.items()}


def _median(values: Sequence[float]) -> float:
    return round(median_high(values), 3) if values else 0.0


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / max(1, len(values)), 1)
