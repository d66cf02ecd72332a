"""A definition laid out as numbered lines, each in the part of the text that it belongs to: what signals look at."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from skillstill.library.definition import Definition

# summary   name and description, as one line
# opening   the first lines of the body: where a text says what it is for
# heading   of the body
# prose     the rest of the body outside of fences
# command   a line that a shell shall run: in a fence of its kind, or in backquotes
# code      a line in any other fence
# tools     the declared ones, as one line
# files     the bundled ones, one a line
Part = Literal["summary", "opening", "heading", "prose", "command", "code", "tools", "files"]
OPENING = 8  # lines that are not empty
SHELLS = {"bash", "sh", "shell", "zsh", "console", "terminal", "powershell"}
_FENCE = re.compile(r"\s*(?:```+|~~~+)\s*([\w+-]*)")
_PROGRAMS = (
    "npx|npm|pnpm|yarn|node|python3?|uvx?|pip|git|gh|grep|rg|find|ls|cat|head|tail|sed|awk|wc|sort|jq|curl|wget|"
    "docker|kubectl|helm|aws|az|gcloud|make|cargo|go|pytest|terraform|sqlite3|psql|mysql|bq|snow|duckdb|bash|sh|"
    "railway|vercel|netlify|heroku|flyctl|wrangler|firebase|supabase|stripe|gws|hf|infsh|agent-browser"
)
_QUOTED_COMMAND = re.compile(rf"`!?\s*((?:{_PROGRAMS}) [^`]+)`")


@dataclass(frozen=True, slots=True)
class SheetLine:
    """`number` is 1-based in the file; 0 for what is no line of it."""

    number: int
    part: Part
    text: str


@dataclass(frozen=True)
class Sheet:
    """All lines of a definition."""

    definition: Definition
    lines: tuple[SheetLine, ...]

    def of(self, *parts: Part) -> Iterator[SheetLine]:
        return (line for line in self.lines if line.part in parts)

    @cached_property
    def length(self) -> int:
        """Return the characters of the body."""
        return len(self.definition.body)


def sheet(definition: Definition) -> Sheet:
    """Return the definition as lines.

    A body that is not the end of its text counts its lines from the end all the same.
    """
    raw = definition.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    body = definition.body.split("\n")
    first = max(0, len(raw) - len(body))
    lines = [*_head(definition, raw[:first]), *_body(body, first + 1)]
    lines += [SheetLine(0, "files", file.path) for file in definition.bundle]
    return Sheet(definition, tuple(lines))


def _head(definition: Definition, head: list[str]) -> Iterator[SheetLine]:
    described = f"{definition.title or definition.name}: {' '.join(definition.description.split())}"
    yield SheetLine(_field(head, r"description"), "summary", described)
    if definition.tools:
        yield SheetLine(_field(head, r"(allowed[-_]?)?tools"), "tools", " ".join(definition.tools))


def _field(head: list[str], name: str) -> int:
    found = (number for number, line in enumerate(head, 1) if re.match(rf"{name}\s*:", line, re.IGNORECASE))
    return next(found, 0)


def _body(body: list[str], first: int) -> Iterator[SheetLine]:
    fence: str | None = None
    opened = 0
    for number, text in enumerate(body, first):
        if mark := _FENCE.match(text):
            fence = mark[1].lower() if fence is None else None
        elif not text.strip():
            continue
        elif fence is not None:
            yield SheetLine(number, "command" if fence in SHELLS else "code", text)
        elif text.startswith("#"):
            yield SheetLine(number, "heading", text)
        else:
            opened += 1
            yield SheetLine(number, "opening" if opened <= OPENING else "prose", text)
            yield from (SheetLine(number, "command", command) for command in _QUOTED_COMMAND.findall(text))
