"""The process in which files are read: parsers are native code and files are strangers, so it has limits and may die.

A request is a line of JSON, `{"name": …, "readers": […], "size": N, "seconds": S}`, and then the N bytes of the file;
of a large file it is `{…, "path": …}` and no bytes. It is answered by lines of JSON: any number of batches of rows and
gaps, `{"rows": {TABLE: [[first, last, …], …]}, "gaps": [[reason, table, column], …]}`, then `{"end": true}`. If it also
says `"into": DATABASE`, the tables of a data file are copied there, and only gaps are answered.

The kernel ends the process after S seconds, whatever it is doing then, and though its parent is gone.
"""

import gc
import hashlib
import io
import json
import resource
import signal
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import astuple, replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any, BinaryIO

import orjson

from skillstill.facts.reader import ALL_OF, HEAD, Facts, Gap, Reader, Source, TableReader, Unreadable
from skillstill.util.storage import open_no_link

MEMORY = 1_500_000_000  # bytes of address space: a hostile file may not take the machine
GARBAGE = 200_000  # objects: rows are no garbage, and looking through them takes a third of the time
PLAIN = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME  # these are no values of rows
FAILED = Gap("its reader failed")
TOO_LARGE = Gap("it needs too much memory")
NOT_OPENED = Gap("it cannot be opened")


def load_readers(references: Iterable[str]) -> Sequence[Reader]:
    """Return the readers of references: `module:NAME`, or `/path/of/a/file.py:NAME` for a skill's own."""
    parts = (one.rpartition(":") for one in references)
    return [getattr(_load_module(module), name) for module, _, name in parts]


def _load_module(module: str) -> ModuleType:
    if not module.endswith(".py"):
        return import_module(module)
    name = f"skillstill_readers_{hashlib.sha256(module.encode()).hexdigest()[:16]}"
    if name not in sys.modules:
        spec = spec_from_file_location(name, module)
        assert spec
        assert spec.loader
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def read_file(readers: Sequence[Reader], name: str, size: int, stream: BinaryIO) -> Iterator[Facts]:
    """Yield what those of the readers that take the file find in it."""
    head = stream.read(HEAD)
    for reader in readers:
        if reader.takes(name, head):
            stream.seek(0)
            for facts in _read(reader, Source(name, size, stream)):
                yield replace(facts, gaps=tuple(_of_reader(gap, reader) for gap in facts.gaps))


def _read(reader: Reader, source: Source) -> Iterator[Facts]:
    try:
        yield from reader.read(source)
    except Unreadable as error:
        yield Facts(gaps=(Gap(str(error)),))
    except MemoryError:
        yield Facts(gaps=(TOO_LARGE,))
    except Exception:  # a mistake in a reader costs the rows of one file, and is said
        yield Facts(gaps=(FAILED,))


def _copy(readers: Sequence[Reader], source: Source, into: str) -> Iterator[Facts]:
    """Copy the tables of a file into a database. Yield why, if it fails."""
    head = source.stream.read(HEAD)
    source.stream.seek(0)
    reader = next((one for one in readers if isinstance(one, TableReader) and one.takes(source.name, head)), None)
    try:
        with closing(sqlite3.connect(into)) as connection:
            if reader:
                reader.copy(source, connection)
                return
            yield Facts(gaps=(Gap("it is no data file"),))
    except Unreadable as error:
        yield Facts(gaps=(Gap(str(error)),))
    except MemoryError:
        yield Facts(gaps=(TOO_LARGE,))
    except Exception:  # as in `_read`
        yield Facts(gaps=(FAILED,))


def _of_reader(gap: Gap, reader: Reader) -> Gap:
    """Return a gap that names its reader if it names no table."""
    return gap if gap.table else replace(gap, table=f"{ALL_OF}{reader.name}")


def _answers(request: Mapping[str, Any], readers: Sequence[Reader], stdin: BinaryIO) -> Iterator[Facts]:
    name, size = request["name"], request["size"]
    if "path" not in request:
        yield from read_file(readers, name, size, io.BytesIO(stdin.read(size)))
        return
    try:
        with open(request["path"], "rb", opener=open_no_link) as file:
            if into := request.get("into"):
                yield from _copy(readers, Source(name, size, file), into)
            else:
                yield from read_file(readers, name, size, file)
    except OSError:
        yield Facts(gaps=(NOT_OPENED,))


def _line(facts: Facts) -> bytes:
    message = {"rows": facts.rows, "gaps": [astuple(gap) for gap in facts.gaps]}
    with suppress(TypeError):  # the other one takes halves of pairs and long integers, too
        return orjson.dumps(message, option=PLAIN) + b"\n"
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):  # a value that is no row's
        return _line(Facts(gaps=(FAILED,)))
    return text.encode("utf-8", "replace") + b"\n"


def main() -> None:
    """Answer requests until standard input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    gc.set_threshold(GARBAGE)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    loaded: dict[tuple[str, ...], Sequence[Reader]] = {}
    while line := stdin.readline():
        request = json.loads(line)
        references = tuple(request["readers"])
        if references not in loaded:
            loaded[references] = load_readers(references)
        signal.setitimer(signal.ITIMER_REAL, request["seconds"])
        for facts in _answers(request, loaded[references], stdin):
            stdout.write(_line(facts))
        signal.setitimer(signal.ITIMER_REAL, 0)
        stdout.write(b'{"end":true}\n')
        stdout.flush()


if __name__ == "__main__":
    main()
