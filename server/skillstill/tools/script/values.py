"""Values that cross between a run and a script: results of tools on the way in, the script's value on the way out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillstill.errors import Refusal
from skillstill.tools.kit.redaction import redact
from skillstill.tools.kit.tool import Line, Result
from skillstill.util.text import clean

MOST_PARTS = 2_000  # of a value
LONGEST_VALUE = 20_000  # characters of its texts; a result shows 1,800
DEEPEST = 20  # lists in lists
BITS = 4_096  # of a number; Python writes none of more than 4,300 digits
TOO_LONG = "the value is too long to be shown: let the script choose, count or join"


@dataclass(frozen=True, slots=True, eq=False)
class ScriptResult:
    """What a call returns to a script: what the tool would have shown to a model, and no more.

    found     whether the tool found anything
    lines     those of `text`
    rows      the values of each row of a query: numbers, texts, None
    places    `path:line` of each line that begins or ends with a place
    omitted   how many more things there are
    """

    found: bool
    text: str
    lines: list[str]
    rows: list[list[object]]
    places: list[str]
    omitted: int

    @classmethod
    def of(cls, result: Result) -> "ScriptResult":
        return cls(
            found=not result.empty,
            text=result.text,
            lines=result.text.split("\n"),
            rows=[[_cell(value) for value in line.cells] for line in result.shown if line.cells],
            places=[_place(line) for line in result.shown if line.place],
            omitted=result.omitted,
        )

    def __bool__(self) -> bool:
        return self.found


class Plain:
    """Makes a value that came out of the interpreter plain: texts, numbers, lists, sets, maps, results.

    Raise Refusal if that is too much. Of an object of the script's own class its attributes count.
    """

    def __init__(self) -> None:
        self._parts, self._characters = MOST_PARTS, LONGEST_VALUE

    def __call__(self, value: object, depth: int = 0) -> object:
        self._parts -= 1
        if depth > DEEPEST or self._parts < 0:
            raise Refusal(TOO_LONG)
        if isinstance(value, Mapping):
            return {self._key(key): self(one, depth + 1) for key, one in value.items()}
        if isinstance(value, set | frozenset):
            return {self._key(one) for one in value}
        if isinstance(value, list | tuple):
            return type(value)([self(one, depth + 1) for one in value])
        if isinstance(attributes := getattr(value, "attributes", None), dict):
            return self(attributes, depth + 1)
        return self._scalar(value)

    def _key(self, value: object) -> object:
        self._parts -= 1
        return tuple(map(self._scalar, value)) if isinstance(value, tuple) else self._scalar(value)

    def _scalar(self, value: object) -> object:
        if value is None or isinstance(value, bool | float | ScriptResult):
            return value
        if isinstance(value, int):
            if value.bit_length() > BITS:
                raise Refusal(TOO_LONG)
            return value
        text = value if isinstance(value, str) else str(value)
        self._characters -= len(text)
        if self._characters < 0:
            raise Refusal(TOO_LONG)
        return text


def value_lines(value: object) -> Sequence[str]:
    """Return a plain value as it is shown: a line for each item or entry, and the parts of a nested one between bars.

    A result stands for its text.
    """
    return [*_texts(value)]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, ScriptResult):
        yield from value.lines
    elif isinstance(value, str):
        yield from value.rstrip().split("\n")
    elif isinstance(value, Mapping) and value:
        yield from (f"{_inline(key)}: {_inline(one)}" for key, one in value.items())
    elif isinstance(value, list | tuple) and value:
        yield from map(_inline, value)
    elif isinstance(value, set) and value:
        yield from sorted(map(_inline, value))
    else:
        yield _inline(value)


def _inline(value: object) -> str:
    if isinstance(value, ScriptResult):
        return value.text.replace("\n", " ")
    if isinstance(value, list | tuple) and value:
        return " | ".join(map(_inline, value))
    if isinstance(value, set) and value:
        return " | ".join(sorted(map(_inline, value)))
    if isinstance(value, Mapping) and value:
        return ", ".join(f"{_inline(key)}: {_inline(one)}" for key, one in value.items())
    return value if isinstance(value, str) else repr(value)


def _cell(value: object) -> object:
    """Return a value of a row. A text is as safe to read as one in a result."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return redact(clean(str(value)))


def _place(line: Line) -> str:
    assert line.place
    return f"{line.place.path}:{line.place.first}"
