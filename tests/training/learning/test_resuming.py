"""What a kill in the middle of a training leaves, and what can be gone on from."""

import json
from pathlib import Path

from skillstill_training.learning.checkpoints import cut_course, whole_checkpoints

from tests.scenes import write


def test_a_checkpoint_that_a_kill_left_half_written_is_removed(tmp_path: Path) -> None:
    state = {"trainer_state.json": "{}"}
    write(tmp_path / "checkpoint-10", {"adapter_model.safetensors": "…", **state})
    write(tmp_path / "checkpoint-9", state)
    write(tmp_path / "checkpoint-20", {"adapter_model.safetensors": "…"})
    write(tmp_path / "checkpoint-30", {"trainer_state.json": '{"epoch": 0.'})
    assert [one.name for one in whole_checkpoints(tmp_path)] == ["checkpoint-9", "checkpoint-10"]
    assert len(list(tmp_path.iterdir())) == 2


def test_the_course_goes_on_behind_the_last_whole_checkpoint(tmp_path: Path) -> None:
    rows = [{"step": step, "loss": 1 / step} for step in range(1, 5)]
    course = "".join(json.dumps(row) + "\n" for row in rows)
    write(tmp_path, {"history.jsonl": course + '{"step": 5, "lo'})
    write(tmp_path / "checkpoint-3", {"trainer_state.json": "{}"})
    cut_course(tmp_path)
    kept = (tmp_path / "history.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(row) for row in kept] == rows[:3]


def test_without_a_checkpoint_it_begins_anew(tmp_path: Path) -> None:
    cut_course(tmp_path)
    write(tmp_path, {"history.jsonl": '{"step": 1, "loss": 2.0}\n'})
    cut_course(tmp_path)
    assert (tmp_path / "history.jsonl").read_text(encoding="utf-8") == ""
