"""One entry in a JSON file that belongs to another program: found, put in, taken out, everything else kept.

What had to be made around an entry is remembered, so that taking it out gives back what was there. Each change reads,
alters and replaces a whole file: what its owner itself writes to it between the two is lost.
"""

import json
import math
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillstill.errors import ClientError
from skillstill.storage import data_folder, write_atomically

ABSENT = object()
MADE = "made.json"
_Object = dict[str, Any]
_Made = set[tuple[str, ...]]


@dataclass(frozen=True)
class Place:
    """Where an entry is: a file, the keys that lead to it, and the mode of that file where it is new."""

    file: Path
    keys: tuple[str, ...]
    mode: int

    def __str__(self) -> str:
        return f"{' > '.join(self.keys)} in {self.file}"


def find(place: Place) -> Any:
    """The entry, or ABSENT. Raises ClientError where the file is no JSON of the expected shape."""
    return _found(_objects(place), place)


def put(place: Place, entry: _Object) -> None:
    """Write the entry, whatever is there now. Raises ClientError, the file left as it was."""
    objects = _objects(place)
    made = {_made(place, depth) for depth in range(len(objects), len(place.keys))}
    _remember(made)
    try:
        _write(place, _with(objects, place.keys, entry))
    except ClientError:
        _forget(made)
        raise


def take_out(place: Place) -> None:
    """Remove the entry, and what `put` made around it if that is empty now. Raises ClientError."""
    objects = _objects(place)
    gone = _take_out(objects, place)
    if _made(place, 0) in gone:
        _unlink(place.file)
    else:
        _write(place, objects[0])
    _forget(gone)


def text(document: _Object) -> str:
    """Two spaces, plain characters; halves of surrogate pairs, which no file can hold, stay escapes."""
    written = json.dumps(document, indent=2, ensure_ascii=False)
    return written.encode("utf-8", "backslashreplace").decode("utf-8")


def _objects(place: Place) -> list[_Object]:
    """The objects that lead to an entry, the whole document first, as many as there are. Raises ClientError."""
    inner, objects = _read(place.file), list[_Object]()
    for key in place.keys:
        if inner is ABSENT:
            break
        if not isinstance(inner, dict):
            what = " > ".join(place.keys[: len(objects)]) or "what it holds"
            raise ClientError(f"{place.file} stays as it is: {what} is not a JSON object")
        objects.append(inner)
        inner = inner.get(key, ABSENT)
    return objects


def _found(objects: Sequence[_Object], place: Place) -> Any:
    return objects[-1].get(place.keys[-1], ABSENT) if len(objects) == len(place.keys) else ABSENT


def _with(objects: Sequence[_Object], keys: Sequence[str], wanted: _Object) -> _Object:
    """The document, changed, with the entry and every object that leads to it."""
    document = inner = objects[0] if objects else {}
    for key in keys[:-1]:
        inner = inner.setdefault(key, {})
    inner[keys[-1]] = wanted
    return document


def _take_out(objects: Sequence[_Object], place: Place) -> _Made:
    """What is gone with the entry: the objects around it that `put` made and that are empty now."""
    made, gone = _remembered(), _Made()
    del objects[-1][place.keys[-1]]
    for depth in reversed(range(len(objects))):
        if objects[depth] or _made(place, depth) not in made:
            break
        gone.add(_made(place, depth))
        if depth:
            del objects[depth - 1][place.keys[depth - 1]]
    return gone


def _made(place: Place, depth: int) -> tuple[str, ...]:
    """The object at this depth as it is remembered; 0 is the file itself."""
    return (str(place.file), *place.keys[:depth])


def _remembered() -> _Made:
    try:
        return {tuple(made) for made in json.loads((data_folder() / MADE).read_text(encoding="utf-8"))}
    except (OSError, ValueError, TypeError, RecursionError):
        return set()


def _remember(made: _Made) -> None:
    if not made <= _remembered():
        _keep(_remembered() | made)


def _forget(made: _Made) -> None:
    if made & _remembered():
        _keep(_remembered() - made)


def _keep(made: _Made) -> None:
    try:
        write_atomically(data_folder() / MADE, json.dumps(sorted(made), indent=2) + "\n")
    except OSError as error:
        raise ClientError(f"{data_folder() / MADE} cannot be written: {error.strerror}") from error


def _read(file: Path) -> Any:
    """The document, which this program can write again without loss; ABSENT where there is no file."""
    if file.exists() and not file.is_file():
        raise ClientError(f"{file} is not a regular file")
    try:
        written = file.read_text(encoding="utf-8")
        return json.loads(written, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_finite)
    except FileNotFoundError:
        return ABSENT
    except OSError as error:
        raise ClientError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ClientError(f"{file} is not JSON that can be changed safely, and stays as it is: {error}") from error


def _unique(pairs: Iterable[tuple[str, Any]]) -> _Object:
    found: _Object = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key!r} is there twice")
        found[key] = value
    return found


def _finite(written: str) -> float:
    if not math.isfinite(float(written)):
        raise ValueError(f"no such number: {written}")
    return float(written)


def _write(place: Place, document: _Object) -> None:
    """Replaces the file, but for its mode and its last line's end."""
    file = place.file
    try:
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else place.mode
        end = "" if file.exists() and not file.read_bytes().endswith(b"\n") else "\n"
        if not mode & stat.S_IWUSR:  # a replacement would not notice
            raise ClientError(f"{file} is read-only, and stays as it is")
        write_atomically(file, text(document) + end)
        file.chmod(mode)
    except OSError as error:
        raise ClientError(f"{file} cannot be written: {error.strerror}") from error
    except RecursionError as error:
        raise ClientError(f"{file} is nested too deeply to be written again, and stays as it is") from error


def _unlink(file: Path) -> None:
    try:
        file.unlink()
    except OSError as error:
        raise ClientError(f"{file} cannot be removed: {error.strerror}") from error
