"""The steps that make workspaces: generated logs of services, and real system logs, which are only parsed.

Each notes `entries`, one row for each entry: path, first and last line, milliseconds of the day, level, component,
kind, request id, message, facts. The notes are not part of the workspace.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from random import Random

from pydantic import JsonValue

from .generator.log_files import write_landscape

SYSLOG = re.compile(r"[A-Z][a-z]{2} [ \d]\d (\d\d):(\d\d):(\d\d) \S+ ([^\s:\[\]]+)(?:\[\d+\])?: (.*)")
Notes = Mapping[str, JsonValue]


def train_landscape(tree: Path, rng: Random) -> Notes:
    return write_landscape(tree, "train", rng)


def validation_landscape(tree: Path, rng: Random) -> Notes:
    return write_landscape(tree, "validation", rng)


def test_landscape(tree: Path, rng: Random) -> Notes:
    return write_landscape(tree, "test", rng)


def system_log(tree: Path, rng: Random) -> Notes:
    """Note the entries of the only syslog of a tree. It has no levels. Raise ValueError if a line has another form."""
    file = next(path for path in sorted(tree.rglob("*.log"))).rename(tree / "system.log")
    rows: list[list[JsonValue]] = []
    for number, text in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
        if match := SYSLOG.fullmatch(text):
            hour, minute, second = map(int, match.groups()[:3])
            at = ((hour * 60 + minute) * 60 + second) * 1000
            rows.append([file.name, number, number, at, "", match[4], "", "", match[5], {}])
        elif text[:1].isspace() and text.strip() and rows:
            rows[-1][2] = number  # a message of several lines
        elif text.strip():
            raise ValueError(f"line {number} has another form: {text[:80]!r}")
    return {"entries": [*rows], "levels": False}
