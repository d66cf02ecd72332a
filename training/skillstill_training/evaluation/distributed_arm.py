"""The arms of an evaluation, whose goals are solved by an executor."""

from collections.abc import Mapping
from dataclasses import dataclass

from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.skills.familiarity import Familiarity
from skillstill.skills.skill import load_skill

from skillstill_training.authoring.families import families_by_name
from skillstill_training.authoring.goal import Goal
from skillstill_training.evaluation.arms import Arm, ArmFactory
from skillstill_training.evaluation.comparisons import Comparisons
from skillstill_training.executors.executor import Distributed, Executor, Work, check_same_code
from skillstill_training.executors.parcels import Packer, Parcel, SentModel, found_models, send_models
from skillstill_training.run.scorecard import ArmName, Outcome

NEEDED: Mapping[ArmName, tuple[str, ...]] = {  # model files, by the fields of ArmFactory and Comparisons
    "stock": ("base",),
    "larger": ("larger",),
    "ours": ("base", "adapter"),
    "wrong": ("base", "wrong"),
}


def distributed_arm(factory: ArmFactory, name: ArmName, executor: Executor) -> Arm | None:
    """Return the arm that a factory builds, if it builds it; an executor does its work. Raise StageError, GateError."""
    if (arm := factory.arm(name)) is None:
        return None
    work = executor.distribute(arm.solve, lambda pack: ArmJob.of(factory, arm, pack))
    return Distributed(arm.name, work, arm.label, arm.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmJob:
    """The work of an arm as it travels: what a factory builds it from. `key` is that of the arm that was sent."""

    name: ArmName
    key: str
    skill: Parcel
    models: Mapping[str, SentModel]
    familiarity: Familiarity | None
    offline: bool
    size: str

    @classmethod
    def of(cls, factory: ArmFactory, arm: Arm, pack: Packer) -> "ArmJob":
        """Pack the skill and the model files that the arm uses."""
        compared = factory.comparisons
        files = {"base": factory.base, "adapter": factory.adapter, "larger": compared.larger, "wrong": compared.wrong}
        needed = NEEDED.get(arm.name, ())
        models, skill = send_models(files, needed, pack), pack(factory.folder)
        familiarity = factory.familiarity
        return cls(
            name=arm.name,
            key=arm.key,
            skill=skill,
            models=models,
            familiarity=familiarity,
            offline=factory.offline,
            size=factory.size,
        )

    def start(self) -> Work[Goal, Outcome]:
        skill, files = load_skill(folder := self.skill.place()).sized(self.size), found_models(self.models)
        factory = ArmFactory(
            folder=folder,
            skill=skill,
            families=families_by_name(folder),
            models=LocalModels(LocalOptions(offline=self.offline, threads=1)),  # a worker is one processor
            base=files.get("base", skill.subagent.base),
            adapter=files.get("adapter", skill.subagent.base),
            comparisons=Comparisons(larger=files.get("larger"), wrong=files.get("wrong")),
            familiarity=self.familiarity,
        )
        arm = factory.arm(self.name)
        assert arm
        check_same_code(self.key, arm.key)
        return arm.solve
