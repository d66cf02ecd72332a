"""The baseline of a skill: a script without a model, as strong as an honest engineer makes it, frozen before training.

`baseline.py` in the skill's folder defines `answer(prompt, root)`, which returns the answer to a prompt about the
workspace at `root`. It may contain the training wordings. Of this package it imports only `authoring.reading`, or
`authoring.kind_baseline`, which is the baseline of a skill of declared kinds. Its answer has no evidence: only the
goal's check judges it. `baseline.sha256` contains a hash of all `baseline*.py`, of the training wordings, with those of
`kinds.toml`, and of what `authoring.reading` reads, so that the baseline cannot change after results are known.
"""

import hashlib
import importlib.util
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread
from skillstill.errors import GateError, StageError
from skillstill.skills.code import allow

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import judge
from skillstill_training.authoring.goal import Goal
from skillstill_training.authoring.kinds import FILE as KINDS
from skillstill_training.authoring.reading import reading_hash
from skillstill_training.util.jsonl import write_text

Answer = Callable[[str, Path], str]


@dataclass(frozen=True, slots=True)
class BaselineScore:
    """The score of a baseline: goals solved and asked by family, and the reason of each failure by goal id."""

    solved: Mapping[str, int]
    asked: Mapping[str, int]
    reasons: Mapping[str, str]

    @property
    def success(self) -> float:
        """The mean success over families of equal weight, 0..1."""
        return sum(self.solved[family] / count for family, count in self.asked.items()) / max(1, len(self.asked))


def load_baseline(skill: Path) -> Answer:
    """Import the baseline of a skill and return its `answer`.

    Raises StageError if there is none, GateError if it is not the frozen one, RegistryError if it may not run.
    """
    file, pin = skill / "baseline.py", skill / "baseline.sha256"
    if not (file.is_file() and pin.is_file()):
        raise StageError(
            f"{skill} has no baseline: write baseline.py with `answer(prompt, root)` and freeze it in {pin.name}"
        )
    if (current := baseline_hash(skill)) != pin.read_text(encoding="utf-8").strip():
        raise GateError(f"{file} or the training wordings are not those that were frozen in {pin.name}: now {current}")
    allow(skill)
    spec = importlib.util.spec_from_file_location(f"skillstill_baseline_{skill.absolute().name}", file)
    assert spec
    assert spec.loader
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)  # dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
        answer: Answer = module.answer
    except Exception as error:
        raise StageError(f"{file} cannot be used: {type(error).__name__}: {error}") from error
    return answer


def freeze_baseline(skill: Path) -> str:
    """Write the hash of the baseline to `baseline.sha256` and return it. Raises StageError."""
    write_text(skill / "baseline.sha256", (frozen := baseline_hash(skill)) + "\n")
    return frozen


def baseline_hash(skill: Path) -> str:
    """Return the SHA-256 of the baseline's files, its training wordings and what `authoring.reading` reads."""
    digest = hashlib.sha256(reading_hash().encode())
    declared = [file for file in (skill / KINDS,) if file.is_file()]
    for file in [*sorted(skill.glob("baseline*.py")), skill / "wordings" / "train.toml", *declared]:
        digest.update(f"{file.name}\0".encode() + (file.read_bytes() if file.exists() else b"") + b"\0")
    return digest.hexdigest()


async def measure_baseline(answer: Answer, goals: Sequence[Goal], roots: Mapping[str, Path]) -> BaselineScore:
    """Run the baseline on the goals and judge its answers. A goal on which it raises an error is not solved."""
    solved: Counter[str] = Counter()
    reasons = {}
    for goal in goals:
        try:
            text = await to_thread.run_sync(answer, goal.prompt, roots[goal.workspace])
            judgement = judge(goal.check, Attempt.of_text(goal.prompt, text))
            reasons[goal.id] = judgement.why
        except Exception as error:
            reasons[goal.id] = f"the baseline raised {type(error).__name__}: {error}"
        solved[goal.family] += not reasons[goal.id]
    return BaselineScore(solved, Counter(goal.family for goal in goals), reasons)
