"""What an answer takes for granted: that what was asked for was looked for, and that its values were shown.

Nothing here says that an answer is wrong. It names what in it, or in its question, no call and no result bears out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from skillstill.run.evidence import RECEIPT, quoted_places, supporting_receipts
from skillstill.types import Receipt, Span, Trace

MOST_NAMED = 2  # stretches that a note names
MOST_CONDITIONS = 6  # of a question: a text with more is material to work on, such as a traceback
COUNTED = 13  # a whole number below it may be a count of shown rows

QUOTED = r"\"[^\"\n]{2,80}\"|“[^”\n]{2,80}”|`[^`\n]{2,80}`|(?<!\w)'[^'\n]{2,80}'(?!\w)"
ADDRESS = r"[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{0,64}\w|\d{1,3}(?:\.\d{1,3}){3}"
DAY = r"\d{4}[-/]\d{1,2}(?:[-/]\d{1,2})?(?:[T ]\d\d:\d\d(?::\d\d)?)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}"
TIME = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
DOTTED = r"[A-Za-z_][\w/-]{0,120}(?:\.[A-Za-z_][\w/-]{1,60})+"  # a file or a qualified name
WRITTEN_TOGETHER = r"[A-Za-z]\w*_\w+|[a-z]{2,}[A-Z]\w*|[A-Z]\w*[a-z0-9][A-Z]\w*"  # snake_case, camelCase, PascalCase
NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
SPECIFIC = re.compile(
    rf"(?P<quoted>{QUOTED})|(?<![\w.+-])(?P<address>{ADDRESS})(?!\w)|(?<![\w.:-])(?P<date>{DAY}|{TIME})(?![\w:])"
    rf"|(?<![\w./])(?P<name>{DOTTED}|{WRITTEN_TOGETHER})(?!\w)|(?<![\w.])(?P<number>{NUMBER})(?!\w|\.\d)"
)
# What an answer tells, as a column is called.
TOLD = re.compile(r"\W*The ([^\W\d][\w ,./%-]{1,60}?) (?:is|are|was|were) ")
EMPTY = re.compile(r"\b(?:is|are|was|were) (NULL)\b(?!,| and| \|)")
LITERAL = re.compile(r"'((?:[^']|'')*)'")  # a text in a query
EXAMPLES = re.compile(r"\(of \d+\)$|: \d+ distinct.*, such as ")  # of the values of a column that has more
NAMING = 3  # letters of a word by which a value is named
ALIKE = 4  # letters that two words begin with that mean one thing: `countries` and `country`
PART = re.compile(rf"[^\W\d_]+|{NUMBER}")
USES = re.compile(
    r"\b(?:used|uses|usages?|called|callers?|tested|imported|importers?|subclass(?:es)?|extends?|inherits? from"
    r"|implements?|implementers|embeds?)\b",
    re.IGNORECASE,
)
OF_ITSELF = re.compile(  # `what does X extend?`, `how is X used?`, `is X a subclass of Y?`
    r"\b(?:what|which|who)(?: \w+)? (?:does|do|did|is|are|was)\b|\bhow\b|^\W*(?:is|are|does|do|did)\b", re.IGNORECASE
)
WITHIN = re.compile(r"In ([\w./-]*[\w/-]): ")  # as `run` writes the path that a call names
DEFINING = {"outline"}  # tools that show a definition, and nothing that uses it
FATAL = re.compile(r"\b(?:fatal|critical)\b", re.IGNORECASE)
SUFFIX = re.compile(r"\.\w{1,5}$")
SEPARATORS = re.compile(r"[\W_]")


@dataclass(frozen=True, slots=True)
class Entity:
    """A stretch of a text that means one thing, without quotes. `kind` is a group of SPECIFIC."""

    kind: str
    text: str

    @property
    def is_small(self) -> bool:
        """Return whether it may be a count of rows."""
        return self.kind == "number" and "." not in self.text and _value(self.text) < COUNTED


def claim_notes(trace: Trace) -> tuple[str, ...]:
    """Return the notes on what is taken for granted.

    It is what the question says and nobody looked for, or is spelt otherwise; values that no result has shown; what was
    not asked for; an empty cell that is told as a value; and what is not only from the folder that was asked about.
    """
    results = {message.receipt: _told(message.content) for message in trace.messages if message.receipt}
    good = [receipt for receipt in trace.receipts if receipt.id in results and not receipt.refused]
    notes = (
        _note(
            "Not looked for",
            [*_not_looked_for(trace, good, results), *_no_use_of(trace, good), *_no_level(trace, good)],
        ),
        _note("Only in another spelling", _respelled(trace, results)),
        _note("Not shown by a result", _not_shown(trace, good, results)),
        _note("Not asked for", [*_not_asked_for(trace, good), *_made_up(trace, good, results)]),
        _note("An empty cell", _empty(trace)),
        _note("Not only from", _elsewhere(trace, good)),
    )
    return tuple(note for note in notes if note)


def _note(what: str, found: Iterable[str]) -> str:
    named = [f'"{one}"' for one in dict.fromkeys(found)][:MOST_NAMED]
    return f"({what}: {', '.join(named)}.)" if named else ""


def _told(content: str) -> str:
    """Return the text of a result without the id of its receipt, whose number means nothing."""
    return content.partition(": ")[2]


def _not_looked_for(trace: Trace, receipts: Sequence[Receipt], results: Mapping[str, str]) -> Iterator[str]:
    """Yield the conditions of the question, its last paragraph, that no call and no result behind the answer has.

    A ranking of likely places was asked for the whole text, which is no look for each of its words.
    """
    conditions = [*_conditions(trace)]
    if not 0 < len(conditions) <= MOST_CONDITIONS:
        return
    asked = [*_arguments(receipt for receipt in receipts if not receipt.guess)]
    behind = supporting_receipts(trace.report.evidence, receipts)
    shown = [*(results[receipt.id] for receipt in behind), *_paths(behind)]
    known = NormalizedText([*(text for text in asked if text != trace.prompt), *shown])
    yield from (one.text for one in conditions if not known.has_condition(one))


def _no_use_of(trace: Trace, receipts: Sequence[Receipt]) -> Iterator[str]:
    """Yield the word by which the question asks for what uses a thing, if only its definition was looked up.

    What a thing itself calls, extends or raises stands in its definition.
    """
    asked = USES.search(trace.prompt)
    looks = [one for receipt in receipts if not receipt.guess for one in receipt.executed]
    if asked and not OF_ITSELF.search(trace.prompt) and looks and {one.tool for one in looks} <= DEFINING:
        yield asked[0]


def _no_level(trace: Trace, receipts: Sequence[Receipt]) -> Iterator[str]:
    """Yield the word by which the question asks for fatal entries, if errors of any kind were looked for."""
    asked = FATAL.search(trace.prompt)
    called = [one.arguments for receipt in receipts for one in receipt.executed if "level" in one.arguments]
    if asked and called and not any(FATAL.search(str(value)) for one in called for value in one.values()):
        yield asked[0]


def _respelled(trace: Trace, results: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of the question that no result has as they are written, though one has them in other letters.

    Only of an answer that is a place: a column may be called otherwise.
    """
    if not _cited_places(trace):
        return
    shown = NormalizedText([*results.values()])
    for one in _conditions(trace):
        is_as_written = any(one.text in text for text in results.values())
        if one.kind == "name" and "/" not in one.text and not is_as_written and shown.has_value(one):
            yield one.text


def _conditions(trace: Trace) -> Iterator[Entity]:
    """Yield what the last paragraph of a question is specific about; one digit is too often a mere word."""
    for one in entities_in(trace.prompt.rstrip().rpartition("\n\n")[2]):
        if one.kind != "number" or sum(map(str.isdigit, one.text)) > 1:
            yield one


def _not_shown(trace: Trace, receipts: Sequence[Receipt], results: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of the answer that no result has shown; a condition that was looked for may be said again."""
    shown = NormalizedText([*(_without_echo(results[receipt.id], receipt) for receipt in receipts), *_paths(receipts)])
    asked, said = NormalizedText([*_arguments(receipts)]), NormalizedText([trace.prompt])
    for one in _values(trace.report.answer):
        if not shown.has_value(one) and not (asked.has_value(one) and said.has_value(one)):
            yield one.text


def _not_asked_for(trace: Trace, receipts: Sequence[Receipt]) -> Iterator[str]:
    """Yield what an answer tells, a column of a query, if the question has no word of it: `The id is 7` for a name."""
    behind = supporting_receipts(trace.report.evidence, receipts)
    if (told := TOLD.match(trace.report.answer)) and any("query" in receipt.arguments for receipt in behind):
        words = beginnings(PART.findall(told[1]))
        if words.isdisjoint(beginnings(PART.findall(trace.prompt))):
            yield told[1]


def _empty(trace: Trace) -> Iterator[str]:
    """Yield NULL if the answer is that, and the question is not about it: the least of a column is no empty cell."""
    if (told := EMPTY.search(trace.report.answer)) and told[1].lower() not in trace.prompt.lower():
        yield told[1]


def _elsewhere(trace: Trace, receipts: Sequence[Receipt]) -> Iterator[str]:
    """Yield the file or folder that a question is about if what the answer rests on lies elsewhere, too."""
    asked = WITHIN.match(trace.prompt)
    if not asked or not _is_path(asked[1], [*_paths(receipts)]):
        return
    behind = supporting_receipts(trace.report.evidence, receipts)
    paths = [place.path for place in _cited_places(trace)] or [*_paths(behind)]
    if any(not PurePosixPath(path).is_relative_to(asked[1]) for path in paths):
        yield asked[1]


def _cited_places(trace: Trace) -> Sequence[Span]:
    """Return the lines of files that an answer rests on."""
    return quoted_places("\n".join(trace.report.evidence))[0]


def _is_path(text: str, shown: Sequence[str]) -> bool:
    """Return whether what a question begins with is a path, as far as a run can tell, and no word: `In Python: `."""
    looks_like_one = "/" in text or (SUFFIX.search(text) is not None and not text[-1].isdigit())
    return looks_like_one or any(PurePosixPath(path).is_relative_to(text) for path in shown)


def beginnings(words: Iterable[str]) -> set[str]:
    """Return the letters that the words begin with, by which those are alike that mean one thing."""
    return {word[:ALIKE].casefold() for word in words}


def _made_up(trace: Trace, receipts: Sequence[Receipt], results: Mapping[str, str]) -> Iterator[str]:
    """Yield the texts that queries behind the answer look for, though neither the question nor its hints name them.

    An example that a schema tells of many values is no reason to look for it. One of a few that are all told may be
    what the question calls otherwise.
    """
    hints = [results[receipt.id] for receipt in receipts if receipt.guess]
    said = beginnings(word for text in (trace.prompt, *hints) for word in PART.findall(text))
    listed = [line for text in results.values() for line in text.split("\n") if not EXAMPLES.search(line)]
    for receipt in supporting_receipts(trace.report.evidence, receipts):
        for literal in LITERAL.findall(str(receipt.arguments.get("query", ""))):
            words = [word for word in PART.findall(literal) if len(word) >= NAMING]
            is_said = not words or not said.isdisjoint(beginnings(words))
            if not is_said and not any(f"'{literal}'" in line for line in listed):
                yield literal


def _values(answer: str) -> Iterator[Entity]:
    """Yield numbers that count no rows, dates, addresses, paths and quoted texts, but no places and receipts."""
    for one in entities_in(RECEIPT.sub(" ", quoted_places(answer)[1])):
        if not one.is_small and (one.kind != "name" or "/" in one.text):
            yield one
    yield from (Entity("quoted", text[1:-1]) for text in re.findall(r"`[^`\n]{2,80}`", answer))


def _without_echo(result: str, receipt: Receipt) -> str:
    """Return the result without the arguments that it repeats in quotes, unless it found something by them."""
    if receipt.spans and not receipt.empty:
        return result
    for text in _arguments([receipt]):
        result = result.replace(f"'{text}'", " ").replace(repr(text), " ")
    return result


def _paths(receipts: Iterable[Receipt]) -> Iterator[str]:
    return (span.path for receipt in receipts for span in receipt.spans)


def _arguments(receipts: Iterable[Receipt]) -> Iterator[str]:
    """Yield what was looked for: by the calls of a script, not by its words."""
    return (str(value) for receipt in receipts for one in receipt.executed for value in one.arguments.values())


def entities_in(text: str) -> Iterator[Entity]:
    """Yield the stretches of a text that mean one thing each: quoted texts, addresses, dates, names, numbers."""
    for found in SPECIFIC.finditer(text):
        kind = found.lastgroup or ""
        yield Entity(kind, found[0][1:-1] if kind == "quoted" else found[0])


class NormalizedText:
    """Texts to look entities up in: without case, quotes, escapes and separators, numbers by value."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._text = "\n".join(texts).replace("\\", "").casefold()

    def has_condition(self, one: Entity) -> bool:
        """Return whether it is there, written in whatever way: a file without its suffix, half the words of a text."""
        if one.kind == "quoted":
            parts = PART.findall(one.text)
            return self._has_text(one.text) or 2 * sum(map(self._has_part, parts)) >= len(parts)
        return self.has_value(one) or (one.kind == "name" and self._has_parts(SUFFIX.sub("", one.text)))

    def has_value(self, one: Entity) -> bool:
        """Return whether it is there; of a date, an address or a text each part will do."""
        if one.kind == "number":
            return self._has_number(one.text)
        return self._has_text(one.text) or (one.kind != "name" and self._has_parts(one.text))

    def _has_parts(self, text: str) -> bool:
        return all(map(self._has_part, PART.findall(text)))

    def _has_part(self, text: str) -> bool:
        return self._has_number(text) if text[0].isdigit() else self._has_text(text)

    def _has_text(self, text: str) -> bool:
        return SEPARATORS.sub("", text.casefold()) in self._squeezed

    def _has_number(self, text: str) -> bool:
        """Return whether a number of this value is there, or one that this is a rounding of."""
        value, decimals = _value(text), len(text.partition(".")[2])
        return value in self._numbers or (decimals > 0 and any(round(one, decimals) == value for one in self._numbers))

    @cached_property
    def _squeezed(self) -> str:
        return SEPARATORS.sub("", self._text)

    @cached_property
    def _numbers(self) -> frozenset[float]:
        """Return the numbers, also those that stand in names and stamps: `47,841` may be seconds or thousands."""
        return frozenset(map(_value, [*re.findall(NUMBER, self._text), *re.findall(r"\d+(?:\.\d+)?", self._text)]))


def _value(number: str) -> float:
    return float(number.replace(",", ""))
