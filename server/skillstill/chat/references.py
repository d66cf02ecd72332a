"""Results by pointers: a model writes `=C` for the place that a line names, `==C` for the whole line, `=r2` for rows.

Copying a path and the digits behind it is what a small model does worst, and what costs most tokens: of the wrong
turns of an explorer half were miscopied (docs/experiments.md). So each line of a result that begins or ends with a
place is shown with a letter before it; `=C:12` is another line of that file, and `since: =C` means that entry's time.
A query's rows are `==r2` as lines, and `=r2` as a list with commas. What a model writes is put in full before anybody
else sees it, and said by pointers again where the model reads itself.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_uppercase

from skillstill.types import Message, ToolCall

SHOWN = re.compile(
    r"^(?P<id>r\d{1,3}: )?(?P<text>(?P<path>[^\s:][^:\n]*):(?P<line>\d{1,9}): .*"  # a hit, a definition, an entry
    r"|.*, first (?P<last>[^\s:]+):(?P<end>\d{1,9}))$",  # a group, with where it begins
    re.MULTILINE,
)
POINTER = re.compile(
    r"(?<![\w=])(?P<signs>==?)(?:(?P<letter>[A-Z]{1,2})(?::(?P<line>\d{1,9}))?|(?P<rows>r\d{1,3}))(?![\w=])"
)
ROWS = re.compile(r"\A(?P<id>r\d{1,3}): (?P<count>[1-9]|10) rows: .*")  # of more than ten, not all are shown
LEFT_OUT = re.compile(r"… \d+ more lines left out")  # how a result ends that was too long (tools.Result)
AT = ("since", "until", "related")  # arguments that an entry's place can stand for
MOST = len(ascii_uppercase) * (len(ascii_uppercase) + 1)  # lines that have letters; those behind them are copied


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
    """What can be pointed at in one conversation: lines by letter, all rows of a result by its id.

    A value: the next result makes another one. `shown` is the last result, with a letter before each line that names a
    place.
    """

    lines: Mapping[str, ShownLine] = field(default_factory=dict)
    rows: Mapping[str, Sequence[str]] = field(default_factory=dict)
    shown: str = ""

    @property
    def whole(self) -> Sequence[str]:
        """Return what can stand behind `==`."""
        return (*self.lines, *self.rows)

    @staticmethod
    def of(said: Sequence[Message]) -> "References":
        """Return the references after the results in what was said so far."""
        references = NONE
        for message in said:
            if message.role == "tool":
                references = references.extended(message.content)
        return references

    def extended(self, result: str) -> "References":
        """Return the references after one more result, which is read once: rendering, grammar and parser share it."""
        return after_result(self, result)

    def pointed(self, message: Message) -> Message:
        """An assistant message as the model says it."""
        calls = tuple(self._pointed_call(call) for call in message.calls)
        return message.model_copy(update={"content": self._pointed_text(message.content), "calls": calls})

    def followed(self, message: Message) -> Message:
        """An assistant message in full. What points at nothing stays as it is: no evidence bears it out."""
        calls = tuple(self._followed_call(call) for call in message.calls)
        content = POINTER.sub(lambda found: self._meant(found) or found[0], message.content)
        return message.model_copy(update={"content": content, "calls": calls})

    def _pointed_text(self, text: str) -> str:
        """What looks like a pointer and is none gets a space: it would be followed."""
        whole = {line.text: letter for letter, line in self.lines.items()}
        apart = (POINTER.sub(self._unlike, one) if one not in whole else f"=={whole[one]}" for one in text.split("\n"))
        pointed = self._pointed_rows("\n".join(apart))
        for path in sorted({line.path for line in self.lines.values()}, key=len, reverse=True):
            place = re.compile(rf"(?<![\w/.@+=-])({re.escape(path)}):(\d{{1,9}})(?![\w:-]|\.\w)")
            pointed = place.sub(lambda found: self._pointer(found[1], int(found[2])), pointed)
        return pointed

    def _pointed_rows(self, text: str) -> str:
        """The rows of one result, told as lines or in a list, by its id: of the longest, of equals of the last.

        Where the same words stand twice, those behind: the answer comes after what is said of it.
        """
        shortest_first = sorted(self.rows.items(), key=lambda one: len("".join(one[1])))
        for name, rows in reversed(shortest_first):
            lines, listed = re.escape("\n".join(rows)), re.escape(", ".join(rows))
            for pattern, sign in ((rf"(?m)^{lines}$", "=="), (rf"(?<![\w.,=-]){listed}(?![\w=]|[.,-]\w)", "=")):
                if found := [*re.finditer(pattern, text)]:
                    return f"{text[: found[-1].start()]}{sign}{name}{text[found[-1].end() :]}"
        return text

    def _pointer(self, path: str, number: int) -> str:
        """The last line about that place, else the last of that file and the number."""
        letters = [letter for letter, line in self.lines.items() if line.path == path]
        exact = [letter for letter in letters if self.lines[letter].number == number]
        return f"={exact[-1]}" if exact else f"={letters[-1]}:{number}"

    def _unlike(self, found: re.Match[str]) -> str:
        return f"{found['signs']} {found[0].lstrip('=')}" if self._meant(found) else found[0]

    def _pointed_call(self, call: ToolCall) -> ToolCall:
        places = {line.place: f"={letter}" for letter, line in self.lines.items()}
        asked = {name: str(call.arguments.get(name, "")) for name in AT}
        call = _with(call, {name: places[at] for name, at in asked.items() if at in places})
        path, number = call.arguments.get("path"), call.arguments.get("line")
        if not isinstance(number, int) or all(line.path != path for line in self.lines.values()):
            return call
        letter, _, other = self._pointer(str(path), number).partition(":")
        rest = {name: value for name, value in call.arguments.items() if name not in ("path", "line")}
        named = {"path": letter, "line": number} if other else {"path": letter}
        return call.model_copy(update={"arguments": {**named, **rest}})

    def _followed_call(self, call: ToolCall) -> ToolCall:
        asked = {name: POINTER.fullmatch(str(call.arguments.get(name, ""))) for name in AT}
        call = _with(call, {name: place for name, found in asked.items() if found and (place := self._meant(found))})
        found = POINTER.fullmatch(str(call.arguments.get("path", "")))
        line = self.lines.get(found["letter"]) if found else None
        if line is None:
            return call
        return call.model_copy(update={"arguments": {"line": line.number, **call.arguments, "path": line.path}})

    def _meant(self, found: re.Match[str]) -> str:
        """What it points at; empty where that is nothing."""
        if found["rows"]:
            return ("\n" if found["signs"] == "==" else ", ").join(self.rows.get(found["rows"], ()))
        line = self.lines.get(found["letter"])
        if line is None:
            return ""
        if found["line"]:
            return f"{line.path}:{found['line']}"
        return line.text if found["signs"] == "==" else line.place


NONE = References()


@lru_cache(maxsize=256)  # results: some twenty runs at once, each of which asks three times a turn
def after_result(before: References, result: str) -> References:
    """Return the references after one more result. `before` is told apart by identity, so a conversation is a chain."""
    lines = {**before.lines}

    def lettered(found: re.Match[str]) -> str:
        if len(lines) >= MOST:
            return found[0]
        letter = _letter(len(lines))
        path, number = (found["path"], found["line"]) if found["path"] else (found["last"], found["end"])
        lines[letter] = ShownLine(found["text"], path, int(number))
        return f"{found['id'] or ''}={letter} {found['text']}"

    shown = SHOWN.sub(lettered, result)
    return References(lines, {**before.rows, **_rows(result)}, shown)


def _rows(result: str) -> Mapping[str, Sequence[str]]:
    """Return the rows of a query's result by its id; nothing if it has none, or not all of them are shown."""
    found = ROWS.match(result)
    if found is None:
        return {}
    count = int(found["count"])
    rows = result[found.end() + 1 :].split("\n")[:count]
    is_complete = len(rows) == count and all(map(str.strip, rows)) and not LEFT_OUT.fullmatch(rows[-1])
    return {found["id"]: rows} if is_complete else {}


def _with(call: ToolCall, changed: Mapping[str, str]) -> ToolCall:
    return call.model_copy(update={"arguments": {**call.arguments, **changed}}) if changed else call


def _letter(index: int) -> str:
    """A to Z, then AA to ZZ."""
    high, low = divmod(index, len(ascii_uppercase))
    return (ascii_uppercase[high - 1] if high else "") + ascii_uppercase[low]
