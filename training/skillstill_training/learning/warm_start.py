"""Training that goes on from an adapter: its file in llama.cpp's format becomes PEFT's weights again."""

from pathlib import Path
from typing import Any

from skillstill.errors import StageError

from skillstill_training.gguf.lora import Layout, Pair, read_lora

PREFIX = "base_model.model."  # what PEFT puts before the name of a module


def warm_start(model: Any, base: Path, file: Path) -> None:
    """Give a PEFT model the changes of an adapter file for this base. Raise StageError if it fits neither."""
    lora = read_lora(file)
    layers = {name.removeprefix(PREFIX): module for name, module in model.named_modules() if hasattr(module, "lora_A")}
    for name, pair in Layout.of(base).to_peft(lora, layers).items():
        _copy(pair, lora.alpha, layers[name], file)


def _copy(pair: Pair, alpha: float, layer: Any, file: Path) -> None:
    """Copy one change. PEFT scales by its own alpha and rank, so what differs there goes into the second matrix."""
    import torch

    (left,), (right,), (scale,) = layer.lora_A.values(), layer.lora_B.values(), layer.scaling.values()
    if left.weight.shape != pair.a.shape:
        raise StageError(f"{file} has rank {len(pair.a)}: set [train] rank in recipe.toml to that")
    with torch.no_grad():
        left.weight.copy_(torch.from_numpy(pair.a))
        right.weight.copy_(torch.from_numpy(pair.b * (alpha / len(pair.a) / scale)))
