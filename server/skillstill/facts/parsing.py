"""Read files in worker processes: with a time limit for each file, and a new process for one that died."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

from skillstill.facts.reader import Gap

SECONDS = 10.0  # of a file that is read at once; a large one has this for each megabyte
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

    def __init__(self, references: Sequence[str], seconds: float = SECONDS) -> None:
        self._references = list(references)
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False

    def read(self, name: str, data: bytes) -> Iterator[Batch]:
        """Yield what the readers find in a file of these bytes."""
        yield from self._ask({"name": name, "size": len(data)}, data, self._seconds)

    def stream(self, name: str, path: Path, size: int) -> Iterator[Batch]:
        """Yield what the readers find in a large file, batch by batch as they find it."""
        request = {"name": name, "size": size, "path": str(path)}
        yield from self._ask(request, b"", self._seconds * max(1.0, size / 1_000_000))

    def close(self) -> None:
        """End the process. The next file starts another one."""
        if process := self._process:
            process.kill()
            process.communicate()
            self._process = None

    def _ask(self, request: Mapping[str, Any], data: bytes, seconds: float) -> Iterator[Batch]:
        process = self._started()
        timer = Timer(seconds, self._kill)
        timer.daemon = True
        timer.start()
        is_whole = False
        try:
            for batch in self._answers(process, {**request, "readers": self._references}, data):
                if batch is None:
                    is_whole = True
                else:
                    yield batch
        finally:
            timer.cancel()
            if not is_whole:
                self.close()  # it died, or whoever asked has left: what it still says belongs to no file
        if not is_whole:
            yield Batch.of_gap("reading it took too long" if self._killed else "reading it broke off")
        self._killed = False

    def _answers(
        self, process: subprocess.Popen[bytes], request: Mapping[str, Any], data: bytes
    ) -> Iterator[Batch | None]:
        """Yield the batches, and None once the file is read. End without that if the process is gone."""
        assert process.stdin
        assert process.stdout
        with suppress(OSError):  # a broken pipe
            process.stdin.write(json.dumps(request).encode() + b"\n" + data)
            process.stdin.flush()
            for line in process.stdout:
                if not line.endswith(b"\n"):
                    return
                message = json.loads(line)
                if "end" in message:
                    yield None
                    return
                yield Batch(message["rows"], message["gaps"])

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-m", "skillstill.facts.worker"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return self._process

    def _kill(self) -> None:
        self._killed = True
        if process := self._process:
            process.kill()


def gap_of(values: Sequence[str]) -> Gap:
    """Return a gap as it was before it was stored."""
    reason, table, column = values
    return Gap(reason, table, column)
