"""Which base a run is trained on, as a file beside its artifacts: `base.json`."""

from pathlib import Path

from skillstill.errors import StageError
from skillstill.types import ModelFile

from skillstill_training.run.folder import RunFolder
from skillstill_training.util.jsonl import write_text

# Where everybody finds a base that a run knows as a file of its own machine, by SHA-256.
HUBS = {
    "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32": (
        "hf:Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
        "@ebb2015119c907b064c512bf053e945850b5875f"
    )
}


def write_base(run: RunFolder, base: ModelFile) -> None:
    """Write which base is trained beside the run, so that later stages find it."""
    write_text(_base_file(run), base.model_dump_json(indent=1) + "\n")


def read_base(run: RunFolder) -> ModelFile | None:
    """Return which base this run is trained on; None before that. Raise StageError."""
    file = _base_file(run)
    try:
        return ModelFile.model_validate_json(file.read_text(encoding="utf-8")) if file.exists() else None
    except (OSError, ValueError) as error:
        raise StageError(f"{file} cannot be read: name the base with --base") from error


def public_base(base: ModelFile) -> ModelFile:
    """Return the base as others find it, if that is known; else as it is."""
    return base.model_copy(update={"source": HUBS.get(base.sha256, base.source)})


def _base_file(run: RunFolder) -> Path:
    return run.path / "base.json"
