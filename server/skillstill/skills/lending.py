"""Which skills `design` may lend to a foreign one: those with a design.toml in their folder."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from skillstill.errors import UntrustedError
from skillstill.skills.registry import Registry, bundled
from skillstill.skills.trust import check_code

DESIGN = "design.toml"


def lending_folders() -> Mapping[str, Path]:
    """Return the folders of the skills that can be lent, by name: the bundled ones and those of the registries.

    Lending runs a skill's Python, so a skill whose code is not trusted is not among them.
    """
    registry = Registry(project=Path.cwd())
    folders = _folders(registry.project, registry.stamp(), bundled())
    return {name: folder for name, folder in folders.items() if (folder / DESIGN).is_file() and _is_trusted(folder)}


@lru_cache(maxsize=1)  # a library of thousands asks for each of its definitions
def _folders(project: Path, stamp: tuple[object, ...], package: Path) -> Mapping[str, Path]:
    """Return the folders of all skills. `stamp` is that of the registries: with another one they are read again."""
    listed = {one.entry.name: one.skill_folder for one in Registry(project=project).entries()}
    return listed | {file.parent.name: file.parent for file in sorted((package / "skills").glob(f"*/{DESIGN}"))}


def _is_trusted(folder: Path) -> bool:
    try:
        check_code(folder)
    except UntrustedError:
        return False
    return True
