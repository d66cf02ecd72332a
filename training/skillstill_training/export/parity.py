"""The gate between training and what ships: does llama.cpp, base and exported adapter, speak as torch learned to?"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from skillstill.errors import StageError

from skillstill_training.gguf.divergence import Divergence, Logits, Prompts, compare, llama_voice
from skillstill_training.learning.student import load_student
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Gate

PROMPTS = 20  # with up to 32 tokens after each: some 500 places
# Measured on SmolLM2-135M, a Q4_1 base with an F16 adapter against torch in fp32: KL 2.3e-3, the same token at 98.4 %.
# What is wrong lies far off: an adapter that rounding erased has 0.54 and 74 %, a Q4_K_M merge 0.06 and 83 %.
MOST_KL = 0.01
LEAST_TOP = 0.95
LEAST_TEXTS = 0.5  # at 98 % a token, every second text of 32 tokens is the same to its end


def check_parity(weights: Path, run: RunFolder, base: Path, prompts: Prompts) -> Gate:
    """Compare the PEFT adapter on the fp32 base in `weights` with the exported one on the GGUF `base`.

    Prompts are tokens, as rendered for training, up to where the model is to speak. Raise StageError and ModelError.
    """
    trained = TorchLogits(weights, run.adapter)
    with llama_voice(base, run.exported, prompts) as shipped:
        if trained.size != shipped.size:
            raise StageError(f"{weights} knows {trained.size} tokens and {base} {shipped.size}: they are no one base")
        return judge_parity(compare(trained, shipped, prompts, shipped.stop))


def judge_parity(likeness: Divergence) -> Gate:
    passed = likeness.kl <= MOST_KL and likeness.top >= LEAST_TOP and likeness.texts >= LEAST_TEXTS
    wanted = f"KL <= {MOST_KL}, same token at >= {LEAST_TOP:.0%}, same text for >= {LEAST_TEXTS:.0%}"
    told = f"torch and llama.cpp over {likeness.positions} tokens: {likeness} (wanted: {wanted})"
    return Gate(name="parity", passed=passed, told=told)


class TorchLogits:
    """What training made, in fp32 on the processor. Raises StageError."""

    def __init__(self, weights: Path, adapter: Path) -> None:
        try:
            import torch
            from peft import PeftModel
            from transformers import logging
        except ImportError as error:
            raise StageError(f"{error.name} is missing: type `pip install 'skillstill[training]'`") from error
        logging.disable_progress_bar()
        try:
            with warnings.catch_warnings(action="ignore", category=FutureWarning):  # about names of transformers 6
                base = load_student(weights, torch.float32)
                self._model = PeftModel.from_pretrained(base, str(adapter)).eval()
        except (OSError, ValueError, RuntimeError) as error:
            raise StageError(f"{adapter} cannot be put on {weights}: {error}") from error
        self._past: Any = None
        self.size: int = base.config.vocab_size

    def begin(self) -> None:
        self._past = None

    def read(self, tokens: Sequence[int]) -> Logits:
        import torch

        with torch.inference_mode():
            said = self._model(
                input_ids=torch.tensor([list(tokens)]), past_key_values=self._past, use_cache=True, logits_to_keep=1
            )
        self._past = said.past_key_values
        logits: Logits = said.logits[0, -1].numpy().astype(np.float32)
        return logits
