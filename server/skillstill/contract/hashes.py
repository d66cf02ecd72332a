"""The serving hash and the provenance hash of a release.

Both are over behaviour and data. No source text of ours is hashed: moving a file or mending a docstring changes none.
"""

import hashlib
import json
from pathlib import Path

from skillstill.chat.likelihood import ARGUMENT, READ, SAID, SHOWN
from skillstill.contract.behaviour import observe
from skillstill.contract.goldens import goldens
from skillstill.models.decoding import DECODING
from skillstill.run.context import in_context
from skillstill.run.loop import SECOND_THOUGHTS
from skillstill.skills.skill import Skill
from skillstill.tools.kit.tool import LEAST, LIKELY
from skillstill.tools.kit.toolset import GOLDENS
from skillstill.types import ModelFile

UNMEASURED = {"releases", "field", "design.toml"}
# Answers that show what is told around lines: of one, two apart, two side by side, too many, one that is not there.
QUOTED = ("a:4: d", "a:4: d\na:8: h", "a:4: d\na:5: e", "a:1: a\na:2: b\na:3: c", "a:99: z")
FILE = ("a", "", "  indented", "d", "e" * 300, "f", "\tg", "h", *"ijklmnopqrstuvwxyz")
SOURCES = {".md", ".py", ".toml", ".json", ".txt"}


def serving_hash(skill: Skill, base: ModelFile, adapter: ModelFile | None) -> str:
    """Return the SHA-256 of all that an answer depends on: `behaviour_hash`, the base and the adapter."""
    parts = [behaviour_hash(skill), base.sha256, adapter.sha256 if adapter else ""]
    return hashlib.sha256("/".join(parts).encode()).hexdigest()


def behaviour_hash(skill: Skill) -> str:
    """Return the SHA-256 of all that decides what a model is shown and may say.

    That is the system line and limits, the tools' schemas and golden outputs, the runs of `behaviour` and, if a tool
    leaves a choice among lines to the model, how they are ranked. Of MCP servers it is what was declared: their
    packages are pinned, and nothing is started here.
    """
    ranks = any(ARGUMENT in tool.schema.parameters["properties"] for tool in skill.tools)
    parts = {
        "system": skill.subagent.system,
        "limits": skill.subagent.limits.model_dump(),
        "tools": [tool.schema.model_dump() for tool in skill.tools],
        "outputs": GOLDENS.dump_python(dict(goldens(skill)), mode="json", exclude_unset=True),
        "behaviour": [one.model_dump() for one in observe(skill)],
        "ranking": [SHOWN, READ, SAID, LEAST, LIKELY] if ranks else [],
        "decoding": [DECODING, SECOND_THOUGHTS],
    }
    if skill.subagent.mcp:  # a skill without any keeps the hash that it was released with
        parts["mcp"] = [server.model_dump(mode="json") for server in skill.subagent.mcp]
    if (around := skill.subagent.quotes).lines:  # likewise
        parts["quotes"] = [in_context(quoted, around, lambda path: FILE) for quoted in QUOTED]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def provenance_hash(skill_folder: Path, goals_hash: str) -> str:
    """Return the SHA-256 of the frozen goals and of the skill's own texts."""
    total = hashlib.sha256(goals_hash.encode())
    for file in sorted(skill_folder.rglob("*")):
        name = file.relative_to(skill_folder)
        if _is_source(name) and file.is_file():
            total.update(f"{name.as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()


def _is_source(name: Path) -> bool:
    """Return whether it is a source.

    What was released, field questions, what lends the skill to others and anybody's cache are none.
    """
    cached = any(part.startswith((".", "__")) for part in name.parts[:-1])
    return name.suffix in SOURCES and name.parts[0] not in UNMEASURED and not cached
