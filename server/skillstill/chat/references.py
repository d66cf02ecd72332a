"""References to results: a model writes `=C` for the place that a line names, `==C` for the line, `=r2` for rows.

A small model miscopies paths and digits, and both cost many tokens: half of the wrong turns of an explorer were
miscopied (docs/experiments.md). So each line of a result that begins or ends with a place is shown with a letter before
it. `=C:12` is another line of that file, and `since: =C` is that entry's time. A query's rows are `==r2` as lines, and
`=r2` as a list with commas. What a model writes is expanded before anybody else reads it, and abbreviated again when
the model reads it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_uppercase

from skillstill.types import Message, ShownPlace, ToolCall, ToolSchema

REFERENCE = re.compile(
    r"(?<![\w=])(?P<signs>==?)(?:(?P<letter>[A-Z]{1,2})(?::(?P<line>\d{1,9}))?|(?P<rows>r\d{1,3}))(?![\w=])"
)
MOST_LETTERS = len(ascii_uppercase) * (len(ascii_uppercase) + 1)  # lines behind them are copied


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a result, and the place that it begins or ends with."""

    text: str
    path: str
    number: int

    @property
    def place(self) -> str:
        return f"{self.path}:{self.number}"


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """What a model can refer to in one conversation: lines by letter, all rows of a result by its receipt's id.

    A value: the next result makes another one. `shown` is the last result, with a letter before each line that names a
    place.
    """

    lines: Mapping[str, ShownLine] = field(default_factory=dict)
    rows: Mapping[str, Sequence[str]] = field(default_factory=dict)
    shown: str = ""

    @property
    def names(self) -> Sequence[str]:
        """Return what can stand behind `==`."""
        return (*self.lines, *self.rows)

    @staticmethod
    def of(messages: Sequence[Message]) -> "References":
        """Return the references after the results of these messages."""
        references = NONE
        for message in messages:
            if message.role == "tool":
                references = references.extended(message)
        return references

    def extended(self, message: Message) -> "References":
        """Return the references after one more result, which is read once: renderer, grammar and parser share it."""
        return after_result(self, message.content, message.receipt, message.places, message.rows)

    def abbreviate(self, message: Message, tools: Sequence[ToolSchema]) -> Message:
        """Return an assistant message as the model writes it, with references."""
        calls = tuple(self._abbreviate_call(call, tools) for call in message.calls)
        return message.model_copy(update={"content": self._abbreviate_text(message.content), "calls": calls})

    def expand(self, message: Message, tools: Sequence[ToolSchema]) -> Message:
        """Return an assistant message in full. A reference to nothing stays as it is: no evidence bears it out."""
        calls = tuple(self._expand_call(call, tools) for call in message.calls)
        content = REFERENCE.sub(lambda match: self._meaning(match) or match[0], message.content)
        return message.model_copy(update={"content": content, "calls": calls})

    def _abbreviate_text(self, text: str) -> str:
        """Return the text with references. What only looks like one gets a space: it would be expanded."""
        letters = {line.text: letter for letter, line in self.lines.items()}
        lines = (
            f"=={letters[line]}" if line in letters else REFERENCE.sub(self._spaced, line) for line in text.split("\n")
        )
        shorter = self._abbreviate_rows("\n".join(lines))
        for path in sorted({line.path for line in self.lines.values()}, key=len, reverse=True):
            place = re.compile(rf"(?<![\w/.@+=-])({re.escape(path)}):(\d{{1,9}})(?![\w:-]|\.\w)")
            shorter = place.sub(lambda match: self._nearest(match[1], int(match[2])), shorter)
        return shorter

    def _abbreviate_rows(self, text: str) -> str:
        """Return the text with the id of one result in place of its rows: the longest rows, of equals the last.

        If the same words stand there twice, the last are meant: an answer comes after what it is about.
        """
        shortest_first = sorted(self.rows.items(), key=lambda item: len("".join(item[1])))
        for name, rows in reversed(shortest_first):
            lines, listed = re.escape("\n".join(rows)), re.escape(", ".join(rows))
            for pattern, sign in ((rf"(?m)^{lines}$", "=="), (rf"(?<![\w.,=-]){listed}(?![\w=]|[.,-]\w)", "=")):
                if matches := [*re.finditer(pattern, text)]:
                    return f"{text[: matches[-1].start()]}{sign}{name}{text[matches[-1].end() :]}"
        return text

    def _nearest(self, path: str, number: int) -> str:
        """Return the letter of the last line about that place, else of the last line of that file, with the number."""
        letters = [letter for letter, line in self.lines.items() if line.path == path]
        exact = [letter for letter in letters if self.lines[letter].number == number]
        return f"={exact[-1]}" if exact else f"={letters[-1]}:{number}"

    def _spaced(self, match: re.Match[str]) -> str:
        return f"{match['signs']} {match[0].lstrip('=')}" if self._meaning(match) else match[0]

    def _abbreviate_call(self, call: ToolCall, tools: Sequence[ToolSchema]) -> ToolCall:
        for name, numbered in _marks(call, tools).items():
            call = self._abbreviate_path(call, name, numbered) if numbered else self._abbreviate_place(call, name)
        return call

    def _abbreviate_place(self, call: ToolCall, name: str) -> ToolCall:
        letters = {line.place: f"={letter}" for letter, line in self.lines.items()}
        place = str(call.arguments.get(name, ""))
        return _with(call, {name: letters[place]}) if place in letters else call

    def _abbreviate_path(self, call: ToolCall, name: str, numbered: str) -> ToolCall:
        path, number = call.arguments.get(name), call.arguments.get(numbered)
        if not isinstance(number, int) or all(line.path != path for line in self.lines.values()):
            return call
        letter, _, other = self._nearest(str(path), number).partition(":")
        rest = {key: value for key, value in call.arguments.items() if key not in (name, numbered)}
        named = {name: letter, numbered: number} if other else {name: letter}
        return call.model_copy(update={"arguments": {**named, **rest}})

    def _expand_call(self, call: ToolCall, tools: Sequence[ToolSchema]) -> ToolCall:
        for name, numbered in _marks(call, tools).items():
            match = REFERENCE.fullmatch(str(call.arguments.get(name, "")))
            line = self.lines.get(match["letter"]) if match else None
            if match and line and numbered:
                arguments = {numbered: line.number, **call.arguments, name: line.path}
                call = call.model_copy(update={"arguments": arguments})
            elif match and (meaning := self._meaning(match)) and not numbered:
                call = _with(call, {name: meaning})
        return call

    def _meaning(self, match: re.Match[str]) -> str:
        """Return what the reference stands for; empty if that is nothing."""
        if match["rows"]:
            return ("\n" if match["signs"] == "==" else ", ").join(self.rows.get(match["rows"], ()))
        line = self.lines.get(match["letter"])
        if line is None:
            return ""
        if match["line"]:
            return f"{line.path}:{match['line']}"
        return line.text if match["signs"] == "==" else line.place


NONE = References()


@lru_cache(maxsize=256)  # results: some twenty runs at once, each of which asks three times a turn
def after_result(
    before: References, text: str, receipt: str, places: tuple[ShownPlace, ...], rows: tuple[str, ...]
) -> References:
    """Return the references after one more result. `before` is compared by identity, so a conversation is a chain."""
    prefix = f"{receipt}: " if receipt else ""
    shown = text.removeprefix(prefix).split("\n")
    lines = {**before.lines}
    for place in places[: MOST_LETTERS - len(lines)]:
        letter = _letter(len(lines))
        line = shown[place.index]
        lines[letter] = ShownLine(line, place.path, place.line)
        shown[place.index] = f"={letter} {line.removeprefix(place.path) if place.again else line}"
    return References(lines, {**before.rows, **({receipt: rows} if rows else {})}, prefix + "\n".join(shown))


def _marks(call: ToolCall, tools: Sequence[ToolSchema]) -> Mapping[str, str]:
    """Return the call's arguments that a letter can stand for, each with the name of the argument for its line."""
    marks = next((tool.references for tool in tools if tool.name == call.name), {})
    return {name: mark.line for name, mark in marks.items()}


def _with(call: ToolCall, changed: Mapping[str, str]) -> ToolCall:
    return call.model_copy(update={"arguments": {**call.arguments, **changed}})


def _letter(index: int) -> str:
    """Return A to Z, then AA to ZZ."""
    high, low = divmod(index, len(ascii_uppercase))
    return (ascii_uppercase[high - 1] if high else "") + ascii_uppercase[low]
