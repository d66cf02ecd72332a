"""The code that a run goes through: what it does to a goal depends on every line of it."""

from functools import cache
from pathlib import Path

import skillstill

from skillstill_training.util.hashes import files_sha256

LOOP = ("agent", "evidence", "record", "text", "workspace", "grammar", "confidence")
ROOMS = ("chat", "tools", "symbols", "models")


@cache
def loop_hash() -> str:
    """Of the loop, what it is told and what it calls; not of the whole package, where a word of help costs an hour."""
    return hash_of(Path(str(skillstill.__file__)).parent)


def hash_of(package: Path) -> str:
    """The same of a package that lies elsewhere."""
    rooms = (file for room in ROOMS for file in sorted((package / room).rglob("*.py")))
    files = [*(package / f"{name}.py" for name in LOOP), *rooms]
    return files_sha256(package, (file.relative_to(package).as_posix() for file in files))
