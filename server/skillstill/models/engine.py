"""One GGUF base in memory through llama.cpp's low-level API: tokens, sequences, logits, adapters. Not thread-safe."""

import ctypes
import hashlib
import os
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Before libgomp loads. Threads that spin while they wait starve a busy machine, threads that sleep at once are slow on
# an idle one: a thousand turns of spinning give 90 tokens a second where sleeping gives 30 (docs/figures.md).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import llama_cpp as llama
import numpy as np
from numpy.typing import NDArray

from skillstill.errors import ModelError
from skillstill.types import Adapter

# Tokens of one llama_decode: the unit of cancellation. On a CPU, 128 read as fast as 512 (reference measurement);
# a graphics processor wants more and needs no patience.
CPU_BATCH, GPU_BATCH = 128, 512
LOADED_ADAPTERS = 4  # an adapter of rank 16 takes 8 MB, and 8 ms to load
FIRST_LENGTH = 512  # tokens of each sequence at first: most runs of a taught model need no more
ALL_LAYERS = 999
Logits = NDArray[np.float32]  # (vocabulary_size,)
_silent = llama.llama_log_callback(lambda *_: None)  # the library keeps only the pointer


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """At most `context` tokens for each of `slots` sequences; memory is taken as the longest of them grows.

    threads None: the cores free at each turn. gpu_layers None: all if a graphics processor is usable.
    """

    context: int = 4_096
    slots: int = 1
    threads: int | None = None
    gpu_layers: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Tokens that a batch appends to a sequence at a position. Logits are wanted of those from index `wanted` on."""

    sequence: int
    position: int
    tokens: Sequence[int]
    wanted: int


class Engine:
    def __init__(self, path: Path, options: EngineOptions) -> None:
        """Raise ModelError if llama.cpp cannot load the file."""
        self.options = options
        self._on_gpu = uses_gpu(options.gpu_layers)
        self._model = load_model(path, self._model_params())
        self.vocabulary = llama.llama_model_get_vocab(self._model)
        self.vocabulary_size: int = llama.llama_vocab_n_tokens(self.vocabulary)
        self.capacity = GPU_BATCH if self._on_gpu else CPU_BATCH
        self._length = min(FIRST_LENGTH, options.context)
        self._contexts: list[Any] = []  # the one in use; a list, so that it can be freed after the engine is gone
        self._batch = llama.llama_batch_init(self.capacity, 0, 1)
        # llama.cpp's memory is not Python's: whoever only drops an engine would keep its weights and context for good.
        self.close = weakref.finalize(self, _free, self._batch, self._contexts, self._model)
        self.close.atexit = False
        self._contexts.append(self._new_context(self._length))
        self._adapters: dict[Adapter, Any] = {}
        self._active: Adapter | None = None

    def tokenize(self, text: str) -> list[int]:
        """Return tokens without BOS; `<|im_start|>` and its like become special tokens wherever they stand."""
        raw = text.encode()
        buffer = (llama.llama_token * (len(raw) + 8))()
        count = llama.llama_tokenize(self.vocabulary, raw, len(raw), buffer, len(buffer), False, True)
        return list(buffer[:count])

    def piece(self, token: int) -> bytes:
        """Return the bytes of a token, special ones by their name; a character may be split over several."""
        buffer = ctypes.create_string_buffer(256)
        size = llama.llama_token_to_piece(self.vocabulary, token, buffer, len(buffer), 0, True)
        return buffer.raw[: max(size, 0)]

    def decode(self, tokens: Sequence[int], position: int, sequence: int) -> Logits:
        """Append tokens to a sequence. Return the logits of the last, valid until the next call. Raise ModelError."""
        for first in range(0, len(tokens), self.capacity):
            part = tokens[first : first + self.capacity]
            is_last = first + len(part) == len(tokens)
            rows = self.read([Part(sequence, position + first, part, len(part) - is_last)])
        return rows[0][-1]

    def read(self, parts: Sequence[Part]) -> Sequence[Sequence[Logits]]:
        """Decode one batch of at most `capacity` tokens. Return the wanted logits of each part. Raise ModelError.

        They are valid until the next call.
        """
        self._grow(max(part.position + len(part.tokens) for part in parts))
        starts = self._fill(parts)
        if code := llama.llama_decode(self._context, self._batch):
            raise ModelError(f"llama.cpp could not decode {self._batch.n_tokens} tokens (code {code})")
        return [
            [self._logits(start + at) for at in range(part.wanted, len(part.tokens))]
            for start, part in zip(starts, parts, strict=True)
        ]

    @property
    def threads(self) -> int:
        return int(llama.llama_n_threads(self._context))

    def settle_threads(self) -> None:
        """Take the cores that are free now."""
        if self.options.threads is None:
            self._set_threads(free_cores())

    def _set_threads(self, threads: int) -> None:
        llama.llama_set_n_threads(self._context, threads, threads)

    def forget(self, sequence: int, position: int) -> None:
        """Drop what a sequence holds from this position on."""
        llama.llama_memory_seq_rm(self._memory, sequence, position, -1)

    def copy(self, source: int, target: int) -> None:
        """Let a sequence hold what another one does."""
        self.forget(target, 0)
        llama.llama_memory_seq_cp(self._memory, source, target, -1, -1)

    def state(self, sequence: int) -> bytes:
        """Return the keys and values that a sequence holds."""
        size = llama.llama_state_seq_get_size(self._context, sequence)
        buffer = (ctypes.c_uint8 * size)()
        return ctypes.string_at(buffer, llama.llama_state_seq_get_data(self._context, buffer, size, sequence))

    def restore(self, sequence: int, state: bytes) -> bool:
        """Let a sequence hold these keys and values. If they are cut short or another model's, it is empty: False."""
        self.forget(sequence, 0)
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        if llama.llama_state_seq_set_data(self._context, buffer, len(state), sequence):
            return True
        self.forget(sequence, 0)
        return False

    def use(self, adapter: Adapter | None) -> None:
        """Decode with this LoRA adapter from now on, or with the bare base. Raise ModelError.

        Keys and values computed under one adapter are wrong under another: a sequence is emptied in between.
        """
        if adapter == self._active:
            return
        chosen = [] if adapter is None else [self._adapter(adapter)]
        array = (llama.llama_adapter_lora_p_ctypes * len(chosen))(*chosen)
        scales = (ctypes.c_float * len(chosen))(*[1.0] * len(chosen))
        if llama.llama_set_adapters_lora(self._context, array, len(chosen), scales):
            raise ModelError(f"llama.cpp could not switch to the adapter {adapter.path if adapter else None}")
        self._active = adapter
        self._unload_adapters()

    def form(self) -> str:
        """Return the form of the weights as llama.cpp names it, such as Q8_0."""
        about = ctypes.create_string_buffer(128)
        llama.llama_model_desc(self._model, about, len(about))
        return "".join(about.value.decode(errors="replace").split(" ", 2)[2:])  # behind the architecture and the size

    @property
    def _context(self) -> Any:
        return self._contexts[0]

    @property
    def _memory(self) -> Any:
        return llama.llama_get_memory(self._context)

    def _model_params(self) -> Any:
        params = llama.llama_model_default_params()
        layers = ALL_LAYERS if self.options.gpu_layers is None else self.options.gpu_layers
        params.n_gpu_layers = layers * self._on_gpu
        return params

    def _grow(self, length: int) -> None:
        """Make room for sequences of this length: twice as much as before, or more. Raise ModelError."""
        if length <= self._length or self._length == self.options.context:
            return
        states = [self.state(sequence) for sequence in range(self.options.slots)]
        doubled = self._length
        while doubled < length:
            doubled *= 2
        longer = min(doubled, self.options.context)
        threads = self.threads
        old, self._contexts[:] = self._context, [self._new_context(longer)]
        self._length = longer
        self._set_threads(threads)
        llama.llama_free(old)
        adapter, self._active = self._active, None
        self.use(adapter)
        for sequence, state in enumerate(states):
            self.restore(sequence, state)

    def _new_context(self, length: int) -> Any:
        params = llama.llama_context_default_params()
        params.n_ctx, params.n_seq_max = length * self.options.slots, self.options.slots
        params.n_batch = params.n_ubatch = self.capacity
        params.n_threads = params.n_threads_batch = self.options.threads or 1
        # On a CPU, flash attention divides its sums by the number of threads: the same prompt would be answered
        # differently on a busy day. Without it the logits are equal, for a tenth of the reading speed.
        params.flash_attn_type = -1 if self._on_gpu else 0
        if context := llama.llama_init_from_model(self._model, params):
            return context
        raise ModelError(f"no memory for a context of {params.n_ctx} tokens: serve fewer slots or lower limits.context")

    def _logits(self, index: int) -> Logits:
        return np.ctypeslib.as_array(llama.llama_get_logits_ith(self._context, index), shape=(self.vocabulary_size,))

    def _fill(self, parts: Sequence[Part]) -> Sequence[int]:
        """Return the index in the batch at which each part begins."""
        batch, index, starts = self._batch, 0, []
        for part in parts:
            starts.append(index)
            for at, token in enumerate(part.tokens):
                batch.token[index], batch.pos[index] = token, part.position + at
                batch.n_seq_id[index], batch.seq_id[index][0] = 1, part.sequence
                batch.logits[index] = at >= part.wanted
                index += 1
        batch.n_tokens = index
        return starts

    def _adapter(self, file: Adapter) -> Any:
        loaded = self._adapters.pop(file, None) or llama.llama_adapter_lora_init(self._model, str(file.path).encode())
        if not loaded:
            raise ModelError(f"{file.path} is not a LoRA adapter for this base")
        self._adapters[file] = loaded  # the one used last is the last
        return loaded

    def _unload_adapters(self) -> None:
        """Free those that were not used for longest: ten skills take as much memory as four."""
        unused = [file for file in self._adapters if file != self._active]
        for file in unused[: max(0, len(self._adapters) - LOADED_ADAPTERS)]:
            llama.llama_adapter_lora_free(self._adapters.pop(file))


def _free(batch: Any, contexts: Sequence[Any], model: Any) -> None:
    llama.llama_batch_free(batch)
    for context in contexts:
        llama.llama_free(context)
    llama.llama_model_free(model)
    _return_free_memory()


def _return_free_memory() -> None:
    """Give memory that is free back to the system: glibc keeps some 60 MB of what a model and its contexts took."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


def load_model(path: Path, params: Any) -> Any:
    """Return a GGUF model as llama.cpp holds it. Raise ModelError."""
    silence()
    if model := llama.llama_model_load_from_file(str(path).encode(), params):
        return model
    raise ModelError(f"llama.cpp cannot load {path}: not a GGUF model that this version knows")


def silence() -> None:
    """Keep llama.cpp from printing."""
    llama.llama_log_set(_silent, ctypes.c_void_p(0))


def uses_gpu(gpu_layers: int | None) -> bool:
    """Return whether a model with so many layers there, or None for all that can be, runs on a graphics processor."""
    return bool(llama.llama_supports_gpu_offload()) and gpu_layers != 0


def llama_build() -> str:
    """Return a name for the llama.cpp that is installed. Another build, with whatever options, has another."""
    library = Path(llama.__file__).parent / "lib"
    files = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in sorted(library.iterdir())]
    return f"{llama.__version__}-{hashlib.sha256(repr(files).encode()).hexdigest()[:8]}"


def divergence(expected: NDArray[np.floating], came: NDArray[np.floating]) -> float:
    """Return the Kullback-Leibler divergence, in nats, of what came from what was expected: logits (vocabulary,)."""
    wanted, had = _log_softmax(expected), _log_softmax(came)
    return float(np.sum(np.exp(wanted) * (wanted - had)))


def _log_softmax(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    shifted = logits.astype(np.float64) - logits.max()
    normal: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum())
    return normal


def log_sum_exp(logits: NDArray[np.float32]) -> float:
    """Return the logarithm of what the exponentials of logits sum to: a logit less it is a log-probability."""
    top = logits.max()
    return float(top + np.log(np.exp(logits - top).sum()))


def free_cores() -> int:
    """Return how many cores are free now, at least one: a thread too many costs more than it brings."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable - _busy())


def _busy() -> int:
    """Return how many other threads want to run: the least of three looks on Linux, else the minute's load."""
    table = Path("/proc/loadavg")
    if not table.exists():
        return round(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 0
    looks = []
    for _ in range(3):
        time.sleep(0.002)
        looks.append(int(table.read_text(encoding="ascii").split()[3].partition("/")[0]) - 1)  # less this one
    return min(looks)
