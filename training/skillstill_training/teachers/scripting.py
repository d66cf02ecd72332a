"""A plan's calls as scripts, so that an adapter of a skill with the tool `script` learns to write them.

A script holds the next calls as long as each of their arguments could be written before any of its results was read.
An argument could if its words are said by the question or a result that was shown, or stand in none of the script's
results; or if it is the first or last place, or a value of the first or last row, of a result of the script. A call
that fits into no script with others stays a call.

The value of a script is the text of the results that the answer cites or that later arguments come from; of one result
the lines with a word of the question or call, if these are the lines that the answer quotes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from skillstill.skills.skill import Skill
from skillstill.tools.script.interpreter import function_name
from skillstill.types import Message, ToolCall, Trace

SCRIPT = "script"  # the tool
NAMES = "abcdefghijklmnopqrstuvwxyz"  # of a script's results, in order
SHORTER = 80  # characters: what choosing lines costs in a script
ENDS = (0, -1)  # the first and the last: what can be meant before a result was read
COVERED = 400  # lines of a place that an answer may quote
WORDS = re.compile(r"\w{3,}")
RECEIPT = re.compile(r"\br(\d{1,3})\b")


def writes_scripts(skill: Skill) -> bool:
    return any(tool.name == SCRIPT for tool in skill.tools)


def in_scripts(trace: Trace, skill: Skill) -> Sequence[Message | str]:
    """Return the turns that do in scripts what a trace did in calls; the last one is its answer."""
    return _Translation(trace, skill).turns()


@dataclass(slots=True)
class _Call:
    """A call of the plan, and what it showed. `name` is that of its result in a script."""

    call: ToolCall
    receipt: str
    text: str
    places: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    name: str = ""
    arguments: dict[str, str] = field(default_factory=dict)  # as Python


class _Translation:
    """The turns that do what a plan did, with scripts in place of calls that can be written at once."""

    def __init__(self, trace: Trace, skill: Skill) -> None:
        self._trace, self._schemas = trace, {tool.name: tool.schema for tool in skill.tools}
        first = next(at for at, message in enumerate(trace.messages) if message.role == "assistant")
        self._answer = trace.messages[-1].content
        self._seen = " ".join(message.content for message in trace.messages[1:first])
        self._ids = {message.receipt: message.receipt for message in trace.messages[1:first] if message.receipt}
        self._calls = list(_calls_of(trace.messages[first:]))

    def turns(self) -> list[Message | str]:
        turns: list[Message | str] = []
        while self._calls:
            chunk = self._chunk()
            rest = self._calls[len(chunk) :]
            needed = self._needed(chunk, rest)
            name = f"r{len({*self._ids.values()}) + 1}"
            self._ids |= {one.receipt: name for one in chunk}
            script = ToolCall(name=SCRIPT, arguments={"code": self._code(chunk, needed, ends=not rest)})
            call = chunk[0].call if len(chunk) == 1 else script
            turns.append(Message(role="assistant", calls=(call,)))
            self._seen += " ".join([" ", *(one.text for one in needed), *(str(one.call.arguments) for one in chunk)])
            self._calls = rest
        return [*turns, RECEIPT.sub(lambda found: self._ids.get(found[0], found[0]), self._answer)]

    def _chunk(self) -> list[_Call]:
        """Return the next calls that one script can hold."""
        chunk: list[_Call] = []
        for one in self._calls[: len(NAMES)]:
            written = self._written(one, chunk)
            if written is None:
                break
            one.arguments, one.name = written, NAMES[len(chunk)]
            chunk.append(one)
        return chunk

    def _written(self, one: _Call, before: Sequence[_Call]) -> dict[str, str] | None:
        """Return the arguments as Python, None if one of them cannot be written yet."""
        arguments, found = dict(one.call.arguments), dict[str, str]()
        for name, mark in self._schemas[one.call.name].references.items():
            place = f"{arguments.get(name)}:{arguments.get(mark.line)}" if mark.line else str(arguments.get(name))
            if place not in self._seen and (source := _place_of(place, before)):
                found[name] = source
                arguments.pop(mark.line, None)
        for name, value in arguments.items():
            if name not in found:
                if (text := self._expression(value, before)) is None:
                    return None
                found[name] = text
        return {name: found[name] for name in arguments}

    def _expression(self, value: object, before: Sequence[_Call]) -> str | None:
        unread = self._unread(value, before)
        if not unread:
            return repr(value)
        text, holes = str(value), dict[str, str]()
        for cell, source in _cells(before):
            word = re.compile(rf"(?<!\w){re.escape(cell)}(?!\w)")
            if cell and word.search(text) and unread & {*WORDS.findall(cell.casefold()), cell}:
                holes[source] = cell
                text = f"\0{source}\1".join(word.split(text))
        rest = re.sub("\0.*?\1", " ", text)
        if not holes or self._unread(rest, before):
            return self._path(value, before)
        quoted = repr(text.replace("{", "{{").replace("}", "}}"))
        return f"f{quoted}".replace("\\x00", "{").replace("\\x01", "}")

    def _path(self, value: object, before: Sequence[_Call]) -> str | None:
        """Return the file of the first or last place of a result, if that is meant."""
        for one in reversed(before):
            for end in ENDS:
                if one.places and one.places[end].rpartition(":")[0] == value:
                    return f"{one.name}.places[{end}].rsplit(':', 1)[0]"
        return None

    def _unread(self, value: object, before: Sequence[_Call]) -> set[str]:
        """Return the words of an argument that only results of this script say. Numbers count, however short."""
        words = {*WORDS.findall(str(value).casefold()), *re.findall(r"(?<![\w.])\d+(?![\w.])", str(value))}
        said = {*re.findall(r"\w+", self._seen.casefold())}
        asked = {word for one in before for word in re.findall(r"\w+", str(one.call.arguments).casefold())}
        told = {word for one in before for word in re.findall(r"\w+", one.text.casefold())}
        return {word for word in words if word in told and word not in said | asked}

    def _needed(self, chunk: Sequence[_Call], rest: Sequence[_Call]) -> Sequence[_Call]:
        """Return the results that must be shown: what the answer cites, and what arguments of later calls come from."""
        later = [one.call for one in rest]
        cited = [one for one in chunk if self._is_cited(one)]
        words = {word for call in later for word in WORDS.findall(str(call.arguments).casefold())}
        unsaid = words - {*WORDS.findall(self._seen.casefold())}
        wanted = [one for one in chunk if unsaid & {*WORDS.findall(one.text.casefold())}]
        found = [one for one in chunk if one in cited or one in wanted]
        return found or chunk[-1:]

    def _is_cited(self, one: _Call) -> bool:
        if one.receipt.removeprefix("r") in RECEIPT.findall(self._answer):
            return True
        return any(re.search(rf"(?<![\w/]){re.escape(place)}(?!\d)", self._answer) for place in self._covered(one))

    def _covered(self, one: _Call) -> Iterator[str]:
        """Yield the places that the result shows."""
        receipts = {receipt.id: receipt for receipt in self._trace.receipts}
        for span in receipts[one.receipt].spans:
            if span.first:
                last = min(span.last, span.first + COVERED)
                yield from (f"{span.path}:{line}" for line in range(span.first, last + 1))

    def _code(self, chunk: Sequence[_Call], needed: Sequence[_Call], *, ends: bool) -> str:
        word = self._telling_word(needed[0]) if ends and len(needed) == 1 else ""
        if [*needed] == [*chunk[-1:]] and not word:
            *before, last = chunk
            return "\n".join([*(self._line(one, chunk, ()) for one in before), f"{self._call_text(last)}.text"])
        value = " + '\\n' + ".join(f"{one.name}.text" for one in needed)
        if word:
            value = f"[line for line in {needed[0].name}.lines if {word!r} in line]"
        return "\n".join([*(self._line(one, chunk, needed) for one in chunk), value])

    def _line(self, one: _Call, chunk: Sequence[_Call], needed: Sequence[_Call]) -> str:
        called = self._call_text(one)
        return f"{one.name} = {called}" if one in needed or self._is_used(one, chunk) else called

    def _telling_word(self, one: _Call) -> str:
        """Return a word that was known before and stands in the lines that the answer quotes alone, if that is shorter.

        The question says it, or the call itself.
        """
        lines = one.text.split("\n")
        quoted = [line for line in lines if line in self._answer or self._quotes_place(line)]
        if len(one.text) - len("\n".join(quoted)) < SHORTER or not quoted:
            return ""
        known = re.findall(r"\w{4,}", f"{self._trace.prompt} {one.call.arguments}")
        return next((word for word in known if [line for line in lines if word in line] == quoted), "")

    def _quotes_place(self, line: str) -> bool:
        found = re.match(r"(\S+:\d+): ", line)
        return found is not None and re.search(rf"(?<![\w/]){re.escape(found[1])}(?!\d)", self._answer) is not None

    def _is_used(self, one: _Call, chunk: Sequence[_Call]) -> bool:
        return any(f"{one.name}." in text for other in chunk for text in other.arguments.values())

    def _call_text(self, one: _Call) -> str:
        names = list(self._schemas[one.call.name].parameters["properties"])
        given = list(one.arguments)
        plain = given == names[: len(given)]
        texts = [text if plain else f"{name}={text}" for name, text in one.arguments.items()]
        return f"{function_name(one.call.name)}({', '.join(texts)})"


def _calls_of(messages: Sequence[Message]) -> Iterator[_Call]:
    calls = [call for message in messages for call in message.calls]
    results = [message for message in messages if message.role == "tool" and message.receipt]
    for call, message in zip(calls, results, strict=True):
        places = tuple(f"{place.path}:{place.line}" for place in message.places)
        rows = tuple(tuple(row.split(" | ")) for row in message.rows)
        yield _Call(call, message.receipt, message.content.partition(": ")[2], places, rows)


def _place_of(place: str, before: Sequence[_Call]) -> str:
    for one in reversed(before):
        for end in ENDS:
            if one.places and one.places[end] == place:
                return f"{one.name}.places[{end}]"
    return ""


def _cells(before: Sequence[_Call]) -> Iterator[tuple[str, str]]:
    """Yield the values of first and last rows, with how a script says them."""
    for one in reversed(before):
        for end in ENDS:
            if one.rows:
                yield from ((cell, f"{one.name}.rows[{end}][{at}]") for at, cell in enumerate(one.rows[end]))
