"""The last step of a run: what the caller is told beside the answer. Serving and evaluation share it."""

from collections.abc import Sequence

from skillstill.run.evidence import RECEIPT, REFERENCE, incomplete_notes
from skillstill.skills.calibration import Calibration, features
from skillstill.types import Receipt, Report, Trace
from skillstill.util.neutral import neutral
from skillstill.util.text import call_text

UNSURE = "(Unsure: check before relying on it.)"  # 10 tokens of the caller's
CALL_CHARACTERS = 200  # of a call that an answer rests on: a query, mostly


def finish(trace: Trace, calibration: Calibration | None = None) -> Trace:
    """Return the trace with the sources of its answer and, if there is a calibration, with its confidence.

    The confidence depends on what the model said itself: it is computed before anything is added.
    """
    own = features(trace)
    report = neutralized(with_notes(with_sources(trace.report, trace.receipts), trace.receipts))
    if calibration is None:
        return trace.model_copy(update={"report": report})
    confidence = calibration.confidence(own)
    if report.status == "answered" and confidence < calibration.threshold:
        report = report.model_copy(update={"notes": (*report.notes, UNSURE)})
    return trace.model_copy(update={"confidence": round(confidence, 4), "report": report})


def neutralized(report: Report) -> Report:
    """Return the report whose quotations, paths among them, are only text to whoever reads it."""
    several = {"sources": report.sources, "evidence": report.evidence}
    said = {name: tuple(map(neutral, texts)) for name, texts in several.items()}
    return report.model_copy(update={"answer": neutral(report.answer), **said})


def with_notes(report: Report, receipts: Sequence[Receipt]) -> Report:
    """Return the report with a note if the answer tells only a part of what a result found."""
    notes = incomplete_notes(report.answer, receipts) if report.status == "answered" else ()
    return report.model_copy(update={"notes": (*report.notes, *notes)})


def with_sources(report: Report, receipts: Sequence[Receipt]) -> Report:
    """Return the report with the call behind each receipt that its answer rests on.

    `There is none (r1)` says nothing as long as nobody knows what was looked for.
    """
    if report.status != "answered":
        return report
    named = [one for one in receipts if one.id in report.evidence]
    return report.model_copy(update={"sources": tuple(f"{one.id}: {plain_call(one)}" for one in named)})


def plain_call(receipt: Receipt) -> str:
    """Return the call as its caller reads it, without arguments that only the run understands: `=C`, `r2`."""
    understood = {name: value for name, value in receipt.arguments.items() if not _is_reference(value)}
    return call_text(receipt.tool, understood, CALL_CHARACTERS)


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and any(one.fullmatch(value.strip()) for one in (REFERENCE, RECEIPT))
