"""What more data gave, how the training went, and what the confidence is worth: a chart each, its finding in words."""

from collections.abc import Sequence

from skillstill_training.report.charts import Axis, Plot, Point, doubling_axis, nothing, picture, round_axis, shares
from skillstill_training.report.history import TrainedPoint, losses, read_by, successes
from skillstill_training.report.page.table import many, text
from skillstill_training.report.words import duration, percent, short
from skillstill_training.run.scorecard import Scorecard, Selective, Trained

WINDOW = 20  # the line through the loss is its mean over so many rows around it, at most


def curves(card: Scorecard, history: Sequence[TrainedPoint]) -> str:
    """Four figures side by side, or one below another on a phone."""
    figures = (
        _figure("What more data gives", _data(card.trained), _told_of_data(card.trained)),
        _figure("How sure it is, and how right", _selective(card.selective), _told_of_selective(card.selective)),
        _figure("Loss", loss(history), _told_of_training(card.trained)),
        _figure("Success at checkpoints", success(history), _told_of_checkpoints(history)),
    )
    return f"<section><h2>Curves</h2><div class=curves>{''.join(figures)}</div></section>"


def loss(history: Sequence[TrainedPoint]) -> str:
    """Each row faintly, their running mean over it; the last mean is named."""
    rows = losses(history)
    if not rows:
        return nothing("no loss was recorded")
    smooth = _running_mean(rows)
    low, high = min(value for _, value in rows), max(value for _, value in rows)
    plot = Plot(_course(rows, history), round_axis("loss on learned tokens", min(low, 0), high, "{:.3g}".format))
    last = plot.label(smooth[-1], f"{smooth[-1][1]:.3g}")
    return plot.drawn(plot.line(rows, "faint"), plot.line(smooth), plot.dot(smooth[-1]), last)


def success(history: Sequence[TrainedPoint]) -> str:
    """Each checkpoint's dot; the best one is named."""
    rows = successes(history)
    if not rows:
        return nothing("no checkpoint was measured")
    best = max(rows, key=lambda row: row[1])
    plot = Plot(_course(rows, history), shares("success on validation goals"))
    marks = (*(plot.dot(row) for row in rows), plot.label(best, f"best {percent(best[1])}", below=best[1] > 0.9))
    return plot.drawn(plot.line(rows), *marks)


def _course(rows: Sequence[Point], history: Sequence[TrainedPoint]) -> Axis:
    """The same for all of a training, so that its charts can be laid over each other."""
    last = max(float(row.tokens or 0) if read_by(history) == "tokens" else float(row.step) for row in history)
    return round_axis(f"{read_by(history)} read", 0, max(last, rows[-1][0], 1), short)


def _running_mean(rows: Sequence[Point]) -> Sequence[Point]:
    width = max(1, min(WINDOW, len(rows) // 5))
    parts = (rows[max(0, at - width // 2) : at + width // 2 + 1] for at in range(len(rows)))
    means = (sum(value for _, value in part) / len(part) for part in parts)
    return [(where, mean) for (where, _), mean in zip(rows, means, strict=True)]


def _data(trained: Trained) -> str:
    rows = sorted((float(count), share) for count, share in trained.data_curve.items() if count > 0)
    if not rows:
        return nothing("trained once, on all traces")
    plot = Plot(
        doubling_axis("training traces, each step a doubling", [count for count, _ in rows], short),
        shares("success on validation goals"),
    )
    marks = (plot.dot(row) + plot.label(row, percent(row[1]), below=row[1] > 0.9) for row in rows)
    return plot.drawn(plot.line(rows), *marks)


def _selective(selective: Selective) -> str:
    rows = sorted((point.coverage, point.accuracy) for point in selective.curve)
    if not rows:
        return nothing("no answer was given")
    here = (selective.coverage, selective.accuracy)
    least = min(selective.target, here[1], *(accuracy for _, accuracy in rows))
    plot = Plot(shares("goals that are answered"), shares("of these, answered rightly", least))
    wanted = plot.wanted(selective.target, f"wanted: {percent(selective.target)}")
    named = plot.label(here, f"threshold {selective.threshold:.2f}", after=True)
    return plot.drawn(wanted, plot.line(rows), plot.dot(here), named)


def _told_of_data(trained: Trained) -> str:
    said = f"Learned from {many(trained.traces, 'trace')}."
    rows = sorted(trained.data_curve.items())
    if len(rows) < 2:
        return said
    (few, least), (many_, most) = rows[-2:]
    return f"{said} From {few:,} to {many_:,} traces, success went from {percent(least)} to {percent(most)}."


def _told_of_selective(selective: Selective) -> str:
    kept = (
        f"At or above the threshold it answers {percent(selective.coverage)} of the goals, and "
        f"{percent(selective.accuracy)} of those rightly. "
    )
    back = (
        f"{many(selective.escalated, 'goal')} handed back, of which it had {percent(selective.rightly)} wrong. "
        if selective.escalated
        else "No goal was handed back. "
    )
    return f"{kept}{back}The threshold comes from {many(selective.calibrated_on, 'validation goal')}."


def _told_of_training(trained: Trained) -> str:
    tokens = f"{trained.tokens:,} tokens read, {trained.learned_tokens:,} of them learned"
    return f"{tokens}, in {duration(trained.seconds)}; the chosen checkpoint has a loss of {trained.loss:.3g}."


def _told_of_checkpoints(history: Sequence[TrainedPoint]) -> str:
    rows = successes(history)
    if not rows:
        return "The last state is the one that ships."
    return f"{many(len(rows), 'checkpoint')}, each on the same goals; the best one is the one that ships."


def _figure(title: str, plot: str, told: str) -> str:
    return f"<figure><h3>{title}</h3>{picture(told, plot)}<figcaption>{text(told)}</figcaption></figure>"
