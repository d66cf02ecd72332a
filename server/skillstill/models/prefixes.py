"""Beginnings of prompts that were read before: by a run of this process, or by another process on this machine."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from skillstill.models.engine import Engine, llama_build
from skillstill.models.scheduler import Read, Steps
from skillstill.models.slot import Prompt, Slot
from skillstill.util.storage import cache_folder, write_atomically

WORTH_COPYING = 32  # tokens: to read fewer is as quick
WORTH_KEEPING = 256  # tokens: some 6 MB, and more than a second of reading on one core
ROOM = 300_000_000  # bytes of all kept beginnings
DIGEST = 32  # bytes before a kept state, by which damage is noticed


class Prefixes:
    """Finds the shared beginning of a prompt in another slot, or on disk, and keeps long ones there.

    A kept one is named by everything that it depends on: the base, the adapter, this build of llama.cpp, the tokens.
    """

    def __init__(self, engine: Engine, path: Path, slots: Sequence[Slot]) -> None:
        self.engine, self._slots = engine, slots
        status = path.stat()
        self._about = [str(path), status.st_size, status.st_mtime_ns, llama_build()]

    def read_shared(self, slot: Slot, prompt: Prompt) -> Steps[int]:
        """Have the shared beginning of a prompt in the slot. Return how many tokens of the prompt need not be read."""
        if len(slot.tokens) >= prompt.shared or self._recall(slot, prompt):
            slot.note_shared(prompt)
            return len(slot.tokens)
        yield Read(prompt.tokens[: prompt.shared])  # the slot holds none of it: `rewind` keeps it whole or not at all
        slot.note_shared(prompt)
        self._keep(slot, prompt)
        return 0

    def _recall(self, slot: Slot, prompt: Prompt) -> bool:
        shared = prompt.tokens[: prompt.shared]
        if len(shared) < WORTH_COPYING:
            return False
        others = (one for one in self._slots if one is not slot and one.adapter == slot.adapter)
        if other := next((one for one in others if one.tokens[: len(shared)] == shared), None):
            slot.take(other, len(shared))
            return True
        return len(shared) >= WORTH_KEEPING and self._load(slot, shared)

    def _load(self, slot: Slot, shared: Sequence[int]) -> bool:
        file = self._file(slot, shared)
        try:
            kept = file.read_bytes()
        except OSError:
            return False
        state = kept[DIGEST:]
        if hashlib.sha256(state).digest() != kept[:DIGEST] or not slot.restore(state, shared):
            with suppress(OSError):
                file.unlink()
            return False
        with suppress(OSError):
            file.touch()  # those that are not used go first
        return True

    def _keep(self, slot: Slot, prompt: Prompt) -> None:
        """Keep a long beginning on disk. If that fails, the next process reads it anew."""
        if prompt.shared < WORTH_KEEPING:
            return
        state = self.engine.state(slot.sequence)
        with suppress(OSError):
            file = self._file(slot, slot.tokens)
            write_atomically(file, hashlib.sha256(state).digest() + state)
            for old in _superfluous(file.parent):
                old.unlink()

    def _file(self, slot: Slot, shared: Sequence[int]) -> Path:
        adapter = slot.adapter.sha256 if slot.adapter else ""
        name = hashlib.sha256(json.dumps([*self._about, adapter, *shared]).encode()).hexdigest()
        return prefix_folder() / f"{name[:32]}.kv"


def prefix_folder() -> Path:
    return cache_folder() / "prefixes"


def _superfluous(folder: Path) -> Iterator[Path]:
    """Yield the files that were used longest ago, if all of them take more than ROOM bytes."""
    found = sorted(((one.stat(), one) for one in folder.glob("*.kv")), key=lambda pair: -pair[0].st_mtime)
    total = 0
    for status, file in found:
        total += status.st_size
        if total > ROOM:
            yield file
