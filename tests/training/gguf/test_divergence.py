"""How far apart two voices are, along what the first would write."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from skillstill.errors import ModelError, StageError
from skillstill.models.engine import divergence
from skillstill_training.gguf.divergence import LENGTH, Logits, compare, llama_voice

STOP = 3


class Counter:
    """Wants the token after the last one; `until` it is another voice that wants 0 instead."""

    def __init__(self, until: int = 99) -> None:
        self.until = until

    def begin(self) -> None:
        self.last = -1

    def read(self, tokens: Sequence[int]) -> Logits:
        self.last = tokens[-1]
        wanted = self.last + 1 if self.last + 1 < self.until else 0
        return np.where(np.arange(64) == wanted, 5.0, 0.0)


def test_a_voice_is_like_itself() -> None:
    alike = compare(Counter(), Counter(), [[0], [1]], STOP)
    assert (alike.kl, alike.top, alike.texts, alike.positions) == (0, 1, 1, 3 + 2)  # each text to its stop


def test_where_they_part_is_counted_once_a_token_and_once_a_text() -> None:
    parted = compare(Counter(), Counter(until=2), [[0], [STOP - 1]], STOP)
    assert (parted.top, parted.texts, parted.positions) == (1 / 4, 0, 4)
    assert parted.kl > 1


def test_a_text_without_an_end_is_followed_so_far() -> None:
    assert compare(Counter(), Counter(), [[5]], STOP).positions == LENGTH


def test_the_divergence_is_that_of_probabilities() -> None:
    half, quarter = np.log([0.5, 0.5]), np.log([0.25, 0.75])
    assert divergence(half + 7, quarter) == pytest.approx(0.5 * np.log(2) + 0.5 * np.log(2 / 3))


def test_without_prompts_there_is_nothing_to_compare(tmp_path: Path) -> None:
    for prompts in ([], [[1], []]):
        with (
            pytest.raises(StageError, match="cannot be compared without prompts"),
            llama_voice(tmp_path, None, prompts),
        ):
            pass


def test_a_file_that_llama_cpp_cannot_load_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot load"), llama_voice(tmp_path / "absent.gguf", None, [[1]]):
        pass
