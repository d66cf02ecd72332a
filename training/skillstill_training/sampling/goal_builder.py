"""From a draft to a goal that is proven: said in words, solved once with the real tools, judged by its own check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from skillstill.errors import OracleError
from skillstill.skills.skill import Skill, load_skill

from skillstill_training.authoring.families import Family, families_by_name
from skillstill_training.authoring.goal import Draft, Goal, Split, goal_id
from skillstill_training.episode import code_hash, execute, oracle_context
from skillstill_training.executors.executor import Work, check_same_code
from skillstill_training.executors.parcels import Parcel
from skillstill_training.run.recipe import SpeechConfig
from skillstill_training.sampling.proofs import Proof, Proofs, proof_key
from skillstill_training.sampling.wording import say
from skillstill_training.workspaces import BuiltWorkspace

Wording = tuple[str, str]  # its name, its text


class UnfitGoal(Exception):
    """This draft makes no goal, for this reason."""


@dataclass(frozen=True, slots=True)
class GoalBuilder:
    """Makes goals of one skill. Without `proofs`, it executes every plan anew; `proving` may do so elsewhere."""

    skill: Skill
    speech: SpeechConfig
    seed: int
    proofs: Proofs | None = None
    proving: Work[Goal, Proof] | None = None

    def compose(
        self, draft: Draft, family: Family, built: BuiltWorkspace, split: Split, wordings: Sequence[Wording]
    ) -> Goal:
        """Return the goal in the first wording, and also in the others, not yet proven. Raise Unfit for a giveaway."""
        rng = Random(f"{self.seed}/{family.name}/{built.name}/{draft.model_dump_json()}")  # noqa: S311 - no secret
        (prompt, *also), words = say(draft, [text for _, text in wordings], self.speech, rng)
        if told := [word for word in draft.hidden if word.lower() in prompt.lower()]:
            raise UnfitGoal(f"the prompt gives away {told[0]!r}")
        return Goal(
            id=goal_id(family.name, built.name, prompt, draft.check),
            skill=self.skill.name,
            family=family.name,
            split=split,
            workspace=built.name,
            wording=wordings[0][0],
            prompt=prompt,
            also=tuple(also),
            check=draft.check,
            words=words,
            facts=draft.facts,
            calls=0,
            hits=0,
            answer="",
        )

    async def prove(self, goal: Goal, family: Family, built: BuiltWorkspace) -> Goal:
        """Return the goal with what its shortest plan took; as it is if it has none. Raise Unfit."""
        if family.plan is None:
            return goal
        proof = self.proofs.of(proof_key(goal, self.seed)) if self.proofs else None
        if proof is None:
            prove = self.proving or Prover(self.skill, {family.name: family}, self.seed).prove
            proof = await prove(goal, built.root)
            if self.proofs:
                self.proofs.keep(proof)
        if proof.unfit:
            raise UnfitGoal(proof.unfit)
        return goal.model_copy(update={"calls": proof.calls, "hits": proof.hits, "answer": proof.answer})


@dataclass(frozen=True, slots=True)
class Prover:
    """Executes the plans of families."""

    skill: Skill
    families: Mapping[str, Family]
    seed: int

    async def prove(self, goal: Goal, root: Path) -> Proof:
        """Return what the plan took, or why it proves nothing."""
        key, context = proof_key(goal, self.seed), oracle_context(goal, self.seed)
        try:
            trace, judgement = await execute(goal, self.families[goal.family], self.skill, root, context)
        except OracleError as error:
            return Proof(key=key, unfit=str(error))
        if not judgement.passed:
            why = f"its own plan fails its check: {judgement.why} ({trace.report.answer[:200]!r})"
            return Proof(key=key, unfit=why)
        return Proof(key=key, calls=len(trace.receipts), hits=context.hits, answer=trace.report.answer)


@dataclass(frozen=True, slots=True)
class ProvingJob:
    """The work of a prover as it travels. `code` is a hash of what a worker must have, too."""

    skill: Parcel
    seed: int
    code: str

    def start(self) -> Work[Goal, Proof]:
        skill = load_skill(folder := self.skill.place())
        check_same_code(self.code, code_hash(skill))
        return Prover(skill, families_by_name(folder), self.seed).prove
