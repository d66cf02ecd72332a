"""A skill's own Python: `goals.py` and `material.py`, imported as modules of a package that is the skill's folder."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

from skillstill.skills.trust import check_code, pack_around

NOT_CODE = {"sources.toml", "recipe.toml", "subagent.toml", "baseline.py"}  # what no goal and no step is made by
SUFFIXES = {".py", ".toml", ".json", ".txt"}


def import_from(skill: Path, name: str) -> ModuleType:
    """The module `name` of the folder, which may import its neighbours (`from .code import …`), as it is now.

    Runs that code: whatever it raises is the caller's to tell. Raises RegistryError where it may not run.
    """
    allow(skill)
    package = ModuleType(f"skillstill_skill_{skill.absolute().name.replace('-', '_')}")
    package.__path__ = [str(skill.absolute())]
    for loaded in [one for one in sys.modules if one.split(".")[0] == package.__name__]:
        del sys.modules[loaded]  # another folder of this name, or an older text of this one
    sys.modules[package.__name__] = package
    importlib.invalidate_caches()
    return importlib.import_module(f"{package.__name__}.{name}")


def allow(skill: Path) -> None:
    """Before any of the folder's Python. Raises RegistryError where it came in a pack that nobody has trusted."""
    check_code(skill)
    if pack_around(skill):
        sys.dont_write_bytecode = True  # its folder stays as it was pinned


def code_files(skill: Path) -> list[Path]:
    """What the skill's own steps may depend on: its Python and the data beside it, without wordings and baseline."""
    return sorted(
        file
        for file in skill.rglob("*")
        if file.suffix in SUFFIXES
        and file.name not in NOT_CODE
        and {"wordings", "releases"}.isdisjoint(file.relative_to(skill).parts)
    )
