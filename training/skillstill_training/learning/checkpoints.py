"""What an interrupted training left behind: what can be gone on from, without what a kill left half done."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from skillstill_training.learning.checkpoint_choice import step_of
from skillstill_training.learning.history import COURSE
from skillstill_training.util.jsonl import write_text

LAST = "trainer_state.json"  # what transformers writes last into a checkpoint


def whole_checkpoints(folder: Path) -> Sequence[Path]:
    """Return the checkpoints by their steps. One that was left half written is removed: it is of no use."""
    found = sorted(folder.glob("checkpoint-*"), key=step_of)
    for torn in (one for one in found if not _reads(one / LAST)):
        shutil.rmtree(torn)
    return [one for one in found if one.exists()]


def cut_course(adapter: Path) -> None:
    """Remove from the course what training will write again: all behind its last checkpoint, and a torn line."""
    file = adapter / COURSE
    if file.exists():
        last = max(map(step_of, whole_checkpoints(adapter)), default=0)
        kept = (row for row in _rows(file) if row["step"] <= last)
        write_text(file, "".join(json.dumps(row) + "\n" for row in kept))


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, file.read_text(encoding="utf-8").split("\n")[:-1])


def _reads(file: Path) -> bool:
    try:
        json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return True
