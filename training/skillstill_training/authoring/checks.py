"""The machine tests of an answer. A check is data: stored with its goal, frozen, and the same judge for every arm."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from skillstill.types import Frozen, Span

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.numbers import is_number, numbers_in, same_number

MAX_SENTENCES = 3  # of an answer that states one value, as skills ask for; more is a list to choose from
MAX_EXTRA = 2  # numbers beside the right one that an answer may mention: a unit, a total
LEAST_CRITERIA, MOST_CRITERIA = 3, 7  # of a rubric
NEGATIVE = re.compile(
    r"\b(no|not|none|nothing|never|nobody|neither|without|zero|0|missing|absent)\b|n['\u2019]t\b", re.IGNORECASE
)
UNSURE = re.compile(
    r"\b(do not|don['\u2019]t|cannot|can['\u2019]t|could not|couldn['\u2019]t|am not able to|unable to) "
    r"(know|tell|say|decide|determine)\b|\b(not|n['\u2019]t) (sure|clear|certain)\b|\bunknown\b",
    re.IGNORECASE,
)
BARE_PATH = re.compile(r"(?<![\w/.-])[\w.@+-]*(?:/[\w.@+-]+)*\w(?![\w/])")

# A set in the one order that gives the same bytes: whoever collects names in a `set` has another order in each process.
Names = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(sorted(set(names))))]


@dataclass(frozen=True, slots=True)
class Judgement:
    passed: bool
    why: str = ""


PASSED = Judgement(passed=True)


def failed(why: str) -> Judgement:
    return Judgement(passed=False, why=why)


class Locations(Frozen):
    """Places: a quoted line counts if it lies in one of the gold spans; a gold span (path, 0, 0) is a whole file."""

    kind: Literal["locations"] = "locations"
    gold: tuple[Span, ...] = Field(min_length=1)
    recall: float = Field(default=1.0, gt=0, le=1)
    precision: float = Field(default=0.5, gt=0, le=1)

    def judge(self, attempt: Attempt) -> Judgement:
        named = self._named(attempt)
        if not named:
            return failed("it names no place")
        right = [place for place in named if any(_lies_in(place, span) for span in self.gold)]
        found = [span for span in self.gold if any(_lies_in(place, span) for place in named)]
        if len(found) / len(self.gold) < self.recall:
            return failed(f"it names {len(found)} of {len(self.gold)} right places")
        if len(right) / len(named) < self.precision:
            return failed(f"{len(named) - len(right)} of the {len(named)} places that it names are wrong")
        return PASSED

    def _named(self, attempt: Attempt) -> Sequence[Span]:
        if any(span.first for span in self.gold):
            return attempt.places
        bare = [path.removeprefix("./") for path in BARE_PATH.findall(attempt.rest)]
        paths = [place.path for place in attempt.places] + [path for path in bare if self._is_file(path)]
        return [Span(path=path) for path in dict.fromkeys(paths)]

    def _is_file(self, text: str) -> bool:
        """Return whether a word names a file: `and/or` does not, and `Makefile` only if such files are asked for."""
        suffixes, suffix = {_suffix(span.path) for span in self.gold}, _suffix(text)
        if not suffix:
            return text in {span.path for span in self.gold} or ("/" in text and "" in suffixes)
        return "/" in text or suffix in suffixes


class Value(Frozen):
    """One value, a number (equal as one) or a text (exactly as it is); `wrong` are others that might be meant."""

    kind: Literal["value"] = "value"
    gold: str = Field(min_length=1)
    also: tuple[str, ...] = ()
    wrong: Names = ()

    def judge(self, attempt: Attempt) -> Judgement:
        accepted, rest = (self.gold, *self.also), attempt.rest
        if len(re.findall(r"\S(?:\n|[.!?]\s|$)", attempt.answer)) > MAX_SENTENCES:
            return failed(f"it has more than {MAX_SENTENCES} sentences")
        stated = list(_stated_values(rest, [*accepted, *self.wrong]))
        if others := [value for value in stated if value not in accepted]:
            return failed(f"it states {others[0]!r}" + (" too" if len(stated) > len(others) else ""))
        if not stated:
            return failed(f"it does not state {self.gold!r}")
        extra = self._extra_numbers(attempt, accepted)
        return failed(f"it states {len(extra)} other numbers") if len(extra) > MAX_EXTRA else PASSED

    def _extra_numbers(self, attempt: Attempt, accepted: Sequence[str]) -> Sequence[str]:
        """Return the numbers that neither the question nor the right answer contains."""
        known = [*numbers_in(attempt.prompt), *(number for value in accepted for number in numbers_in(value))]
        return [one for one in attempt.numbers if not any(same_number(one, other) for other in known)]


class Members(Frozen):
    """A set of names, each as a whole word; `others` are what else might be listed. Names in the question are free."""

    kind: Literal["set"] = "set"
    gold: tuple[str, ...] = Field(min_length=1)
    others: Names = ()
    recall: float = Field(default=1.0, gt=0, le=1)
    precision: float = Field(default=1.0, gt=0, le=1)

    def judge(self, attempt: Attempt) -> Judgement:
        text = attempt.answer
        right: list[str] = []
        wrong: list[str] = []
        for name in sorted({*self.gold, *self.others}, key=lambda one: (-len(one), one)):  # `get_all` is not a `get`
            if _holds(text, name):
                (right if name in self.gold else wrong).append(name)
                text = _without(text, (name,))
        wrong = [name for name in wrong if not _holds(attempt.prompt, name) and self._is_named(attempt, name)]
        if len(right) / len(set(self.gold)) < self.recall:
            return failed(f"it names {len(right)} of {len(set(self.gold))}")
        if len(right) / (len(right) + len(wrong)) < self.precision:
            return failed(f"it names {wrong[0]!r} too")
        return PASSED

    def _is_named(self, attempt: Attempt, name: str) -> bool:
        """Return whether the name stands elsewhere than as a folder of a place, unless paths are what is asked for."""
        text = attempt.answer
        for place in attempt.places:
            text = text.replace(place.path, " ")
        return "/" in name or "." in name or _holds(text, name)


class Rows(Frozen):
    """Rows of cells, as a multiset; each row of the answer on a line of its own, or up to a semicolon."""

    kind: Literal["rows"] = "rows"
    gold: tuple[tuple[str, ...], ...] = Field(min_length=1)
    ordered: bool = False

    def judge(self, attempt: Attempt) -> Judgement:
        stated = [cells for line in re.split(r"[\n;]", attempt.rest) if (cells := _cells(line))]
        order: list[int] = []
        for row in self.gold:
            place = next((at for at, cells in enumerate(stated) if at not in order and _is_row(cells, row)), None)
            if place is None:
                return failed(f"the row {' | '.join(row)} is missing")
            order.append(place)
        if self.ordered and order != sorted(order):
            return failed("the rows are in another order")
        heads = 0 if self._numbers else min(order)  # a header looks like one more row if rows hold no numbers
        extra = [cells for at, cells in enumerate(stated) if at >= heads and at not in order and self._like(cells)]
        return failed(f"the row {' | '.join(extra[0])} is not asked for") if extra else PASSED

    def _like(self, cells: Sequence[str]) -> bool:
        """Return whether these cells look like one more row: as wide, with numbers if the right rows have them."""
        return len(cells) >= len(self.gold[0]) and sum(map(is_number, cells)) >= self._numbers

    @property
    def _numbers(self) -> int:
        return sum(map(is_number, self.gold[0]))


class Quoted(Frozen):
    """A text of the workspace, quoted as a tool has shown it, and at the `place`, if one is given."""

    kind: Literal["quoted"] = "quoted"
    gold: str = Field(min_length=1)
    place: Span | None = None
    wrong: Names = ()

    def judge(self, attempt: Attempt) -> Judgement:
        gold, answer = _squeeze(self.gold), _squeeze(attempt.answer)
        longer = [text for text in self.wrong if gold in _squeeze(text)]
        if others := [text for text in longer if _quotes(answer, text)]:
            return failed(f"it quotes {others[0]!r}")
        if not _quotes(answer, gold):
            return failed("it does not quote the text")
        if attempt.shown and not any(gold in _squeeze(text) for text in attempt.shown):
            return failed("no tool has shown what it quotes")
        if others := [text for text in self.wrong if _quotes(answer.replace(gold, " "), text)]:
            return failed(f"it quotes {others[0]!r} too")
        return Locations(gold=(self.place,), precision=1.0).judge(attempt) if self.place else PASSED


class Absent(Frozen):
    """It is not there: a plain no that cites the searches that found nothing, and names no place."""

    kind: Literal["absent"] = "absent"

    def judge(self, attempt: Attempt) -> Judgement:
        if attempt.places:
            return failed(f"it names a place, {attempt.places[0].path}:{attempt.places[0].first}")
        words = re.sub(r"`[^`]*`", " ", attempt.answer)  # a name may be `unknown-format`
        if UNSURE.search(words) or not NEGATIVE.search(attempt.rest):
            return failed("it does not say that there is none")
        return PASSED if attempt.evidence else failed("it cites no search")


class Declined(Frozen):
    """Work that the tools cannot do is handed back in the model's own words."""

    kind: Literal["declined"] = "declined"

    def judge(self, attempt: Attempt) -> Judgement:
        return PASSED if attempt.gave_up else failed("it was not handed back")


class Criterion(Frozen):
    """A question about an answer that is asked with yes or no, and the words of the skill's text that it is from."""

    asks: str = Field(min_length=8, max_length=300)
    source: str = Field(min_length=8, max_length=400)


class Judged(Frozen):
    """What no program can tell: a teacher judges it, criterion by criterion. Without one, no answer passes."""

    kind: Literal["rubric"] = "rubric"
    criteria: tuple[Criterion, ...] = Field(min_length=LEAST_CRITERIA, max_length=MOST_CRITERIA)

    def judge(self, attempt: Attempt) -> Judgement:
        return failed("no program can tell whether it holds its rubric")


Check = Annotated[
    Locations | Value | Members | Rows | Quoted | Absent | Declined | Judged,
    Field(discriminator="kind"),
]


def judge(check: Check, attempt: Attempt) -> Judgement:
    """Return whether the attempt passes, and why not."""
    if attempt.status != "answered" and not isinstance(check, Declined):
        return failed(f"the run ended as {attempt.status}")
    return check.judge(attempt)


def _lies_in(place: Span, span: Span) -> bool:
    return place.path == span.path and (not span.first or span.first <= place.first <= span.last)


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2] if "." in path else ""


def _stated_values(text: str, values: Iterable[str]) -> Iterator[str]:
    """Yield the values that the text states, long ones first: `Sparkling White` does not state `White`."""
    numbers = numbers_in(text)
    for value in sorted(dict.fromkeys(values), key=len, reverse=True):
        if is_number(value):
            found = any(same_number(one, value) for one in numbers)
        else:
            found = _holds(text, value)
            text = _without(text, (value,))
        if found:
            yield value


def _quotes(answer: str, text: str) -> bool:
    """Return whether the answer holds the text, and not only as the beginning or end of a longer word or number."""
    wanted = _squeeze(text)
    before = r"(?<!\w)(?<!\w\.)" if re.match(r"\w", wanted) else ""
    after = r"(?!\w|\.\w)" if re.search(r"\w$", wanted) else ""
    return re.search(before + re.escape(wanted) + after, answer) is not None


def _holds(text: str, value: str) -> bool:
    return re.search(_whole(value), text) is not None


def _without(text: str, values: Iterable[str]) -> str:
    for value in sorted(values, key=len, reverse=True):
        text = re.sub(_whole(value), " ", text)
    return text


def _whole(value: str) -> str:
    """Return a pattern of the value where it is not a part of a longer word, name or number."""
    before = r"(?<![\w.])" if re.match(r"\w", value) else ""
    after = r"(?!\w|\.\w)" if re.search(r"\w$", value) else ""
    return before + re.escape(value) + after


def _cells(line: str) -> list[str]:
    """Return the cells of one row, however it is written: `a | b`, `a, b`, `- a: b`."""
    plain = re.sub(r"^\s*(?:[-*•]\s+|\d+[.)]\s+)", "", line).replace("`", "").replace("**", "")
    parts = plain.split("|") if "|" in plain else re.split(r",\s+|:\s+|\t|\s+-\s+|\s+\(|\)", plain)
    return [part.strip(" \t\"'.()") for part in parts if part.strip(" \t\"'.()-:")]


def _is_row(cells: Sequence[str], row: Sequence[str]) -> bool:
    """Return whether the row's cells stand among these, each as often; a lead such as `Rows` may precede them."""
    if len(cells) > len(row) + 1:
        return False
    missing = Counter(row)
    for cell in cells:
        same = next((one for one in missing if missing[one] and _same_cell(cell, one)), None)
        if same is not None:
            missing[same] -= 1
    return not +missing


def _same_cell(stated: str, gold: str) -> bool:
    if is_number(gold):
        return is_number(stated) and same_number(stated, gold)
    plain, wanted = _squeeze(stated).strip("\"'"), _squeeze(gold).strip(" \t\"'.()")
    return plain == wanted or plain.endswith(f": {wanted}")  # behind a lead, as in `Rows (r3): Ann`


def _squeeze(text: str) -> str:
    return " ".join(text.replace("`", "").split())
