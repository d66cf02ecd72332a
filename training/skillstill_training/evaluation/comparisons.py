"""The model files that an adapter is compared with, and the check before training that every arm can run."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from skillstill.errors import StageError
from skillstill.models.sources import model_file
from skillstill.skills.registry import Registry
from skillstill.types import ModelFile

from skillstill_training.evaluation.baseline import load_baseline
from skillstill_training.run.scorecard import ArmName


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The model files of two arms: a larger stock model, and another skill's adapter."""

    larger: ModelFile | None = None
    wrong: ModelFile | None = None


def resolve_comparisons(
    larger: Path | None, wrong: Path | None, registry: Path, name: str, base: ModelFile
) -> Comparisons:
    """Return the given files. Without a wrong adapter, take that of another release on this base, if there is one.

    Raises UsageError and RegistryError.
    """
    return Comparisons(
        larger=model_file(larger) if larger else None,
        wrong=model_file(wrong) if wrong else _other_adapter(registry, name, base),
    )


def check_arms(skill_folder: Path, arms: Collection[ArmName], comparisons: Comparisons) -> None:
    """Raise StageError if one of these arms cannot run. The message contains the option to type."""
    if "larger" in arms and not comparisons.larger:
        raise StageError(_missing("larger", "a several times larger stock model: name its GGUF file with --larger"))
    if "wrong" in arms and not comparisons.wrong:
        raise StageError(
            _missing("wrong", "another skill's adapter, and no other release is on this base: name one with --wrong")
        )
    if "baseline" in arms:
        try:
            load_baseline(skill_folder)
        except StageError as error:
            raise StageError(_missing("baseline", f"a script without a model: {error}")) from error


def _missing(arm: ArmName, what: str) -> str:
    return f"the recipe compares with {what}, or leave `{arm}` out of [evaluate] arms in recipe.toml"


def _other_adapter(registry: Path, name: str, base: ModelFile) -> ModelFile | None:
    entries = (listed.entry for listed in Registry(registry if registry.exists() else None).entries())
    adapters = (entry.adapter for entry in entries if entry.name != name and entry.base.sha256 == base.sha256)
    return next(filter(None, adapters), None)
