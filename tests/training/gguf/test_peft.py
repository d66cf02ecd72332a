"""A GGUF adapter that is written for vLLM is read back as it was."""

from pathlib import Path

import numpy as np
from skillstill.models.sources import locate
from skillstill.skills.registry import Registry
from skillstill_training.gguf.lora import Layout, Lora, Pair, read_peft
from skillstill_training.gguf.peft import write_peft


def test_each_change_comes_back_in_its_place_and_its_rows_in_their_order(tmp_path: Path) -> None:
    layout, draw = Layout.of(locate(Registry().entry("explore").entry.base, offline=True)), np.random.default_rng(0)
    kinds = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    pairs = {}
    for name in (f"blk.{block}.{kind}.weight" for block in (0, 29) for kind in kinds):
        outputs, inputs = layout.shapes[name]
        sides = (draw.standard_normal(shape).astype(np.float32) for shape in ((4, inputs), (outputs, 4)))
        pairs[name] = Pair(*sides)
    write_peft(tmp_path, Lora(tmp_path, 8.0, pairs), layout)
    back = layout.placed(read_peft(tmp_path))
    assert (back.alpha, back.pairs.keys()) == (8.0, pairs.keys())
    for name, pair in pairs.items():
        assert all(map(np.array_equal, back.pairs[name], pair))
