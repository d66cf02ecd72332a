"""Stage 6, `skillstill export SKILL`: the adapter that training chose, as the GGUF file that is served on the base."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from skillstill_training.gguf.divergence import Divergence, Prompts, compare, llama_voice
from skillstill_training.gguf.files import replacing
from skillstill_training.gguf.lora import AdapterKind, Layout, Lora, read_peft, write_lora
from skillstill_training.run.folder import RunFolder
from skillstill_training.util.hashes import file_sha256

# llama.cpp rounds activations on a 4-bit base, so that any other last bit is heard: the same adapter in F32 and in F16
# lies 1.3e-3 apart there, with 99.6 % of the tokens the same (SmolLM2-135M). Twice that is where a real loss begins.
MOST_KL = 2.5e-3
LEAST_TOP = 0.98


@dataclass(frozen=True, slots=True)
class Exported:
    """The file, how its numbers are stored, how many weights it changes; `likeness` of Q8_0 to F16, if measured."""

    path: Path
    sha256: str
    kind: AdapterKind
    size: int
    weights: int
    likeness: Divergence | None = None


def export_adapter(
    run: RunFolder, base: Path, *, name: str, dtype: Literal["auto", "Q8_0", "F16"] = "auto", prompts: Prompts = ()
) -> Exported:
    """Write `6-adapter.gguf`; `auto` takes Q8_0 only if that answers `prompts` as F16 does. Raise StageError."""
    layout = Layout.of(base)
    lora = layout.placed(read_peft(run.adapter))
    kind, likeness = _smallest(lora, layout, prompts) if dtype == "auto" else (dtype, None)
    with replacing(run.exported) as part:
        write_lora(part, lora, layout, kind, name)
    size = run.exported.stat().st_size
    return Exported(run.exported, file_sha256(run.exported), kind, size, len(lora.pairs), likeness)


def _smallest(lora: Lora, layout: Layout, prompts: Prompts) -> tuple[AdapterKind, Divergence | None]:
    """Return Q8_0 if it is as good as F16, else F16; without prompts nobody can compare."""
    if not prompts:
        return "F16", None
    with TemporaryDirectory() as folder:
        large, small = Path(folder) / "F16.gguf", Path(folder) / "Q8_0.gguf"
        write_lora(large, lora, layout, "F16")
        write_lora(small, lora, layout, "Q8_0")
        with llama_voice(layout.base, large, prompts) as exact, llama_voice(layout.base, small, prompts) as rounded:
            likeness = compare(exact, rounded, prompts, exact.stop)
    return "Q8_0" if likeness.kl <= MOST_KL and likeness.top >= LEAST_TOP else "F16", likeness
