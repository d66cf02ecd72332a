"""What steps know of a tree: a JSON file beside it, so that no run of a workspace can read it."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue, TypeAdapter

Notes = TypeAdapter(dict[str, JsonValue])


def read_notes(tree: Path) -> dict[str, JsonValue]:
    return Notes.validate_json(_file(tree).read_bytes())


def write_notes(tree: Path, notes: Mapping[str, JsonValue]) -> None:
    _file(tree).write_text(json.dumps(notes, indent=1, ensure_ascii=False), encoding="utf-8")


def _file(tree: Path) -> Path:
    return tree.with_name("notes.json")
