"""Goal families: a skill's `goals.py` names them or its `kinds.toml` declares them, its `wordings/` say them."""

import re
import string
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from types import ModuleType

from pydantic import TypeAdapter, ValidationError
from skillstill.errors import GoalsError, RegistryError
from skillstill.skills.code import import_from
from skillstill.skills.skill import mistake

from skillstill_training.authoring.goal import Draft
from skillstill_training.authoring.kind_drafts import draft_kind
from skillstill_training.authoring.kind_plans import plan_kind
from skillstill_training.authoring.kinds import FILE as KINDS
from skillstill_training.authoring.kinds import Kind, load_kinds
from skillstill_training.authoring.oracle import Planner
from skillstill_training.workspaces import BuiltWorkspace

Wordings = Mapping[str, tuple[str, ...]]
PYTHON = "goals.py"
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
    """Return the families of a skill folder: those of `goals.py`, whose Python runs, and those of `kinds.toml`.

    Raise GoalsError.
    """
    declared = tuple(_declared(kind, skill) for kind in load_kinds(skill))
    families = (*(() if declared and not (skill / PYTHON).is_file() else _listed(skill)), *declared)
    names = [family.name for family in families]
    if twice := [name for name in names if names.count(name) > 1]:
        raise GoalsError(f"{skill / (KINDS if declared else PYTHON)}: two families are called {twice[0]!r}")
    return families


def is_askable(skill: Path) -> bool:
    """Return whether a skill folder says what can be asked, and what is right."""
    return any((skill / name).is_file() for name in (PYTHON, KINDS))


def families_by_name(skill: Path) -> dict[str, Family]:
    """Return the families of a skill folder by their names. Raise GoalsError."""
    return {family.name: family for family in load_families(skill)}


def load_wordings(skill: Path, kind: str, families: Sequence[Family]) -> Wordings:
    """Read the ways to say each family: from `wordings/KIND.toml` and from `kinds.toml`.

    Raise GoalsError.
    """
    file = skill / "wordings" / f"{kind}.toml"
    said = ((one.name, one.wordings if kind == "train" else one.test) for one in load_kinds(skill))
    declared = {name: wordings for name, wordings in said if wordings}
    found = declared if declared and not file.is_file() else {**declared, **_wordings(file)}
    if lacking := [one.name for one in families if not found.get(one.name) and not (one.held_out and kind == "train")]:
        raise GoalsError(f"{file}: no wordings for the family {lacking[0]!r}")
    if odd := [text for texts in found.values() for text in texts if not SLOTTED.fullmatch(text)]:
        where = KINDS if odd[0] in {text for texts in declared.values() for text in texts} else file
        raise GoalsError(f"{where}: {odd[0]!r}: braces hold the name of a slot, like {{key}}; double any others")
    return found


def _wordings(file: Path) -> Wordings:
    try:
        return TypeAdapter(dict[str, tuple[str, ...]]).validate_python(tomllib.loads(file.read_text("utf-8")))
    except FileNotFoundError as error:
        raise GoalsError(f"{file} is missing: a list of wordings for each family") from error
    except ValidationError as error:
        raise GoalsError(f"{file}: {', '.join(mistake(error))}") from error
    except (OSError, ValueError) as error:
        raise GoalsError(f"{file} cannot be read as TOML: {error}") from error


def slots(wording: str) -> set[str]:
    """Return the names in braces."""
    return {name for _, name, _, _ in string.Formatter().parse(wording) if name}


def _declared(kind: Kind, skill: Path) -> Family:
    return Family(
        kind.name, kind.means, partial(draft_kind, kind, skill), partial(plan_kind, kind), kind.hard, kind.held_out
    )


def _listed(skill: Path) -> tuple[Family, ...]:
    """Return what `goals.py` lists in FAMILIES. This runs its Python."""
    families = getattr(_module(skill), "FAMILIES", None)
    if not (isinstance(families, tuple) and families and all(isinstance(one, Family) for one in families)):
        raise GoalsError(f"{skill / PYTHON}: expected FAMILIES, a tuple of Family with at least one in it")
    return families


def _module(skill: Path) -> ModuleType:
    if not (skill / PYTHON).is_file():
        raise GoalsError(f"{skill / PYTHON} is missing, and {KINDS} too: they say what can be asked")
    try:
        return import_from(skill, "goals")
    except RegistryError:  # it was not even begun
        raise
    except Exception as error:
        raise GoalsError(f"{skill / PYTHON} cannot be imported: {type(error).__name__}: {error}") from error
