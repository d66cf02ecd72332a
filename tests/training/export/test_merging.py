"""Base and adapter in one file, where that file still says what the two say."""

from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader
from skillstill.errors import GateError, StageError
from skillstill_training.export import merging
from skillstill_training.export.adapter import export_adapter
from skillstill_training.export.merging import MergeKind, merge
from skillstill_training.run.folder import RunFolder

from tests.training.tiny import PROMPTS, Sizes, lora, save_adapter, save_base


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return save_base(tmp_path / "base.gguf")


@pytest.fixture
def adapter(folder: RunFolder, base: Path) -> Path:
    save_adapter(folder.adapter)
    return export_adapter(folder, base, name="settings").path


@pytest.mark.parametrize(("kind", "stored"), [("F16", "F16"), ("Q8_0", "Q8_0")])
def test_a_merged_model_speaks_as_base_and_adapter_do(
    base: Path, adapter: Path, tmp_path: Path, kind: MergeKind, stored: str
) -> None:
    merged = merge(base, adapter, tmp_path / "merged.gguf", kind, PROMPTS)
    assert (merged.kind, merged.weights) == (kind, 14)
    assert merged.likeness.kl < 1e-3
    matrices = [tensor for tensor in GGUFReader(merged.path).tensors if len(tensor.shape) > 1]
    assert {tensor.tensor_type.name for tensor in matrices} == {stored}


def test_metadata_and_what_the_adapter_leaves_alone_are_the_bases(base: Path, adapter: Path, tmp_path: Path) -> None:
    before = GGUFReader(base)
    after = GGUFReader(merge(base, adapter, tmp_path / "merged.gguf", "F16", PROMPTS).path)
    told = {key: field.contents() for key, field in before.fields.items() if not key.startswith("GGUF.")}
    assert told == {key: after.fields[key].contents() for key in told}
    assert [tensor.name for tensor in after.tensors] == [tensor.name for tensor in before.tensors]
    values = {tensor.name: tensor.data for tensor in after.tensors}
    for tensor in before.tensors:
        if "attn" not in tensor.name and "ffn" not in tensor.name:
            assert np.array_equal(values[tensor.name], tensor.data.astype(values[tensor.name].dtype))


def test_llama_cpp_makes_the_k_quant_where_the_gate_lets_it(
    base: Path, adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "MOST_KL", 10)
    monkeypatch.setattr(merging, "LEAST_TOP", 0)
    merged = merge(base, adapter, tmp_path / "merged.gguf", "Q4_K_M", PROMPTS)
    assert merged.path.stat().st_size < base.stat().st_size / 3
    assert not list(tmp_path.glob("tmp*"))


def test_a_merge_that_would_speak_otherwise_leaves_nothing_behind(base: Path, adapter: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(GateError, match=r"merged as Q4_K_M, the model speaks otherwise .*: KL \d.*wanted: KL <= 0.0"):
        merge(base, adapter, tmp_path / "merged.gguf", "Q4_K_M", PROMPTS)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_merge_that_fails_keeps_the_file_of_an_earlier_one(base: Path, adapter: Path, tmp_path: Path) -> None:
    out = tmp_path / "merged.gguf"
    before = merge(base, adapter, out, "F16", PROMPTS).path.read_bytes()
    with pytest.raises(StageError, match="cannot be compared without prompts"):
        merge(base, adapter, out, "Q8_0", [])
    assert out.read_bytes() == before


def test_an_adapter_for_another_base_and_what_is_no_adapter_are_refused(
    folder: RunFolder, base: Path, tmp_path: Path
) -> None:
    sizes = Sizes(hidden=96)
    save_adapter(folder.adapter, lora(sizes))
    other = export_adapter(folder, save_base(tmp_path / "other.gguf", sizes), name="settings").path
    with pytest.raises(StageError, match="is an adapter for another base"):
        merge(base, other, tmp_path / "merged.gguf", "F16", PROMPTS)
    with pytest.raises(StageError, match=r"base\.gguf is no LoRA adapter"):
        merge(base, base, tmp_path / "merged.gguf", "F16", PROMPTS)
    other.write_bytes(other.read_bytes()[:-200])
    with pytest.raises(StageError, match="cannot be read as GGUF"):
        merge(base, other, tmp_path / "merged.gguf", "F16", PROMPTS)
