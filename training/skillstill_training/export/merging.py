"""Base and adapter as one GGUF file, for programs that load no adapters. What rounding would erase is not written."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import gguf
import llama_cpp
from gguf import GGMLQuantizationType as Kind
from gguf import GGUFReader, GGUFValueType
from skillstill.errors import GateError, StageError

from skillstill_training.gguf.divergence import Divergence, Prompts, compare, llama_voice
from skillstill_training.gguf.files import (
    Field,
    StoredTensor,
    encode_tensor,
    fields_of,
    read_gguf,
    replacing,
    write_gguf,
)
from skillstill_training.gguf.lora import FILE_TYPES, AdapterKind, Layout, Lora, read_lora
from skillstill_training.util.hashes import file_sha256

MergeKind = Literal["F16", "Q8_0", "Q4_K_M"]
# On SmolLM2-135M with a trained adapter F16 lies 9e-4 and Q8_0 1.5e-3 away, which is no more than rounding does anyway;
# on an adapter of noise 3.6e-3 and 6.5e-3. Q4_K_M there is at 0.06, with 13 % other tokens.
MOST_KL = 6e-3
LEAST_TOP = 0.95


@dataclass(frozen=True, slots=True)
class Merged:
    """The file, how many of its weights the adapter changed, and how like base and adapter it speaks."""

    path: Path
    sha256: str
    kind: MergeKind
    weights: int
    likeness: Divergence


def merge(base: Path, adapter: Path, out: Path, kind: MergeKind, prompts: Prompts) -> Merged:
    """Write base + adapter. Raise StageError; GateError if it would not speak as the two do, nothing written."""
    lora = read_lora(adapter)
    Layout.of(base).demand(lora)
    with replacing(out) as part:
        _write(part, base, lora, kind)
        likeness = _likeness(base, adapter, part, prompts)
        if likeness.kl > MOST_KL or likeness.top < LEAST_TOP:
            raise GateError(
                f"merged as {kind}, the model speaks otherwise than {base.name} with its adapter: {likeness} "
                f"(wanted: KL <= {MOST_KL}, same token at >= {LEAST_TOP:.0%}); ship the adapter, or merge as F16"
            )
    return Merged(out, file_sha256(out), kind, len(lora.pairs), likeness)


def _likeness(base: Path, adapter: Path, merged: Path, prompts: Prompts) -> Divergence:
    with llama_voice(base, adapter, prompts) as two, llama_voice(merged, None, prompts) as one:
        return compare(two, one, prompts, two.stop)


def _write(file: Path, base: Path, lora: Lora, kind: MergeKind) -> None:
    if kind != "Q4_K_M":
        return _write_plain(file, base, lora, kind)
    with TemporaryDirectory(dir=file.parent) as folder:
        exact = Path(folder) / "F16.gguf"
        _write_plain(exact, base, lora, "F16")
        return _requantise(exact, file)


def _write_plain(file: Path, base: Path, lora: Lora, kind: AdapterKind) -> None:
    """Write base and changes. All metadata are the base's: no tokenizer is converted, so none can be wrong."""
    reader = read_gguf(base)
    fields = fields_of(reader)
    fields[gguf.Keys.General.FILE_TYPE] = Field(int(FILE_TYPES[kind]), GGUFValueType.UINT32)
    write_gguf(file, fields, _tensors(reader, lora, Kind[kind]))


def _tensors(reader: GGUFReader, lora: Lora, kind: Kind) -> Iterator[tuple[str, StoredTensor]]:
    for tensor in reader.tensors:
        if len(tensor.shape) < 2:  # norms and biases are small, and exact as they are
            yield tensor.name, StoredTensor(tensor.data, tensor.tensor_type)
            continue
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        if tensor.name in lora.pairs:
            values = values + lora.change(tensor.name)
        yield tensor.name, encode_tensor(values, kind)


def _requantise(exact: Path, file: Path) -> None:
    """Quantise with llama.cpp: `gguf` writes no K-quants. Raise StageError."""
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_K_M
    if code := llama_cpp.llama_model_quantize(str(exact).encode(), str(file).encode(), ctypes.byref(params)):
        raise StageError(f"llama.cpp could not quantise the merged model (code {code})")
