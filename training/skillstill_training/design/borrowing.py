"""What a designed skill borrows from another one: goal families, the steps that make workspaces, the baseline.

    FAMILIES = borrowed_families("explore", PIN, "definition", "callers")    # its goals.py
    globals().update(borrowed_steps("logs", PIN))                             # its steps.py
    answer = borrowed_baseline("tables", BASELINE)                                  # its baseline.py

A pin is the hash of the code that is borrowed. It stands in the borrower's own files: whatever hashes these covers what
they borrow, and with other code behind it nothing is borrowed until a person has changed the pin. Tools are copied: a
designed skill also serves if its lender is gone.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from skillstill.errors import GoalsError
from skillstill.skills.code import brings_tools, import_from, load_toolset
from skillstill.skills.lending import DESIGN, lending_folders
from skillstill.tools.kit.toolset import GOLDEN, read_goldens

from skillstill_training.authoring.families import Family, families_by_name
from skillstill_training.evaluation.baseline import Answer, baseline_hash, load_baseline
from skillstill_training.util.hashes import files_sha256
from skillstill_training.util.skillcode import code_files


def lender(skill: str) -> Path:
    """Return the folder of a skill that can be lent. Raise GoalsError."""
    if not (folder := lending_folders().get(skill)):
        raise GoalsError(f"there is no skill {skill!r} with a {DESIGN} to borrow from, or its Python is not trusted")
    return folder


def tools_of(skill: str) -> tuple[str, ...]:
    """Return the names of the tools that the skill brings itself. Raise GoalsError and SkillError."""
    toolset = load_toolset(lender(skill))
    return tuple(toolset.by_name) if toolset else ()


def tool_files(skill: str) -> Mapping[str, str]:
    """Return the files that the skill's own tools are made of, as texts by path, with their golden outputs.

    Raise GoalsError and SkillError.
    """
    folder = lender(skill)
    if not brings_tools(folder):
        return {}
    workspaces = {call.workspace for calls in read_goldens(folder / GOLDEN).values() for call in calls}
    modules = [file for file in folder.glob("*.py") if not _is_of_training(file.name)]
    asked = [file for name in sorted(workspaces) for file in sorted((folder / name).rglob("*")) if file.is_file()]
    return {
        file.relative_to(folder).as_posix(): file.read_text("utf-8") for file in (*modules, folder / GOLDEN, *asked)
    }


def _is_of_training(name: str) -> bool:
    return name in {"goals.py", "steps.py"} or name.startswith("baseline")


def code_pin(skill: str) -> str:
    """Return a hash of the code of its families and steps; its baseline has a hash of its own. Raise GoalsError."""
    folder = lender(skill)
    files = [file for file in code_files(folder) if not file.name.startswith("baseline")]
    return files_sha256(folder, (file.relative_to(folder).as_posix() for file in files))


def baseline_pin(skill: str) -> str:
    """Raise GoalsError."""
    return baseline_hash(lender(skill))


def borrowed_families(skill: str, pin: str, *names: str) -> tuple[Family, ...]:
    """Return the families of these names, in this order. Raise GoalsError."""
    _check_pin(skill, pin, code_pin(skill))
    known = families_by_name(lender(skill))
    if unknown := [name for name in names if name not in known]:
        raise GoalsError(f"the skill {skill} has no family {unknown[0]!r}; it has {', '.join(known)}")
    return tuple(known[name] for name in names)


def borrowed_steps(skill: str, pin: str) -> Mapping[str, Callable[..., Any]]:
    """Return all of its steps, by name. Raise GoalsError."""
    _check_pin(skill, pin, code_pin(skill))
    names = vars(import_from(lender(skill), "steps"))
    return {name: value for name, value in names.items() if callable(value) and not name.startswith("_")}


def borrowed_baseline(skill: str, pin: str) -> Answer:
    """Return its script without a model, as it was frozen. Raise GoalsError, StageError and GateError."""
    _check_pin(skill, pin, baseline_pin(skill))
    return load_baseline(lender(skill))


def _check_pin(skill: str, pin: str, found: str) -> None:
    """Raise GoalsError if the code is no longer what was borrowed."""
    if pin != found:
        raise GoalsError(
            f"the skill {skill} has changed since this skill was designed with it: what was measured before "
            f"does not compare; if that is meant, replace the pin {pin[:12]}… by {found}"
        )
