"""The arguments of an MCP server's tool as those of our tools: text, numbers, truth values, choices, and lists of them.

A server's JSON schema can say more than a small model can write. What cannot be said so is left out: an argument that
may be missing, or else the tool. Limits such as `minimum` and `pattern` are left to the server, which checks them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, create_model

from skillstill.errors import Refusal
from skillstill.util.text import clean, one_line

KINDS: Mapping[str, Any] = {"string": str, "integer": int, "number": FiniteFloat, "boolean": bool}
ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
MOST_ARGUMENTS, MOST_CHOICES, CHOICE = 20, 50, 100  # of a tool; of an argument; characters of one of them
DESCRIPTION = 160  # characters of an argument's
DEEPEST = 5  # references that lead to each other
REFERENCE = "#/$defs/"


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a tool takes.

    schema     as a model is told it
    model      what checks a call; its fields are numbered, since any name may be that of a method
    left_out   names of arguments that are missing here
    """

    schema: Mapping[str, Any]
    model: type[BaseModel]
    left_out: tuple[str, ...] = ()

    def named(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by the server's names for them, without those that were not given."""
        names = (field.alias or "" for field in self.model.model_fields.values())
        return {name: value for name, value in zip(names, fields.values(), strict=True) if value is not None}


def translated(schema: Mapping[str, Any]) -> Arguments:
    """Return the arguments of a tool. Raise Refusal if one that it requires cannot be said."""
    declared, definitions = _mapping(schema.get("properties")), _mapping(schema.get("$defs"))
    listed = schema.get("required")
    required = list(dict.fromkeys(name for name in listed if isinstance(name, str))) if isinstance(listed, list) else []
    found = {
        name: one
        for name, value in declared.items()
        if ARGUMENT.fullmatch(name) and (one := _expressed(value, definitions))
    }
    if missing := [name for name in required if name not in found]:
        raise Refusal(f"its argument {one_line(repr(missing[0]), 40)} cannot be said")
    if len(required) > MOST_ARGUMENTS:
        raise Refusal(f"it requires {len(required)} arguments, at most {MOST_ARGUMENTS} can be said")
    kept = [*required, *(name for name in found if name not in required)][:MOST_ARGUMENTS]
    properties = {name: found[name] for name in found if name in kept}
    return Arguments(
        schema={"type": "object", "properties": properties, "required": required, "additionalProperties": False},
        model=_model(properties, required),
        left_out=tuple(name for name in declared if name not in kept),
    )


def _model(properties: Mapping[str, Mapping[str, Any]], required: list[str]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        f"argument_{index}": (_type(one), Field(alias=name))
        if name in required
        else (_type(one) | None, Field(default=None, alias=name))
        for index, (name, one) in enumerate(properties.items())
    }
    return create_model("server_arguments", __config__=ConfigDict(extra="forbid"), **fields)


def _type(schema: Mapping[str, Any]) -> Any:
    if choices := schema.get("enum"):
        return Literal[tuple(choices)]
    if schema["type"] == "array":
        return list[_type(schema["items"])]  # type: ignore[misc]
    return KINDS[schema["type"]]


def _expressed(schema: object, definitions: Mapping[str, Any], *, in_list: bool = False) -> dict[str, Any]:
    """Return the schema of one argument in our words; empty if there are none for it."""
    one = _single(schema, definitions)
    told = one.get("description") or (schema.get("description") if isinstance(schema, dict) else "")
    described = {"description": one_line(told, DESCRIPTION)} if isinstance(told, str) and told.strip() else {}
    if choices := list(_choices(one)):
        return {"type": "string", "enum": choices, **described}
    kind = one.get("type")
    if isinstance(kind, str) and kind in KINDS:
        return {"type": kind, **described}
    if kind == "array" and not in_list and (items := _expressed(one.get("items"), definitions, in_list=True)):
        return {"type": "array", "items": items, **described}
    return {}


def _single(schema: object, definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the one schema that is meant: behind references, and apart from null. Empty if there are several."""
    one = _mapping(schema)
    for _ in range(DEEPEST):
        reference, either = one.get("$ref"), one.get("anyOf") or one.get("oneOf")
        if isinstance(reference, str):
            one = _mapping(definitions.get(reference.removeprefix(REFERENCE)))
        elif isinstance(either, list):
            others = [other for other in either if _mapping(other).get("type") != "null"]
            one = _mapping(others[0]) if len(others) == 1 else {}
        elif isinstance(kinds := one.get("type"), list):
            named = [kind for kind in kinds if kind != "null"]
            one = {**one, "type": named[0]} if len(named) == 1 else {}
        else:
            return one
    return {}


def _choices(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts that an argument is one of; nothing if it may be anything else."""
    given = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(given, list) or len(given) > MOST_CHOICES:
        return
    texts = [one for one in given if isinstance(one, str) and 0 < len(one) <= CHOICE and clean(one) == one.strip()]
    if len(texts) == len([one for one in given if one is not None]) and not any("\n" in one for one in texts):
        yield from dict.fromkeys(texts)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
