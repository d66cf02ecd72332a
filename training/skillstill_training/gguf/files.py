"""GGUF files as a whole: read with a sentence for what is wrong with them, written all or nothing."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Kind
from gguf import GGUFReader, GGUFValueType, GGUFWriter
from numpy.typing import NDArray
from skillstill.errors import StageError

ARCHITECTURE = "general.architecture"
# What the reader of `gguf` raises over bytes that are no GGUF, or are one that was cut off.
DAMAGED = (OSError, ValueError, LookupError, ArithmeticError, MemoryError, TypeError, RuntimeWarning)


class Field(NamedTuple):
    """A metadata value with its type; `items` is that of an array's values."""

    value: Any
    type: GGUFValueType
    items: GGUFValueType | None = None


class StoredTensor(NamedTuple):
    """A tensor as a file holds it: the bytes of its rows, and how they are to be read."""

    data: NDArray[Any]
    kind: Kind


def encode_tensor(values: NDArray[np.float32], kind: Kind) -> StoredTensor:
    """Return the values as `kind`, or as F16 if their rows do not divide into its blocks.

    Llama.cpp's converter does so.
    """
    if values.shape[-1] % gguf.GGML_QUANT_SIZES[kind][0]:
        kind = Kind.F16
    return StoredTensor(gguf.quants.quantize(np.ascontiguousarray(values), kind), kind)


def read_gguf(file: Path) -> GGUFReader:
    """Raise StageError."""
    try:
        return GGUFReader(file)
    except DAMAGED as error:
        raise StageError(f"{file} cannot be read as GGUF, it is damaged or no model: fetch or make it again") from error


def fields_of(reader: GGUFReader) -> dict[str, Field]:
    """Return all metadata but the header's counts, which a writer counts anew."""
    items = ((key, field) for key, field in reader.fields.items() if not key.startswith("GGUF."))
    return {
        key: Field(field.contents(), field.types[0], field.types[1] if len(field.types) > 1 else None)
        for key, field in items
    }


def write_gguf(file: Path, fields: Mapping[str, Field], tensors: Iterator[tuple[str, StoredTensor]]) -> None:
    """Raise StageError if there is no room."""
    writer = GGUFWriter(file, fields[ARCHITECTURE].value)
    for key, field in fields.items():
        if key != ARCHITECTURE:
            writer.add_key_value(key, *field)
    for name, (data, kind) in tensors:
        writer.add_tensor(name, data, raw_dtype=kind)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    except OSError as error:
        raise StageError(f"{file} cannot be written: {error.strerror}; mend that and type the same again") from error
    finally:
        writer.close()


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Return a path beside `file` that takes its place when all went well, and is gone when not. Raise StageError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=file.name, suffix=".part")
    except OSError as error:
        raise StageError(f"{file} cannot be written: {error.strerror}") from error
    os.close(descriptor)
    part = Path(name)
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
