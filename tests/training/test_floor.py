"""The script without a model: frozen, judged by the same checks, measured family by family."""

from pathlib import Path

import pytest
from skillstill.errors import GateError, StageError
from skillstill_training.floor import load_floor, measure_floor
from skillstill_training.folder import RunFolder
from skillstill_training.goals import make_goals
from skillstill_training.material import roots_of

pytestmark = pytest.mark.anyio


async def test_a_floor_is_measured_by_family_with_equal_weight(settings: Path, folder: RunFolder) -> None:
    goals = [goal for goal in (await make_goals(settings, folder)).goals if goal.split == "test"]
    roots = roots_of(settings, {"chrome"})
    standing = await measure_floor(load_floor(settings), goals, roots)
    assert standing.asked == {"direct": 8, "linked": 8, "beyond": 8, "again": 4}
    assert standing.solved["linked"] == 8
    assert standing.solved["beyond"] < 8  # it does not know the words of the tests
    mean = sum(standing.solved[family] / asked for family, asked in standing.asked.items()) / 4
    assert standing.success == mean


async def test_a_floor_that_raises_has_not_solved_that_goal(settings: Path, folder: RunFolder) -> None:
    def broken(prompt: str, root: Path) -> str:
        raise KeyError(prompt)

    goals = [goal for goal in (await make_goals(settings, folder)).goals if goal.split == "validation"]
    standing = await measure_floor(broken, goals, roots_of(settings, {"cobalt"}))
    assert standing.success == 0
    assert set(standing.reasons.values()) == {f"the floor raised KeyError: {goal.prompt!r}" for goal in goals}


def test_a_floor_that_was_changed_after_it_was_frozen_is_refused(settings: Path) -> None:
    file = settings / "floor.py"
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(GateError, match="is not the one that was frozen"):
        load_floor(settings)


def test_a_skill_without_a_floor_says_what_to_write(settings: Path) -> None:
    (settings / "floor.sha256").unlink()
    with pytest.raises(StageError, match=r"write floor.py with `answer\(prompt, root\)`"):
        load_floor(settings)
