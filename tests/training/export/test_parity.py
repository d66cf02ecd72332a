"""What ships against what was trained: torch with the PEFT adapter, llama.cpp with the exported one."""

from pathlib import Path

import pytest
from skillstill.errors import StageError
from skillstill_training.export.adapter import export_adapter
from skillstill_training.export.parity import check_parity, judge_parity
from skillstill_training.gguf.divergence import Divergence
from skillstill_training.run.folder import RunFolder

from tests.training.tiny import PROMPTS, Sizes, lora, save_adapter, save_base, save_torch


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return save_base(tmp_path / "base.gguf")


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    pytest.importorskip("torch")
    return save_torch(tmp_path / "weights")


def test_the_exported_adapter_speaks_as_the_trained_one(folder: RunFolder, weights: Path, base: Path) -> None:
    save_adapter(folder.adapter)
    export_adapter(folder, base, name="settings")
    gate = check_parity(weights, folder, base, PROMPTS)
    assert (gate.name, gate.passed) == ("parity", True)
    assert gate.told.startswith("torch and llama.cpp over 128 tokens: KL ")


def test_an_adapter_of_another_training_is_found_out(folder: RunFolder, weights: Path, base: Path) -> None:
    save_adapter(folder.adapter, lora(seed=2))
    export_adapter(folder, base, name="settings")
    save_adapter(folder.adapter, lora(seed=3))
    gate = check_parity(weights, folder, base, PROMPTS)
    assert not gate.passed
    assert "wanted: KL <= 0.01, same token at >= 95%" in gate.told


def test_rows_of_q_and_k_in_the_wrong_order_are_found_out(
    folder: RunFolder, weights: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_adapter(folder.adapter, lora(scale=0.5))
    monkeypatch.setattr("skillstill_training.gguf.lora.interleaved", lambda rows, heads: rows)
    export_adapter(folder, base, name="settings")
    assert not check_parity(weights, folder, base, PROMPTS).passed


def test_weights_of_another_vocabulary_are_no_comparison(folder: RunFolder, weights: Path, tmp_path: Path) -> None:
    save_adapter(folder.adapter)
    other = save_base(tmp_path / "other.gguf", Sizes(vocabulary=160))
    export_adapter(folder, other, name="settings")
    with pytest.raises(StageError, match=r"knows 128 tokens and .* 160: they are no one base"):
        check_parity(weights, folder, other, PROMPTS)


def test_an_adapter_that_does_not_fit_the_weights_is_told(folder: RunFolder, weights: Path, base: Path) -> None:
    save_adapter(folder.adapter, lora(Sizes(hidden=96)))
    with pytest.raises(StageError, match="cannot be put on"):
        check_parity(weights, folder, base, PROMPTS)


def test_each_bound_can_close_the_gate() -> None:
    good = Divergence(kl=2.3e-3, top=0.984, texts=0.9, positions=500)
    assert judge_parity(good).passed
    for worse in ({"kl": 0.06}, {"top": 0.83}, {"texts": 0.2}):
        assert not judge_parity(good.model_copy(update=worse)).passed
