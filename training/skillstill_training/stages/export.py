"""Stage 6 whole, `skillstill export SKILL`: the adapter as it ships, and the proof that it says what was trained."""

from pathlib import Path
from typing import cast, get_args

from skillstill import chat
from skillstill.errors import UsageError
from skillstill.models.engine import Engine, EngineOptions

from skillstill_training.export.adapter import Exported, export_adapter
from skillstill_training.export.merging import Merged, MergeKind, merge
from skillstill_training.export.parity import PROMPTS, check_parity
from skillstill_training.export.shipped import proof_file
from skillstill_training.gguf.divergence import Prompts
from skillstill_training.learning.student import student_folder
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import ExportProof, Gate
from skillstill_training.teachers import Sample
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import read_lines, write_text


def ship(run: RunFolder, base: Path, *, name: str) -> tuple[Exported, Gate]:
    """Export the adapter and compare what ships with what was trained. Raise StageError and ModelError."""
    proof_file(run).unlink(missing_ok=True)  # of an earlier adapter
    prompts = prompts_of(run, base)
    exported = export_adapter(run, base, name=name, prompts=prompts)
    gate = check_parity(student_folder(base), run, base, prompts)
    proof = ExportProof(adapter=exported.sha256, base=file_sha256(base), gate=gate)
    write_text(proof_file(run), proof.model_dump_json(indent=1) + "\n")
    return exported, gate


def merge_into(run: RunFolder, base: Path, kind: str) -> Merged:
    """Write base and adapter as one model beside the adapter. Raise UsageError, and GateError if answers differ."""
    if kind not in get_args(MergeKind):
        raise UsageError(f"--merged is one of {', '.join(get_args(MergeKind))}, not {kind!r}")
    out = run.path / f"6-merged.{kind}.gguf"
    return merge(base, run.exported, out, cast("MergeKind", kind), prompts_of(run, base))


def prompts_of(run: RunFolder, base: Path, count: int = PROMPTS) -> Prompts:
    """Return training conversations, evenly drawn, each as tokens up to one of its turns: the first, the second …"""
    samples = read_lines(run.dataset, Sample)
    chosen = samples[:: max(1, len(samples) // count)][:count]
    engine = Engine(base, EngineOptions(context=512))
    try:
        return [_prompt(engine, sample, number) for number, sample in enumerate(chosen)]
    finally:
        engine.close()


def _prompt(engine: Engine, sample: Sample, number: int) -> list[int]:
    segments = chat.render(sample.messages, chat.LINES, sample.tools)
    turns = [index for index, segment in enumerate(segments) if segment.learned]
    read = segments[: turns[number % len(turns)]]
    return [token for segment in read for token in engine.tokenize(segment.text)]
