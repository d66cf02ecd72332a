"""The one place that knows torch and TRL: rows of tokens in, checkpoints of a LoRA adapter out."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from skillstill.errors import StageError
from skillstill.models.engine import free_cores

from skillstill_training.learning.attention import register_attention
from skillstill_training.learning.bundles import bundle_rows
from skillstill_training.learning.checkpoints import whole_checkpoints
from skillstill_training.learning.rows import IGNORED, TrainingRow
from skillstill_training.learning.student import load_student, load_tokenizer, quietly, student_folder
from skillstill_training.learning.warm_start import warm_start
from skillstill_training.run.recipe import TrainConfig

PROBES = 8  # products of two matrices, to see which number format is faster here
OnLog = Callable[[int, int, Mapping[str, Any]], None]  # step, of how many, what the trainer says


def tune(rows: Sequence[TrainingRow], base: Path, target: Path, plan: TrainConfig, seed: int, on_log: OnLog) -> None:
    """Train and leave `checkpoint-STEP` folders in `target`; goes on from the last one there. Raise StageError.

    If several processes train together (`learning.processes`), this is the part of one of them.
    """
    from peft.helpers import disable_input_dtype_casting
    from transformers import PrinterCallback

    with quietly(), _enough_memory():
        trainer = _trainer(rows, student_folder(base), target, plan, seed)
        if plan.start:
            warm_start(trainer.model, base, Path(plan.start))
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(_listener(on_log))
        # Autocast converts what it must; PEFT's own conversion to float32 before it costs an eighth of a step.
        with disable_input_dtype_casting(trainer.model):
            trainer.train(resume_from_checkpoint=bool(whole_checkpoints(target)) or None)


def _trainer(rows: Sequence[TrainingRow], student: Path, target: Path, plan: TrainConfig, seed: int) -> Any:
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from trl import SFTConfig

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(free_cores())  # a thread too many, on a core that is taken, makes all of them slow
    half = plan.precision == "bf16" or (plan.precision == "auto" and bfloat16_pays())
    bundles = bundle_rows(rows, plan.bundle_tokens, seed)
    data = Dataset.from_list([asdict(bundle) | {"input_ids": bundle.tokens} for bundle in bundles])
    steps = -(-len(bundles) // plan.batch)
    settings = SFTConfig(
        output_dir=str(target),
        seed=seed,
        bf16=half,
        use_cpu=not torch.cuda.is_available(),
        gradient_checkpointing=False,  # 135M fit; computing activations twice costs a third of the speed
        max_length=None,  # rows that are too long are left out before, and counted
        remove_unused_columns=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        per_device_train_batch_size=plan.batch // int(os.environ.get("WORLD_SIZE", "1")),  # of a process
        num_train_epochs=1,  # `rows.drawn` repeats rows, in another order, if the budget allows
        learning_rate=plan.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=max(1, int(steps * plan.warmup)),
        max_grad_norm=1.0,
        save_strategy="steps" if plan.checkpoints > 1 else "epoch",
        save_steps=1 / plan.checkpoints,  # of all steps; the last one is saved in any case
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        ddp_find_unused_parameters=False,  # each step uses all of the adapter; looking for others takes time, and warns
    )
    lora = LoraConfig(r=plan.rank, lora_alpha=plan.alpha, target_modules="all-linear", task_type="CAUSAL_LM")
    model = load_student(student, torch.bfloat16 if half else torch.float32)
    model.set_attn_implementation(register_attention())
    return _trainer_class()(
        model=model,
        args=settings,
        train_dataset=data,
        data_collator=join_bundles,
        processing_class=load_tokenizer(student),
        peft_config=lora,
    )


def join_bundles(bundles: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a batch: the bundles as one row, and the parts of it that see each other (`attention.attend`)."""
    import torch

    parts: list[tuple[int, int, int, int]] = []
    offset = 0
    for bundle in bundles:
        shared, *ends = (offset + end for end in bundle["ends"])
        if shared > offset:
            parts.append((offset, shared, 0, 0))
        parts += [(first, end, offset, shared) for first, end in pairwise((shared, *ends))]
        offset += len(bundle["tokens"])
    joined = {name: [[one for bundle in bundles for one in bundle[name]]] for name in ("tokens", "labels", "positions")}
    return {
        "input_ids": torch.tensor(joined["tokens"]),
        "labels": torch.tensor(joined["labels"]),
        "position_ids": torch.tensor(joined["positions"]),
        "parts": torch.tensor(parts),
    }


def _trainer_class() -> type[Any]:
    import torch
    from trl import SFTTrainer

    class Trainer(SFTTrainer):  # type: ignore[misc, unused-ignore]
        """TRL's own loss computes the output head in chunks, twice: 40 % of a step on a CPU, to save memory."""

        def compute_loss(
            self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            """Return the mean cross-entropy of the learned tokens; the head is computed only if there is one."""
            labels = inputs["labels"][:, 1:]
            learned = labels != IGNORED
            read = {name: inputs[name] for name in ("input_ids", "position_ids", "parts")}
            with self.accelerator.autocast():
                logits = model(**read, use_cache=False, logits_to_keep=learned[0].nonzero()[:, 0]).logits[0].float()
            loss = torch.nn.functional.cross_entropy(logits, labels[learned], reduction="sum")
            if num_items_in_batch is None:
                return loss / learned.sum()
            return loss / num_items_in_batch * self.accelerator.num_processes  # their gradients are averaged

    return Trainer


def bfloat16_pays() -> bool:
    """Return whether this machine multiplies bfloat16 faster than float32: by 2 with AMX, by 1/20 on an AMD Zen 3."""
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    seconds = {}
    for dtype in (torch.float32, torch.bfloat16):
        left, right = torch.ones(512, 576, dtype=dtype), torch.ones(576, 1536, dtype=dtype)
        left @ right  # the first product chooses its kernel
        began = time.process_time()
        for _ in range(PROBES):
            left @ right
        seconds[dtype] = time.process_time() - began
    return seconds[torch.bfloat16] < seconds[torch.float32]


def _listener(on_log: OnLog) -> Any:
    from transformers import TrainerCallback

    class TrainingListener(TrainerCallback):  # type: ignore[misc, unused-ignore]
        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
            on_log(state.global_step, state.max_steps, logs or {})

    return TrainingListener()


@contextmanager
def _enough_memory() -> Iterator[None]:
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "memory" in str(error):
            raise StageError(
                "out of memory while training: lower `longest` or `batch` in [train] of recipe.toml, or name a smaller "
                "base with --base, then type the same command again"
            ) from error
        raise
