"""The serving hash: everything that an adapter depends on to behave as it was measured."""

import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from skillstill.chat import DIALECT
from skillstill.skill import Skill
from skillstill.types import ModelFile


def serving_hash(skill: Skill, base: ModelFile, adapter: ModelFile | None) -> str:
    """SHA-256 over system line, chat dialect, tool schemas and golden tool outputs, base and adapter."""
    parts = {
        "system": skill.subagent.system,
        "dialect": DIALECT,
        "tools": [tool.schema.model_dump() for tool in skill.tools],
        "golden": {tool.name: golden()[tool.name] for tool in skill.tools},
        "base": base.sha256,
        "adapter": adapter.sha256 if adapter else None,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@cache
def golden() -> dict[str, Any]:
    """What each tool answers on the fixture workspace of the tests, which hold the tools to it."""
    value: dict[str, Any] = json.loads(files("skillstill.tools").joinpath("golden.json").read_text("utf-8"))
    return value
