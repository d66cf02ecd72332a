"""Runs of the skill `settings` as its first stages leave them: proving goals and solving them takes seconds."""

import shutil
from pathlib import Path

import anyio
from skillstill.skills.skill import load_skill
from skillstill_training.authoring.families import load_families
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import OracleConfig
from skillstill_training.stages.goals import make_goals
from skillstill_training.stages.traces import make_traces
from skillstill_training.teachers import ConstructedTeacher

SETTINGS = Path(__file__).parents[1] / "fixtures" / "settings"


def copy_settings(folder: Path) -> Path:
    """The skill `settings`, a copy that a test may change."""
    return shutil.copytree(SETTINGS, folder / "settings", ignore=shutil.ignore_patterns("__pycache__"))


def copy_run(made: RunFolder, folder: RunFolder) -> RunFolder:
    """The same files, as old as they are there."""
    shutil.copytree(made.path, folder.path, dirs_exist_ok=True)
    return folder


def constructed(skill: Path, **detours: float) -> ConstructedTeacher:
    families = {family.name: family for family in load_families(skill)}
    return ConstructedTeacher(load_skill(skill), families, OracleConfig(detours=detours), seed=1)


def run_with_goals(folder: Path) -> RunFolder:
    run = RunFolder(folder / "goals")
    anyio.run(make_goals, copy_settings(folder), run)
    return run


def run_with_traces(folder: Path, goals: RunFolder) -> RunFolder:
    skill, run = copy_settings(folder), copy_run(goals, RunFolder(folder / "traces"))
    anyio.run(make_traces, skill, run, constructed(skill))
    return run
