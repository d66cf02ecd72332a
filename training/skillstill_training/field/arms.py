"""The arms of a field test: each takes a question and a folder, and returns what its caller would get."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from anyio import to_thread
from skillstill.contract import behaviour_hash, serving_hash
from skillstill.models.scripted import ScriptedModel
from skillstill.models.sources import locate
from skillstill.skills.calibration import Calibration
from skillstill.skills.familiarity import Familiarity
from skillstill.skills.skill import Skill
from skillstill.types import DialectName, Frozen, Message, ModelFile, Models, ModelSpec, Trace

from skillstill_training.episode import solve, timeless
from skillstill_training.evaluation.arms import file_stem
from skillstill_training.evaluation.baseline import Answer, baseline_hash, load_baseline
from skillstill_training.field.direct import DirectModel, Form
from skillstill_training.field.judge import FieldAnswer
from skillstill_training.field.plans import Plan, plan_for
from skillstill_training.field.retrieval import Piece, Reader, Retrieval, handed_over
from skillstill_training.run.scorecard import FieldArmName
from skillstill_training.util.hashes import hash_parts

CONTEXT = 8_192  # tokens of a direct question at most
FORMS_VERSION = "2"  # to be raised if a form puts the same question otherwise


class Asked(Frozen):
    """What a run needs of a question: its id, and the prompt with those that it follows."""

    id: str
    prompt: str


class FieldRow(Frozen):
    """One question as one arm answered it. Seconds are wall time; tokens are counted by the model's own tokenizer."""

    question: str
    prompt: str
    answer: FieldAnswer
    seconds: float = 0.0
    read_tokens: int = 0
    written_tokens: int = 0
    trace: Trace | None = None


class FieldArm(Protocol):
    """`key` is a hash of all that its answers depend on, but for the question."""

    @property
    def name(self) -> FieldArmName: ...

    @property
    def label(self) -> str: ...

    @property
    def key(self) -> str: ...

    async def solve(self, asked: Asked, root: Path) -> FieldRow: ...


@dataclass(frozen=True)
class LoopArm:
    """A model in the loop that ships. A stock model is told the skill's text, a finetuned one a single line."""

    name: FieldArmName
    label: str
    skill: Skill
    models: Models
    spec: ModelSpec
    calibration: Calibration | None = None
    familiarity: Familiarity | None = None

    @property
    def told(self) -> str | None:
        return self.skill.instructions if self.spec.dialect is DialectName.HERMES else None

    @property
    def key(self) -> str:
        contract = serving_hash(self.skill, self.spec.base, self.spec.adapter)
        confidence = self.calibration.model_dump_json() if self.calibration else ""
        familiarity = (self.familiarity.model_dump_json(),) if self.familiarity else ()
        return hash_parts(contract, self.spec.dialect, self.told or "", confidence, *familiarity)

    async def solve(self, asked: Asked, root: Path) -> FieldRow:
        """Raise BaseError and ModelError if the model cannot be loaded."""
        async with self.models.lease(self.spec) as model:
            trace = await solve(
                asked, self.skill, model, root, self.label, told=self.told, familiarity=self.familiarity
            )
        return _row(asked, trace, self.calibration)


@dataclass(frozen=True)
class ScriptArm:
    """The frozen script of the skill."""

    answer: Answer
    key: str
    name: FieldArmName = "baseline"
    label: str = "a script without a model"

    @classmethod
    def load(cls, skill_folder: Path) -> "ScriptArm":
        """Raise StageError if there is none, GateError if it is not the frozen one."""
        return cls(load_baseline(skill_folder), hash_parts(baseline_hash(skill_folder)))

    async def solve(self, asked: Asked, root: Path) -> FieldRow:
        start = time.monotonic()
        try:
            text = await to_thread.run_sync(self.answer, asked.prompt, root)
        except Exception as error:
            failed = FieldAnswer(status="failed", text=f"{type(error).__name__}: {error}")
            return FieldRow(question=asked.id, prompt=asked.prompt, answer=failed)
        answer = FieldAnswer.of_text(asked.prompt, text)
        return FieldRow(
            question=asked.id, prompt=asked.prompt, answer=answer, seconds=round(time.monotonic() - start, 3)
        )


@dataclass
class RetrievalArm:
    """The first five pieces that BM25 finds, as leads: it never answers."""

    reader: Reader
    name: FieldArmName = "retrieval"
    label: str = "BM25, five places"
    key: str = "bm25s-0.3.16-2"
    _indexes: dict[Path, Retrieval] = field(default_factory=dict)

    async def solve(self, asked: Asked, root: Path) -> FieldRow:
        start = time.monotonic()
        pieces = await to_thread.run_sync(self._find, asked.prompt, root)
        answer = handed_over("see the places", pieces)
        return FieldRow(
            question=asked.id, prompt=asked.prompt, answer=answer, seconds=round(time.monotonic() - start, 3)
        )

    def _find(self, prompt: str, root: Path) -> Sequence[Piece]:
        if root not in self._indexes:
            self._indexes.clear()  # questions come workspace by workspace
            self._indexes[root] = Retrieval(self.reader(root))
        return self._indexes[root].best(prompt)


@dataclass
class DirectArm:
    """A stock model that is asked directly, in the form that serves it best. It is loaded by its first question."""

    name: FieldArmName
    file: ModelFile
    form: Form
    threads: int | None = None
    _model: DirectModel | None = None

    @property
    def label(self) -> str:
        return f"{file_stem(self.file)}, asked directly ({self.form.name})"

    @property
    def key(self) -> str:
        return hash_parts(self.file.sha256, self.form.name, FORMS_VERSION)

    async def solve(self, asked: Asked, root: Path) -> FieldRow:
        """Raise BaseError and ModelError if the model cannot be loaded."""
        model = await self._loaded()
        start = time.monotonic()
        answer, read, written = await self.form.answer(model, asked.prompt, root)
        seconds = round(time.monotonic() - start, 3)
        return FieldRow(
            question=asked.id,
            prompt=asked.prompt,
            answer=answer,
            seconds=seconds,
            read_tokens=read,
            written_tokens=written,
        )

    async def _loaded(self) -> DirectModel:
        if self._model is None:
            self._model = await to_thread.run_sync(self._load)
        return self._model

    def _load(self) -> DirectModel:
        from skillstill.models.engine import EngineOptions
        from skillstill.models.llama import LlamaBase

        return DirectModel(LlamaBase(locate(self.file), EngineOptions(CONTEXT, threads=self.threads)))


@dataclass(frozen=True)
class PlanArm:
    """The plans of people who know the answers, executed in the loop: an upper bound for the tools."""

    skill: Skill
    plans: Mapping[str, Plan]
    name: FieldArmName = "plan"
    label: str = "plans of people who know the answer"

    @property
    def key(self) -> str:
        return hash_parts(behaviour_hash(self.skill), *(plan.model_dump_json() for plan in self.plans.values()))

    async def solve(self, asked: Asked, root: Path) -> FieldRow:
        plan = plan_for(self.skill, self.plans[asked.id])
        calls = (Message(role="assistant", calls=(call,)) for call in plan.calls)
        trace = await solve(asked, self.skill, ScriptedModel([*calls, plan.answer]), root, self.label)
        return _row(asked, without_extract(trace), None)


def without_extract(trace: Trace) -> Trace:
    """Return the trace without what would be read off in place of an answer: nobody can learn from that."""
    return trace.model_copy(update={"extract": None})


def _row(asked: Asked, trace: Trace, calibration: Calibration | None) -> FieldRow:
    compact = timeless(trace, asked.id.partition("/")[0]).model_copy(update={"tools": ()})
    return FieldRow(
        question=asked.id,
        prompt=asked.prompt,
        answer=FieldAnswer.of_trace(trace, calibration),
        seconds=round(trace.tally.seconds, 3),
        read_tokens=trace.tally.read_tokens,
        written_tokens=trace.tally.completion_tokens,
        trace=compact,
    )
