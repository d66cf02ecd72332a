"""How families, steps and baselines read a workspace. A frozen baseline imports nothing else of ours.

What these functions return for small golden files is part of a baseline's hash (`reading_hash`). If they come to read
otherwise, it is another baseline, to be frozen and measured again.
"""

import hashlib
import json
import sqlite3
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import anyio
from skillstill.symbols import Symbol, language_of, symbols
from skillstill.tools.logs.files import logs_under
from skillstill.tools.logs.lines import template
from skillstill.tools.tables.catalogue import name_in_query, quoted_name, read_catalogue
from skillstill.tools.tables.database import Deadline, attach_tables
from skillstill.tools.tables.dates import add_dates
from skillstill.workspace import Workspace

__all__ = [
    "LogEntry",
    "LogFolder",
    "Symbol",
    "add_dates",
    "column_names",
    "language_of",
    "load_tables",
    "log_template",
    "name_in_query",
    "quoted_name",
    "read_logs",
    "reading_hash",
    "symbols",
]


class LogEntry(NamedTuple):
    """One entry of a log: its lines in the file (1-based, both included), what they tell, and all of their text.

    `time` is that of the entry before if its own line tells none; None if none does. `day_time` is its `HH:MM:SS`.
    """

    path: str
    first: int
    last: int
    time: datetime | None
    level: str
    component: str
    message: str
    text: str
    day_time: str


class LogFolder(NamedTuple):
    """The paths of all logs of a folder, and their entries file by file."""

    paths: Sequence[str]
    entries: Sequence[LogEntry]


def read_logs(root: Path) -> LogFolder:
    """Read all logs below the folder. Raise Refusal if there is none."""
    with ThreadPoolExecutor(1) as pool:  # a thread of its own: the caller's may have an event loop
        return pool.submit(anyio.run, anyio.to_thread.run_sync, _read_logs, root).result()


def _read_logs(root: Path) -> LogFolder:
    logs = anyio.from_thread.run(logs_under, Workspace(root), ".")
    lines = {file.path: file.data.decode("utf-8", "replace").split("\n") for file in logs.files}
    entries = [
        LogEntry(
            path=one.path,
            first=one.first,
            last=one.last,
            time=one.time,
            level=one.level,
            component=one.component,
            message=one.message,
            text="\n".join(lines[one.path][one.first - 1 : one.last]),
            day_time=f"{one.time:%H:%M:%S}" if one.time else "",
        )
        for one in logs.entries()
    ]
    return LogFolder([*lines], entries)


def log_template(message: str) -> str:
    """Return the message with a `*` for each number, id, address, path and quoted value."""
    return template(message)


def load_tables(connection: sqlite3.Connection, root: Path) -> Sequence[str]:
    """Put all tables below the folder behind the connection, and return their names.

    Takes as long as it takes. Raise Refusal if one cannot be read.
    """
    space, clock = Workspace(root), _Untimed()
    names = sorted(str(path.relative_to(space.root)) for path in space.root.rglob("*") if path.is_file())
    tables = read_catalogue(space, names, clock.check).tables
    attach_tables(connection, space, tables, (), clock)
    return [table.name for table in tables]


def column_names(connection: sqlite3.Connection, table: str) -> Sequence[str]:
    """Return the names of a table's columns, in their order."""
    with closing(connection.execute(f"select * from {quoted_name(table)} limit 0")) as cursor:  # noqa: S608
        return [column[0] for column in cursor.description]


class _Untimed(Deadline):
    def check(self) -> None:
        """Do nothing: it is never late, in any thread."""


@cache
def reading_hash() -> str:
    """Return the SHA-256 of what is read of the golden files, golden_reading.toml."""
    golden = tomllib.loads(files("skillstill_training.authoring").joinpath("golden_reading.toml").read_text("utf-8"))
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in golden["files"].items():
            (root / name).write_text(text, encoding="utf-8")
        with closing(sqlite3.connect(root / "shop.db")) as database, database:
            database.executescript(golden["database"])
        logs, tables = read_logs(root), _tables(root)
    sources = [(name, text) for name, text in golden["sources"].items()]
    defined = [[repr(one) for one in symbols(text.encode(), language_of(name) or "")] for name, text in sources]
    found = [logs, [log_template(one.message) for one in logs.entries], tables, defined]
    return hashlib.sha256(json.dumps(found, default=str).encode()).hexdigest()


def _tables(root: Path) -> Sequence[tuple[str, Sequence[str], Sequence[Sequence[object]]]]:
    with closing(sqlite3.connect("file::memory:", uri=True)) as connection:
        names = load_tables(connection, root)
        rows = {name: connection.execute(f"select * from {quoted_name(name)}").fetchall() for name in names}  # noqa: S608
        return [(name, column_names(connection, name), rows[name]) for name in names]
