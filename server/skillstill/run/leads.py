"""Leads: the likeliest places, for whoever goes on with a question that a run did not settle."""

import logging
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING

from skillstill.errors import Refusal, SkillstillError
from skillstill.run.context import lines_in
from skillstill.run.evidence import DENIES
from skillstill.skills.skill import Skill
from skillstill.tools import BUNDLED
from skillstill.types import LEAD_CHARACTERS, Lead, Message, ReasonKind, Receipt, Report, ShownPlace, Span, Trace
from skillstill.util.text import one_line
from skillstill.workspace import Workspace

if TYPE_CHECKING:
    from skillstill.tools.facts.extract import ExtractiveAnswer
    from skillstill.tools.facts.leads import Located

MOST = 5
LINES = 60  # behind the first one that a lead may span: what one looks through
SECONDS = 2.0  # for asking the index: nobody waits longer for a hint
EXTRACT_SECONDS = 20.0  # ... and for an answer, if no model was asked
LIKELY = 0.15  # of an extract to be right: of those above it a third are (docs/experiments.md)
LIKELIER = 0.5  # of rows that a question names: of 39 training questions above it 31 are answered by them
LATE = "(The index was not searched for likely places in time.)"
UNSETTLED = {
    ReasonKind.UNLIKE,
    ReasonKind.NO_ANSWER,
    ReasonKind.WITHHELD,
    ReasonKind.REPEATED_CALL,
    ReasonKind.BUDGET,
    ReasonKind.CONTEXT_FULL,
}
FACT_TOOLS = frozenset(BUNDLED["facts"])
WORD = re.compile(r"[^\W\d_]{3,}")
NAME = re.compile(r"\b[^\W\d_a-z]\w{2,}")  # a word with a capital
log = logging.getLogger(__name__)


async def with_index_leads(trace: Trace, skill: Skill, workspace: Workspace) -> Trace:
    """Return the trace with what the index holds to be likeliest.

    Only a skill that asks facts has an index. An index that cannot be asked at once is not asked. The seconds that it
    takes are those of the run.
    """
    asks_facts = skill.readers or FACT_TOOLS.intersection(skill.subagent.tools)
    if not asks_facts or trace.report.status == "failed":
        return trace
    reason, began = trace.report.reason, time.monotonic()
    is_unasked = reason is not None and reason.kind is ReasonKind.UNLIKE
    found = await index_leads(workspace, skill.readers, trace.prompt, is_unasked=is_unasked)
    taken = round(trace.tally.seconds + time.monotonic() - began, 3)
    tally = trace.tally.model_copy(update={"seconds": taken})
    if found is None:
        return trace.model_copy(update={"index_leads": None, "tally": tally})
    is_told = found.is_likelier or _is_denied(found.named, trace.report)
    told = {
        "extract": found.extract,
        "extract_chance": found.chance,
        "named": found.named if is_told else None,
    }
    return trace.model_copy(update={"index_leads": found.leads, "tally": tally, **told})


def _is_denied(named: Report | None, report: Report) -> bool:
    """Return whether a report says that there is none of what stands in the rows: all names that it denies do."""
    names = NAME.findall(DENIES.sub("", report.answer, count=1))
    return named is not None and denies(report) and all(name.casefold() in named.answer.casefold() for name in names)


def denies(report: Report) -> bool:
    """Return whether a run says that there is none."""
    return report.status == "answered" and DENIES.match(report.answer) is not None


def is_unsettled(report: Report) -> bool:
    """Return whether a run ended without an answer though nothing says that none can be found.

    What the likeliest places say is told then. A model that gives up has looked.
    """
    return report.reason is not None and report.reason.kind in UNSETTLED


def leads_of(trace: Trace) -> tuple[Lead, ...]:
    """Return up to five places: the likeliest of the run, those of the index, then others that the run has shown."""
    others = chain.from_iterable(_shown(trace, guesses=False))
    return tuple(_distinct([*_likely(trace), *(trace.index_leads or ()), *others]))[:MOST]


def _likely(trace: Trace) -> Sequence[Lead]:
    """Return all places of the run's rankings, then the first of each other result, the last result first."""
    ranked = chain.from_iterable(reversed(_shown(trace, guesses=True)))
    return [*_distinct([*ranked, *(places[0] for places in _shown(trace, guesses=False) if places)])]


def _distinct(leads: Iterable[Lead]) -> Iterable[Lead]:
    """Return a line once, with all that it spans, and a file as often as parts of it are meant, such as tables."""
    found: dict[tuple[str, int, str], Lead] = {}
    for lead in leads:
        key = (lead.path, lead.line, "" if lead.line else lead.text)
        known = found.setdefault(key, lead)
        found[key] = known.model_copy(update={"last": max(known.last, lead.last)})
    return found.values()


def _shown(trace: Trace, *, guesses: bool) -> Sequence[Sequence[Lead]]:
    """Return the places of each result that is a guess, or of each that is none, the last result first."""
    results = {message.receipt: message for message in trace.messages if message.receipt}
    found = [one for one in trace.receipts if one.id in results and not (one.refused or one.empty)]
    return [[*_places(one, results[one.id], trace.prompt)] for one in reversed(found) if one.guess is guesses]


def _places(receipt: Receipt, result: Message, prompt: str) -> Iterator[Lead]:
    """Yield the places of one result: its lines that begin with one, else a line of a file, else whole files."""
    lines = result.content.removeprefix(f"{receipt.id}: ").split("\n")
    if result.places or receipt.guess:
        yield from _placed(lines, result.places, receipt.spans)
    elif spans := [span for span in receipt.spans if span.first]:
        yield _best_line(receipt, spans, lines, prompt)
    elif result.rows and receipt.spans:
        yield _lead(receipt.spans[0].path, 0, "\n".join(lines))
    else:
        yield from _described(lines, receipt.spans, prompt)


def _placed(lines: Sequence[str], places: Sequence[ShownPlace], spans: Sequence[Span]) -> Iterator[Lead]:
    """Yield the lines that show a place of a file, or begin with the path of a whole one, in their order.

    A line of the lead above is none of its own.
    """
    by_index, whole = {place.index: place for place in places}, [span.path for span in spans if not span.first]
    above: Lead | None = None
    for index, line in enumerate(lines):
        if place := by_index.get(index):
            if not above or place.path != above.path or not above.line <= place.line <= above.last:
                text, (first, last) = line.replace(f"{place.path}:{place.line}", "", 1), _around(place, spans)
                yield (above := _lead(place.path, first, text, min(last, first + LINES)))
        elif path := next((path for path in whole if line.startswith(path)), ""):
            yield _lead(path, 0, line.removeprefix(path))


def _around(place: ShownPlace, spans: Sequence[Span]) -> tuple[int, int]:
    """Return the lines of the span that a shown line begins, else of one that it stands in, if one sees all."""
    found = [(span.first, span.last) for span in spans if span.path == place.path and span.first]
    begun = [lines for lines in found if lines[0] == place.line]
    around = [(first, last) for first, last in found if first <= place.line <= last <= first + LINES]
    return begun[-1] if begun else min(around, key=lambda lines: lines[1] - lines[0], default=(place.line, place.line))


def _best_line(receipt: Receipt, spans: Sequence[Span], lines: Sequence[str], prompt: str) -> Lead:
    """Return the line of a part of a file that was asked for by its number, else that with most words of the prompt."""
    asked = {value for value in receipt.arguments.values() if isinstance(value, int)}
    found = [_lead(span.path, span.first, _numbered(lines, span.first)) for span in spans]
    return max(found, key=lambda lead: (lead.line in asked, _common_words(lead.text, prompt), bool(lead.text)))


def _numbered(lines: Sequence[str], number: int) -> str:
    """Return the line of a file that is shown under its number."""
    return next((line for line in lines if line.startswith(f"{number}: ")), "").removeprefix(f"{number}: ")


def _described(lines: Sequence[str], spans: Sequence[Span], prompt: str) -> Iterator[Lead]:
    """Yield the lines about whole files, such as tables, that share a word with the prompt, the most words first."""
    paths = sorted({span.path for span in spans}, key=len, reverse=True)
    path, found = next((span.path for span in spans), ""), list[tuple[int, Lead]]()
    for line in lines if spans else ():
        path = next((one for one in paths if one in line), path)
        if not line.endswith(":"):  # the head of what follows
            found.append((_common_words(line, prompt), _lead(path, 0, line.removeprefix(path))))
    yield from (lead for common, lead in sorted(found, key=lambda one: -one[0]) if common)


def _common_words(text: str, prompt: str) -> int:
    return len({word.casefold() for word in WORD.findall(text)} & {word.casefold() for word in WORD.findall(prompt)})


def _lead(path: str, line: int, text: str, last: int = 0) -> Lead:
    last = last if last > line else 0
    return Lead(path=path, line=line, last=last, text=one_line(text.lstrip(" :"), LEAD_CHARACTERS))


@dataclass(frozen=True, slots=True)
class Indexed:
    """The likeliest places by the index, and what is read off without a model, if that is likely enough to be right.

    `chance` is that of the extract, 0 to 1. `named` are rows that the question names; `is_likelier` to be right than
    what a model is unsure of.
    """

    leads: tuple[Lead, ...] = ()
    extract: Report | None = None
    chance: float = 0.0
    named: Report | None = None
    is_likelier: bool = False


async def index_leads(
    workspace: Workspace, readers: tuple[str, ...], prompt: str, *, is_unasked: bool = False
) -> Indexed | None:
    """Return the likeliest places for a prompt by these readers, or all; none if the index cannot be asked.

    Return None if it could not be asked in time, which is longer if no model is asked: then it may be the next time.
    """
    from skillstill.tools.facts.leads import locate_within  # it imports the readers, with their parsers

    seconds = EXTRACT_SECONDS if is_unasked else SECONDS
    try:
        found = await locate_within(seconds, workspace, readers, prompt, cache(partial(lines_in, workspace)))
    except (SkillstillError, Refusal) as error:
        log.info("no leads: %s", error)
    except Exception:  # a run must not fail for want of a hint
        log.warning("no leads", exc_info=True)
    else:
        return _indexed(found) if found else None
    return Indexed()


def _indexed(found: "Located") -> Indexed:
    shown = found.shown
    leads = tuple(_placed(shown.text.split("\n"), shown.places, shown.spans))
    named = next((extract for extract in found.extracts if extract.is_named and extract.chance >= LIKELY), None)
    extract, chance = _read_off(found)
    if named is None:
        return Indexed(leads, extract, chance)
    return Indexed(leads, extract, chance, _quoted(named), named.chance >= LIKELIER)


def _read_off(found: "Located") -> tuple[Report | None, float]:
    """Return what is likelier to be right, and how likely: what the places say, or that a word stands nowhere.

    None if neither is likely enough, or if it is likelier that no file tells what is asked for.
    """
    extract, absence = next(iter(found.extracts), None), found.absence
    quotable = extract.chance if extract and extract.chance >= LIKELY else 0.0
    missing = absence.chance if absence else 0.0
    if found.beyond >= max(quotable, missing):
        return None, 0.0
    if absence and missing > quotable:
        said = f"No more was looked for. Of such questions {missing:.0%} ask for what is not there."
        return Report(status="answered", answer=absence.answer, notes=(f"({said})",)), missing
    return (_quoted(extract), quotable) if extract else (None, 0.0)


def _quoted(extract: "ExtractiveAnswer") -> Report:
    """Return an extract as an answer that says what it is."""
    note = f"(Not worked out: {extract.source}. Of such answers {extract.chance:.0%} are right.)"
    return Report(
        answer=extract.answer,
        status="answered",
        evidence=tuple(dict.fromkeys(extract.places)),
        notes=(note,),
        context=extract.context,
    )
