"""The form for tables and logs: the schema with a sample row, the question, and one query under a grammar."""

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from anyio import to_thread
from skillstill.errors import Refusal
from skillstill.types import Message

from skillstill_training.authoring.reading import column_names, load_tables, name_in_query, quoted_name, read_logs
from skillstill_training.field.direct import DirectModel, Written
from skillstill_training.field.judge import FieldAnswer
from skillstill_training.field.retrieval import Piece, Retrieval, table_place, tables_under

SCHEMA = 5_000  # characters of the schema: some 1,700 tokens
CELL = 24  # characters of a sample value
ROWS = 10  # of a result that are told
SECONDS = 10.0  # of a query
TOKENS = 160  # of a query
REPAIRS = 3  # queries that are written anew after an error, sampled, because greedily a model repeats itself
WARMTH = 0.7
NOT_HERE = "CANNOT"
TOLD = "You answer questions about data with one SQLite query. Use only the tables and columns below."
DECLINE = f" If they cannot answer the question, write {NOT_HERE}."
KEYWORDS = re.findall(
    r"\w+",
    "select from where and or not in is null like between exists group by having order asc desc limit offset distinct "
    "case when then else end as on using join left inner cross with union all except intersect cast integer real text "
    "count sum avg min max total round abs length lower upper trim substr instr replace coalesce ifnull nullif date "
    "time datetime strftime julianday group_concat over partition row_number rank",
)
ALIASES = re.findall(r"\w+", "total cnt num amount value average share result first last year month day hour")


@dataclass(frozen=True, slots=True)
class SqlTable:
    """A table that a query can name: its place in the workspace, its columns and a sample row."""

    name: str
    place: str
    columns: tuple[str, ...]
    sample: tuple[str, ...]

    @property
    def line(self) -> str:
        """Return the table as a prompt tells it: `orders(id, status) e.g. 7, 'open'`."""
        columns = ", ".join(map(name_in_query, self.columns))
        return f"{name_in_query(self.name)}({columns}) e.g. {', '.join(self.sample)}"


@dataclass(frozen=True, slots=True)
class Opened:
    """A workspace as tables behind one connection."""

    connection: sqlite3.Connection
    tables: Sequence[SqlTable]


Opener = Callable[[sqlite3.Connection, Path], Mapping[str, str]]


def open_data(connection: sqlite3.Connection, root: Path) -> Mapping[str, str]:
    """Put the tables of databases and CSV files behind the connection. Return their names with their places."""
    load_tables(connection, root)
    return {table.name: table_place(table) for table in tables_under(root)}


def open_logs(connection: sqlite3.Connection, root: Path) -> Mapping[str, str]:
    """Put a table of log entries behind the connection. Raise Refusal if nothing is read as a log."""
    connection.execute("create table entries (path, line, time, level, component, message)")
    rows = (
        (one.path, one.first, one.time.isoformat(" ") if one.time else None, one.level, one.component, one.message)
        for one in read_logs(root).entries
    )
    connection.executemany("insert into entries values (?, ?, ?, ?, ?, ?)", rows)
    return {"entries": "."}


@dataclass
class SqlForm:
    """One query, with the error told if it fails.

    shots      worked examples in front of the question: question, query
    declines   whether the model is told that it may hand the question back
    """

    opener: Opener
    shots: Sequence[tuple[str, str]] = ()
    declines: bool = False
    name: str = "sql"
    _opened: dict[Path, Opened] = field(default_factory=dict)

    async def answer(self, model: DirectModel, prompt: str, root: Path) -> tuple[FieldAnswer, int, int]:
        try:
            opened = await to_thread.run_sync(self._open, root)
        except Refusal as refusal:
            return FieldAnswer(status="escalate", text=str(refusal)), 0, 0
        tables = _fitting(opened.tables, prompt)
        if not tables:
            return FieldAnswer(status="escalate", text="no file is read as a table"), 0, 0
        told = Message(role="system", content=TOLD + DECLINE * self.declines)
        messages = [told, *self._examples(), _question(tables, prompt)]
        grammar = _grammar(tables, declines=self.declines)
        written = await model.write(messages, grammar, tokens=TOKENS)
        read, wrote = written.read, written.written
        answer, problem = _answered(opened.connection, tables, written)
        for repair in range(REPAIRS * bool(problem)):
            if not problem:
                break
            again = [*messages, Message(role="assistant", content=written.text), _told(problem)]
            written = await model.write(again, grammar, tokens=TOKENS, temperature=WARMTH, seed=repair)
            read, wrote = read + written.read, wrote + written.written
            answer, problem = _answered(opened.connection, tables, written)
        if problem:  # the caller would hand the question back
            answer = answer.model_copy(update={"status": "escalate"})
        return answer, read, wrote

    def _examples(self) -> Iterator[Message]:
        for asked, query in self.shots:
            yield Message(role="user", content=asked)
            yield Message(role="assistant", content=query)

    def _open(self, root: Path) -> Opened:
        """Return the workspace as tables; the last one stays open, since questions come workspace by workspace."""
        if root not in self._opened:
            for opened in self._opened.values():
                opened.connection.close()
            self._opened.clear()
            connection = sqlite3.connect("file::memory:", uri=True, check_same_thread=False)
            places = self.opener(connection, root)
            tables = [_table(connection, name, place) for name, place in places.items()]
            self._opened[root] = Opened(connection, tables)
        return self._opened[root]


def _table(connection: sqlite3.Connection, name: str, place: str) -> SqlTable:
    with closing(connection.execute(f"select * from {quoted_name(name)} limit 1")) as cursor:  # noqa: S608
        row = cursor.fetchone() or ()
    return SqlTable(name, place, tuple(column_names(connection, name)), tuple(map(_cell, row)))


def _cell(value: object) -> str:
    if isinstance(value, bytes):
        return "x''"
    text = str(value)[:CELL]
    return f"'{text}'" if isinstance(value, str) else text


def _fitting(tables: Sequence[SqlTable], prompt: str) -> Sequence[SqlTable]:
    """Return the tables most like the question, as many as fit into the prompt."""
    if not tables:
        return ()
    ranked = Retrieval([Piece(one.name, one.line) for one in tables]).best(prompt, len(tables))
    by_name, room = {one.name: one for one in tables}, SCHEMA
    chosen: list[SqlTable] = []
    for piece in ranked:
        if (room := room - len(piece.text)) >= 0 or not chosen:
            chosen.append(by_name[piece.place])
    return chosen


def _question(tables: Sequence[SqlTable], prompt: str) -> Message:
    schema = "\n".join(table.line for table in tables)[: 2 * SCHEMA]
    return Message(role="user", content=f"Tables:\n{schema}\n\nQuestion: {prompt}\nWrite one SQLite query.")


def _told(problem: str) -> Message:
    return Message(role="user", content=f"SQLite says: {problem}\nWrite another query.")


def _grammar(tables: Sequence[SqlTable], *, declines: bool) -> str:
    """Return a grammar of queries in which each word is a known name, a keyword, a short alias or a constant."""
    names = {name_in_query(name) for table in tables for name in (table.name, *table.columns)}
    words = {case for word in KEYWORDS for case in (word, word.upper())} | {*ALIASES} | names
    return "\n".join(
        (
            f'start: {f"{json.dumps(NOT_HERE)} | " * declines}"SELECT" GAP (word GAP)* word? ";"?',
            "word: KNOWN | ALIAS | NUMBER | TEXT",
            r"GAP: /[ \n(),.=<>!*+\/|%-]+/",
            f"KNOWN: {' | '.join(map(json.dumps, sorted(words)))}",
            "ALIAS: /[a-zA-Z][a-z]?[0-9]?/",
            r"NUMBER: /[0-9]+(\.[0-9]+)?/",
            r"TEXT: /'[^'\n]{0,80}'/",
        )
    )


def _answered(connection: sqlite3.Connection, tables: Sequence[SqlTable], written: Written) -> tuple[FieldAnswer, str]:
    """Return what the query finds, and the error if it fails."""
    query = written.text.strip()
    if query == NOT_HERE:
        return FieldAnswer(status="escalate", text="the tables cannot answer it"), ""
    end = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    try:
        with closing(connection.execute(query)) as cursor:
            rows = cursor.fetchmany(ROWS + 1)
    except sqlite3.Error as error:
        return FieldAnswer(status="failed", text=str(error), query=query), str(error)
    finally:
        connection.set_progress_handler(None, 0)
    bare = re.sub(r"'[^']*'", "", query)
    places = tuple(one.place for one in tables if re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", bare))
    if not rows or rows == [(None,)]:
        return FieldAnswer(status="answered", text="There is none.", places=places, absent=True, query=query), ""
    text = "\n".join(" | ".join("" if cell is None else str(cell) for cell in row) for row in rows[:ROWS])
    return FieldAnswer(status="answered", text=text, places=places, warned=len(rows) > ROWS, query=query), ""
