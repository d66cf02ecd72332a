"""The form in which a base is served: on a processor, one that llama.cpp multiplies faster, made here once.

the shipped file -> Q8_0 (llama.cpp, about a second) -> compared with the shipped file -> kept in the user's cache

What ships stays one small file. llama.cpp has no fast matrix product for its Q4_1, but has one for Q8_0, which answers
alike (docs/performance.md). A form is named by its base and by the build of llama.cpp that made and compared it, so
that another build makes its own.
"""

import ctypes
import hashlib
import logging
import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import llama_cpp as llama
from pydantic import ValidationError

from skillstill.errors import BaseError, ModelError
from skillstill.models.decoding import FormChoice
from skillstill.models.engine import Logits, divergence, llama_build, load_model, silence, uses_gpu
from skillstill.models.likeness import GOLDEN_TEXTS, MOST_DIVERGENCE, comparison_engine, logits_after
from skillstill.models.sources import locate
from skillstill.types import Frozen, ModelFile
from skillstill.util.storage import cache_folder, locked, write_atomically

SHIPPED, KIND = "shipped", "Q8_0"
SLOW = str(llama.LLAMA_FTYPE_MOSTLY_Q4_1)  # the type of file that gains
UNUSED = 7 * 86_400  # seconds after which a form goes that nothing has loaded
PART, LOCK = ".part-", ".lock"
ROOM = 2  # times the shipped file: a form of Q4_1 has 1.5 times its bytes
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServedForm:
    """The file to load. If it is the one that ships, `reason` says why; else `divergence` is from that one, in nats."""

    path: Path
    kind: str
    divergence: float = 0.0
    reason: str = ""


class FormRecord(Frozen):
    """The hash of a form and its divergence from the shipped file; or why there is none."""

    sha256: str = ""
    divergence: float = 0.0
    refused: str = ""


@dataclass(frozen=True)
class FormFiles:
    """The files of a base's form, as the llama.cpp that is installed makes it. `base` is the SHA-256."""

    shipped: Path
    base: str

    @cached_property
    def file(self) -> Path:
        return forms_folder() / f"{self.base[:16]}-{KIND}-{llama_build()}.gguf"

    @property
    def record(self) -> Path:
        return self.file.with_suffix(".json")


def forms_folder() -> Path:
    return cache_folder() / "forms"


def serving_form(shipped: Path, sha256: str, choice: FormChoice = "fast", gpu_layers: int | None = 0) -> ServedForm:
    """Return the faster form of a verified base, made if it is not there yet; else the shipped file, and why."""
    if choice == "shipped":
        return ServedForm(shipped, SHIPPED, reason="asked for")
    if uses_gpu(gpu_layers):
        return ServedForm(shipped, SHIPPED, reason="a graphics processor reads the smaller file faster")
    files = FormFiles(shipped, sha256)
    try:
        return _kept(files) or _made(files)
    except ModelError as error:
        reason = str(error)
    except OSError as error:
        reason = f"{error.filename or forms_folder()}: {error.strerror}"
    log.warning("%s is served as it ships, which is slower: %s", shipped.name, reason)
    return ServedForm(shipped, SHIPPED, reason=reason)


def _kept(files: FormFiles) -> ServedForm | None:
    """Return what was made or refused earlier; None if that is nothing, or damaged."""
    if not (record := _record(files.record)):
        return None
    if record.refused:
        return ServedForm(files.shipped, SHIPPED, reason=record.refused)
    try:
        locate(ModelFile(source=f"file:{files.file}", sha256=record.sha256))
    except BaseError:
        log.warning("%s is damaged or gone: it is made again", files.file)
        return None
    with suppress(OSError):  # somebody else's, readable to us
        os.utime(files.record)
    return ServedForm(files.file, KIND, record.divergence)


def _record(file: Path) -> FormRecord | None:
    try:
        return FormRecord.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return None


def _made(files: FormFiles) -> ServedForm:
    """Make the form while no other process does. Raise OSError and ModelError."""
    folder = forms_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with locked(folder / LOCK):
        if found := _kept(files):
            return found
        _prune(folder)
        if (file_type := _file_type(files.shipped)) != SLOW:
            return _refuse(files, f"no faster form is known for its type of file, {file_type}")
        _check_room(files.shipped, folder)
        with TemporaryDirectory(dir=folder, prefix=PART) as part:
            return _make(files, Path(part) / files.file.name)


def _make(files: FormFiles, draft: Path) -> ServedForm:
    began = time.perf_counter()
    requantise(files.shipped, draft, KIND)
    nats, same = _compare(files.shipped, draft)
    if not same or nats > MOST_DIVERGENCE:
        log.warning("%s is served as it ships: made faster, it answers otherwise", files.shipped.name)
        return _refuse(files, f"as {KIND} it answers otherwise here ({nats:.3f} nats away)")
    record = _keep(files, draft, nats)
    seconds, size = time.perf_counter() - began, files.file.stat().st_size / 1e6
    log.info("made %s in %.1f s: %s as %s, %.0f MB", files.file, seconds, files.shipped.name, KIND, size)
    return ServedForm(files.file, KIND, record.divergence)


def _keep(files: FormFiles, draft: Path, nats: float) -> FormRecord:
    """Put the file in its place before its record, and on the disk before that: what a record names is whole."""
    with draft.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
        os.fsync(content.fileno())
    draft.replace(files.file)
    record = FormRecord(sha256=sha256, divergence=round(nats, 5))
    write_atomically(files.record, record.model_dump_json(indent=1) + "\n")
    return record


def _refuse(files: FormFiles, why: str) -> ServedForm:
    write_atomically(files.record, FormRecord(refused=why).model_dump_json(indent=1) + "\n")
    return ServedForm(files.shipped, SHIPPED, reason=why)


def requantise(source: Path, target: Path, kind: str) -> None:
    """Write a GGUF file with other numbers. Raise ModelError."""
    silence()
    params = llama.llama_model_quantize_default_params()
    params.ftype = getattr(llama, f"LLAMA_FTYPE_MOSTLY_{kind}")
    params.allow_requantize, params.nthread = True, 1
    if code := llama.llama_model_quantize(str(source).encode(), str(target).encode(), ctypes.byref(params)):
        raise ModelError(f"llama.cpp could not write {source.name} as {kind} to {target.parent.parent} (code {code})")


def _compare(shipped: Path, form: Path) -> tuple[float, bool]:
    """Return the largest divergence of what comes after the golden texts, and if the likeliest token is the same."""
    pairs = list(zip(_predictions(shipped), _predictions(form), strict=True))
    largest = max(divergence(one, other) for one, other in pairs)
    return largest, all(one.argmax() == other.argmax() for one, other in pairs)


def _predictions(path: Path) -> Sequence[Logits]:
    """Return the logits after each golden text."""
    with comparison_engine(path) as engine:
        return [logits_after(engine, text) for text in GOLDEN_TEXTS]


def _file_type(path: Path) -> str:
    """Return the number of llama.cpp's type of file. Raise ModelError."""
    params = llama.llama_model_default_params()
    params.vocab_only = True
    model = load_model(path, params)
    said = ctypes.create_string_buffer(16)
    llama.llama_model_meta_val_str(model, b"general.file_type", said, len(said))
    llama.llama_model_free(model)
    return said.value.decode()


def _check_room(shipped: Path, folder: Path) -> None:
    """Raise ModelError. A disk that is filled up for nothing would be in everybody's way."""
    wanted, free = ROOM * shipped.stat().st_size, shutil.disk_usage(folder).free
    if free < wanted:
        raise ModelError(f"{folder} has {free / 1e6:.0f} MB free, and its faster form wants {wanted / 1e6:.0f}")


def _prune(folder: Path) -> None:
    """Remove what a dead process left, and forms that nothing has used for long: of other bases, or other builds."""
    for part in folder.glob(f"{PART}*"):
        shutil.rmtree(part, ignore_errors=True)
    for record in folder.glob("*.json"):
        if record.stat().st_mtime < time.time() - UNUSED:
            record.with_suffix(".gguf").unlink(missing_ok=True)
            record.unlink()
