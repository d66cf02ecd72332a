"""One entry in a file that belongs to another program: found, put in, taken out, everything else kept to the byte.

What had to be made around an entry is remembered, so that taking it out gives back what was there. Each change reads,
alters and replaces a whole file: what its owner itself writes to it between the two is lost.
"""

import json
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from skillstill.clients.jsontext import JsonText
from skillstill.errors import ClientError
from skillstill.util.storage import data_folder, write_atomically

ABSENT = object()
MADE = "made.json"
_Object = dict[str, Any]
_Made = set[tuple[str, ...]]


class Syntax(Protocol):
    """How a file is written. `implicit`: an object is there only as long as it holds something."""

    @property
    def implicit(self) -> bool: ...
    def parse(self, text: str) -> Any: ...
    def text(self, document: _Object) -> str: ...
    def put(self, text: str, keys: Sequence[str], value: _Object) -> str: ...
    def cut(self, text: str, keys: Sequence[str]) -> str: ...


JSON: Syntax = JsonText()


@dataclass(frozen=True)
class DocumentPlace:
    """Where an entry is: a file, the keys that lead to it, the mode of that file if it is new, how it is written."""

    file: Path
    keys: tuple[str, ...]
    mode: int
    syntax: Syntax = JSON

    def __str__(self) -> str:
        return f"{' > '.join(self.keys)} in {self.file}"

    def text(self, entry: _Object) -> str:
        """Return the entry as a file that holds nothing else would say it, from the last but one of its keys on."""
        return self.syntax.text({self.keys[-2]: {self.keys[-1]: entry}})


def find(place: DocumentPlace) -> Any:
    """Return the entry, or ABSENT. Raise ClientError if the file is not of the expected shape."""
    return _found(_objects(place, _text(place)), place)


def put(place: DocumentPlace, entry: _Object) -> None:
    """Write the entry, whatever is there now. Raise ClientError, the file left as it was."""
    before = _text(place)
    objects = _objects(place, before)
    made = {_create_folders(place, depth) for depth in range(len(objects), len(place.keys))} | _folders_to_make(place)
    _remember(made)
    try:
        _write(place, _write_change(place, before, _with(objects, place.keys, entry), place.keys, entry))
    except ClientError:
        _forget(made)
        raise


def take_out(place: DocumentPlace) -> None:
    """Remove the entry, and what `put` made around it if that is empty now. Raise ClientError."""
    before = _text(place)
    objects = _objects(place, before)
    gone = _take_out(objects, place)
    if _create_folders(place, 0) in gone:
        _unlink(place.file)
        gone |= _remove_empty_folders(place)
    else:
        _write(place, _write_change(place, before, objects[0], place.keys[: len(place.keys) - len(gone)]))
    _forget(gone)


def _write_change(
    place: DocumentPlace, before: str | None, wanted: _Object, keys: Sequence[str], entry: _Object | None = None
) -> str:
    """Return the new text, which says what is wanted and nothing else. Raise ClientError if that cannot be had."""
    syntax = place.syntax
    try:
        if before is None:
            after = syntax.text(wanted) + "\n"
        else:
            after = syntax.cut(before, keys) if entry is None else syntax.put(before, keys, entry)
        said = syntax.parse(after)
    except (ValueError, RecursionError) as error:
        raise ClientError(f"{place.file} stays as it is, and has to be changed by hand: {error}") from error
    if said != wanted and not (syntax.implicit and said == {key: value for key, value in wanted.items() if value}):
        raise ClientError(f"{place.file} stays as it is, and has to be changed by hand: its entries are written oddly")
    return after


def _objects(place: DocumentPlace, text: str | None) -> list[_Object]:
    """Return the objects that lead to an entry, the whole document first, as many as there are. Raise ClientError."""
    inner, objects = _parse(place, text), list[_Object]()
    for key in place.keys:
        if inner is ABSENT:
            break
        if not isinstance(inner, dict):
            what = " > ".join(place.keys[: len(objects)]) or "what it holds"
            raise ClientError(f"{place.file} stays as it is: {what} is not a {_words(place)[1]}")
        objects.append(inner)
        inner = inner.get(key, ABSENT)
    return objects


def _found(objects: Sequence[_Object], place: DocumentPlace) -> Any:
    return objects[-1].get(place.keys[-1], ABSENT) if len(objects) == len(place.keys) else ABSENT


def _with(objects: Sequence[_Object], keys: Sequence[str], wanted: _Object) -> _Object:
    """Return the document, changed, with the entry and every object that leads to it."""
    document = inner = objects[0] if objects else {}
    for key in keys[:-1]:
        inner = inner.setdefault(key, {})
    inner[keys[-1]] = wanted
    return document


def _take_out(objects: Sequence[_Object], place: DocumentPlace) -> _Made:
    """Return what is gone with the entry: the objects around it that `put` made and that are empty now."""
    made, gone = _read_created(), _Made()
    del objects[-1][place.keys[-1]]
    for depth in reversed(range(len(objects))):
        if objects[depth] or _create_folders(place, depth) not in made:
            break
        gone.add(_create_folders(place, depth))
        if depth:
            del objects[depth - 1][place.keys[depth - 1]]
    return gone


def _create_folders(place: DocumentPlace, depth: int) -> tuple[str, ...]:
    """Return the object at this depth as it is remembered; 0 is the file itself."""
    return (str(place.file), *place.keys[:depth])


def _folders_to_make(place: DocumentPlace) -> _Made:
    return {(f"{folder}/",) for folder in place.file.parents if not folder.exists()}


def _remove_empty_folders(place: DocumentPlace) -> _Made:
    """Remove the folders that `put` made around a file that is gone, if they are empty. Return them."""
    made, gone = _read_created(), _Made()
    for folder in place.file.parents:
        if (f"{folder}/",) not in made or any(folder.iterdir()):
            break
        folder.rmdir()
        gone.add((f"{folder}/",))
    return gone


def _read_created() -> _Made:
    try:
        return {tuple(made) for made in json.loads((data_folder() / MADE).read_text(encoding="utf-8"))}
    except (OSError, ValueError, TypeError, RecursionError):
        return set()


def _remember(made: _Made) -> None:
    if not made <= _read_created():
        _keep(_read_created() | made)


def _forget(made: _Made) -> None:
    if made & _read_created():
        _keep(_read_created() - made)


def _keep(made: _Made) -> None:
    try:
        write_atomically(data_folder() / MADE, json.dumps(sorted(made), indent=2) + "\n")
    except OSError as error:
        raise ClientError(f"{data_folder() / MADE} cannot be written: {error.strerror}") from error


def _text(place: DocumentPlace) -> str | None:
    """Return the file as it is; None if there is none. Raise ClientError."""
    file = place.file
    if file.exists() and not file.is_file():
        raise ClientError(f"{file} is not a regular file")
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ClientError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise _unsafe(place, error) from error


def _parse(place: DocumentPlace, text: str | None) -> Any:
    """Return the document, which this program can change without loss; ABSENT if there is no file."""
    try:
        return ABSENT if text is None else place.syntax.parse(text)
    except (ValueError, RecursionError) as error:
        raise _unsafe(place, error) from error


def _unsafe(place: DocumentPlace, error: Exception) -> ClientError:
    what, _ = _words(place)
    return ClientError(f"{place.file} is not {what} that can be changed safely, and stays as it is: {error}")


def _words(place: DocumentPlace) -> tuple[str, str]:
    """Return what the file is, and what it calls an object."""
    return ("TOML", "table") if place.file.suffix == ".toml" else ("JSON", "JSON object")


def _write(place: DocumentPlace, text: str) -> None:
    """Replace the file, but for its mode."""
    file = place.file
    try:
        mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else place.mode
        if not mode & stat.S_IWUSR:  # a replacement would not notice
            raise ClientError(f"{file} is read-only, and stays as it is")
        write_atomically(file, text, mode=mode)
    except OSError as error:
        raise ClientError(f"{file} cannot be written: {error.strerror}") from error


def _unlink(file: Path) -> None:
    try:
        file.unlink()
    except OSError as error:
        raise ClientError(f"{file} cannot be removed: {error.strerror}") from error
