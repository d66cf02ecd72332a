"""Which files of a library are definitions, and of which kind: by their places, and by what their front matter says."""

import re
from pathlib import PurePosixPath

from skillstill.library.definition import Kind
from skillstill.library.reading.frontmatter import Fields

SKIPPED = {".git", "node_modules", "__pycache__", ".venv", "venv"}  # folders that hold no author's own text
_PLACES: dict[str, Kind] = {"agents": "agent", "commands": "command"}
_ENDINGS: dict[str, Kind] = {".agent.md": "agent", ".prompt.md": "command"}
# Files about a library: a definition only if the front matter says so by both fields.
_ABOUT = re.compile(
    r"(?:readme|changelog|contributing|license|licence|notice|security|code_of_conduct|claude|agents|gemini|index|"
    r"template|todo|roadmap)(?:[._-].*)?\.md",
    re.IGNORECASE,
)
_OF_AGENTS = {"tools", "model", "color", "mode", "disallowedTools", "permissionMode", "maxTurns", "mcp-servers"}


def kind_by_place(path: PurePosixPath) -> Kind | None:
    """Return what a file is by its name and folders; None if only its front matter can say."""
    name = path.name.lower()
    if name == "skill.md":
        return "skill"
    for ending, kind in _ENDINGS.items():
        if name.endswith(ending):
            return kind
    if _ABOUT.fullmatch(name):
        return None
    return "command" if "commands" in path.parts[:-1] and "agents" not in path.parts else _PLACES.get(path.parent.name)


def kind_by_fields(path: PurePosixPath, fields: Fields | None, *, bundled: bool) -> Kind | None:
    """Return the kind of a file in any folder: by its place, if it has a description, or as an agent, by its fields.

    Below `agents/` or `commands/` a description is enough. Elsewhere an agent has a name, and tools or a model. A file
    that a skill brings is its reference.
    """
    if not fields or not fields.get("description"):
        return None
    above = next((_PLACES[part] for part in reversed(path.parts[:-1]) if part in _PLACES), None)
    if above and not bundled and (fields.get("name") or not _ABOUT.fullmatch(path.name)):
        return above
    return "agent" if fields.get("name") and not bundled and _OF_AGENTS & fields.keys() else None


def kind_named(path: PurePosixPath, fields: Fields | None) -> Kind | None:
    """Return the kind of a file that a person names alone: an agent, if it says anything about itself."""
    return kind_by_place(path) or kind_by_fields(path, fields, bundled=False) or ("agent" if fields else None)
