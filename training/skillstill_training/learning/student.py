"""A base as torch can train it: its GGUF weights in a plain model, converted once and cached by the file's hash.

transformers marks a model that it read from GGUF as quantized, and such a one can neither be trained nor saved. Its
weights in a fresh model can; reloaded, its logits differ by 0.0 (measured on SmolLM2-135M).
"""

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from platformdirs import user_cache_path
from skillstill.errors import StageError

from skillstill_training.util.hashes import file_sha256


def student_folder(base: Path) -> Path:
    """Return where config, float32 weights and tokenizer of a base lie; made if they do not yet.

    Raise StageError.
    """
    home = user_cache_path("skillstill") / "students" / file_sha256(base)
    if not (home / "config.json").is_file():
        home.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=home.parent, prefix=".part-") as part:
            _convert(base, Path(part, "student"))
            shutil.rmtree(home, ignore_errors=True)
            Path(part, "student").rename(home)
    return home


def load_student(folder: Path, dtype: Any) -> Any:
    """Return the plain model in a torch dtype."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, local_files_only=True)


def load_tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True)


@contextmanager
def quietly() -> Iterator[None]:
    """Return progress is told by us, and the advice of these libraries is of other machines.

    Nothing is looked up on a hub.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when they are imported
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # large pages: a quarter of a step went into faults of memory
    import datasets
    import transformers

    datasets.disable_progress_bars()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _convert(base: Path, target: Path) -> None:
    """Raise StageError if transformers does not know this kind of GGUF."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = {"pretrained_model_name_or_path": base.parent, "gguf_file": base.name, "local_files_only": True}
    try:
        with quietly():
            tokenizer = AutoTokenizer.from_pretrained(**where)
            read = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    except (OSError, ValueError, KeyError, NotImplementedError) as error:
        raise StageError(f"transformers cannot read the base {base.name}: {error}") from error
    config = read.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    config.architectures = [type(read).__name__]
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(read.state_dict(), strict=True)
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
