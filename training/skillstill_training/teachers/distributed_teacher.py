"""The constructed teacher, whose goals are solved by an executor."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillstill_training.authoring.goal import Goal
from skillstill_training.episode import code_hash
from skillstill_training.executors.executor import Distributed, Executor, Work, check_same_code
from skillstill_training.executors.parcels import Packer, Parcel
from skillstill_training.run.recipe import OracleConfig, Recipe
from skillstill_training.teachers.teacher import ConstructedTeacher, Teacher, TraceRow


def distributed_teacher(folder: Path, recipe: Recipe, executor: Executor) -> Teacher:
    """Return the constructed teacher of a skill folder; the executor does its work. Raise SkillError and GoalsError."""
    rates, seed, size = recipe.constructed, recipe.seed, recipe.size
    teacher = ConstructedTeacher.of(folder, rates, seed, size)

    def job(pack: Packer) -> TeachingJob:
        return TeachingJob(pack(folder), rates, seed, size, code_hash(teacher.skill))

    return Distributed(teacher.name, executor.distribute(teacher.solve, job))


@dataclass(frozen=True, slots=True)
class TeachingJob:
    """The work of the constructed teacher as it travels. `code` is a hash of what a worker must have, too."""

    skill: Parcel
    rates: OracleConfig
    seed: int
    size: str
    code: str

    def start(self) -> Work[Goal, Sequence[TraceRow]]:
        teacher = ConstructedTeacher.of(self.skill.place(), self.rates, self.seed, self.size)
        check_same_code(self.code, code_hash(teacher.skill))
        return teacher.solve
