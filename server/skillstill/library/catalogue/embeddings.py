"""Texts as vectors: the mean of their tokens' static embeddings, without a model to run.

The table and the tokenizer are files of the `wordllama` package (the extra `search`); they are read, it is never
imported: its own loader looks for its tokenizer on a hub.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skillstill.util.packages import installed_file

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TABLE, TOKENIZER = (
    "wordllama/weights/l2_supercat_256.safetensors",
    "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
)
NAME = "wordllama-l2-supercat-256"  # of what the stored vectors were made with
WIDTH = 256
TOKENS = 512  # of a text; the rest says little more
MISSING = "searching by words alone; `pip install 'skillstill[search]'` lets it search by meaning too"
Vectors = NDArray[np.float32]


class Encoder:
    """Unit vectors of texts: their dot product is their nearness."""

    def __init__(self, table: NDArray[np.float16], tokenizer: "Tokenizer") -> None:
        self.table, self.tokenizer = table, tokenizer

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of shape (texts, WIDTH). A text without tokens has no neighbours: its vector is zero."""
        vectors = np.zeros((len(texts), WIDTH), np.float32)
        for row, text in enumerate(texts):
            if tokens := self.tokenizer.encode(text, add_special_tokens=False).ids[:TOKENS]:
                mean = self.table[tokens].astype(np.float32).mean(0)
                vectors[row] = mean / (np.linalg.norm(mean) + 1e-9)
        return vectors


@cache
def encoder() -> Encoder | None:
    """Return the encoder, or None if the extra `search` is not installed."""
    table, vocabulary = installed_file("wordllama", TABLE), installed_file("wordllama", TOKENIZER)
    try:
        from tokenizers import Tokenizer  # delayed: of the extra
    except ImportError:
        return None
    if table is None or vocabulary is None:
        return None
    tokenizer = Tokenizer.from_file(str(vocabulary))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return Encoder(_map_file(table), tokenizer)


def _map_file(file: Path) -> NDArray[np.float16]:
    """Return the one tensor of a safetensors file: 8 bytes that say how long its JSON head is, the head, the numbers.

    Mapped, not read: a question needs a dozen of its 32,000 rows.
    """
    with file.open("rb") as head:
        length = int.from_bytes(head.read(8), "little")
        (tensor,) = (value for name, value in json.loads(head.read(length)).items() if name != "__metadata__")
    start, _ = tensor["data_offsets"]
    return np.memmap(file, np.float16, "r", 8 + length + start, tuple(tensor["shape"]))
