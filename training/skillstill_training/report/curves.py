"""The section with the charts of training and of confidence, each with a caption in words.

The history of a training is the file `4-adapter/history.jsonl`, which the stage `sft` writes.
"""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from skillstill_training.report.charts import (
    Axis,
    Plot,
    Point,
    doubling_axis,
    empty_plot,
    percent_axis,
    render_svg,
    round_axis,
)
from skillstill_training.report.formats import format_count, format_duration, format_percent
from skillstill_training.report.page.table import many, text
from skillstill_training.run.scorecard import Scorecard, Selective, Trained

WINDOW = 20  # the loss is smoothed by its mean over at most so many rows


class HistoryRow(BaseModel):
    """A row of the history: the loss at a step, or the success at a checkpoint. Other fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    step: int
    tokens: int | None = None
    loss: float | None = None
    success: float | None = None


History = Sequence[HistoryRow]


def render_curves(card: Scorecard, history: History) -> str:
    """Return four figures."""
    figures = (
        _figure("What more data gives", _data_plot(card.trained), _data_caption(card.trained)),
        _figure("How sure it is, and how right", _selective_plot(card.selective), _selective_caption(card.selective)),
        _figure("Loss", loss_plot(history), _training_caption(card.trained)),
        _figure("Success at checkpoints", success_plot(history), _checkpoint_caption(history)),
    )
    return f"<section><h2>Curves</h2><div class=curves>{''.join(figures)}</div></section>"


def loss_plot(history: History) -> str:
    """Plot the loss of each row, and their running mean with a label at its end."""
    rows = _loss_points(history)
    if not rows:
        return empty_plot("no loss was recorded")
    smooth = _running_mean(rows)
    low, high = min(value for _, value in rows), max(value for _, value in rows)
    plot = Plot(_training_axis(rows, history), round_axis("loss on learned tokens", min(low, 0), high, "{:.3g}".format))
    last = plot.label(smooth[-1], f"{smooth[-1][1]:.3g}")
    return plot.render(plot.line(rows, "faint"), plot.line(smooth), plot.dot(smooth[-1]), last)


def success_plot(history: History) -> str:
    """Plot the success of each checkpoint, with a label at the best one."""
    rows = _success_points(history)
    if not rows:
        return empty_plot("no checkpoint was measured")
    best = max(rows, key=lambda row: row[1])
    plot = Plot(_training_axis(rows, history), percent_axis("success on validation goals"))
    marks = (*(plot.dot(row) for row in rows), plot.label(best, f"best {format_percent(best[1])}", below=best[1] > 0.9))
    return plot.render(plot.line(rows), *marks)


def _training_axis(rows: Sequence[Point], history: History) -> Axis:
    """Build an x axis over the whole training, the same for all of its charts."""
    last = max(float(row.tokens or 0) if _x_unit(history) == "tokens" else float(row.step) for row in history)
    return round_axis(f"{_x_unit(history)} read", 0, max(last, rows[-1][0], 1), format_count)


def _x_unit(history: History) -> str:
    """Return "tokens" if each row has them, else "steps"."""
    return "tokens" if all(row.tokens is not None for row in history) else "steps"


def _loss_points(history: History) -> Sequence[Point]:
    unit = _x_unit(history)
    return [(_x_value(row, unit), row.loss) for row in history if row.loss is not None]


def _success_points(history: History) -> Sequence[Point]:
    unit = _x_unit(history)
    return [(_x_value(row, unit), row.success) for row in history if row.success is not None]


def _x_value(row: HistoryRow, unit: str) -> float:
    return float(row.tokens or 0) if unit == "tokens" else float(row.step)


def _running_mean(rows: Sequence[Point]) -> Sequence[Point]:
    width = max(1, min(WINDOW, len(rows) // 5))
    parts = (rows[max(0, at - width // 2) : at + width // 2 + 1] for at in range(len(rows)))
    means = (sum(value for _, value in part) / len(part) for part in parts)
    return [(x, mean) for (x, _), mean in zip(rows, means, strict=True)]


def _data_plot(trained: Trained) -> str:
    rows = sorted((float(count), share) for count, share in trained.data_curve.items() if count > 0)
    if not rows:
        return empty_plot("trained once, on all traces")
    plot = Plot(
        doubling_axis("training traces, each step a doubling", [count for count, _ in rows], format_count),
        percent_axis("success on validation goals"),
    )
    marks = (plot.dot(row) + plot.label(row, format_percent(row[1]), below=row[1] > 0.9) for row in rows)
    return plot.render(plot.line(rows), *marks)


def _selective_plot(selective: Selective) -> str:
    rows = sorted((point.coverage, point.accuracy) for point in selective.curve)
    if not rows:
        return empty_plot("no answer was given")
    here = (selective.coverage, selective.accuracy)
    least = min(selective.target, here[1], *(accuracy for _, accuracy in rows))
    plot = Plot(percent_axis("goals that are answered"), percent_axis("of these, answered rightly", least))
    target = plot.target_line(selective.target, f"wanted: {format_percent(selective.target)}")
    label = plot.label(here, f"threshold {selective.threshold:.2f}", after=True)
    return plot.render(target, plot.line(rows), plot.dot(here), label)


def _data_caption(trained: Trained) -> str:
    traces = f"Learned from {many(trained.traces, 'trace')}."
    rows = sorted(trained.data_curve.items())
    if len(rows) < 2:
        return traces
    (few, least), (many_, most) = rows[-2:]
    success = f"success went from {format_percent(least)} to {format_percent(most)}"
    return f"{traces} From {few:,} to {many_:,} traces, {success}."


def _selective_caption(selective: Selective) -> str:
    answered = (
        f"At or above the threshold it answers {format_percent(selective.coverage)} of the goals, and "
        f"{format_percent(selective.accuracy)} of those rightly. "
    )
    escalated = (
        f"{many(selective.escalated, 'goal')} handed back, of which it had {format_percent(selective.rightly)} wrong. "
        if selective.escalated
        else "No goal was handed back. "
    )
    return f"{answered}{escalated}The threshold comes from {many(selective.calibrated_on, 'validation goal')}."


def _training_caption(trained: Trained) -> str:
    tokens = f"{trained.tokens:,} tokens read, {trained.learned_tokens:,} of them learned"
    return f"{tokens}, in {format_duration(trained.seconds)}; the chosen checkpoint has a loss of {trained.loss:.3g}."


def _checkpoint_caption(history: History) -> str:
    rows = _success_points(history)
    if not rows:
        return "The last state is the one that ships."
    return f"{many(len(rows), 'checkpoint')}, each on the same goals; the best one is the one that ships."


def _figure(title: str, plot: str, caption: str) -> str:
    return f"<figure><h3>{title}</h3>{render_svg(caption, plot)}<figcaption>{text(caption)}</figcaption></figure>"
