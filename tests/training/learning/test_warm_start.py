"""Training that goes on from an adapter file begins with what that file says."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skillstill.errors import StageError
from skillstill_training.export.adapter import export_adapter
from skillstill_training.learning.student import quietly
from skillstill_training.learning.warm_start import warm_start
from skillstill_training.run.folder import RunFolder

from tests.training.tiny import save_adapter, save_base, save_torch

RELATIVE = 0.01  # of rows that were stored in 8 bits


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return save_base(tmp_path / "base.gguf")


def peft_model(folder: Path, rank: int = 4) -> Any:
    """A model whose LoRA has just begun, with another alpha than the file's."""
    pytest.importorskip("torch")
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    with quietly():
        model = AutoModelForCausalLM.from_pretrained(save_torch(folder))
        return get_peft_model(model, LoraConfig(r=rank, lora_alpha=3 * rank, target_modules="all-linear"))


def changes(model: Any) -> dict[str, Any]:
    return {
        name: module.get_delta_weight("default").detach().numpy()
        for name, module in model.named_modules()
        if hasattr(module, "get_delta_weight")
    }


def test_it_begins_with_the_weights_that_were_exported(folder: RunFolder, base: Path, tmp_path: Path) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    save_adapter(folder.adapter)
    export_adapter(folder, base, name="settings")
    with quietly():
        plain = AutoModelForCausalLM.from_pretrained(save_torch(tmp_path / "a"))
        trained = PeftModel.from_pretrained(plain, folder.adapter)
    begun = peft_model(tmp_path / "b")
    warm_start(begun, base, folder.exported)
    for name, change in changes(trained).items():
        assert np.linalg.norm(changes(begun)[name] - change) < RELATIVE * np.linalg.norm(change), name


def test_another_rank_is_told(folder: RunFolder, base: Path, tmp_path: Path) -> None:
    save_adapter(folder.adapter)
    export_adapter(folder, base, name="settings")
    with pytest.raises(StageError, match=r"has rank 4: set \[train\] rank in recipe.toml to that"):
        warm_start(peft_model(tmp_path / "b", rank=8), base, folder.exported)
