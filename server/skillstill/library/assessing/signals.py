"""What speaks for which verdict: `signals.toml`, a table that a person can read, change and argue with.

Each row is looked for line by line in the parts of the text that it names. A line that matches is a reason, with its
number.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Literal

from pydantic import Field, TypeAdapter

from skillstill.library.assessing.sheet import Part, Sheet, SheetLine
from skillstill.types import Frozen

Side = Literal["remote", "script", "fact", "check", "judgement"]
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z(\"'*`])")
LONGEST = 2_000  # characters of a line that are looked at: patterns with gaps take long on very long lines


class Signal(Frozen):
    """One row. At most `most` lines count, `weight` each; a negative one speaks against its side.

    `is_form`: it describes the form of an answer, so that nobody has to find one.
    """

    side: Side
    weight: float
    parts: tuple[Part, ...] = Field(min_length=1)
    patterns: tuple[str, ...] = Field(min_length=1)
    says: str
    most: int = Field(default=1, ge=1)
    is_form: bool = False

    @cached_property
    def expression(self) -> re.Pattern[str]:
        return re.compile("|".join(self.patterns), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SeenSignal:
    """A signal, and the lines where it was seen: no more than count."""

    signal: Signal
    lines: tuple[SheetLine, ...]

    @property
    def weight(self) -> float:
        return self.signal.weight * len(self.lines)


@cache
def signals() -> tuple[Signal, ...]:
    """Return the rows of the table, `{words}` in their patterns replaced."""
    table = tomllib.loads((files(__package__) / "signals.toml").read_text(encoding="utf-8"))
    words = {name: "|".join(alternatives) for name, alternatives in table["words"].items()}
    rows = TypeAdapter(tuple[Signal, ...]).validate_python(table["signal"])
    return tuple(_with_words(row, words) for row in rows)


def seen_signals(sheet: Sheet, rows: Sequence[Signal] | None = None) -> Iterator[SeenSignal]:
    """Yield every signal that the sheet shows, in the order of the table."""
    for signal in signals() if rows is None else rows:
        found = [line for line in sheet.of(*signal.parts) if _shows(signal, line)]
        if found:
            yield SeenSignal(signal, tuple(found[: signal.most]))


def _shows(signal: Signal, line: SheetLine) -> bool:
    """Return whether the signal stands in one sentence of the line: a verb and its object belong together.

    A service may be named in another sentence than what is done with it.
    """
    text = line.text[:LONGEST]
    sentences = [text] if signal.side == "remote" else _SENTENCE_END.split(text)
    return any(map(signal.expression.search, sentences))


def _with_words(signal: Signal, words: Mapping[str, str]) -> Signal:
    patterns = signal.patterns
    for name, alternatives in words.items():
        patterns = tuple(pattern.replace(f"{{{name}}}", alternatives) for pattern in patterns)
    return signal.model_copy(update={"patterns": patterns})
