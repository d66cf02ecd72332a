"""The arguments of a script's call: by position or name, and a place for a path and its line."""

import re
from collections.abc import Mapping, Sequence

from skillstill.errors import Refusal
from skillstill.types import ToolSchema

LONGEST = 2_000  # characters of a text
LARGEST = 2**53  # beyond it a number is not the same in JSON
PLACE = re.compile(r"(.+):(\d{1,9})", re.DOTALL)


def arguments_of(schema: ToolSchema, given: Sequence[object], named: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a tool by name. Raise Refusal for what no tool takes; the tool checks the rest."""
    names = list(schema.parameters["properties"])
    if len(given) > len(names):
        raise Refusal(f"{schema.name}: expected at most {len(names)} arguments, got {len(given)}")
    by_position = dict(zip(names, given, strict=False))
    if twice := by_position.keys() & named.keys():
        raise Refusal(f"{schema.name}: {min(twice)} is given twice")
    return _with_places(schema, {name: _plain(schema, name, value) for name, value in {**by_position, **named}.items()})


def _plain(schema: ToolSchema, name: str, value: object) -> object:
    """Return the value if a call can have it: it is kept with the receipt, as JSON."""
    if isinstance(value, str) and len(value) > LONGEST:
        raise Refusal(f"{schema.name}: {name}: expected at most {LONGEST:,} characters, got {len(value):,}")
    if value is None or isinstance(value, str) or (isinstance(value, int | float) and abs(value) < LARGEST):
        return value
    raise Refusal(f"{schema.name}: {name}: expected a text or a number, got {type(value).__name__}")


def _with_places(schema: ToolSchema, arguments: dict[str, object]) -> dict[str, object]:
    """Return the arguments with `path:line` in two, if the tool takes both, as a letter for a shown line would be."""
    for name, mark in schema.references.items():
        place = PLACE.fullmatch(str(arguments.get(name, ""))) if mark.line else None
        if place and mark.line not in arguments:
            arguments |= {name: place[1], mark.line: int(place[2])}
    return arguments
