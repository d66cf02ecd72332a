"""Whom a recipe compares with, and whether all of them can be had: after an hour of training is too late to ask."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from skillstill.errors import StageError
from skillstill.models.sources import model_file
from skillstill.skills.registry import Registry
from skillstill.types import ModelFile

from skillstill_training.evaluation.baseline import load_baseline
from skillstill_training.run.scorecard import Arm


@dataclass(frozen=True, slots=True)
class Comparisons:
    """A larger stock model, and a wrong adapter."""

    larger: ModelFile | None
    wrong: ModelFile | None


def comparisons_of(larger: Path | None, wrong: Path | None, registry: Path, name: str, base: ModelFile) -> Comparisons:
    """The files that were named; without a wrong one, the adapter of some other release on this base.

    Raises UsageError and RegistryError.
    """
    return Comparisons(
        model_file(larger) if larger else None, model_file(wrong) if wrong else _another(registry, name, base)
    )


def check_arms(skill_folder: Path, arms: Collection[Arm], comparisons: Comparisons) -> None:
    """Raises StageError: which of these arms cannot be had, and what to type."""
    if "larger" in arms and not comparisons.larger:
        raise StageError(_lacking("larger", "a several times larger stock model: name its GGUF file with --larger"))
    if "wrong" in arms and not comparisons.wrong:
        raise StageError(
            _lacking("wrong", "another skill's adapter, and no other release is on this base: name one with --wrong")
        )
    if "baseline" in arms:
        try:
            load_baseline(skill_folder)
        except StageError as error:
            raise StageError(_lacking("baseline", f"a script without a model: {error}")) from error


def _lacking(arm: Arm, what: str) -> str:
    return f"the recipe compares with {what}, or leave `{arm}` out of [evaluate] arms in recipe.toml"


def _another(registry: Path, name: str, base: ModelFile) -> ModelFile | None:
    entries = (listed.entry for listed in Registry(registry if registry.exists() else None).entries())
    fit = (one.adapter for one in entries if one.name != name and one.base.sha256 == base.sha256 and one.adapter)
    return next(fit, None)
