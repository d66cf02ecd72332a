"""Read files in worker processes: a file that takes too long ends its process, and the next file starts another one."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

SECONDS = 10.0  # of a file that is read at once; a large one has this for each megabyte, but
LONGEST = 1_800.0  # of any: about 20 GB of logs on an idle machine
LARGE = 8_000_000  # bytes of a file from which on it is streamed from its place instead of being sent


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows and gaps of a file as they are stored: what JSON makes of them."""

    rows: Mapping[str, Sequence[Sequence[Any]]]
    gaps: Sequence[Sequence[str]]

    @classmethod
    def of_gap(cls, reason: str) -> "Batch":
        return cls({}, [[reason, "", ""]])


class Parser:
    """One worker process, started by its first file. Not for several threads at once."""

    def __init__(self, references: Sequence[str]) -> None:
        self._references = list(references)
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, name: str, data: bytes) -> Iterator[Batch]:
        """Yield what the readers find in a file of these bytes."""
        yield from self._ask({"name": name, "size": len(data), "seconds": SECONDS}, data)

    def stream(self, name: str, path: Path, size: int) -> Iterator[Batch]:
        """Yield what the readers find in a large file, batch by batch as they find it."""
        yield from self._ask({"name": name, "size": size, "seconds": _seconds(size), "path": str(path)}, b"")

    def copy(self, path: Path, size: int, into: Path) -> Iterator[Batch]:
        """Copy the tables of a data file into a database. Yield gaps if that fails."""
        request = {"name": path.name, "size": size, "seconds": _seconds(size), "path": str(path), "into": str(into)}
        yield from self._ask(request, b"")

    def close(self) -> None:
        """End the process. The next file starts another one."""
        if process := self._process:
            process.kill()
            process.communicate()
            self._process = None

    def _ask(self, request: Mapping[str, Any], data: bytes) -> Iterator[Batch]:
        process = self._started()
        is_whole = False
        try:
            for batch in _answers(process, {**request, "readers": self._references}, data):
                if batch is None:
                    is_whole = True
                else:
                    yield batch
        finally:
            if not is_whole:
                self.close()  # it died, or whoever asked has left: what it still says belongs to no file
        if not is_whole:
            is_late = process.returncode == -signal.SIGALRM
            yield Batch.of_gap("reading it took too long" if is_late else "reading it broke off")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-P", "-m", "skillstill.facts.worker"]  # -P: no code of the present folder
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return self._process


def _seconds(size: int) -> float:
    return min(LONGEST, SECONDS * max(1.0, size / 1_000_000))


def _answers(process: subprocess.Popen[bytes], request: Mapping[str, Any], data: bytes) -> Iterator[Batch | None]:
    """Yield the batches of a file, and None once it is read. End without that if the process is gone."""
    assert process.stdin
    assert process.stdout
    with suppress(OSError):  # a broken pipe
        process.stdin.write(json.dumps(request).encode() + b"\n" + data)
        process.stdin.flush()
        for line in process.stdout:
            if not line.endswith(b"\n"):
                break
            message = orjson.loads(line)
            if "end" in message:
                yield None
                return
            yield Batch(message["rows"], message["gaps"])
    process.wait()
