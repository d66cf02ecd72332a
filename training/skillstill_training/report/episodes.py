"""The section with ten transcripts: efficient right answers, confident wrong answers, and escalations."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from skillstill.types import Span, Trace
from skillstill.util.text import shorten

from skillstill_training.authoring.checks import Locations, Quoted
from skillstill_training.authoring.goal import Goal
from skillstill_training.authoring.oracle import SeenResult
from skillstill_training.report.formats import format_duration
from skillstill_training.report.page.cards import build_cards
from skillstill_training.report.page.table import many, text
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Outcome
from skillstill_training.teachers import TraceRow
from skillstill_training.util.jsonl import read_lines

RIGHT, WRONG, ESCALATED = 4, 4, 2  # transcripts of each kind
LINES = 10  # of a result that are shown, besides those with a right place
WIDTH = 240  # characters of a line
Card = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Episode:
    """A run of a test goal, with its outcome, goal and trace."""

    outcome: Outcome
    goal: Goal
    trace: Trace

    @property
    def confidence(self) -> float:
        return self.trace.confidence or 0.0

    @property
    def tokens(self) -> float:
        return self.outcome.read_tokens + self.outcome.written_tokens


def render_episodes(run: RunFolder, outcomes: Sequence[Outcome]) -> str:
    """Return the transcripts in three groups, or a hint if none were kept."""
    episodes = _load_episodes(run, outcomes)
    groups = (
        ("Right, in several calls and few tokens", _rank(filter(_is_right, episodes), lambda one: one.tokens)[:RIGHT]),
        ("Wrong, and sure of it", _rank(filter(_is_wrong, episodes), lambda one: -one.confidence)[:WRONG]),
        ("Handed back", _rank(filter(_is_escalated, episodes), lambda one: one.confidence)[:ESCALATED]),
    )
    body = "".join(_group(title, chosen) for title, chosen in groups if chosen)
    none = "<p class=hint>No transcript of a test goal was kept.</p>"
    return f"<section><h2>Transcripts</h2>{body or none}</section>"


def _load_episodes(run: RunFolder, outcomes: Sequence[Outcome]) -> Sequence[Episode]:
    goals = {goal.id: goal for goal in read_lines(run.goals, Goal)} if run.goals.exists() else {}
    return [Episode(one, goals[one.goal], one.trace) for one in outcomes if one.trace and one.goal in goals]


def _is_right(one: Episode) -> bool:
    return one.outcome.passed and one.outcome.calls > 1


def _is_wrong(one: Episode) -> bool:
    return not one.outcome.passed and one.outcome.status == "answered"


def _is_escalated(one: Episode) -> bool:
    return not one.outcome.passed and one.outcome.status == "escalate"


def _rank(some: Iterable[Episode], key: Callable[[Episode], float]) -> Sequence[Episode]:
    """Sort by the key, but the first of each family comes before the second of any, for variety."""
    counts: Counter[str] = Counter()
    ranked = []
    for one in sorted(some, key=lambda one: (key(one), one.goal.id)):
        counts[one.goal.family] += 1
        ranked.append((counts[one.goal.family], one))
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]


def _group(title: str, chosen: Sequence[Episode]) -> str:
    return f"<h3>{title}</h3>{''.join(_card(one, open=at == 0) for at, one in enumerate(chosen))}"


def _card(one: Episode, *, open: bool) -> str:
    """Return the question, the answer and the right answer. A click opens the calls. All text is escaped."""
    row = TraceRow(goal=one.goal.id, teacher="ours", kept=one.outcome.passed, reason=one.outcome.why, trace=one.trace)
    card = build_cards([one.goal], [row])[0]
    trace, gold = card["traces"][0], _places(one.goal)
    steps = "".join(_step(step, gold) for step in trace["steps"])
    return (
        f"<article class=card><p class=prompt>{text(card['prompt'])}</p>{_badges(one)}"
        f"<dl>{_entry('why it is here', text(_note(one, gold)))}{_answer(trace)}"
        f"{_entry('right answer', _gold(card['gold']))}</dl>"
        f"<details class=trace{' open' if open else ''}><summary>{many(len(one.trace.receipts), 'call')}</summary>"
        f"<ol>{steps}</ol></details></article>"
    )


def _badges(one: Episode) -> str:
    passed = one.outcome.passed
    mark = "<span class='verdict kept'>right</span>" if passed else "<span class='verdict dropped'>not solved</span>"
    wording = "wording from another hand" if one.outcome.unseen else "wording of training"
    costs = (format_duration(one.outcome.seconds), f"{one.tokens:,.0f} tokens")
    plain = (one.goal.family, one.goal.workspace, wording, *costs, one.goal.id)
    return f"<p class=badges>{mark}{''.join(f'<span>{text(words)}</span>' for words in plain)}</p>"


def _note(one: Episode, gold: Sequence[Span]) -> str:
    """Return why this transcript is shown."""
    confidence = "" if one.trace.confidence is None else f", at a confidence of {one.trace.confidence:.2f}"
    if one.outcome.passed:
        return f"solved{' by the shortest way' if len(one.trace.receipts) <= one.outcome.calls else ''}{confidence}"
    spans = [span for receipt in one.trace.receipts for span in receipt.spans]
    shown = "a result showed" if any(_overlap(span, place) for span in spans for place in gold) else "no result showed"
    return f"{one.outcome.why or 'not solved'}{confidence}{f'; {shown} the right place' if gold else ''}"


def _answer(trace: Card) -> str:
    evidence = "".join(f"<code>{text(place)}</code>" for place in trace["evidence"])
    answer = _entry(text(trace["status"]), f"<span class=say>{text(trace['answer'])}</span>")
    return answer + (_entry("evidence", evidence) if evidence else "")


def _gold(gold: Card) -> str:
    items = "".join(f"<code>{text(item)}</code>" for item in gold["items"])
    rows = "".join(f"<tr>{''.join(f'<td>{text(one)}</td>' for one in cells)}</tr>" for cells in gold["rows"])
    table = f"<table><tbody>{rows}</tbody></table>" if rows else ""
    return f"{text(gold['lead'])} {items}{table}<span class=note>{text(gold['note'])}</span>"


def _entry(name: str, inner: str) -> str:
    return f"<dt>{name}</dt><dd>{inner}</dd>"


def _step(step: Card, gold: Sequence[Span]) -> str:
    if "call" in step:
        return f"<li class=call>{text(shorten(step['call'], WIDTH * 2))}</li>"
    if "said" in step:
        broken = f"<p class=note>not readable: {text(step['malformed'])}</p>" if step["malformed"] else ""
        return f'<li class="say{" malformed" if broken else ""}">{text(shorten(step["said"], WIDTH * 4))}{broken}</li>'
    refused = " refused" if step["refused"] else ""
    id = f"<span class=id>{text(step['id'])}: </span>" if step["id"] else ""
    return f'<li class="result{refused}"><pre>{id}{_excerpt(step["got"], gold)}</pre></li>'


def _excerpt(result: str, gold: Sequence[Span]) -> str:
    """Return the first lines of a result, and each line at a right place, which is marked. Gaps are counted."""
    shown, gap = [], 0
    for number, line in enumerate(result.split("\n")):
        right = _is_at(line, gold)
        if number >= LINES and not right:
            gap += 1
            continue
        shown += [_gap(gap), _line(line, right=right)]
        gap = 0
    return "\n".join(filter(None, [*shown, _gap(gap)]))


def _line(line: str, *, right: bool) -> str:
    words = text(shorten(line, WIDTH))
    return f"<mark>{words}</mark>" if right else words or " "


def _gap(lines: int) -> str:
    return f"<span class=note>… {many(lines, 'line')}</span>" if lines else ""


def _places(goal: Goal) -> Sequence[Span]:
    """Return the places of the right answer, if the check has any."""
    match goal.check:
        case Locations(gold=gold):
            return [place for place in gold if place.first]
        case Quoted(place=Span() as place):
            return [place]
        case _:
            return []


def _is_at(line: str, gold: Sequence[Span]) -> bool:
    """Return whether a line of a result begins with one of these places."""
    return any(_overlap(head, place) for head in (SeenResult("", line).places if gold else ()) for place in gold)


def _overlap(one: Span, other: Span) -> bool:
    return one.path == other.path and one.first <= other.last and other.first <= one.last
