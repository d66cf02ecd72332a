"""The arms of an evaluation, whose goals are solved by a crew."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.skills.skill import load_skill

from skillstill_training.authoring.families import load_families
from skillstill_training.authoring.goal import Goal
from skillstill_training.crew.crew import Crew, Work, check_same_code
from skillstill_training.crew.parcels import Packer, Parcel, SentModel
from skillstill_training.evaluation.arms import Arm, ArmFactory
from skillstill_training.evaluation.comparisons import Comparisons
from skillstill_training.run.scorecard import ArmName, Outcome

NEEDED: Mapping[ArmName, tuple[str, ...]] = {  # model files, by the fields of ArmFactory and Comparisons
    "stock": ("base",),
    "larger": ("larger",),
    "ours": ("base", "adapter"),
    "wrong": ("base", "wrong"),
}


@dataclass(frozen=True, slots=True)
class CrewArm:
    """An arm of which a crew does the work."""

    name: ArmName
    label: str
    key: str
    work: Work[Goal, Outcome]

    @classmethod
    def of(cls, factory: ArmFactory, name: ArmName, crew: Crew) -> "CrewArm | None":
        """Return the arm that a factory builds, if it builds it. Raise StageError and GateError."""
        if (arm := factory.arm(name)) is None:
            return None
        work = crew.take(arm.solve, lambda pack: ArmJob.of(factory, arm, pack))
        return cls(arm.name, arm.label, arm.key, work)

    async def solve(self, goal: Goal, root: Path) -> Outcome:
        return await self.work(goal, root)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmJob:
    """The work of an arm as it travels: what a factory builds it from. `key` is that of the arm that was sent."""

    name: ArmName
    key: str
    skill: Parcel
    models: Mapping[str, SentModel]
    offline: bool

    @classmethod
    def of(cls, factory: ArmFactory, arm: Arm, pack: Packer) -> "ArmJob":
        """Pack the skill and the model files that the arm uses."""
        compared = factory.comparisons
        files = {"base": factory.base, "adapter": factory.adapter, "larger": compared.larger, "wrong": compared.wrong}
        needed = NEEDED.get(arm.name, ())
        models = {role: SentModel.of(file, pack) for role, file in files.items() if file and role in needed}
        skill = pack(factory.folder)
        return cls(name=arm.name, key=arm.key, skill=skill, models=models, offline=factory.offline)

    def start(self) -> Work[Goal, Outcome]:
        skill, families = load_skill(folder := self.skill.place()), load_families(folder)
        files = {role: model.here() for role, model in self.models.items()}
        factory = ArmFactory(
            folder=folder,
            skill=skill,
            families={family.name: family for family in families},
            models=LocalModels(LocalOptions(offline=self.offline, threads=1)),  # a worker is one processor
            base=files.get("base", skill.subagent.base),
            adapter=files.get("adapter", skill.subagent.base),
            comparisons=Comparisons(larger=files.get("larger"), wrong=files.get("wrong")),
        )
        arm = factory.arm(self.name)
        assert arm
        check_same_code(self.key, arm.key)
        return arm.solve
