"""The names and messages of one split, read from `landscapes/SPLIT.toml`."""

import re
import tomllib
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

from pydantic import BaseModel, ConfigDict

HOLE = re.compile(r"\{(\w+?)(\d*)\}")
RANGES = {"n": (11, 980), "ms": (1_100, 9_800), "pct": (81, 98)}


class FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Needle(FrozenModel):
    """A message, and descriptions of it in other words."""

    text: str
    meaning: tuple[str, ...]


class Failure(FrozenModel):
    exception: str
    text: str
    functions: tuple[str, ...]
    symptom: str
    omen: str


class Trouble(FrozenModel):
    """A message about a problem with a host, and descriptions of it in other words."""

    text: str
    said: tuple[str, ...]


class Vocabulary(FrozenModel):
    prefix: tuple[str, ...]
    package: tuple[str, ...]
    formats: tuple[str, ...]
    edge: tuple[str, ...]
    core: tuple[str, ...]
    worker: tuple[str, ...]
    object: tuple[str, ...]
    path: tuple[str, ...]
    host: tuple[str, ...]
    id: tuple[str, ...]
    start: tuple[str, ...]
    routine: tuple[str, ...]
    step: tuple[str, ...]
    sporadic: tuple[str, ...]
    needle: tuple[Needle, ...]
    failure: tuple[Failure, ...]
    trouble: tuple[Trouble, ...]


@cache
def vocabulary(split: Literal["train", "validation", "test"]) -> Vocabulary:
    file = Path(__file__).parent / "landscapes" / f"{split}.toml"
    return Vocabulary.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))


def fill(text: str, rng: Random, **known: str) -> str:
    """Return the text with a value in each hole: a known one, else a random one of its kind."""
    return HOLE.sub(lambda hole: known.get(hole[1]) or _number(hole[1], hole[2], rng), text)


def _number(kind: str, width: str, rng: Random) -> str:
    if kind == "hex":  # begins with a digit, so that it reads as an id and not as a word
        return str(rng.randint(2, 9)) + "".join(rng.choices("0123456789abcdef", k=int(width) - 1))
    if kind == "digits":
        return "".join(rng.choices("123456789", k=int(width)))
    if kind == "version":
        return f"{rng.randint(1, 9)}.{rng.randint(0, 30)}.{rng.randint(0, 9)}"
    return str(rng.randint(*RANGES[kind]))
