"""The baseline of a skill: a script without a model, as strong as an honest engineer makes it, frozen before training.

`baseline.py` in the skill's folder defines `answer(prompt, root)`, which returns the answer to the prompt about that
workspace. It knows the training wordings. Of ours it imports `authoring.reading` alone. It vouches for its own
evidence: what it claims is judged by the goal's check alone. `baseline.sha256` holds the hash of all `baseline*.py`,
of the training wordings and of what `authoring.reading` reads, so that it cannot drift with results.
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
from skillstill_training.authoring.reading import reading_hash
from skillstill_training.util.jsonl import write_text

Answer = Callable[[str, Path], str]


@dataclass(frozen=True, slots=True)
class BaselineScore:
    """How a baseline did: solved of asked, by family; and what became of each goal, by id."""

    solved: Mapping[str, int]
    asked: Mapping[str, int]
    reasons: Mapping[str, str]

    @property
    def success(self) -> float:
        """The equal-weight mean over families, 0..1."""
        return sum(self.solved[family] / count for family, count in self.asked.items()) / max(1, len(self.asked))


def load_baseline(skill: Path) -> Answer:
    """Raises StageError where there is none, GateError where it is not the one that was frozen.

    Raises RegistryError where it may not run.
    """
    file, pin = skill / "baseline.py", skill / "baseline.sha256"
    if not (file.is_file() and pin.is_file()):
        raise StageError(
            f"{skill} has no baseline: write baseline.py with `answer(prompt, root)` and freeze it in {pin.name}"
        )
    if (found := baseline_hash(skill)) != pin.read_text(encoding="utf-8").strip():
        raise GateError(f"{file} or the training wordings are not those that were frozen in {pin.name}: now {found}")
    allow(skill)
    spec = importlib.util.spec_from_file_location(f"skillstill_baseline_{skill.absolute().name}", file)
    assert spec
    assert spec.loader
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)  # where dataclasses look their module up
    try:
        spec.loader.exec_module(module)
        answer: Answer = module.answer
    except Exception as error:
        raise StageError(f"{file} cannot be used: {type(error).__name__}: {error}") from error
    return answer


def freeze_baseline(skill: Path) -> str:
    """The hash that the baseline is held to from now on, written beside it. Raises StageError."""
    write_text(skill / "baseline.sha256", (found := baseline_hash(skill)) + "\n")
    return found


def baseline_hash(skill: Path) -> str:
    """Return the SHA-256 of the baseline's files, its training wordings, and what `authoring.reading` reads for it."""
    total = hashlib.sha256(reading_hash().encode())
    for file in [*sorted(skill.glob("baseline*.py")), skill / "wordings" / "train.toml"]:
        total.update(f"{file.name}\0".encode() + (file.read_bytes() if file.exists() else b"") + b"\0")
    return total.hexdigest()


async def measure_baseline(answer: Answer, goals: Sequence[Goal], roots: Mapping[str, Path]) -> BaselineScore:
    """Its answers to the goals, judged. A baseline that raises has not solved that goal."""
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
