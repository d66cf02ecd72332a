"""What a command wrote, as a result: places that it names can be quoted, and of much the beginning and the end."""

import re
from collections.abc import Sequence
from pathlib import Path

from skillstill.errors import Refusal
from skillstill.sandbox.sandbox import FOLDER, Completed, Sandbox
from skillstill.tools.kit.listing import place
from skillstill.tools.kit.tool import MAX_LINE, MAX_RESULT, Line, Result, fitting
from skillstill.types import Span
from skillstill.util.text import clean, shorten
from skillstill.workspace import Workspace

ENVIRONMENT = {  # no files that nobody asked for, output in its order and without colours
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
    "NO_COLOR": "1",
}
BEGINNING = 500  # characters of much output that are its beginning; its end mostly says what went wrong
ENDS = {
    "time": "killed: it took too long",
    "memory": "killed: it took too much memory",
    "output": "killed: it wrote too much",
}
# `path:12`, and how Python and Node name lines of a file; the path is from the root of the workspace.
PLACE = re.compile(r'(?:File "(?P<file>[^"]+)", line (?P<number>\d+))|(?P<path>[\w@.+-][\w@./+-]*):(?P<line>\d+)')


def sandbox_of(workspace: Workspace) -> Sandbox:
    """Return where to execute. Raise Refusal if there is no sandbox."""
    if workspace.sandbox is None:
        raise Refusal("nothing is executed here: this run has no sandbox")
    return workspace.sandbox


def command_result(workspace: Workspace, done: Completed) -> Result:
    """Return how a command ended, and what it wrote."""
    lines = text_lines(workspace, done.output)
    return Result((Line(f"{ending(done)}{'' if lines else '; it wrote nothing'}"), *excerpt(lines, done.is_cut)))


def text_lines(workspace: Workspace, text: str) -> list[Line]:
    """Return the lines of what was written inside, with the places that they name."""
    return [_line(workspace, line) for line in plain(text).splitlines()]


def ending(done: Completed) -> str:
    """Return how a command ended: `exit code 1, 0.3 s`."""
    code = f"signal {-done.code}" if done.code < 0 else f"exit code {done.code}"
    return ", ".join(filter(None, [ENDS.get(done.killed), code, f"{done.seconds:.1f} s"]))


def plain(output: str) -> str:
    """Return the output with paths from the root of the workspace."""
    return clean(output).replace(f"{FOLDER}/", "")


def excerpt(lines: Sequence[Line], is_cut: bool, room: int = MAX_RESULT - 200) -> Sequence[Line]:
    """Return the lines, or of many the first and the last, with how many are left out between."""
    bearable = [line if len(line.text) <= MAX_LINE else Line(shorten(line.text, MAX_LINE)) for line in lines]
    if not is_cut and len(fitting(bearable, room)) == len(bearable):
        return bearable
    first = fitting(bearable, BEGINNING)
    last = fitting(bearable[: len(first) - 1 : -1] if first else bearable[::-1], room - BEGINNING)[::-1]
    rest = len(bearable) - len(first) - len(last)
    more = ", and all that it wrote after the last of them" if is_cut else ""
    return [*first, Line(f"… {rest} lines left out{more}", omits=rest + is_cut), *last]


def _line(workspace: Workspace, text: str) -> Line:
    """Return the line with the places that it names. One that begins with a place is a line of that file."""
    spans = tuple(span for found in PLACE.finditer(text) if (span := named_place(workspace, found)))
    begins = spans[:1] if spans and text.startswith(f"{spans[0].path}:{spans[0].first}:") else ()
    return Line(text, spans, place=begins[0] if begins else None)


def named_place(workspace: Workspace, found: re.Match[str]) -> Span | None:
    """Return the place that a match of PLACE names, if there is one in the workspace."""
    path, line = found["file"] or found["path"], int(found["number"] or found["line"])
    try:
        real = workspace.resolve(path.removeprefix(f"{FOLDER}/").removeprefix("./"))
    except Refusal:
        return None
    return place(workspace.relative(real), line) if real.is_file() and _has_line(real, line) else None


def _has_line(file: Path, line: int) -> bool:
    with file.open("rb") as opened:
        return line > 0 and any(number == line for number, _ in enumerate(opened, 1))
