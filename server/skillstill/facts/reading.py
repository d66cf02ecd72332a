"""Read changed files: from the journal if their content was read before, else in worker processes, several at once."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

from skillstill.facts.files import UNNAMED, Stamp, is_unnameable, stamps
from skillstill.facts.parsing import LARGE, Batch, Parser
from skillstill.facts.store import Store
from skillstill.facts.tree import BYTES, split
from skillstill.util.storage import open_no_link

CHUNK = 64  # files that are begun together; two chunks are under way, so that no process waits
CHUNK_BYTES = 16_000_000


class Hashed(Protocol):
    """What was a file's content when it was read."""

    @property
    def leaf(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file as it was read. `stamp` is that before its first byte was read.

    batches   what the readers found; of a large file they come as they are asked for. None: its content is as before
    """

    path: str
    leaf: bytes
    stamp: Stamp
    batches: Iterable[Batch] | None


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file whose content has been hashed.

    data      None if it is large
    problem   why it was not read, if it was not; the leaf is empty then
    """

    path: str
    leaf: bytes
    stamp: Stamp
    data: bytes | None
    problem: str = ""

    @property
    def name(self) -> str:
        return split(self.path)[1]


class FileReaders:
    """Readers in worker processes that wait for files, and the store of what was read before."""

    def __init__(self, references: Sequence[str], versions: str, processes: int, store: Store | None) -> None:
        """`versions` tell of all that rows depend on beside a file's name and content."""
        self.processes = processes
        self._versions, self._store = versions.encode(), store
        self._idle: SimpleQueue[Parser] = SimpleQueue()
        self._parsers = [Parser(references) for _ in range(processes)]
        for parser in self._parsers:
            self._idle.put(parser)

    def known(self, files: Sequence[OpenedFile]) -> Mapping[bytes, Sequence[Batch]]:
        """Return what was read of these contents before, by their hashes."""
        keys = {self._key(file): file.leaf for file in files}
        found = self._store.get([*keys]) if self._store else {}
        return {keys[key]: batches for key, batches in found.items()}

    def keep(self, facts: Mapping[OpenedFile, Sequence[Batch]]) -> None:
        """Keep what was read, for other processes and other times."""
        if self._store and facts:
            self._store.put({self._key(file): batches for file, batches in facts.items()})

    def parse(self, file: OpenedFile) -> Sequence[Batch]:
        """Return what the readers find in a file that was read whole."""
        with self._parser() as parser:
            return [*parser.read(file.name, file.data or b"")]

    def stream(self, file: OpenedFile, root: Path) -> Iterator[Batch]:
        """Yield what the readers find in a large file, and a gap if it changed since it was hashed."""
        with self._parser() as parser:
            yield from parser.stream(file.name, root / file.path, file.stamp.size)
        if dict(stamps(root, [file.path])).get(file.path) != file.stamp:
            yield Batch.of_gap("it changed while it was read")

    def copy(self, path: Path, size: int, into: Path) -> Sequence[str]:
        """Copy the tables of a data file into a database. Return why not, if that fails."""
        with self._parser() as parser:
            return [str(reason) for batch in parser.copy(path, size, into) for reason, *_ in batch.gaps]

    def key_of(self, leaf: bytes) -> bytes:
        """Return the hash of a content and of what else the tables in it depend on."""
        return hashlib.blake2b(b"\0".join((self._versions, leaf)), digest_size=BYTES).digest()

    def _key(self, file: OpenedFile) -> bytes:
        """Return what the rows of a file depend on: its content, its name, and the readers."""
        name = file.name.encode("utf-8", "surrogateescape")
        return hashlib.blake2b(b"\0".join((self._versions, name, file.leaf)), digest_size=BYTES).digest()

    @contextmanager
    def _parser(self) -> Iterator[Parser]:
        """Lend a parser as soon as one is idle."""
        parser = self._idle.get()
        try:
            yield parser
        finally:
            self._idle.put(parser)

    def close(self) -> None:
        """End the processes."""
        for parser in self._parsers:
            parser.close()


class FileReading:
    """One reading of many files of a folder. `before` are those whose rows are at hand."""

    def __init__(self, root: Path, readers: FileReaders, before: Mapping[str, Hashed]) -> None:
        self.root, self.readers, self._before = root, readers, before

    def read(self, paths: Iterable[str]) -> Iterator[FileFacts]:
        """Yield the facts of each file in their order. Files that are gone are left out."""
        threads = ThreadPoolExecutor(self.readers.processes)
        under_way = begun = ChunkReading(self, [], threads)
        try:
            for chunk in self._chunks(paths):
                begun = ChunkReading(self, chunk, threads)
                yield from under_way.finish()
                under_way = begun
            yield from under_way.finish()
        finally:  # if the time is up, the next reading goes on from what is parsed
            threads.shutdown(cancel_futures=True)
            under_way.keep()
            begun.keep()

    def is_unchanged(self, file: OpenedFile) -> bool:
        before = self._before.get(file.path)
        return before is not None and before.leaf == file.leaf

    def _chunks(self, paths: Iterable[str]) -> Iterator[list[OpenedFile]]:
        chunk: list[OpenedFile] = []
        room = CHUNK_BYTES
        for path in paths:
            if file := open_file(self.root, path):
                chunk.append(file)
                room -= len(file.data or b"")
            if len(chunk) >= CHUNK or room < 0:
                yield chunk
                chunk, room = [], CHUNK_BYTES
        yield chunk


class ChunkReading:
    """The reading of some files, begun at once."""

    def __init__(self, reading: FileReading, files: Sequence[OpenedFile], threads: ThreadPoolExecutor) -> None:
        self._reading, self._files = reading, files
        changed = [file for file in files if not file.problem and not reading.is_unchanged(file)]
        self._known = reading.readers.known(changed)
        self._parsed: dict[OpenedFile, Future[Sequence[Batch]]] = {
            file: threads.submit(reading.readers.parse, file)
            for file in changed
            if file.data is not None and file.leaf not in self._known
        }

    def finish(self) -> Iterator[FileFacts]:
        """Yield the facts of each of the files."""
        for file in self._files:
            yield FileFacts(file.path, file.leaf, file.stamp, self._batches(file))
        self.keep()

    def keep(self) -> None:
        """Keep what has been parsed, and forget it here."""
        done = {file: parsed for file, parsed in self._parsed.items() if parsed.done() and not parsed.cancelled()}
        self._reading.readers.keep({file: parsed.result() for file, parsed in done.items() if not parsed.exception()})
        self._parsed = {}

    def _batches(self, file: OpenedFile) -> Iterable[Batch] | None:
        if file.problem:
            return (Batch.of_gap(file.problem),)
        if self._reading.is_unchanged(file):
            return None
        if file.leaf in self._known:
            return self._known[file.leaf]
        return (
            self._parsed[file].result()
            if file in self._parsed
            else self._reading.readers.stream(file, self._reading.root)
        )


def open_file(root: Path, path: str) -> OpenedFile | None:
    """Return a file with the hash of its content; None if it is gone. One that is not read is looked at each time."""
    hashed = hashlib.blake2b(digest_size=BYTES)
    try:
        with open(root / path, "rb", opener=open_no_link) as file:
            stamp = Stamp.of(os.fstat(file.fileno()))
            if stamp.size <= LARGE:
                data = file.read(LARGE + 1)
                hashed.update(data)
                return OpenedFile(path, hashed.digest(), stamp, data)
            while part := file.read(1 << 20):
                hashed.update(part)
            return OpenedFile(path, hashed.digest(), stamp, None)
    except FileNotFoundError:
        return OpenedFile(path, b"", UNNAMED, b"", "its name is not UTF-8") if is_unnameable(path) else None
    except OSError:
        return OpenedFile(path, b"", UNNAMED, b"", "it cannot be opened")
