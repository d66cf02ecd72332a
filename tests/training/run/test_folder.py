"""The folder of a run: one for each command that begins one, one command at a time in each."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from skillstill.errors import StageError
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import EvaluationConfig, Recipe, SizeRecipe, TrainConfig


def test_two_that_begin_in_the_same_second_have_a_folder_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    monkeypatch.setattr("skillstill_training.run.folder.datetime", SimpleNamespace(now=lambda zone: now))
    first, second = RunFolder.new(tmp_path, "settings"), RunFolder.new(tmp_path, "settings")
    assert first.path.is_dir()
    assert second.path.is_dir()
    assert first != second


def test_where_one_command_is_at_work_another_is_refused_and_comes_in_after(folder: RunFolder) -> None:
    with folder.alone():
        folder.save_recipe(Recipe())
        with pytest.raises(StageError, match="another command is at work in "), folder.alone():
            pass
    with folder.alone():
        pass
    assert folder.recipe() == Recipe()


def test_who_is_refused_opens_the_door_to_nobody_else(folder: RunFolder) -> None:
    with folder.alone():
        for _ in range(2):
            with pytest.raises(StageError, match="another command is at work in "), folder.alone():
                pass


def test_a_run_that_nothing_came_of_leaves_no_folder(folder: RunFolder) -> None:
    with folder.alone():
        pass
    assert not folder.path.exists()


def test_a_run_of_a_size_is_trained_by_what_the_recipe_says_of_that_size(folder: RunFolder) -> None:
    own = SizeRecipe(train=TrainConfig(learning_rate=5e-4))
    folder.save_recipe(Recipe(sizes={"0.5b": own}).sized("0.5b"))
    later = Recipe(sizes={"0.5b": own.model_copy(update={"train": TrainConfig(learning_rate=1e-4)})})
    assert folder.recipe().train == own.train
    assert folder.follow(later).train.learning_rate == 1e-4
    assert (folder.recipe().size, Recipe().sized("0.5b").train) == ("0.5b", TrainConfig())


def test_a_run_takes_over_how_to_train_and_to_measure_but_not_what_to_ask(folder: RunFolder) -> None:
    first, otherwise = Recipe(), Recipe(train=TrainConfig(batch=2), evaluate=EvaluationConfig(paired=40))
    assert folder.follow(otherwise) == otherwise, "of one that has no recipe yet"
    folder.save_recipe(first)
    assert folder.follow(otherwise) == folder.recipe() == otherwise
    assert folder.follow(otherwise.model_copy(update={"seed": 2})) == folder.recipe() == otherwise
