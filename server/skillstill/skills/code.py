"""A skill's own Python: `tools.py`, `goals.py`, `steps.py`, imported as modules of a package, the skill's folder."""

import hashlib
import importlib
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from skillstill.errors import SkillError, UntrustedError
from skillstill.skills.trust import OWN, check_code, pack_around
from skillstill.tools import READERS, Toolset, toolset
from skillstill.tools.kit.toolset import PYTHON

SUFFIXES = {".py", ".toml", ".json", ".txt"}  # of what a skill's tools may be made of
KEPT = 32  # toolsets
READER = r"^[a-z_]+(:[A-Z_]+)?$"  # a bundled reader, or a file and a constant of the skill's folder


def import_from(skill: Path, name: str) -> ModuleType:
    """Import the module `name` of the folder as it is now. It may import its neighbours (`from .code import …`).

    This runs its code: whatever that raises is the caller's to handle. Raise UntrustedError if it may not run.
    """
    allow(skill)
    package = ModuleType(f"skillstill_{name}_of_{skill.absolute().name.replace('-', '_')}")
    package.__path__ = [str(skill.absolute())]
    for loaded in [one for one in sys.modules if one.split(".")[0] == package.__name__]:
        del sys.modules[loaded]  # another folder of this name, or an older text of this one
    sys.modules[package.__name__] = package
    importlib.invalidate_caches()
    return importlib.import_module(f"{package.__name__}.{name}")


def allow(skill: Path) -> None:
    """Prepare for running a skill's Python. Raise UntrustedError if it may not run."""
    check_code(skill)
    if pack_around(skill) or OWN in skill.resolve().parts:
        sys.dont_write_bytecode = True  # the folder stays as it was pinned


def brings_tools(skill: Path) -> bool:
    """Return whether the skill's folder brings tools of its own."""
    return (skill / PYTHON).is_file()


def untrusted_tools(skill: Path) -> str:
    """Return why the tools that a skill brings do not run; empty if they do or if it brings none."""
    try:
        if brings_tools(skill):
            check_code(skill)
    except UntrustedError as error:
        return str(error)
    return ""


def load_toolset(skill: Path) -> Toolset | None:
    """Import the tools that the skill's folder brings; None if it brings none.

    They are imported once for each state of the folder. Raise UntrustedError if they may not run, SkillError if they
    cannot be used.
    """
    if not brings_tools(skill):
        return None
    allow(skill)
    return _import_module(skill.absolute(), _version(skill))


def reader_references(skill: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Return what the readers are found by that a skill names.

    Raise UntrustedError if one is its own and its code may not run, SkillError if there is no such reader.
    """
    return tuple(_reader_reference(skill, name) for name in names)


def _reader_reference(skill: Path, name: str) -> str:
    file, is_own, constant = name.partition(":")
    if not is_own:
        if name not in READERS:
            raise SkillError(skill / "subagent.toml", "readers", f"expected some of {', '.join(READERS)}, got {name!r}")
        return READERS[name]
    allow(skill)
    path = skill.absolute() / f"{file}.py"
    if not path.is_file():
        raise SkillError(skill / "subagent.toml", "readers", f"{name!r}: there is no {path.name} in the folder")
    return f"{path}:{constant}"


@lru_cache(KEPT)
def _import_module(skill: Path, version: str) -> Toolset:
    try:
        module = import_from(skill, Path(PYTHON).stem)
    except UntrustedError:  # it was not even begun
        raise
    except Exception as error:
        raise SkillError(skill / PYTHON, "file", f"cannot be imported: {type(error).__name__}: {error}") from error
    return toolset(skill, module, version)


def _version(skill: Path) -> str:
    """Return a hash of the code and data of the folder. Raise SkillError if a file cannot be read."""
    digest = hashlib.sha256()
    try:
        for file in sorted(one for one in skill.rglob("*") if one.suffix in SUFFIXES and one.is_file()):
            digest.update(f"{file.relative_to(skill).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    except OSError as error:
        raise SkillError(skill, "folder", f"cannot be read ({error.strerror})") from error
    return digest.hexdigest()
