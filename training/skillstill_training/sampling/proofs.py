"""What proving goals has shown, kept in the user's cache: a draw that is broken off or repeated runs no plan twice.

Proofs hold for what they were made with: the skill's own code and sources, the behaviour of its loop and tools, the
verdicts of the checks. If one of these changes, another file is begun.
"""

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Self

from platformdirs import user_cache_path
from skillstill.contract import behaviour_hash
from skillstill.skills.skill import load_skill
from skillstill.types import Frozen

from skillstill_training.authoring.goal import Goal
from skillstill_training.authoring.oracle import ORACLE_VERSION
from skillstill_training.authoring.verdicts import judges_hash
from skillstill_training.util.jsonl import Appender, read_lines, write_lines
from skillstill_training.util.skillcode import code_files


class Proof(Frozen):
    """What a goal's shortest plan took and answered, or (`unfit`) why it proves nothing."""

    key: str
    calls: int = 0
    hits: int = 0
    answer: str = ""
    unfit: str = ""


class Proofs:
    """The proofs of one skill as it is now. Raises StageError if they cannot be kept."""

    def __init__(self, skill: Path) -> None:
        self.file = user_cache_path("skillstill") / "proofs" / f"{skill.absolute().name}-{_made_with(skill)}.jsonl"
        self._known: dict[str, Proof] = {}
        self._appender = Appender(self.file)

    def __enter__(self) -> Self:
        if self.file.exists():
            kept = read_lines(self.file, Proof, torn=True)
            write_lines(self.file, kept)
            self._known = {proof.key: proof for proof in kept}
        self._appender.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._appender.__exit__(kind, error, trace)

    def of(self, key: str) -> Proof | None:
        return self._known.get(key)

    def keep(self, proof: Proof) -> None:
        self._known[proof.key] = proof
        self._appender.append([proof])


def proof_key(goal: Goal, seed: int) -> str:
    """Return a key for a goal that is not proven yet, from all that its plan can depend on."""
    return hashlib.sha256(f"{seed}/{goal.model_dump_json()}".encode()).hexdigest()[:32]


def _made_with(skill: Path) -> str:
    total = hashlib.sha256(f"{judges_hash()}/{behaviour_hash(load_skill(skill))}/{ORACLE_VERSION}".encode())
    for file in (skill / "sources.toml", *code_files(skill)):
        total.update(file.read_bytes() if file.exists() else b"")
    return total.hexdigest()[:16]
