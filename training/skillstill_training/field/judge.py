"""Judge an answer to a field question by its gold: what it states, which places it names, whether it warns."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from skillstill.run.evidence import DENIES
from skillstill.run.finish import finish
from skillstill.skills.calibration import Calibration
from skillstill.types import Frozen, Span, Status, Trace

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.numbers import is_number, same_number
from skillstill_training.field.question import Gold, parse_place

NEAR = 5  # lines between a named place and the wanted one that a reader still sees at once
MOST_PLACES = 5  # beyond those that were asked for: with more, the right one stands among many
MOST_NUMBERS = 12  # likewise; a person who explains an answer names up to ten
MOST_ROWS = 6  # likewise
LONG_WORD = re.compile(r"[^\W\d_]{4,}")
SAYS_NO = re.compile(r"\W*no\b", re.IGNORECASE)  # to "is there …?", in whatever words it goes on
GENERIC = frozenset(
    ("there", "none", "nothing", "such", "found", "find", "column", "table", "file", "function", "class", "line")
)  # words of a denial that name nothing
STAMP = re.compile(r"\d{1,4}(?:[-/.:]\d{1,4}){2,}\S*|\d{1,2}:\d\d")  # a date, a time, an address, a version: no number
MARKUP = re.compile(r"(?<=\w)['’]s\b|[`*\"'“”‘’]")  # and the end of "node0's"
# A unit may follow at once: `30s`, `5MB`.
NUMBER = re.compile(r"(?<![\w.])[-+\u2212]?\d+(?:,\d{3})*(?:\.\d+)?(?!\.?\d)")


class FieldAnswer(Frozen):
    """What an arm answered, as its caller gets it.

    text      the answer without warnings
    places    those that it names as its evidence
    leads     likely places that it hands over
    quoted    what it hands over of the lines there
    warned    it says that it may be wrong or incomplete
    absent    it says that there is no such thing
    query     what the text is the result of, if a model wrote a query
    """

    status: Status
    text: str
    places: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    warned: bool = False
    absent: bool = False
    query: str = ""

    @classmethod
    def of_trace(cls, trace: Trace, calibration: Calibration | None = None) -> "FieldAnswer":
        """Return what the caller of a run gets: finished as `Runtime` finishes it."""
        report = finish(trace, calibration).report
        attempt = Attempt.of_trace(trace)
        named = (f"{span.path}:{span.first}-{span.last}" for span in attempt.places)
        is_answer = report.status == "answered"
        return cls(
            status=report.status,
            text=report.context or report.answer,
            places=tuple(dict.fromkeys([*named, *report.evidence])) if is_answer else (),
            leads=tuple(lead.place for lead in report.leads),
            quoted=tuple(lead.text for lead in report.leads if lead.text),
            warned=bool(report.notes),
            absent=is_answer and DENIES.match(report.answer) is not None,
        )

    @classmethod
    def of_text(cls, prompt: str, text: str) -> "FieldAnswer":
        """Return the answer of whoever vouches for it: a script, an orchestrator."""
        attempt = Attempt.of_text(prompt, text)
        places = tuple(f"{span.path}:{span.first}-{span.last}" for span in attempt.places)
        is_absent = attempt.status == "answered" and DENIES.match(text) is not None
        return cls(status=attempt.status, text=text, places=places, absent=is_absent)


class Verdict(StrEnum):
    """What an answer is worth. The value is what people read."""

    RIGHT = "right"
    PARTLY = "partly right"
    WRONG = "wrong"
    HANDED_BACK_RIGHTLY = "handed back rightly"
    HANDED_BACK = "handed back though answerable"
    FAILED = "failed"


class FieldJudgement(Frozen):
    """The verdict and its reason; `led` says that a wanted place is among all places that the caller got."""

    verdict: Verdict
    why: str
    warned: bool = False
    led: bool = False

    @property
    def is_silently_wrong(self) -> bool:
        return self.verdict is Verdict.WRONG and not self.warned

    @property
    def is_good(self) -> bool:
        """Return whether it is right or rightly handed back."""
        return self.verdict in {Verdict.RIGHT, Verdict.HANDED_BACK_RIGHTLY}


def judge_answer(gold: Gold, answer: FieldAnswer, prompt: str = "") -> FieldJudgement:
    """Return the judgement of one answer to the prompt."""
    verdict, why = _verdict(gold, answer, prompt)
    named = [*map(parse_place, answer.places), *map(parse_place, answer.leads)]
    led = any(is_same_place(one, wanted) for one in named for wanted in gold.spans)
    return FieldJudgement(verdict=verdict, why=why, warned=answer.warned, led=led)


def is_same_place(named: Span, wanted: Span) -> bool:
    """Return whether a named place is the wanted one, or near enough to see it.

    A path may lack its first folders. Of a table, the column may be left out: `shop.db:orders` is the place of
    `shop.db:orders.status`.
    """
    if named.first and wanted.first:
        near = named.first - NEAR <= wanted.last and wanted.first - NEAR <= named.last
        return near and _is_same_path(named.path, wanted.path)
    (one, inner), (other, wanted_inner) = _split(named.path), _split(wanted.path)
    return _is_same_path(one, other) and (_is_in(inner, wanted_inner) or _is_in(wanted_inner, inner))


def _verdict(gold: Gold, answer: FieldAnswer, prompt: str) -> tuple[Verdict, str]:
    if answer.status == "failed":
        return Verdict.FAILED, "the run failed"
    if answer.status == "escalate":
        if gold.outcome == "beyond":
            return Verdict.HANDED_BACK_RIGHTLY, "looking cannot answer it"
        return Verdict.HANDED_BACK, f"the answer is: {gold.answer}"
    if gold.outcome == "beyond":
        return Verdict.WRONG, "looking cannot answer it"
    if gold.outcome == "absent":
        if not (answer.absent or SAYS_NO.match(answer.text)):
            return Verdict.WRONG, "there is no such thing"
        denied = _denies_what_was_asked(answer.text, f"{prompt} {gold.answer}")
        return (Verdict.RIGHT, "") if denied else (Verdict.WRONG, "it denies something else")
    if answer.absent:
        return Verdict.WRONG, "it says that there is none"
    return _content_verdict(gold, answer)


def _denies_what_was_asked(text: str, asked: str) -> bool:
    """Return whether a denial names nothing, or something of what was asked."""
    named = {word.casefold() for word in LONG_WORD.findall(text)} - GENERIC
    return not named or bool(named & {word.casefold() for word in LONG_WORD.findall(asked)})


def _content_verdict(gold: Gold, answer: FieldAnswer) -> tuple[Verdict, str]:
    missing = [*_missing_facts(gold, answer), *_missing_places(gold, answer)]
    wanted = len(gold.facts) + {"none": 0, "any": 1, "all": len(gold.places)}[gold.places_asked]
    surplus = _surplus(gold, answer)
    if len(missing) == wanted or (missing and surplus):  # a part of it among much else may stand there by chance
        return Verdict.WRONG, f"it lacks {'; '.join(missing)}"
    if missing:
        return Verdict.PARTLY, f"it lacks {'; '.join(missing)}"
    return (Verdict.PARTLY, surplus) if surplus else (Verdict.RIGHT, "")


def _missing_facts(gold: Gold, answer: FieldAnswer) -> Iterator[str]:
    """Yield the facts that the answer does not state. A file is stated by naming a place in it, nothing else is."""
    text, whole, numbers = _plain(_without_places(answer)), _plain(answer.text), _numbers(answer.text)
    files = [_plain(span.path) for span in gold.spans]
    for forms in gold.facts:
        is_file = any(file.endswith(_plain(form)) for form in forms for file in files)
        if not any(_states(whole if is_file else text, numbers, form) for form in forms):
            yield forms[0]


def _without_places(answer: FieldAnswer) -> str:
    """Return the text without the places that are its evidence."""
    paths = sorted({span.path for span in map(parse_place, answer.places) if span.first}, key=len, reverse=True)
    quoted = "|".join(map(re.escape, paths))
    return re.sub(rf"(?:{quoted}):\d+(?:-\d+)?", " ", answer.text) if paths else answer.text


def states_facts(gold: Gold, text: str) -> bool:
    """Return whether a text states all facts, each in one of its forms."""
    plain, numbers = _plain(text), NUMBER.findall(MARKUP.sub("", text))
    return all(any(_states(plain, numbers, form) for form in forms) for forms in gold.facts)


def _states(text: str, numbers: Sequence[str], form: str) -> bool:
    if is_number(form):
        return any(same_number(number, form) for number in numbers)
    plain = _plain(form)
    before, after = (r"(?<!\w)" if plain[:1].isalnum() else ""), (r"(?!\w)" if plain[-1:].isalnum() else "")
    return re.search(before + re.escape(plain) + after, text) is not None


def _missing_places(gold: Gold, answer: FieldAnswer) -> Iterator[str]:
    missing = [
        place for place, wanted in zip(gold.places, gold.spans, strict=True) if not _names(answer, wanted)
    ]  # fmt: skip
    if gold.places_asked == "all":
        yield from missing
    elif gold.places_asked == "any" and len(missing) == len(gold.places):
        yield " or ".join(missing)


def _names(answer: FieldAnswer, wanted: Span) -> bool:
    """Return whether the answer names a wanted place; a column or table also by its bare name."""
    inner = _split(wanted.path)[1]
    if inner:
        named = any(_split(one.path)[1] and is_same_place(one, wanted) for one in map(parse_place, answer.places))
        return named or _states(_plain(answer.text), (), inner.rpartition(".")[2])
    return any(is_same_place(one, wanted) for one in map(parse_place, answer.places))


def _surplus(gold: Gold, answer: FieldAnswer) -> str:
    """Return what is too much in an answer: many places, rows or numbers that nobody asked for."""
    places = {(place.path, place.first) for place in map(parse_place, answer.places) if place.first}
    wanted = {"none": len(places), "any": 1, "all": len(gold.places)}[gold.places_asked]
    if len(places) > wanted + MOST_PLACES:
        return f"it names {len(places)} places"
    rows = answer.text.count("\n") + 1
    if gold.facts and rows > len(gold.facts) + MOST_ROWS:
        return f"it stands among {rows} rows"
    asked = sum(any(map(is_number, forms)) for forms in gold.facts)
    others = len(set(_numbers(STAMP.sub(" ", answer.text)))) - asked
    if asked and asked == len(gold.facts) and others > MOST_NUMBERS:
        return f"the number stands among {others} others"
    return ""


def _numbers(text: str) -> Sequence[str]:
    """Return the numbers of an answer, without those of the places that it names."""
    return NUMBER.findall(MARKUP.sub("", Attempt.of_text("", text).rest))


def _plain(text: str) -> str:
    return " ".join(MARKUP.sub("", text).casefold().split())


def _is_same_path(one: str, other: str) -> bool:
    one, other = one.removeprefix("./"), other.removeprefix("./")
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _split(path: str) -> tuple[str, str]:
    """Return a file and what is named inside it: a table, `table.column` or a column."""
    file, _, inner = path.partition(":")
    return file, inner


def _is_in(column: str, table: str) -> bool:
    """Return whether both are equal, or one is a column of the table, or all of the file is meant."""
    return not table or column == table or column.startswith(f"{table}.")
