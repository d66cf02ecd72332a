"""The top of the report: the verdict in a sentence, the most important figures, and the gates."""

from collections.abc import Iterator

from skillstill_training.report.formats import (
    ARM_LABELS,
    VERDICT_TEXTS,
    format_duration,
    format_interval,
    format_percent,
)
from skillstill_training.report.page.table import many, text
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Gate, Scorecard


def render_summary(card: Scorecard, run: RunFolder) -> str:
    """Return the heading, the verdict, the figures and the gates."""
    kind = "" if not card.verdict else "kept" if card.verdict == "released" else "dropped"
    return (
        f"<header><p class=over>skillstill · run {text(run.path.name)} · report</p><h1>{text(card.skill)}</h1>"
        f'<p class="lead outcome"><strong class="{kind}">{_verdict(card)}</strong> {text(_sentence(card))}</p></header>'
        f"<dl class=figures>{''.join(_figures(card, run))}</dl>{_gates(card)}"
    )


def _verdict(card: Scorecard) -> str:
    """Return the verdict as a sentence."""
    if not card.verdict:
        return "Not judged yet: measured, and not published."
    return f"{card.verdict.capitalize()}: {VERDICT_TEXTS[card.verdict]}."


def _sentence(card: Scorecard) -> str:
    ours = card.arm("ours")
    if not ours:
        return "The adapter itself was not measured."
    success = f"It solves {format_percent(ours.success.value)} of {many(ours.goals.asked, 'test goal')}"
    interval = f"(95% interval {format_interval(ours.success, format_percent)}), each family with the same weight"
    others = [
        f"{ARM_LABELS[arm.arm]} {format_percent(arm.success.value)}"
        for arm in card.arms
        if arm.arm in {"baseline", "stock"}
    ]
    return f"{success} {interval}{'; ' + ', '.join(others) if others else ''}."


def _figures(card: Scorecard, run: RunFolder) -> Iterator[str]:
    selective = card.selective
    figures = {"answered surely": format_percent(selective.coverage)}
    if selective.coverage:
        figures["of these, right"] = format_percent(selective.accuracy)
    if ours := card.arm("ours"):
        figures = {"success": format_percent(ours.success.value), **figures}
        figures["a goal"] = format_duration(ours.seconds)
        figures["tokens a goal"] = f"{ours.read_tokens + ours.written_tokens:,.0f}"
        figures["saved for the caller"] = f"{ours.saved_tokens:,.0f} tokens"
    figures["training traces"] = f"{card.trained.traces:,}"
    if run.exported.exists():
        figures["adapter"] = f"{run.exported.stat().st_size / 1e6:.1f} MB"
    return (f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures.items())


def _gates(card: Scorecard) -> str:
    if not card.gates:
        return "<section><h2>Gates</h2><p class=hint>No gate was judged.</p></section>"
    failed = sum(not gate.passed for gate in card.gates)
    counts = f"{failed} of {len(card.gates)} did not pass" if failed else f"all {len(card.gates)} passed"
    gates = "".join(map(_gate, sorted(card.gates, key=lambda gate: gate.passed)))
    return f"<section><h2>Gates <small>{counts}</small></h2><ul class=gates>{gates}</ul></section>"


def _gate(gate: Gate) -> str:
    mark = (
        "<span class='verdict kept'>✓ passed</span>" if gate.passed else "<span class='verdict dropped'>✗ failed</span>"
    )
    return f"<li>{mark}<span><strong>{text(gate.name)}</strong> {text(gate.told)}</span></li>"
