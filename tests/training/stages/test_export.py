"""What the exported adapter is compared on, and what is known of it after."""

from pathlib import Path

import pytest
from skillstill.errors import StageError, UsageError
from skillstill.models.engine import Engine, EngineOptions
from skillstill.models.sources import locate
from skillstill.skills.skill import load_skill
from skillstill_training.export.shipped import proof_file, proof_of
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import ExportProof, Gate
from skillstill_training.stages.dataset import make_dataset
from skillstill_training.stages.export import merge_into, prompts_of
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import write_text

pytestmark = pytest.mark.anyio
GATE = Gate(name="parity", passed=True, told="KL 1e-3")


async def test_prompts_are_conversations_up_to_a_turn_of_the_model(settings: Path, traced: RunFolder) -> None:
    make_dataset(settings, traced)
    base = locate(load_skill(settings).subagent.base)
    engine = Engine(base, EngineOptions(context=512))
    texts = [b"".join(map(engine.piece, prompt)).decode() for prompt in prompts_of(traced, base)]
    engine.close()
    assert len(set(texts)) == len(texts) == 20
    assert all(text.startswith("<|im_start|>system\nsettings<|im_end|>\n<|im_start|>user\n") for text in texts)
    assert all(text.endswith("<|im_start|>assistant\n") for text in texts)
    assert {text.count("<|im_start|>assistant\n") for text in texts} >= {1, 2}


def test_a_proof_holds_for_one_adapter(folder: RunFolder) -> None:
    with pytest.raises(StageError, match=r"6-parity\.json cannot be read: type `skillstill export SKILL` first"):
        proof_of(folder)
    folder.path.mkdir(parents=True)
    folder.exported.write_bytes(b"GGUF")
    proof = ExportProof(adapter=file_sha256(folder.exported), gate=GATE)
    write_text(proof_file(folder), proof.model_dump_json(exclude={"base"}))  # as they were before they named one
    assert proof_of(folder) == proof
    folder.exported.write_bytes(b"GGUF, another")
    with pytest.raises(StageError, match="is not the adapter that was compared with torch: export it again"):
        proof_of(folder)


def test_a_kind_that_nobody_knows_is_told_the_known_ones(folder: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--merged is one of F16, Q8_0, Q4_K_M, not 'Q2_K'"):
        merge_into(folder, tmp_path, "Q2_K")
