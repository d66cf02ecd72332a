"""Two hashes: what an adapter depends on to behave as it was measured, and what that measure was made of."""

import hashlib
import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from skillstill.chat import LINES
from skillstill.chat.likelihood import ARGUMENT, READ, SAID, SHOWN
from skillstill.skills.skill import Skill
from skillstill.tools.kit.tool import LEAST
from skillstill.types import ModelFile

SOURCES = {".md", ".py", ".toml", ".json", ".txt"}


def serving_hash(skill: Skill, base: ModelFile, adapter: ModelFile | None) -> str:
    """SHA-256 over system line, opening, chat dialect, tool schemas and golden tool outputs, base and adapter.

    Where a tool leaves a choice among lines, also over what they are weighed in.
    """
    weighs = any(ARGUMENT in tool.schema.parameters["properties"] for tool in skill.tools)
    parts = {
        "system": skill.subagent.system,
        "dialect": LINES.name,
        "tools": [tool.schema.model_dump() for tool in skill.tools],
        "golden": {tool.name: golden()[tool.name] for tool in skill.tools},
        "base": base.sha256,
        "adapter": adapter.sha256 if adapter else None,
        **({"opening": opening.tool} if (opening := skill.subagent.opening) else {}),
        **({"meaning": [SHOWN, READ, SAID, LEAST]} if weighs else {}),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def provenance_hash(skill_folder: Path, goals_hash: str) -> str:
    """SHA-256 over the frozen goals and what they, the floor and the data were made by: the texts of the skill."""
    total = hashlib.sha256(goals_hash.encode())
    for file in sorted(skill_folder.rglob("*")):
        name = file.relative_to(skill_folder)
        if _is_source(name) and file.is_file():
            total.update(f"{name.as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()


def _is_source(name: Path) -> bool:
    """Not what was released, nor anybody's cache."""
    cached = any(part.startswith((".", "__")) for part in name.parts[:-1])
    return name.suffix in SOURCES and name.parts[0] != "releases" and not cached


@cache
def golden() -> dict[str, Any]:
    """What each tool answers on the fixture workspace of the tests, which hold the tools to it."""
    value: dict[str, Any] = json.loads(files("skillstill.tools").joinpath("golden.json").read_text("utf-8"))
    return value
