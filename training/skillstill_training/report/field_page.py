"""The page of a field test: the scores of all arms, and each question with what every arm said to it.

The page is one file that loads nothing and runs no script. Text from a workspace or a model is escaped.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template

from skillstill.types import Message, Trace

from skillstill_training.field.judge import FieldJudgement, Verdict
from skillstill_training.field.measure import FieldTest
from skillstill_training.field.question import FieldQuestion, Gold
from skillstill_training.field.score import SILENTLY_WRONG, WARNED_WRONG, Judged, verdict_text
from skillstill_training.report.page.cards import format_call
from skillstill_training.report.page.resources import frame, read_resource
from skillstill_training.report.page.table import cell, head, row, section, share, text
from skillstill_training.run.scorecard import FieldArmName, FieldResult, FieldScore, Interval
from skillstill_training.util.jsonl import write_text

SHOWN = 1_200  # characters of a result that are shown
VERDICTS = (
    Verdict.RIGHT.value,
    Verdict.HANDED_BACK_RIGHTLY.value,
    Verdict.PARTLY.value,
    Verdict.HANDED_BACK.value,
    WARNED_WRONG,
    SILENTLY_WRONG,
    Verdict.FAILED.value,
)
ByArm = Mapping[FieldArmName, Sequence[Judged]]


def write_field_page(results: Path, test: FieldTest) -> Path:
    """Write `SPLIT.html` into the folder and return its path. Raise StageError."""
    file = results / f"{test.result.split}.html"
    write_text(file, _render(test.result, test.judged))
    return file


def _render(result: FieldResult, judged: ByArm) -> str:
    style = read_resource("report.page", "page.css") + read_resource("report", "field.css")
    body = Template(read_resource("report", "field.html")).substitute(
        head=_head(result),
        arms=_arms(result),
        verdicts=_verdicts(result),
        sorts=_counts("sorts", "By sort of question: right or rightly handed back", "sort", result, "by_sort"),
        workspaces=_counts("folders", "By folder: right or rightly handed back", "folder", result, "by_workspace"),
        questions=_questions(judged),
    )
    return frame(text(f"{result.skill} · field test, {result.split}"), style, body)


def _head(result: FieldResult) -> str:
    first = result.scores[0]
    lead = f"{first.questions:,} natural questions about {first.workspaces} real folders; measured on {result.machine}."
    return (
        f"<header><p class=over>skillstill · field test · {text(result.split)}</p><h1>{text(result.skill)}</h1>"
        f"<p class=lead>{text(lead)}</p></header>"
    )


def _arms(result: FieldResult) -> str:
    names = ("questions", "right or rightly handed back", "right", "wrong, no warning", "right of those without one")
    heads = ["<tr>", head("arm"), *map(head, names), head("wanted place handed over"), head("seconds"), "</tr>"]
    return section("arms", "The arms", heads, map(_arm_row, result.scores))


def _arm_row(score: FieldScore) -> str:
    shares = (score.good, score.right, score.silently_wrong, score.unwarned, score.led)
    cells = [cell(f"{score.questions:,}"), *(cell(_interval(one)) for one in shares), cell(f"{score.seconds:.1f}")]
    return row(text(score.label), cells)


def _verdicts(result: FieldResult) -> str:
    heads = ["<tr>", head("arm"), *map(head, VERDICTS), "</tr>"]
    rows = (
        row(text(score.label), [cell(str(score.verdicts.get(name, 0))) for name in VERDICTS]) for score in result.scores
    )
    return section("verdicts", "What the answers were worth", heads, rows)


def _counts(id: str, title: str, name: str, result: FieldResult, field: str) -> str:
    counts: Sequence[Mapping[str, tuple[int, int]]] = [getattr(score, field) for score in result.scores]
    heads = ["<tr>", head(name), *(head(text(score.arm)) for score in result.scores), "</tr>"]
    names = sorted({one for part in counts for one in part})
    return section(id, title, heads, (row(text(one), [_count(part.get(one)) for part in counts]) for one in names))


def _count(count: tuple[int, int] | None) -> str:
    return cell(f"{count[0]} of {count[1]}, {share(*count)}" if count else "–")


def _questions(judged: ByArm) -> str:
    """Return each question once, with the answers of all arms that were asked it, the first arm's failures first."""
    first = next(iter(judged.values()), ())
    ordered = sorted(first, key=lambda one: (-VERDICTS.index(verdict_text(one.judgement)), one.question.id))
    by_id = {arm: {one.question.id: one for one in part} for arm, part in judged.items()}
    asked = [
        _question(one.question, {arm: part[one.question.id] for arm, part in by_id.items() if one.question.id in part})
        for one in ordered
    ]
    return f"<section><h2>The questions</h2>{''.join(asked)}</section>"


def _question(question: FieldQuestion, answers: Mapping[str, Judged]) -> str:
    marks = "".join(_mark(one.judgement) for one in list(answers.values())[:1])
    entries = [
        _entry("question", f"{question.id}{f', follows {question.after}' if question.after else ''}; {question.sort}"),
        _entry("right answer", _gold(question.gold)),
        *(part for arm, one in answers.items() for part in _answer(arm, one)),
    ]
    return (
        f'<details class=question id="{text(question.id)}"><summary>{marks}'
        f"<span class=prompt>{text(question.prompt)}</span></summary><dl>{''.join(entries)}</dl></details>"
    )


def _gold(gold: Gold) -> str:
    facts = "; ".join(" or ".join(forms) for forms in gold.facts)
    parts = [gold.outcome, gold.answer, f"states {facts}" if facts else ""]
    asked = f"{gold.places_asked} of these places is asked for" if gold.places else ""
    return "\n".join(filter(None, [*parts, asked, *gold.places]))


def _answer(arm: str, judged: Judged) -> Iterator[str]:
    answer, judgement = judged.row.answer, judged.judgement
    told = [answer.status, answer.query, answer.text, *answer.places, *(f"lead: {lead}" for lead in answer.leads)]
    worth = f"{verdict_text(judgement)}{f': {judgement.why}' if judgement.why else ''}"
    yield _entry(arm, "\n".join([*filter(None, told), worth]), _trace(judged.row.trace))


def _trace(trace: Trace | None) -> str:
    steps = [step for message in (trace.messages[2:] if trace else ()) for step in _steps(message)]
    return f"<pre>{text(chr(10).join(steps))}</pre>" if steps else ""


def _steps(message: Message) -> Iterator[str]:
    if message.role == "tool":
        yield message.content[:SHOWN]
    elif message.calls:
        yield from (f"> {format_call(call)}" for call in message.calls)
    else:
        yield f"> {message.content}"


def _mark(judgement: FieldJudgement) -> str:
    tone = "good" if judgement.is_good else "bad" if judgement.is_silently_wrong else "warm"
    return f"<span class='mark {tone}'>{text(verdict_text(judgement))}</span>"


def _entry(name: str, words: str, more: str = "") -> str:
    return f"<dt>{text(name)}</dt><dd>{text(words)}{more}</dd>"


def _interval(one: Interval) -> str:
    return f"{one.value:.0%} <span class=none>{one.low:.0%} to {one.high:.0%}</span>"
