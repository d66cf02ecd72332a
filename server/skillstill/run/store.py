"""Traces of finished runs, one JSONL line in one file each. They hold private code: only their owner may read them."""

import logging
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from skillstill.errors import TraceError, UnknownName
from skillstill.types import Trace
from skillstill.util.storage import state_folder, write_atomically

KEEP_DAYS = 30
log = logging.getLogger(__name__)


def store(trace: Trace) -> Path:
    """Write the trace and drop what is older than KEEP_DAYS. Raise TraceError, and then leaves no half of a file."""
    stamp = trace.created.strftime("%Y%m%dT%H%M%S%f")
    file = folder() / f"{stamp}-{trace.run}.jsonl"
    try:
        write_atomically(file, trace.model_dump_json() + "\n")
    except OSError as error:
        raise TraceError(f"the trace of run {trace.run} is not stored in {folder()}: {error.strerror}") from error
    except ValueError as error:  # half of a surrogate pair, which a model's JSON can hold and UTF-8 cannot
        raise TraceError(f"the trace of run {trace.run} cannot be written as UTF-8") from error
    _forget_old()
    return file


def store_if_possible(trace: Trace) -> None:
    """Write the trace; log it if that fails: the work is done, and its report must not be lost with its trace."""
    try:
        store(trace)
    except TraceError as error:
        log.warning("%s", error)


def load(run: str) -> Trace:
    """Return a trace by its run id, the beginning of one, or `last`: what was stored last, anew or again.

    Raise UnknownName and TraceError.
    """
    files = trace_files()
    found = sorted(files, key=_stored)[-1:] if run == "last" else [file for file in files if _id(file).startswith(run)]
    if len(found) != 1:
        if not files:
            raise UnknownName("no run is stored yet: `skillstill run` makes one")
        what = f"{len(found)} runs begin with {run!r}" if found else f"no run {run!r} is stored"
        raise UnknownName(f"{what}: `skillstill show --list` names them")
    return read(found[0])


def read(file: Path) -> Trace:
    """Raise TraceError."""
    try:
        return Trace.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TraceError(f"{file} cannot be read as a trace") from error


def readable() -> Iterator[Trace]:
    """Yield all traces that can be read, oldest first; the others are logged."""
    for file in trace_files():
        try:
            yield read(file)
        except TraceError as error:
            log.warning("%s", error)


def trace_files() -> Sequence[Path]:
    """Return the files of all traces, oldest first; what is older than KEEP_DAYS is gone by then."""
    _forget_old()
    return sorted(folder().glob("*.jsonl"))


def ids() -> Sequence[str]:
    """Return the ids of stored runs, the latest first, as short as `show --list` has them."""
    return [_id(file)[:12] for file in reversed(trace_files())]


def folder() -> Path:
    return state_folder() / "runs"


def _id(file: Path) -> str:
    return file.stem.partition("-")[2]


def _stored(file: Path) -> int:
    """Return when a trace was stored, in nanoseconds; 0 if another process has just removed it."""
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _forget_old() -> None:
    """Remove old traces and what a killed process left half written. A failure is logged, and ends no run."""
    oldest = time.time() - KEEP_DAYS * 86_400
    for file in folder().glob("*.jsonl*"):
        try:
            if file.stat().st_mtime < oldest:
                file.unlink(missing_ok=True)
        except FileNotFoundError:  # another process was faster
            continue
        except OSError as error:
            log.warning("%s is older than %s days and cannot be removed: %s", file, KEEP_DAYS, error.strerror)
