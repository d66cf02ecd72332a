"""What is known of the adapter that ships, beside the file: whether it says in llama.cpp what it learned in torch."""

from pathlib import Path

from pydantic import ValidationError
from skillstill.errors import StageError

from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import ExportProof
from skillstill_training.util.hashes import file_sha256


def proof_file(run: RunFolder) -> Path:
    return run.path / "6-parity.json"


def proof_of(run: RunFolder) -> ExportProof:
    """Return what was found of the exported adapter. Raise StageError if that was another one, or none."""
    try:
        proof = ExportProof.model_validate_json(proof_file(run).read_text(encoding="utf-8"))
        same = proof.adapter == file_sha256(run.exported)
    except (OSError, ValidationError) as error:
        raise StageError(f"{proof_file(run)} cannot be read: type `skillstill export SKILL` first") from error
    if not same:
        raise StageError(f"{run.exported} is not the adapter that was compared with torch: export it again")
    return proof
