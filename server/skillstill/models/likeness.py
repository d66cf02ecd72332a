"""Whether two model files are the same model: what each says after a few short texts.

A hub's file can hold the measured weights under another hash, for example with one more line of metadata. The texts
tell that file from another model. They are no defence against a model that somebody made to say the same after them.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import llama_cpp as llama
import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from skillstill.models.engine import Engine, EngineOptions, Logits, llama_build, log_sum_exp
from skillstill.types import BaseBehaviour, Frozen, GoldenText
from skillstill.util.storage import cache_folder, write_atomically

GOLDEN_TEXTS = (
    "<|im_start|>user\nWhere is the class Engine defined?<|im_end|>\n<|im_start|>assistant\n",
    "The capital of France is the city of",
    "def add(first, second):\n    return first +",
    "one, two, three, four, five, six, seven,",
    "2026-03-01 10:02:07 ERROR payment of order 7733 failed after 3 attempts\n2026-03-01 10:02:",
    "import os\nimport sys\n\n\nif __name__ ==",
)
# Nats. SmolLM2-135M as Q8_0 is at most 0.004 away after these texts; as Q4_0, Q5_1 or IQ4_NL, 0.2 and more after one.
# It bounds what a release was shown to bear: at 0.004, all its runs were the same (docs/performance.md).
MOST_DIVERGENCE = 0.02
LIKELIEST = 8  # tokens kept after each text: 0.92 to 1.0 of the probability, and as far away as all (0.0039 nats, Q8_0)
DIGITS = 5  # of a log-probability


class BaseLikeness(Frozen):
    """How far a file is from the measured base, in nats. `difference` says why it is another model; empty if alike."""

    divergence: float = 0.0
    difference: str = ""


def find_likeness(measured: BaseBehaviour, base: str, other: Path, sha256: str) -> BaseLikeness:
    """Return how alike a file is to the measured base. They are compared once; `base` is a SHA-256, too.

    Raise ModelError if llama.cpp cannot load the file.
    """
    record = _record_file(measured, base, sha256)
    with suppress(OSError, ValidationError):
        return BaseLikeness.model_validate_json(record.read_bytes())
    with comparison_engine(other) as engine:
        found = compare_behaviour(measured, engine)
    with suppress(OSError):  # a cache that cannot be written: it is compared again
        write_atomically(record, found.model_dump_json(indent=1) + "\n")
    return found


def _record_file(measured: BaseBehaviour, base: str, sha256: str) -> Path:
    """Return the place by what was compared: what one pack says of a base decides nothing for another pack."""
    said = hashlib.sha256(measured.model_dump_json().encode()).hexdigest()
    return cache_folder() / "bases" / f"{base[:16]}-{sha256[:16]}-{said[:16]}-{llama_build()}.json"


@contextmanager
def comparison_engine(file: Path) -> Iterator[Engine]:
    """Open a model in the one way in which models are compared. Raise ModelError."""
    engine = Engine(file, EngineOptions(context=128, threads=1, gpu_layers=0))
    try:
        yield engine
    finally:
        engine.close()


def logits_after(engine: Engine, text: str) -> Logits:
    """Return the logits after a text. Raise ModelError."""
    engine.forget(0, 0)
    return engine.decode(engine.tokenize(text), 0, 0).copy()


def measure_behaviour(engine: Engine) -> BaseBehaviour:
    """Return what the base says after each golden text. Raise ModelError."""
    texts = tuple(_golden(engine, text) for text in GOLDEN_TEXTS)
    return BaseBehaviour(vocabulary=engine.vocabulary_size, texts=texts)


def _golden(engine: Engine, text: str) -> GoldenText:
    logits = logits_after(engine, text)
    total, best = log_sum_exp(logits), np.argsort(-logits, kind="stable")[:LIKELIEST]
    likeliest = {int(token): min(0.0, round(float(logits[token]) - total, DIGITS)) for token in best}
    return GoldenText(text=text, tokens_hash=_tokens_hash(engine, text), likeliest=likeliest)


def compare_behaviour(measured: BaseBehaviour, engine: Engine) -> BaseLikeness:
    """Return how far a base is from the measured one, and why it is another model if it is. Raise ModelError."""
    if (size := _vocabulary_size(engine)) != measured.vocabulary:
        return BaseLikeness(difference=f"its vocabulary has {size:,} tokens and not {measured.vocabulary:,}")
    count = len(measured.texts)
    if changed := sum(_tokens_hash(engine, one.text) != one.tokens_hash for one in measured.texts):
        return BaseLikeness(difference=f"it reads {changed} of {count} short texts as other tokens")
    predictions = [logits_after(engine, one.text) for one in measured.texts]
    if not all(np.isfinite(logits).all() for logits in predictions):
        return BaseLikeness(difference="it says what is no number")
    return _likeness(measured.texts, predictions)


def _likeness(texts: Sequence[GoldenText], predictions: Sequence[Logits]) -> BaseLikeness:
    pairs = list(zip(texts, predictions, strict=True))
    nats = round(max(_divergence(one.likeliest, logits) for one, logits in pairs), DIGITS)
    others = sum(max(one.likeliest, key=one.likeliest.__getitem__) != logits.argmax() for one, logits in pairs)
    why = ""
    if others:
        away = f"(largest divergence {nats:.3f} nats)"
        why = f"after {others} of {len(texts)} short texts another token is likeliest {away}"
    elif nats > MOST_DIVERGENCE:
        why = f"what it says after short texts is up to {nats:.3f} nats away, and {MOST_DIVERGENCE} are allowed"
    return BaseLikeness(divergence=nats, difference=why)


def _divergence(expected: Mapping[int, float], logits: Logits) -> float:
    """Return the Kullback-Leibler divergence in nats, all tokens that are not stored taken for one."""
    tokens = list(expected)
    wanted = _with_rest(np.array([expected[token] for token in tokens]))
    came = _with_rest(logits[tokens].astype(np.float64) - log_sum_exp(logits))
    return max(0.0, float(np.sum(np.exp(wanted) * (wanted - came))))


def _with_rest(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
    rest = max(1e-9, 1.0 - float(np.exp(logarithms).sum()))  # rounded, all may be a little more than 1
    return np.append(logarithms, np.log(rest))


def _vocabulary_size(engine: Engine) -> int:
    """Return 0 for a file without words: llama.cpp ends the process if it is asked for its tokens."""
    without = llama.llama_vocab_type(engine.vocabulary) == llama.LLAMA_VOCAB_TYPE_NONE
    return 0 if without else engine.vocabulary_size


def _tokens_hash(engine: Engine, text: str) -> str:
    return hashlib.sha256(repr(engine.tokenize(text)).encode()).hexdigest()[:16]
