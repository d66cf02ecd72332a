"""Which goal families of the skill that it resembles a foreign skill is given: by its `design.toml`, with reasons."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import Field, TypeAdapter
from skillstill.library.assessing.cover import Archetype, lenders
from skillstill.library.assessing.sheet import SheetLine, sheet
from skillstill.library.definition import Definition
from skillstill.types import Frozen
from skillstill.util.text import one_line

from skillstill_training.authoring.families import Family, load_families
from skillstill_training.design.borrowing import lender

Answer = Literal["locations", "value", "set", "rows", "quoted", "absent", "declined"]
QUOTED, BESIDE = 80, 20  # characters of a reason; of these, what stands on either side of a cue
CORE = "asked of every skill of this kind"


class Cue(Frozen):
    """A row of the table: when a family is chosen, and which checks judge its answers."""

    always: bool = False
    cues: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = Field(min_length=1)


class ChosenFamily(Frozen):
    """A family that is borrowed, and why. `means` and `hard` are its own."""

    name: str
    means: str
    why: str
    answers: tuple[Answer, ...]
    hard: bool
    held_out: bool


def table() -> Mapping[str, Mapping[str, Cue]]:
    """Return the cues by archetype and family."""
    return {name: TypeAdapter(dict[str, Cue]).validate_python(one.families) for name, one in lenders().items()}


def choose(definition: Definition, archetype: Archetype) -> tuple[ChosenFamily, ...]:
    """Return families in the order of the lender's goals.py; none if the skill resembles none. Raise GoalsError."""
    if archetype == "none":
        return ()
    cues, families = table()[archetype], load_families(lender(archetype))
    lines = list(sheet(definition).of("summary", "opening", "heading", "prose"))
    why = {family.name: _why(cues[family.name], lines) for family in families}
    for family in _wanting(families, why):
        why[family.name] = "so that half of the families are hard"
    return tuple(
        _chosen_families(family, why[family.name], cues[family.name]) for family in families if why[family.name]
    )


def _chosen_families(family: Family, why: str, cue: Cue) -> ChosenFamily:
    return ChosenFamily(
        name=family.name, means=family.means, why=why, answers=cue.answers, hard=family.hard, held_out=family.held_out
    )


def _why(cue: Cue, lines: Sequence[SheetLine]) -> str:
    """Return the words of the first line that holds a cue; empty if none does."""
    for line in lines:
        for pattern in cue.cues:
            if found := re.search(pattern, line.text, re.IGNORECASE):
                return f"line {line.number}: {_around(line.text, found)}"
    return CORE if cue.always else ""


def _around(text: str, found: re.Match[str]) -> str:
    """Return what was found, among its neighbours, on one line."""
    first, last = max(0, found.start() - BESIDE), found.end() + BESIDE
    words = text[first:last].split()
    cut = words[first > 0 : -1 if last < len(text) and len(words) > 2 else None]
    return one_line(" ".join(cut), QUOTED)


def _wanting(families: Sequence[Family], why: Mapping[str, str]) -> Iterator[Family]:
    """Yield the hard families that must come in until half are hard."""
    trained = [family for family in families if not family.held_out]
    chosen = [family for family in trained if why[family.name]]
    missing = sum(not family.hard for family in chosen) - sum(family.hard for family in chosen)
    yield from [family for family in trained if family.hard and not why[family.name]][: max(0, missing)]
