"""A GGUF adapter as PEFT saves one: for vLLM, which reads no GGUF."""

import json
import re
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from skillstill_training.gguf.lora import Layout, Lora, Pair, Values

PROJECTIONS = (
    *(f"self_attn.{one}_proj" for one in ("q", "k", "v", "o")),
    *(f"mlp.{one}_proj" for one in ("gate", "up", "down")),
)  # fmt: skip


def write_peft(folder: Path, lora: Lora, layout: Layout) -> None:
    """Write an adapter whose changes are by the base's names. Raise KeyError if one is of no projection."""
    modules = _modules(lora, layout)
    pairs = {modules[name]: _rows(modules[name], pair, layout) for name, pair in lora.pairs.items()}
    folder.mkdir(parents=True, exist_ok=True)
    sides = ((f"base_model.model.{module}.lora_{side}.weight", values) for module, pair in pairs.items()
             for side, values in zip("AB", pair, strict=True))  # fmt: skip
    save_file(
        {key: np.ascontiguousarray(values, np.float32) for key, values in sides}, folder / "adapter_model.safetensors"
    )
    ranks = {len(pair.a) for pair in pairs.values()}
    (folder / "adapter_config.json").write_text(
        json.dumps(
            {
                "peft_type": "LORA",
                "task_type": "CAUSAL_LM",
                "r": max(ranks),
                "lora_alpha": lora.alpha,
                "target_modules": sorted({module.rpartition(".")[2] for module in pairs}),
            },
            indent=1,
        ),
        encoding="utf-8",
    )


def _modules(lora: Lora, layout: Layout) -> dict[str, str]:
    """Return the names of PEFT by those of the base."""
    blocks = {int(found[1]) for name in lora.pairs if (found := re.match(r"blk\.(\d+)\.", name))}
    modules = [f"model.layers.{block}.{one}" for block in blocks for one in PROJECTIONS]
    return {str(layout.names.get_name(f"{one}.weight", try_suffixes=(".weight",))): one for one in modules}


def _rows(module: str, pair: Pair, layout: Layout) -> Pair:
    heads = layout.heads.get(module.rpartition(".")[2])
    return Pair(pair.a, _apart(pair.b, heads) if heads else pair.b)


def _apart(rows: Values, heads: int) -> Values:
    """Return the rows of each head as they were before `interleaved`."""
    return rows.reshape(heads, -1, 2, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)
