"""What would become of a skill: can a small model learn it, and can a program tell whether it did it right?

Nothing is run, no connection is opened and no model is asked: `signals` is a table of patterns, and five questions in
their order decide (docs/assessing.md says what each verdict means).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from skillstill.library.assessing.cover import NO_ARCHETYPE, Archetype, Cover, cover, nearest_archetype
from skillstill.library.assessing.judgeable import is_judgeable
from skillstill.library.assessing.prediction import PredictedCheck, predict
from skillstill.library.assessing.sheet import Sheet, SheetLine, sheet
from skillstill.library.assessing.signals import SeenSignal, Side, seen_signals
from skillstill.library.assessing.verdict import FIT, Verdict
from skillstill.library.definition import Definition
from skillstill.types import Frozen
from skillstill.util.text import one_line

# How much must speak for a side. A fixed procedure is short; long texts that spell out commands explain something.
REMOTE, SCRIPT, FACT, CHECK = 3.0, 4.0, 3.0, 2.0
SHORT = 6_000  # characters of a body
QUOTED, BEFORE = 90, 30  # characters
EXAMPLES = 3  # requests of which one is held out, as goals are
SHOWN = 6
DECIDED_BY: Mapping[Verdict, tuple[Side, ...]] = {
    "verifiable": ("fact",),
    "partly verifiable": ("check", "fact"),
    "not verifiable": ("judgement",),
    "needs a remote service": ("remote",),
    "compile to a script": ("script",),
}
MISSING: Mapping[Verdict, str] = {
    "partly verifiable": "a line between what is checked and what is not: the rest stays soft, and is counted apart",
    "not verifiable": "a result that a program can check: a place, a value, a set of files or rows, a passing test",
    "needs a remote service": "a stand-in on this machine for the service: recorded answers, or a local server",
    "compile to a script": "nothing that a model could add: write its steps down as a script",
}


class AssessmentReason(Frozen):
    """One thing that decided, and where it stands. `line` is 1-based; 0 if it is about the bundled files."""

    side: Side
    weight: float  # below zero: it speaks against its side
    text: str
    line: int = Field(ge=0)
    quote: str = ""


class Assessment(Frozen):
    """The verdict on one definition.

    reasons    what spoke for the verdict first, then the rest, heaviest first
    missing    what is needed before it can be distilled, one sentence each
    archetype  the one of our own skills that it resembles most
    check      what would judge its answers if it were distilled today
    """

    name: str
    verdict: Verdict
    reasons: tuple[AssessmentReason, ...]
    missing: tuple[str, ...]
    tools: Cover
    archetype: Archetype
    check: PredictedCheck
    scores: Mapping[Side, float]


def assess(definition: Definition) -> Assessment:
    """Return the assessment of a definition. Never raises: a text that says nothing is `not verifiable`."""
    page = sheet(definition)
    found = list(seen_signals(page))
    scores = _scores(found)
    verdict = _verdict(scores, page)
    nearest = nearest_archetype(page)
    tools = cover(page, nearest)
    archetype = nearest if verdict in FIT else NO_ARCHETYPE
    return Assessment(
        name=definition.name,
        verdict=verdict,
        reasons=tuple(_reasons(found, verdict)),
        missing=tuple(_missing(definition, verdict, tools, found)),
        tools=tools,
        archetype=archetype,
        check=predict(verdict, archetype, tools, is_judgeable=is_judgeable(page, tools)),
        scores=scores,
    )


def _scores(found: Iterable[SeenSignal]) -> dict[Side, float]:
    total: Counter[Side] = Counter()
    for one in found:
        total[one.signal.side] += one.weight  # type: ignore[assignment]  # a Counter adds fractions as well
    return {side: round(total[side], 2) for side in ("remote", "script", "fact", "check", "judgement")}


def _verdict(scores: Mapping[Side, float], page: Sheet) -> Verdict:
    """Return the questions of docs/assessing.md, in their order."""
    judgement, check, fact = scores["judgement"], scores["check"], max(0.0, scores["fact"])
    if scores["remote"] >= REMOTE:
        return "needs a remote service"
    if scores["script"] >= SCRIPT and scores["script"] > judgement and page.length <= SHORT:
        return "compile to a script"
    if fact >= max(FACT, judgement) and fact > check + judgement / 2:
        return "verifiable"
    if check + fact / 2 >= max(CHECK, judgement):
        return "partly verifiable"
    return "not verifiable"


def _reasons(found: Sequence[SeenSignal], verdict: Verdict) -> Iterator[AssessmentReason]:
    """Yield the reasons, first those of the sides that decided."""
    sides = DECIDED_BY[verdict]
    for one in sorted(found, key=lambda one: (one.signal.side not in sides, -abs(one.weight))):
        for line in one.lines:
            yield AssessmentReason(
                side=one.signal.side,
                weight=one.signal.weight,
                text=one.signal.says,
                line=line.number,
                quote=_quote(one, line),
            )


def _quote(one: SeenSignal, line: SheetLine) -> str:
    """Return what was seen, with a little before it: a description is one long line."""
    match = one.signal.expression.search(line.text)
    start = max(0, match.start() - BEFORE) if match else 0
    return ("…" if start else "") + one_line(line.text[start:], QUOTED)


def _missing(definition: Definition, verdict: Verdict, tools: Cover, found: Sequence[SeenSignal]) -> Iterator[str]:
    if verdict in FIT:
        yield from _missing_for_goals(definition, tools, found)
    if verdict != "verifiable":
        yield MISSING[verdict]
    if definition.licence.derived_works != "allowed" and verdict != "compile to a script":
        yield _missing_licence(definition.licence.name)


def _missing_licence(name: str) -> str:
    """Return what is asked for: nobody needs a licence for a text of their own, and such a text names none."""
    if name:
        return f"a licence that allows derived works: found {name}"
    return "a licence that allows derived works, unless the text is your own: found none"


def _missing_for_goals(definition: Definition, tools: Cover, found: Sequence[SeenSignal]) -> Iterator[str]:
    if len(definition.examples) < EXAMPLES:
        yield f"requests as people type them: it brings {len(definition.examples)}, a family of goals needs {EXAMPLES}"
    if not any(one.signal.is_form for one in found):
        yield "a form for its answer: it describes none"
    if not tools.ours:
        yield "material and tools: it speaks neither of sources, nor of logs, nor of tables"
    if tools.uncovered:
        yield f"tools that we do not have: {', '.join(tools.uncovered[:SHOWN])}"
