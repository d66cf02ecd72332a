"""`sources.toml` of a skill as values: which workspaces its goals are made in, and where each comes from."""

import re
import reprlib
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator
from skillstill.errors import SkillError
from skillstill.types import Frozen

FILE = "sources.toml"
SCHEMES = (
    r"folder:.+",
    r"pypi:[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.!+_-]*(#wheel)?",
    r"debian:[a-z0-9][a-z0-9+.-]+=[0-9][A-Za-z0-9.+~:-]*",
    r"git:[^-].*@[0-9a-f]{40}",
    r"package:[^/]+/.+",
)
FORMS = (
    "folder:PATH, pypi:NAME==VERSION, pypi:NAME==VERSION#wheel, debian:NAME=VERSION, "
    "git:PATH_OR_URL@COMMIT of 40 digits, package:DISTRIBUTION/FILE"
)
PATTERN = "|".join(SCHEMES)


class Source(Frozen):
    """One workspace, as it is declared.

    `source` is one of
        folder:PATH                   copied as it is now; relative to the skill folder, absolute, or of `~`
        pypi:NAME==VERSION            the sdist, unpacked; with `#wheel` the wheel
        debian:NAME=VERSION           the source package, unpacked, with its `debian/` folder for the step `patches`
        git:PATH_OR_URL@COMMIT        the tree of a commit; the commit is the pin
        package:DISTRIBUTION/FILE     a file that an installed distribution carries
        absent                        an empty folder: the steps generate everything

    `sha256` is that of the archive, of the `.dsc` or of the file; for folders that of the tree as `keep` leaves it,
    for generated workspaces that of the tree as the steps leave it. `root` is the folder of the source that becomes the
    workspace, after `keep`. `licence` is that of the source, as an SPDX expression if it has
    one. `keep_history` puts the commits that led to a commit, or to what is checked out in a folder, into `.git`.
    `made_by` names the model that made it, if one did: what is measured in it is not measured in somebody's files.
    `variants` stands for as many workspaces, NAME-1, NAME-2, …, whose steps draw by `seed`, `seed` + 1, …
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)
    split: Literal["train", "validation", "test"]
    source: str | None = None
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    first_uploaded: date | None = None
    licence: str = ""
    made_by: str = ""
    keep: tuple[str, ...] = ()
    root: str = Field(default="", pattern=r"^([^/]+(/[^/]+)*)?$")
    keep_history: bool = False
    steps: tuple[str, ...] = ()
    seed: int = 0
    variants: int = Field(default=1, ge=1, le=100)

    def each_variant(self) -> Iterator[Self]:
        """Yield the workspaces that it stands for: itself, if it has no variants."""
        if self.variants == 1:
            yield self
            return
        for at in range(self.variants):
            yield self.model_copy(update={"name": f"{self.name}-{at + 1}", "seed": self.seed + at, "variants": 1})

    @property
    def scheme(self) -> str:
        """Return the scheme, `generated` if nothing is fetched."""
        return (self.source or "generated:").partition(":")[0]

    @field_validator("source")
    @classmethod
    def known(cls, source: str | None) -> str | None:
        if source is not None and not re.fullmatch(PATTERN, source):
            raise ValueError(f"expected one of {FORMS}")
        return source

    @field_validator("steps")
    @classmethod
    def each_once(cls, steps: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(steps)) < len(steps):
            raise ValueError("expected each step once")
        return steps

    @model_validator(mode="after")
    def has_content(self) -> Self:
        if self.source is None and not self.steps:
            raise ValueError("expected a source, or steps that generate everything")
        if self.keep_history and (self.root or self.scheme not in ("git", "folder")):
            raise ValueError("only `git:` and `folder:` have a history to keep, and only without a `root`")
        return self


class Sources(Frozen):
    workspace: tuple[Source, ...] = Field(min_length=1)

    @field_validator("workspace")
    @classmethod
    def each_variant(cls, workspaces: tuple[Source, ...]) -> tuple[Source, ...]:
        return tuple(variant for one in workspaces for variant in one.each_variant())

    @field_validator("workspace")
    @classmethod
    def once(cls, workspaces: tuple[Source, ...]) -> tuple[Source, ...]:
        names = [one.name for one in workspaces]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"expected each name once; {twice[0]!r} is there twice")
        return workspaces


def load_sources(skill_folder: Path) -> tuple[Source, ...]:
    """Return the workspaces of a skill. Raise SkillError: which file, which field, what was expected."""
    file = skill_folder / FILE
    try:
        return Sources.model_validate(tomllib.loads(file.read_text(encoding="utf-8-sig"))).workspace
    except FileNotFoundError as error:
        raise SkillError(file, "file", "is missing; it lists the workspaces that goals are made in") from error
    except ValidationError as error:
        raise SkillError(file, *_mistake(error)) from error
    except tomllib.TOMLDecodeError as error:
        raise SkillError(file, "file", f"is not TOML: {error}") from error
    except (OSError, ValueError) as error:
        raise SkillError(file, "file", f"cannot be read as UTF-8 text ({error})") from error


def _mistake(error: ValidationError) -> tuple[str, str]:
    """Return the first thing that is wrong: its field; what was expected, and what came."""
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"])) or "file"
    value: Any = first["input"]
    came = (
        "" if first["type"] == "missing" or isinstance(value, dict | list | tuple) else f", got {reprlib.repr(value)}"
    )
    return field, first["msg"].removeprefix("Value error, ") + came
