"""A toolset: tools that come together in one folder, the bundled ones and those of a skill alike.

tools.py      TOOLS = (tool(first), tool(second)): a typed function each, with a docstring
golden.json   calls of each tool and what it answers: a part of the serving hash of each release that has the tool
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from skillstill.errors import SkillError
from skillstill.tools.kit.tool import Tool
from skillstill.types import Frozen, Terms

PYTHON, GOLDEN = "tools.py", "golden.json"
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class GoldenCall(Frozen):
    """One call and what the tool answered: a result or a refusal, or neither as long as nobody has asked it.

    workspace   the folder that was asked: beside golden.json, or of tests/fixtures for a bundled tool
    """

    workspace: str
    arguments: dict[str, Any]
    result: str | None = None
    refusal: str | None = None
    missed: str = ""
    empty: bool = False
    overview: bool = False
    guess: bool = False
    omitted: int = 0
    spans: tuple[tuple[str, int, int], ...] = ()
    places: tuple[tuple[int, str, int], ...] = ()
    rows: tuple[str, ...] = ()
    terms: Terms = Field(default_factory=dict)

    @property
    def is_recorded(self) -> bool:
        return self.result is not None or self.refusal is not None


GOLDENS = TypeAdapter(dict[str, tuple[GoldenCall, ...]])


@dataclass(frozen=True)
class Toolset:
    """Equal are two of the same folder and `version`, which is a hash of a skill's own code and data."""

    folder: Path
    version: str
    tools: tuple[Tool, ...] = field(compare=False, repr=False)

    @cached_property
    def by_name(self) -> Mapping[str, Tool]:
        return {one.name: one for one in self.tools}

    @cached_property
    def goldens(self) -> Mapping[str, tuple[GoldenCall, ...]]:
        """Return the golden calls of each of the tools. Raise SkillError if golden.json is wrong.

        A tool of which it says nothing has none.
        """
        found = read_goldens(self.folder / GOLDEN)
        if unknown := found.keys() - self.by_name:
            expected = f"expected calls of {', '.join(self.by_name)}, got {min(unknown)!r}"
            raise SkillError(self.folder / GOLDEN, "file", expected)
        return {name: found.get(name, ()) for name in self.by_name}


def toolset(folder: Path, module: ModuleType, version: str = "") -> Toolset:
    """Return the toolset of a folder whose `tools.py` was imported as the module. Raise SkillError if it has none."""
    found = getattr(module, "TOOLS", None)
    if not isinstance(found, tuple) or not found or not all(isinstance(one, Tool) for one in found):
        raise SkillError(folder / PYTHON, "TOOLS", "expected a tuple of tools: TOOLS = (tool(first), tool(second))")
    if problem := next(_problems([one.name for one in found]), ""):
        raise SkillError(folder / PYTHON, "TOOLS", problem)
    return Toolset(folder, version, found)


def read_goldens(file: Path) -> Mapping[str, tuple[GoldenCall, ...]]:
    """Return the golden calls of a file by tool, none if there is no file. Raise SkillError if it cannot be read."""
    try:
        return GOLDENS.validate_python(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SkillError(file, ".".join(map(str, first["loc"])) or "file", first["msg"]) from error
    except (OSError, ValueError, RecursionError) as error:
        raise SkillError(file, "file", f"cannot be read as JSON ({error})") from error


def _problems(names: list[str]) -> Iterator[str]:
    for name in names:
        if not NAME.fullmatch(name):
            yield f"expected names of a-z, 0-9 and underscores that begin with a letter, got {name!r}"
        if names.count(name) > 1:
            yield f"expected each name once, got {name!r} {names.count(name)} times"
