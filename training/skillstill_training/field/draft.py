"""Questions as a writer types them: one JSON object a line, about one folder. docs/field.md is the writers' guide."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

from pydantic import Field, ValidationError
from skillstill.errors import StageError
from skillstill.facts.reader import Source, Unreadable
from skillstill.facts.readers.logs.stream import CHUNK, open_bytes
from skillstill.types import Frozen

from skillstill_training.field.question import Expectation, FieldQuestion, Gold, Outcome, parse_place
from skillstill_training.util.jsonl import read_lines


class Draft(Frozen):
    """One line. `after` is the number of the line that a follow-up follows, from 1; the rest is that of `Gold`."""

    prompt: str = Field(min_length=1)
    after: int | None = Field(default=None, ge=1)
    outcome: Outcome = "answer"
    answer: str = ""
    facts: tuple[tuple[str, ...], ...] = ()
    places: tuple[str, ...] = ()
    places_asked: Expectation = "none"
    how: str = ""


def read_drafts(file: Path, root: Path, workspace: str) -> Sequence[FieldQuestion]:
    """Return the questions of a file about a folder. Raise StageError: the line, and what is wrong with it."""
    drafts = read_lines(file, Draft)
    if not drafts:
        raise StageError(f"{file} has no question: write one JSON object a line (docs/field.md)")
    return [_question(file, root, workspace, number, draft) for number, draft in enumerate(drafts, 1)]


def missing_places(gold: Gold, root: Path) -> Iterator[str]:
    """Yield the places that are not in the folder, each with the reason."""
    for place in gold.places:
        if problem := _problem(place, root):
            yield f"{place}: {problem}"


def _question(file: Path, root: Path, workspace: str, number: int, draft: Draft) -> FieldQuestion:
    if draft.after is not None and draft.after >= number:
        raise StageError(f"{file}:{number}: after: expected the number of an earlier line, got {draft.after}")
    fields = draft.model_dump(include={"outcome", "answer", "facts", "places", "places_asked"})
    try:
        gold = Gold.model_validate(fields)
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise StageError(f"{file}:{number}: {problem}") from error
    if lost := next(missing_places(gold, root), ""):
        raise StageError(f"{file}:{number}: {lost}")
    after = f"{workspace}/{draft.after:02d}" if draft.after else ""
    return FieldQuestion(id=f"{workspace}/{number:02d}", prompt=draft.prompt, after=after, gold=gold, how=draft.how)


def _problem(place: str, root: Path) -> str:
    """Return what is wrong with a place, or "" if it exists."""
    span = parse_place(place)
    path, _, inner = (place if not span.first else span.path).partition(":")
    found = root / path
    if not found.exists():
        return f"there is no {path}"
    if span.first:
        lines = _lines(found) if found.is_file() else 0
        return "" if span.first <= span.last <= lines else f"the file has {lines} lines"
    return _inner_problem(found, inner) if inner else ""


def _lines(file: Path) -> int:
    """Return how many lines a file has, unpacked: places in a packed log are those of its text.

    None in an archive that cannot be read.
    """
    with file.open("rb") as stream, suppress(Unreadable):
        data = open_bytes(Source(file.name, file.stat().st_size, stream))
        return 1 + sum(part.count(b"\n") for part in iter(lambda: data.read(CHUNK), b""))
    return 0


def _inner_problem(file: Path, inner: str) -> str:
    """Return what is wrong with `table.column` of a database. What stands in other files is not checked."""
    with file.open("rb") as opened:
        if opened.read(15) != b"SQLite format 3":
            return ""
    with closing(sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)) as database:
        names = {name.casefold() for (name,) in database.execute("select name from sqlite_master")}
    table = inner.partition(".")[0].casefold()
    return "" if {table, inner.casefold()} & names else f"there is no table {inner.partition('.')[0]}"
