"""What a GGUF file says before its numbers: metadata and the shapes of its tensors, read without native code."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from skillstill.errors import PackError

MAGIC = b"GGUF"
VERSIONS = {2, 3}
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
# No real file comes near: a vocabulary of 250,000 with its merges takes 12 MB of head.
MOST_FIELDS, MOST_TENSORS, MOST_HEAD, MOST_DIMENSIONS = 10_000, 100_000, 100_000_000, 8
KEPT = 1_000  # bytes of a text that is told
Value = int | float | bool | str | None


@dataclass(frozen=True, slots=True)
class Head:
    """`fields` without arrays; `shapes` by tensor, its innermost dimension first."""

    fields: Mapping[str, Value]
    shapes: Mapping[str, tuple[int, ...]]


def read_head(file: Path) -> Head:
    """Raise PackError if that is no GGUF."""
    try:
        with file.open("rb") as content:
            return _head(_Reader(content))
    except (ValueError, struct.error) as error:
        raise PackError(f"{file.name} cannot be read as GGUF: it is damaged or no model file ({error})") from error
    except OSError as error:
        raise PackError(f"{file} cannot be read: {error.strerror}") from error


class _Reader:
    """Little-endian values one after another. Raises ValueError at the end of the file, or past what a head needs."""

    def __init__(self, content: BinaryIO) -> None:
        self._content, self._left = content, MOST_HEAD

    def bytes(self, count: int) -> bytes:
        self._left -= count
        if self._left < 0:
            raise ValueError("its head is too long")
        if len(found := self._content.read(count)) < count:
            raise ValueError("it is cut off")
        return found

    def number(self, letter: str) -> Value:
        value: Value = struct.unpack(f"<{letter}", self.bytes(struct.calcsize(letter)))[0]
        return value

    def count(self, letter: str, most: int) -> int:
        value = self.number(letter)
        if not isinstance(value, int) or value > most:
            raise ValueError(f"{value:,} is too many")
        return value

    def text(self) -> str:
        return self.bytes(self.count("Q", MOST_HEAD)).decode("utf-8", "replace")

    def value(self, kind: int) -> Value:
        """Return a number or a text; an array is passed over."""
        if kind == STRING:
            return self.text()[:KEPT]
        if kind != ARRAY:
            return self.number(_letter(kind))
        inner, count = self.count("I", 12), self.count("Q", MOST_HEAD)
        if inner == STRING:
            for _ in range(count):
                self.text()
        else:  # an array of arrays is nobody's
            self.bytes(count * struct.calcsize(_letter(inner)))
        return None


def _head(reader: _Reader) -> Head:
    if reader.bytes(4) != MAGIC or reader.number("I") not in VERSIONS:
        raise ValueError("it does not begin as one")
    tensors, fields = reader.count("Q", MOST_TENSORS), reader.count("Q", MOST_FIELDS)
    metadata = {reader.text(): reader.value(reader.count("I", 12)) for _ in range(fields)}
    return Head(metadata, dict(_tensor(reader) for _ in range(tensors)))


def _tensor(reader: _Reader) -> tuple[str, tuple[int, ...]]:
    name = reader.text()
    dimensions = reader.count("I", MOST_DIMENSIONS)
    shape = tuple(reader.count("Q", 2**40) for _ in range(dimensions))
    reader.bytes(4 + 8)  # how its numbers are stored, and where
    return name, shape


def _letter(kind: int) -> str:
    if kind not in NUMBERS:
        raise ValueError(f"{kind} is no type of a value")
    return NUMBERS[kind]
