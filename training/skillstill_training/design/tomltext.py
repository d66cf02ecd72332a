"""Values as TOML writes them."""

import json
from collections.abc import Mapping
from typing import Any


def table(fields: Mapping[str, Any]) -> str:
    """Return a line for each field."""
    return "".join(f"{_key(name)} = {value(one)}\n" for name, one in fields.items())


def value(one: object) -> str:
    """Return a text, number or list as JSON writes them, or a table on one line."""
    if isinstance(one, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {value(inner)}" for name, inner in one.items()) + " }"
    return json.dumps(one, ensure_ascii=False)


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() else value(name)
