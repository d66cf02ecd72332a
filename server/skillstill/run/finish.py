"""The last step of a run: what the caller is told beside the answer. Serving and evaluation share it.

`finish` makes the report of what the trace holds. The index is asked for leads before that: in serving only if the
report needs them (`finish_with_index`), in evaluation after each run, for how sure an answer must be is settled later.
"""

from collections.abc import Mapping

from skillstill.run.absent_column import absent_column
from skillstill.run.claims import claim_notes
from skillstill.run.evidence import RECEIPT, REFERENCE, incomplete_notes, overlooked_notes
from skillstill.run.leads import LATE, denies, is_unsettled, leads_of, with_index_leads
from skillstill.skills.calibration import Calibration, features
from skillstill.skills.skill import Skill
from skillstill.types import LEAD_CHARACTERS, Lead, Report, Trace
from skillstill.util.neutral import neutral
from skillstill.util.text import call_text, shorten
from skillstill.workspace import Workspace

UNSURE = "(Unsure: check before relying on it.)"  # 10 tokens of the caller's
CALL_CHARACTERS = 200  # of a call that an answer rests on: a query, mostly


def finish(trace: Trace, calibration: Calibration | None = None) -> Trace:
    """Return the trace with sources, notes and leads and, if there is a calibration, with its confidence.

    The confidence depends on what the model said itself: it is computed before anything is added.
    """
    report, is_unsure = trace.report, False
    if absent := absent_column(trace):
        return _read_off(trace, absent)
    if trace.extract and is_unsettled(report):
        return _read_off(trace, trace.extract)
    if calibration:
        confidence = calibration.confidence(features(trace))
        is_unsure = confidence < calibration.threshold
        trace = trace.model_copy(update={"confidence": round(confidence, 4)})
    if trace.named and report.status == "answered" and (is_unsure or denies(report)):
        return _read_off(trace, trace.named)
    if trace.extract and is_unsure and report.status == "answered" and _is_likelier(trace.extract, trace):
        return _read_off(trace, trace.extract)
    if report.status == "answered":
        notes = (*report.notes, *_notes(trace), *([UNSURE] if is_unsure else []))
        report = report.model_copy(update={"sources": _sources(trace), "notes": notes})
    return trace.model_copy(update={"report": neutralized(_with_leads(report, trace))})


def _is_likelier(extract: Report, trace: Trace) -> bool:
    """Return whether what is read off is likelier to be right than what the model said, if that is known of both.

    If both say that there is none, they agree.
    """
    agree = denies(extract) and denies(trace.report)
    return not agree and 0 < (trace.confidence or 0.0) < trace.extract_chance


def _read_off(trace: Trace, told: Report) -> Trace:
    """Return the trace with what was read off in place of its report."""
    report = told.model_copy(update={"notes": (*told.notes, UNSURE)})
    return trace.model_copy(update={"report": neutralized(_with_leads(report, trace))})


def _with_leads(report: Report, trace: Trace) -> Report:
    return report.model_copy(update={"leads": leads_of(trace)}) if _needs_leads(report) else report


async def finish_with_index(trace: Trace, skill: Skill, workspace: Workspace, calibration: Calibration | None) -> Trace:
    """Return the finished trace. The index is asked only if the report needs leads: that takes half a second.

    If it could not be asked in time, the report says so.
    """
    finished = finish(trace, calibration)
    if not _needs_leads(finished.report):
        return finished
    located = await with_index_leads(trace, skill, workspace)
    finished = finish(located, calibration)
    return noted(finished, LATE) if located.index_leads is None else finished


def noted(trace: Trace, note: str) -> Trace:
    """Return the trace whose report has one more note."""
    return trace.model_copy(update={"report": trace.report.model_copy(update={"notes": (*trace.report.notes, note)})})


def neutralized(report: Report) -> Report:
    """Return the report whose quotations, paths among them, are only text to whoever reads it."""
    several = {"sources": report.sources, "evidence": report.evidence, "notes": report.notes}
    said = {name: tuple(map(neutral, texts)) for name, texts in several.items()}
    leads = tuple(map(_neutral_lead, report.leads))
    told = {"answer": neutral(report.answer), "context": neutral(report.context)}
    return report.model_copy(update={"leads": leads, **told, **said})


def _neutral_lead(lead: Lead) -> Lead:
    said = {"path": neutral(lead.path), "text": shorten(neutral(lead.text), LEAD_CHARACTERS)}
    return lead.model_copy(update=said)


def _needs_leads(report: Report) -> bool:
    """Return whether the caller has reason to go on: it is handed back, carries a warning, or says there is none."""
    if report.status == "answered":
        return bool(report.notes) or denies(report)
    return report.status == "escalate"


def _notes(trace: Trace) -> tuple[str, ...]:
    """Return what the answer leaves out of a result, and what no call and no result bears out."""
    report = trace.report
    return (
        *incomplete_notes(report.answer, report.evidence, trace.receipts),
        *overlooked_notes(report.evidence, trace.receipts),
        *claim_notes(trace),
    )


def _sources(trace: Trace) -> tuple[str, ...]:
    """Return the call behind each receipt that the answer rests on.

    `There is none (r1)` says nothing as long as nobody knows what was looked for.
    """
    named = [one for one in trace.receipts if one.id in trace.report.evidence]
    return tuple(f"{one.id}: {plain_call(one.tool, one.arguments, trace.prompt)}" for one in named)


def plain_call(tool: str, arguments: Mapping[str, object], prompt: str, width: int | None = None) -> str:
    """Return a call as its caller reads it: without what only the run understands (`=C`, `r2`), and the prompt."""
    told = {name: value for name, value in arguments.items() if value != prompt and not _is_reference(value)}
    return call_text(tool, told, width or CALL_CHARACTERS)


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and any(one.fullmatch(value.strip()) for one in (REFERENCE, RECEIPT))
