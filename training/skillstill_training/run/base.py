"""Which base a run is trained on, as a file beside its artifacts: `base.json`."""

from pathlib import Path

from skillstill.errors import StageError
from skillstill.types import ModelFile

from skillstill_training.run.folder import RunFolder
from skillstill_training.util.jsonl import write_text


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


def _base_file(run: RunFolder) -> Path:
    return run.path / "base.json"
