"""A base of two layers with random weights, as GGUF and as torch reads it, and random adapters as PEFT saves them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFWriter
from numpy.typing import NDArray

Values = NDArray[np.float32]
PROMPTS = [[5, 17, 2, 90, 33], [7, 7, 61, 12], [44, 3], [100, 101, 102, 9, 8, 1]]
SETTINGS: dict[str, Any] = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "init_lora_weights": True}


@dataclass(frozen=True, slots=True)
class Sizes:
    layers: int = 2
    hidden: int = 64
    heads: int = 4
    kv_heads: int = 2
    forward: int = 96
    vocabulary: int = 128

    @property
    def head(self) -> int:
        return self.hidden // self.heads

    def modules(self) -> dict[str, tuple[int, int]]:
        """(out, in) of what an adapter changes in a layer, by PEFT's names."""
        kv = self.kv_heads * self.head
        return {
            "self_attn.q_proj": (self.hidden, self.hidden),
            "self_attn.k_proj": (kv, self.hidden),
            "self_attn.v_proj": (kv, self.hidden),
            "self_attn.o_proj": (self.hidden, self.hidden),
            "mlp.gate_proj": (self.forward, self.hidden),
            "mlp.up_proj": (self.forward, self.hidden),
            "mlp.down_proj": (self.hidden, self.forward),
        }


TINY = Sizes()
SMOLLM2 = Sizes(layers=30, hidden=576, heads=9, kv_heads=3, forward=1_536, vocabulary=49_152)
GGUF_NAMES = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
}  # fmt: skip


def weights(sizes: Sizes = TINY, seed: int = 0) -> dict[str, Values]:
    """All weights of a llama by torch's names."""
    random = np.random.default_rng(seed)
    made = {"model.embed_tokens.weight": drawn(random, sizes.vocabulary, sizes.hidden)}
    for layer in range(sizes.layers):
        for module, (rows, columns) in sizes.modules().items():
            made[f"model.layers.{layer}.{module}.weight"] = drawn(random, rows, columns) / np.float32(columns**0.5)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            made[f"model.layers.{layer}.{norm}.weight"] = np.ones(sizes.hidden, np.float32)
    made["model.norm.weight"] = np.ones(sizes.hidden, np.float32)
    return made | {"lm_head.weight": drawn(random, sizes.vocabulary, sizes.hidden) / np.float32(4)}


def drawn(random: np.random.Generator, rows: int, columns: int) -> Values:
    return random.standard_normal((rows, columns), np.float32)


def save_torch(folder: Path, sizes: Sizes = TINY, seed: int = 0) -> Path:
    """The folder that transformers loads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(torch_config(sizes)), encoding="utf-8")
    save_tensors(folder / "model.safetensors", weights(sizes, seed))
    return folder


def torch_config(sizes: Sizes, architecture: str = "LlamaForCausalLM", kind: str = "llama") -> dict[str, Any]:
    return {
        "architectures": [architecture], "model_type": kind, "hidden_size": sizes.hidden, "head_dim": sizes.head,
        "num_hidden_layers": sizes.layers, "num_attention_heads": sizes.heads, "num_key_value_heads": sizes.kv_heads,
        "intermediate_size": sizes.forward, "vocab_size": sizes.vocabulary, "max_position_embeddings": 256,
        "rms_norm_eps": 1e-5, "rope_theta": 10_000.0, "tie_word_embeddings": False, "torch_dtype": "float32",
        "bos_token_id": 0, "eos_token_id": 0, "hidden_act": "silu",
    }  # fmt: skip


def save_base(file: Path, sizes: Sizes = TINY, seed: int = 0, architecture: str = "llama") -> Path:
    """The same weights as GGUF in F32, without a tokenizer."""
    writer = GGUFWriter(file, architecture)
    writer.add_context_length(256)
    writer.add_embedding_length(sizes.hidden)
    writer.add_block_count(sizes.layers)
    writer.add_feed_forward_length(sizes.forward)
    writer.add_head_count(sizes.heads)
    writer.add_head_count_kv(sizes.kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(sizes.head)
    writer.add_vocab_size(sizes.vocabulary)
    writer.add_tokenizer_model("no_vocab")
    for name, values in weights(sizes, seed).items():
        heads = {"q_proj": sizes.heads, "k_proj": sizes.kv_heads}.get(name.split(".")[-2])
        writer.add_tensor(gguf_name(name), in_pairs(values, heads) if heads else values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def gguf_name(name: str) -> str:
    whole = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
    module = name.removesuffix(".weight")
    if module in whole:
        return f"{whole[module]}.weight"
    _, _, layer, inner = module.split(".", 3)
    return f"blk.{layer}.{GGUF_NAMES[inner]}.weight"


def in_pairs(rows: Values, heads: int) -> Values:
    """Row i and row i + half of each head side by side: how llama.cpp keeps q and k of a llama."""
    size = len(rows) // heads
    order = [head * size + half * size // 2 + i for head in range(heads) for i in range(size // 2) for half in (0, 1)]
    return np.ascontiguousarray(rows[order])


def lora(sizes: Sizes = TINY, rank: int = 4, seed: int = 1, scale: float = 0.1) -> dict[str, Values]:
    """A random adapter of all linear weights, by PEFT's names."""
    random, made = np.random.default_rng(seed), {}
    for layer in range(sizes.layers):
        for module, (rows, columns) in sizes.modules().items():
            key = f"base_model.model.model.layers.{layer}.{module}"
            made[f"{key}.lora_A.weight"] = drawn(random, rank, columns) / np.float32(columns**0.5)
            made[f"{key}.lora_B.weight"] = drawn(random, rows, rank) * np.float32(scale)
    return made


def save_adapter(folder: Path, tensors: Mapping[str, NDArray[Any]] | None = None, **settings: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    config = SETTINGS | {"target_modules": [module.split(".")[1] for module in TINY.modules()]} | settings
    (folder / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    save_tensors(folder / "adapter_model.safetensors", lora(rank=config["r"]) if tensors is None else tensors)
    return folder


def save_tensors(file: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """As safetensors; uint16 stands for the bits of bf16."""
    kinds = {"float32": "F32", "float16": "F16", "uint16": "BF16"}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, values in tensors.items():
        begin, end = end, end + values.nbytes
        header[name] = {"dtype": kinds[values.dtype.name], "shape": values.shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(values.tobytes() for values in tensors.values()))
