"""LoRA adapters in their two shapes: as PEFT saves one, and as llama.cpp loads one."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Kind
from gguf import GGUFValueType as Type
from numpy.typing import NDArray
from skillstill.errors import StageError

from skillstill_training.gguf.files import (
    ARCHITECTURE,
    DAMAGED,
    Field,
    StoredTensor,
    encode_tensor,
    read_gguf,
    write_gguf,
)

Values = NDArray[np.float32]
AdapterKind = Literal["F16", "Q8_0"]
FILE_TYPES = {"F16": gguf.LlamaFileType.MOSTLY_F16, "Q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}
# Architectures that were compared with llama.cpp's converter, and whether it reorders the rows of q and k so that the
# two numbers which RoPE turns together stand side by side.
INTERLEAVED = {"llama": True, "smollm3": True, "qwen2": False, "qwen3": False, "gemma3": False}
KEY = re.compile(r"base_model\.model\.(?P<module>.+)\.lora_(?P<side>[AB])\.weight")
# What a GGUF adapter has no words for, by the field of adapter_config.json.
UNTELLABLE = (
    "use_dora", "modules_to_save", "lora_bias", "fan_in_fan_out", "alpha_pattern", "layer_replication", "arrow_config",
    "trainable_token_indices", "target_parameters", "use_qalora", "use_bdlora", "alora_invocation_tokens",
    "kasa_config", "monteclora_config", "velora_config",
)  # fmt: skip
SAFE_STARTS = (True, False, "gaussian", "orthogonal", "eva")  # other ways to begin also change the base's own weights
FLOATS = {"F32": np.float32, "F16": np.float16}


class Pair(NamedTuple):
    """The change of one weight (out, in): `a` is (rank, in), `b` is (out, rank)."""

    a: Values
    b: Values


@dataclass(frozen=True, slots=True)
class Lora:
    """All changes, each by the name of its weight and to be scaled by `alpha` / rank; `origin` is told in errors."""

    origin: Path
    alpha: float
    pairs: Mapping[str, Pair]

    def change(self, name: str) -> Values:
        """Return what is added to a weight."""
        a, b = self.pairs[name]
        return np.float32(self.alpha / len(a)) * (b @ a)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a base keeps the weights that PEFT knows by other names. `heads`: of those with interleaved rows."""

    base: Path
    architecture: str
    names: gguf.TensorNameMap
    shapes: Mapping[str, tuple[int, ...]]
    heads: Mapping[str, int]

    @classmethod
    def of(cls, base: Path) -> "Layout":
        """Return the layout of a GGUF file, read from its metadata. Raise StageError."""
        reader = read_gguf(base)
        try:
            name = reader.fields[ARCHITECTURE].contents()
            blocks, *heads = (
                reader.fields[f"{name}.{key}"].contents()
                for key in ("block_count", "attention.head_count", "attention.head_count_kv")
            )
        except KeyError as error:
            raise StageError(f"{base} is no base for adapters: its metadata lack {error}") from error
        if name not in INTERLEAVED:
            raise StageError(f"{base} is of the architecture {name}; adapters go onto {', '.join(INTERLEAVED)}")
        architecture = next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == name)
        return cls(
            base=base,
            architecture=name,
            names=gguf.get_tensor_name_map(architecture, blocks),
            shapes={tensor.name: tuple(int(size) for size in reversed(tensor.shape)) for tensor in reader.tensors},
            heads=dict(zip(("q_proj", "k_proj"), heads, strict=True)) if INTERLEAVED[name] else {},
        )

    def placed(self, lora: Lora) -> Lora:
        """Return the same changes by the base's names and in its order of rows. Raise StageError."""
        pairs = {self._name(module, lora): self._rows(module, pair) for module, pair in lora.pairs.items()}
        placed = Lora(lora.origin, lora.alpha, pairs)
        self.demand(placed)
        return placed

    def demand(self, lora: Lora) -> None:
        """Raise StageError if a change does not fit its weight."""
        for name, (a, b) in lora.pairs.items():
            has, wants = self.shapes.get(name), (len(b), a.shape[1])
            if has != wants:
                there = f"{has[0]} x {has[1]}" if has and len(has) == 2 else "missing"
                raise StageError(
                    f"{lora.origin} is an adapter for another base: "
                    f"its {name} is {wants[0]} x {wants[1]}, that of {self.base} is {there}"
                )

    def to_peft(self, lora: Lora, modules: Iterable[str]) -> Mapping[str, Pair]:
        """Return the placed changes by the names of PEFT's modules, in PEFT's order of rows. Raise StageError."""
        self.demand(lora)
        names = {module: self._name(module, lora) for module in modules}
        if names.keys() and lora.pairs.keys() != set(names.values()):
            raise StageError(f"{lora.origin} changes other weights than those that are trained: train all linear ones")
        return {module: self._peft_rows(module, lora.pairs[name]) for module, name in names.items()}

    def _peft_rows(self, module: str, pair: Pair) -> Pair:
        heads = self.heads.get(module.rpartition(".")[2])
        return Pair(pair.a, deinterleaved(pair.b, heads) if heads else pair.b)

    def _name(self, module: str, lora: Lora) -> str:
        module = module.replace("model.language_model.", "model.").removeprefix("language_model.")
        name = self.names.get_name(f"{module}.weight", try_suffixes=(".weight",))
        if name is None:
            raise StageError(f"{lora.origin} is an adapter for another base: {self.base} has no {module}")
        return name

    def _rows(self, module: str, pair: Pair) -> Pair:
        heads = self.heads.get(module.rpartition(".")[2])
        return Pair(pair.a, interleaved(pair.b, heads) if heads else pair.b)


def interleaved(rows: Values, heads: int) -> Values:
    """Return the rows of each head, its first half and its second half taken in turns."""
    if len(rows) % (2 * heads):
        return rows  # of another base: the comparison of shapes says so
    return rows.reshape(heads, 2, -1, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def deinterleaved(rows: Values, heads: int) -> Values:
    """Return the rows of each head, every other one first: what `interleaved` was given."""
    return rows.reshape(heads, -1, 2, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def read_peft(folder: Path) -> Lora:
    """Return the adapter that PEFT saved there, by the names of its modules. Raise StageError."""
    config = _config(folder / "adapter_config.json")
    file = folder / "adapter_model.safetensors"
    sides: dict[str, dict[str, Values]] = {}
    for key, values in _safetensors(file):
        module, side = _parts(key, file)
        sides.setdefault(module, {})[side] = values
    # llama.cpp scales by alpha / rank alone
    alpha = config["lora_alpha"] * (math.sqrt(config["r"]) if config.get("use_rslora") else 1)
    return Lora(file, float(alpha), {module: _pair(module, found, file) for module, found in sides.items()})


def read_lora(file: Path) -> Lora:
    """Return the adapter in a GGUF file, by the names of the base's weights. Raise StageError."""
    reader = read_gguf(file)
    alpha = reader.fields.get(gguf.Keys.Adapter.LORA_ALPHA)
    if alpha is None:
        raise StageError(f"{file} is no LoRA adapter: its metadata lack {gguf.Keys.Adapter.LORA_ALPHA}")
    sides: dict[str, dict[str, Values]] = {}
    for tensor in reader.tensors:
        name, _, side = tensor.name.rpartition(".lora_")
        sides.setdefault(name, {})[side.upper()] = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
    return Lora(file, float(alpha.contents()), {name: _pair(name, found, file) for name, found in sides.items()})


def write_lora(file: Path, lora: Lora, layout: Layout, kind: AdapterKind, name: str = "") -> None:
    """Write the placed changes as the GGUF file that llama.cpp loads."""
    write_gguf(file, _fields(lora, layout.architecture, name, kind), _tensors(lora, kind))


def _fields(lora: Lora, architecture: str, name: str, kind: AdapterKind) -> dict[str, Field]:
    """Return the metadata by which llama.cpp knows an adapter."""
    return {
        ARCHITECTURE: Field(architecture, Type.STRING),
        gguf.Keys.General.TYPE: Field(gguf.GGUFType.ADAPTER, Type.STRING),
        gguf.Keys.General.NAME: Field(name, Type.STRING),
        gguf.Keys.Adapter.TYPE: Field("lora", Type.STRING),
        gguf.Keys.Adapter.LORA_ALPHA: Field(lora.alpha, Type.FLOAT32),
        gguf.Keys.General.FILE_TYPE: Field(int(FILE_TYPES[kind]), Type.UINT32),
        gguf.Keys.General.QUANTIZATION_VERSION: Field(gguf.GGML_QUANT_VERSION, Type.UINT32),
    }


def _tensors(lora: Lora, kind: AdapterKind) -> Iterator[tuple[str, StoredTensor]]:
    for name, (a, b) in lora.pairs.items():
        yield f"{name}.lora_a", encode_tensor(a, Kind[kind])
        yield f"{name}.lora_b", encode_tensor(b, Kind[kind])


def _config(file: Path) -> dict[str, Any]:
    """Raise StageError if a GGUF adapter cannot say what it says."""
    try:
        config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        kind, rank, alpha = config["peft_type"], config["r"], config["lora_alpha"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StageError(f"{file} cannot be read as the settings of a LoRA adapter: train it again") from error
    wrong = [field for field in UNTELLABLE if config.get(field)]
    if config.get("init_lora_weights", True) not in SAFE_STARTS:
        wrong.append(f"init_lora_weights={config['init_lora_weights']}")
    if config.get("use_rslora") and config.get("rank_pattern"):
        wrong.append("use_rslora with rank_pattern")
    if kind != "LORA" or wrong or rank < 1 or alpha <= 0:
        raise StageError(f"{file}: only a plain LoRA can be exported, this one has {', '.join(wrong) or kind}")
    return config


def _parts(key: str, file: Path) -> tuple[str, str]:
    """Return a tensor's module and its side, A or B. Raise StageError."""
    if "lora_embedding" in key or re.search(r"\b(lm_head|embed_tokens)\b", key):
        raise StageError(f"{file}: {key} changes the embedding or the output head, which no adapter can: leave it out")
    if not (match := KEY.fullmatch(key)):
        raise StageError(f"{file}: {key} is no part of a plain LoRA")
    return match["module"], match["side"]


def _pair(name: str, sides: Mapping[str, Values], file: Path) -> Pair:
    """Raise StageError."""
    match sides:
        case {"A": a, "B": b} if a.ndim == b.ndim == 2 and len(a) == b.shape[1]:
            pass
        case _:
            raise StageError(f"{file}: {name} is not a pair of matrices A and B of one rank")
    if max(np.abs(a).max(), np.abs(b).max()) <= np.finfo(np.float16).max:  # NaN is not
        return Pair(a, b)
    raise StageError(f"{file}: {name} holds numbers that are none or too large: the training went astray")


def _safetensors(file: Path) -> Iterator[tuple[str, Values]]:
    """Yield names and values. Raise StageError."""
    try:
        raw = file.read_bytes()
        start = 8 + int.from_bytes(raw[:8], "little")
        tensors = json.loads(raw[8:start])
        tensors.pop("__metadata__", None)
        found = [(name, _values(raw[start:], **tensor)) for name, tensor in tensors.items()]
    except (*DAMAGED, AttributeError) as error:
        raise StageError(f"{file} cannot be read as safetensors: it is cut off or damaged, train it again") from error
    if not found:
        raise StageError(f"{file} holds no tensor: train it again")
    yield from found


def _values(data: bytes, dtype: str, shape: list[int], data_offsets: tuple[int, int]) -> Values:
    """Return one tensor as float32; numpy has no bf16, whose bits are the upper half of float32's."""
    part = data[slice(*data_offsets)]
    if dtype == "BF16":
        values = (np.frombuffer(part, np.uint16).astype(np.uint32) << 16).view(np.float32)
    else:
        values = np.frombuffer(part, FLOATS[dtype]).astype(np.float32)
    return values.reshape(shape)
