"""From what a person types, a path or an imported name, to definitions."""

from collections.abc import Sequence
from pathlib import Path

from skillstill.errors import LibraryError, UnknownName, UsageError
from skillstill.library.catalogue import Catalogue
from skillstill.library.definition import Definition
from skillstill.library.scanning import scan


def definitions_of(skill: str) -> Sequence[Definition]:
    """Return at least one definition. Raise LibraryError if there is none of this path or name.

    Raise UsageError if neither is given.
    """
    if not skill.strip():  # as a path, it would be the current folder
        raise UsageError("expected a folder with a SKILL.md, an agent file or an imported name, got nothing")
    path = Path(skill).expanduser()
    if not path.exists():
        return [_imported(skill)]
    scanned = scan(path, str(path))
    if not scanned.definitions:
        why = f": {scanned.refused[0].reason}" if scanned.refused else ""
        raise LibraryError(
            f"{path} holds no skill, agent or command{why}; give a folder with a SKILL.md or an agent file"
        )
    return scanned.definitions


def _imported(skill: str) -> Definition:
    """Raise UnknownName, which says also that it is no path."""
    try:
        return Catalogue().get(skill)
    except UnknownName as error:
        raise UnknownName(f"there is no file or folder {skill!r}, and {error}") from error
