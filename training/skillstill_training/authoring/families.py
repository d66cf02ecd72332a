"""Goal families: a skill's `goals.py` names them, its `wordings/` say them."""

import re
import string
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType

from pydantic import TypeAdapter, ValidationError
from skillstill.errors import GoalsError, RegistryError
from skillstill.skills.code import import_from
from skillstill.skills.skill import mistake

from skillstill_training.authoring.goal import Draft
from skillstill_training.authoring.oracle import Planner
from skillstill_training.workspaces import BuiltWorkspace

Wordings = Mapping[str, tuple[str, ...]]
SLOTTED = re.compile(r"(?:[^{}]|\{\{|\}\}|\{[^\W\d]\w*\})*")


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of question.

    means     what is asked and what a right answer holds, in one line, for whoever writes wordings or a baseline
    drafts    goals without words, in an order that depends on the random generator alone; it may be endless
    plan      how to solve a goal; without one, only a `model` teacher can, and `calls` is not measured
    hard      needs words understood, three dependent calls or a choice among hits: templated look-ups are not
    held_out  never trained on; reported outside the headline
    """

    name: str
    means: str
    drafts: Callable[[BuiltWorkspace, Random], Iterable[Draft]]
    plan: Planner | None = None
    hard: bool = False
    held_out: bool = False


def load_families(skill: Path) -> tuple[Family, ...]:
    """Return what `goals.py` of a skill folder lists in FAMILIES. This runs its Python. Raise GoalsError."""
    families = getattr(_module(skill), "FAMILIES", None)
    if not (isinstance(families, tuple) and families and all(isinstance(one, Family) for one in families)):
        raise GoalsError(f"{skill / 'goals.py'}: expected FAMILIES, a tuple of Family with at least one in it")
    names = [family.name for family in families]
    if twice := [name for name in names if names.count(name) > 1]:
        raise GoalsError(f"{skill / 'goals.py'}: two families are called {twice[0]!r}")
    return families


def families_by_name(skill: Path) -> dict[str, Family]:
    """Return the families of a skill folder by their names. Raise GoalsError."""
    return {family.name: family for family in load_families(skill)}


def load_wordings(skill: Path, kind: str, families: Sequence[Family]) -> Wordings:
    """Read `wordings/KIND.toml`: for each family, the ways to say it. Raise GoalsError."""
    file = skill / "wordings" / f"{kind}.toml"
    try:
        found = TypeAdapter(dict[str, tuple[str, ...]]).validate_python(tomllib.loads(file.read_text("utf-8")))
    except FileNotFoundError as error:
        raise GoalsError(f"{file} is missing: a list of wordings for each family") from error
    except ValidationError as error:
        raise GoalsError(f"{file}: {': '.join(mistake(error))}") from error
    except (OSError, ValueError) as error:
        raise GoalsError(f"{file} cannot be read as TOML: {error}") from error
    if lacking := [one.name for one in families if not found.get(one.name) and not (one.held_out and kind == "train")]:
        raise GoalsError(f"{file}: no wordings for the family {lacking[0]!r}")
    if odd := [text for texts in found.values() for text in texts if not SLOTTED.fullmatch(text)]:
        raise GoalsError(f"{file}: {odd[0]!r}: braces hold the name of a slot, like {{key}}; double any others")
    return found


def slots(wording: str) -> set[str]:
    """Return the names in braces."""
    return {name for _, name, _, _ in string.Formatter().parse(wording) if name}


def _module(skill: Path) -> ModuleType:
    if not (skill / "goals.py").is_file():
        raise GoalsError(f"{skill / 'goals.py'} is missing: it lists the skill's goal families")
    try:
        return import_from(skill, "goals")
    except RegistryError:  # it was not even begun
        raise
    except Exception as error:
        raise GoalsError(f"{skill / 'goals.py'} cannot be imported: {type(error).__name__}: {error}") from error
