"""Steps: what is done to a fetched tree before it is a workspace, each `(tree, rng) -> what it wants noted`.

A skill's own steps stand in its `steps.py`; a name is looked up there first, then here. Beside the tree, and
never in it, lies `notes.json` with what earlier steps noted (`notes.py`): a step that moves or renames what they
speak of rewrites it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from types import ModuleType

from pydantic import JsonValue, TypeAdapter, ValidationError
from skillstill.errors import RegistryError, WorkspaceSourceError
from skillstill.skills.code import import_from

from skillstill_training.workspaces.sources import Source
from skillstill_training.workspaces.steps.docstrings import strip_docstrings
from skillstill_training.workspaces.steps.later import later_commits
from skillstill_training.workspaces.steps.notes import read_notes, write_notes
from skillstill_training.workspaces.steps.patches import patches
from skillstill_training.workspaces.steps.unfixed import unfixed
from skillstill_training.workspaces.steps.words import rename_words

Step = Callable[[Path, Random], Mapping[str, JsonValue] | None]
BUILT_IN: dict[str, Step] = {
    step.__name__: step for step in (strip_docstrings, rename_words, patches, later_commits, unfixed)
}
Recorded = TypeAdapter(dict[str, JsonValue] | None)


def steps_file(skill_folder: Path) -> Path:
    return skill_folder / "steps.py"


def run_steps(source: Source, skill_folder: Path, tree: Path) -> None:
    """Run the declared steps in order, and write their notes beside the tree. Raise WorkspaceSourceError."""
    for name, step in _find(source.steps, skill_folder).items():
        try:
            # Of its own: a step that comes to draw more numbers changes no other.
            recorded = Recorded.validate_python(step(tree, Random(f"{source.seed} {name}")))  # noqa: S311
        except (WorkspaceSourceError, OSError):
            raise
        except ValidationError as error:
            raise WorkspaceSourceError(f"its step {name} must return JSON values by name, or None") from error
        except Exception as error:  # a skill's own code
            raise WorkspaceSourceError(f"its step {name} failed: {type(error).__name__}: {error}") from error
        notes = read_notes(tree)
        if again := sorted(set(recorded or {}) & set(notes)):
            raise WorkspaceSourceError(f"its step {name} notes {again[0]!r}, which an earlier step noted")
        write_notes(tree, {**notes, **(recorded or {})})


def _find(names: tuple[str, ...], skill_folder: Path) -> dict[str, Step]:
    own = vars(_module(skill_folder)) if names and steps_file(skill_folder).is_file() else {}
    found = {name: own.get(name) or BUILT_IN.get(name) for name in names}
    for name, step in found.items():
        if not callable(step):
            known = ", ".join(BUILT_IN)
            raise WorkspaceSourceError(
                f"no step {name!r}: define it in {steps_file(skill_folder)}, or name one of {known}"
            )
    return {name: step for name, step in found.items() if step}


def _module(skill_folder: Path) -> ModuleType:
    try:
        return import_from(skill_folder, "steps")
    except RegistryError:  # it was not even begun
        raise
    except Exception as error:
        raise WorkspaceSourceError(
            f"{steps_file(skill_folder)} cannot be imported: {type(error).__name__}: {error}"
        ) from error
