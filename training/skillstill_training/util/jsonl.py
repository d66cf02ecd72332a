"""Files of one JSON value a line: how stages hand over what they made."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeVar

from pydantic import BaseModel, ValidationError
from skillstill.errors import StageError
from skillstill.util.storage import write_atomically

Value = TypeVar("Value", bound=BaseModel)


def write_lines(file: Path, values: Iterable[BaseModel]) -> None:
    """Write all values or none: if the file cannot be written, it stays as it was. Raise StageError."""
    write_text(file, "".join(value.model_dump_json() + "\n" for value in values))


def write_text(file: Path, text: str) -> None:
    """Raise StageError, the old file kept."""
    try:
        write_atomically(file, text)
    except OSError as error:
        raise StageError(
            f"{file} cannot be written: {error.strerror}; mend that and run the same command again"
        ) from error


def read_lines(file: Path, kind: type[Value], *, torn: bool = False) -> Sequence[Value]:
    """Return its values; if `torn`, but for a last line without an end, which a killed process left.

    Raise StageError.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise StageError(f"{file} cannot be read: {error}") from error
    lines = text.split("\n")  # a line feed alone ends a line: a text may hold U+2028, at which splitlines() breaks
    whole = lines[:-1] if torn or not lines[-1] else lines
    return [_value(file, number, line, kind) for number, line in enumerate(whole, 1)]


def _value(file: Path, number: int, line: str, kind: type[Value]) -> Value:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        raise StageError(f"{file}:{number} is no {kind.__name__}: {error.errors()[0]['msg']}") from error


class Appender:
    """A file that grows by whole lines, each on disk before the next. Raises StageError if it cannot."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __enter__(self) -> Self:
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._open = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError as error:
            raise StageError(f"{self.file} cannot be written: {error.strerror}") from error
        return self

    def __exit__(self, *exception: object) -> None:
        os.close(self._open)

    def append(self, values: Iterable[BaseModel]) -> None:
        """Append all values or none: half a line would make the file unreadable to the next run."""
        size = os.fstat(self._open).st_size
        try:
            self._write("".join(value.model_dump_json() + "\n" for value in values).encode())
            os.fsync(self._open)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._open, size)
            raise StageError(
                f"{self.file} cannot be written: {error.strerror}; what is done so far is kept: "
                "make room and run the same command again"
            ) from error

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._open, data) :]
