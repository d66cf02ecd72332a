"""The step `patches`: what Debian's maintainers changed in a tree and why, from the headers of their patches."""

import re
import shutil
from collections.abc import Iterator
from email import message_from_string
from email.errors import MessageError
from email.header import decode_header, make_header
from pathlib import Path
from random import Random

from pydantic import JsonValue

from skillstill_training.workspaces.steps.changes import change, describe_change, distinct_changes

FIELD = re.compile(r"^(?i:Description|Subject|From|Author|Origin|Forwarded|Bug[a-z-]*|Last-Update):", re.MULTILINE)
FULL = 66  # characters: such a line was broken because it was full
DIFF = re.compile(r"^(?:diff --git |Index: |--- \S)", re.MULTILINE)


def patches(tree: Path, _: Random) -> dict[str, JsonValue]:
    """Note `changes` from debian/patches: [{description, files, lines: {path: [[first, last], …]}}], as the tree is.

    Kept are those which touch one or two source files of the tree and are described in four words or more.
    Removes `debian/`.
    """
    found = distinct_changes(
        change(tree, patch_description(head), diff) for head, diff in _split(tree / "debian" / "patches")
    )
    shutil.rmtree(tree / "debian", ignore_errors=True)
    return {"changes": found}


def patch_description(head: str) -> str | None:
    """Return what a DEP-3 header says first, or the subject of a commit; None if that is nothing to look for."""
    start = FIELD.search(head)
    if start is None:  # Mercurial's, or what someone just wrote
        lines = [line for line in head.splitlines() if not line.startswith("#")]
        return describe_change(_synopsis("\n".join(lines).strip()))
    fields = message_from_string(head[start.start() :])
    return describe_change(_synopsis(_decode(fields.get("Description") or fields.get("Subject") or "")))


def _synopsis(field: str) -> str:
    """Return its first sentence as far as lines tell: one goes on if its line is full or the next begins small."""
    lines = [line.strip() for line in field.strip().splitlines()]
    taken = lines[:1]
    for line in lines[1:]:
        if line in ("", ".") or not (line[0].islower() or (len(taken[-1]) >= FULL and line[0].isalnum())):
            break
        taken.append(line)
    return " ".join(taken)


def _decode(field: str) -> str:
    if "=?" not in field:
        return field
    try:
        return str(make_header(decode_header(field)))
    except (MessageError, LookupError, ValueError):  # of an encoding that is none
        return field


def _split(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the header and the diff of each patch of the series."""
    series = folder / "series"
    names = series.read_text(encoding="utf-8", errors="replace").splitlines() if series.is_file() else []
    for name in [line.split("#")[0].split()[0] for line in names if line.split("#")[0].split()]:
        file = folder / name
        if file.is_file() and file.resolve().is_relative_to(folder.resolve()):
            text = file.read_text(encoding="utf-8", errors="replace")
            start = DIFF.search(text)
            yield (text[: start.start()], text[start.start() :]) if start else (text, "")
