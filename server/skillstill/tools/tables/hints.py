"""Refusals and hints for a model whose table is unknown, whose query fails, or whose query finds nothing."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from skillstill.errors import Refusal
from skillstill.tools.kit.tool import Line
from skillstill.tools.tables.catalogue import Table, TableCatalogue, name_in_query, quoted_name
from skillstill.tools.tables.database import ENDLESS, MAX_TRIMMED, MAX_VALUE, SLOW, Database, QueryRows
from skillstill.util.text import one_line

NAMED = 12  # names that a refusal lists
LITERALS = 3  # texts of a query that are looked for
CANDIDATES = 50  # values that hold the words of one
COMPARED = re.compile(  # a column, and what compares it with a text
    r"""(\w+|"(?:[^"]|"")+")\s*(?:(?:\bnot\s+)?\b(?:like|glob|in\s*\()\s*|=\s*|<>\s*|!=\s*)'""", re.IGNORECASE
)
QUOTED_OPERAND = re.compile(  # not an alias: what comes before wants an operand
    r'(?:[=<>(,|]|\b(?:select|distinct|where|having|and|or|not|by|in|like|between|on|then|else|when)\b)\s*"([^"]+)"',
    re.IGNORECASE,
)


def find_table(catalogue: TableCatalogue, name: str) -> Table:
    """Return the one table of this name, in any case, or of this file. Raise Refusal if there is not just one."""
    wanted = name.strip("\"'`[]").lower()
    for names_of in (_query_names, _file_names):
        tables = [table for table in catalogue.tables if wanted in names_of(table)]
        if len(tables) == 1:
            return tables[0]
        if tables:
            names = _join_names([table.name for table in tables], " or ")
            raise Refusal(one_line(f"{name!r} may be {names}: give one of these names", 400))
    raise Refusal(one_line(_no_table(catalogue, name), 400))


def explain_failure(error: Exception, catalogue: TableCatalogue, database: Database) -> Refusal:
    """Return the error in words that a model can act on."""
    text = str(error)
    kinds: tuple[tuple[str, Callable[[str], str]], ...] = (
        (r"no such table: (?:\w+\.)?(.+)", lambda name: _no_table(catalogue, name)),
        (r"view (.+) is circularly defined", lambda name: _shared_name(catalogue, name)),
        (r"no such column: (.+)", lambda name: _no_column(name, catalogue, database)),
        (r"ambiguous column name: (.+)", lambda name: _ambiguous_column(name, database)),
        (r'near "(.+)": syntax error', lambda word: f"{text}{_wants_quotes(word, catalogue, database)}"),
        (r"access to (sqlite_\w+)", lambda _: "tables are not listed by a query: use describe"),
        (
            rf"(?i)to use function: ({'|'.join(sorted(ENDLESS))})",
            lambda name: f"{name.lower()} may take too long: write without it",
        ),
        (
            rf"(?i)to use function: ({'|'.join(sorted(SLOW))})",
            lambda name: f"{name.lower()} and its like are used too often: less",
        ),
        (r"user-defined function", lambda _: f"trim takes off at most {MAX_TRIMMED} different characters: name fewer"),
        (
            r"not authorized|prohibited",
            lambda _: f"only SELECT is allowed, files are only read ({text}); columns and keys are shown by describe",
        ),
        (r"malformed JSON", lambda _: f"{text}: not all values are JSON, ask json_valid(x) for those that are"),
        (r"only execute one statement", lambda _: "give one statement, without what follows the first ;"),
        (r"number of bindings", lambda _: "write the values themselves into the query, not ? or :name"),
        (r"too big", lambda _: f"{text}: a value has more than {MAX_VALUE} bytes, leave its column out"),
        (r"too many columns in result", lambda _: f"{text}: name the columns that you need"),
    )
    for pattern, words in kinds:
        if match := re.search(pattern, text):
            return Refusal(one_line(words(match[match.re.groups]), 400))
    return Refusal(one_line(text, 400))


def near_misses(database: Database, query: str, answer: QueryRows) -> Iterator[Line]:
    """Yield stored values that are like the query's texts, if the query found nothing."""
    if not answer.is_nothing:
        return
    columns = database.read_columns
    for text in [quoted.replace("''", "'") for quoted in re.findall(r"'((?:[^']|'')+)'", query)][:LITERALS]:
        if near := _nearest_value(database, columns, text):
            yield Line(f"no {text!r}; near: {near}")


def blob_hints(database: Database, query: str) -> Iterator[Line]:
    """Yield the columns that are compared with a text, and hold texts as BLOBs: SQLite finds them never alike."""
    compared = {name.strip('"').replace('""', '"').lower() for name in COMPARED.findall(query)}
    for table, column in database.read_columns:
        name = quoted_name(column)
        text = f"typeof({name}) = 'blob' AND instr({name}, x'00') = 0"
        if column.lower() in compared and _is_found(database, f"FROM {quoted_name(table.name)} WHERE {text}"):
            own = name_in_query(column)
            yield Line(f"{own} holds BLOBs, which no text is like: compare CAST({own} AS TEXT)")


def _is_found(database: Database, rows: str) -> bool:
    try:
        return bool(database.ask(f"SELECT 1 {rows} LIMIT 1").rows)
    except (sqlite3.Error, Refusal):
        return False


def quoted_text_hints(database: Database, query: str, answer: QueryRows) -> Iterator[Line]:
    """Yield the names in double quotes that no column has: SQLite silently takes them as text."""
    names = {column.name.lower() for columns in database.columns.values() for column in columns}
    names |= {name.lower() for table in database.columns for name in (table.name, table.inner)}
    names |= {name.lower() for name in answer.columns}
    for word in dict.fromkeys(QUOTED_OPERAND.findall(query)):
        if word.lower() not in names:
            yield Line(f'"{word}" is no column: taken as text')


def _nearest_value(database: Database, columns: Sequence[tuple[Table, str]], text: str) -> str:
    """Return the shortest value whose letters and digits hold those of the text, and its column, or "".

    People say `three axle` for what is stored as `ThreeAxle` or `three_axle`. Return "" if the text itself is stored,
    or a value that it matches as a pattern of LIKE.
    """
    near: list[tuple[str, str]] = []
    wanted = _fold(text)
    for table, column in columns if wanted else ():
        name = quoted_name(column)
        holds = f"FROM {quoted_name(table.name)} WHERE typeof({name}) = 'text' AND {name} LIKE ?"
        try:
            if "%" in text and database.ask(f"SELECT 1 {holds} LIMIT 1", (text,)).rows:
                return ""
            query = f"SELECT DISTINCT {name} {holds} ORDER BY {name} <> ?, length({name})"
            values = [value for (value,) in database.ask(query, (_like_pattern(text), text), CANDIDATES).rows]
        except (sqlite3.Error, Refusal):
            return ""
        near += [(value, column) for value in values if wanted in _fold(value)]
    value, column = min(near, key=lambda pair: (pair[0] != text, len(pair[0]), pair[0]), default=("", ""))
    return f"{column} {value!r}" if value and value != text else ""


def _fold(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _like_pattern(text: str) -> str:
    """Return a pattern of LIKE for the words of the text, whatever stands between them."""
    return "%".join(["", *re.findall(r"[A-Z]*[^\W_A-Z]+|[A-Z]+", text), ""])


def _query_names(table: Table) -> set[str]:
    return {table.name.lower()}


def _file_names(table: Table) -> set[str]:
    path = table.path.lower()
    return {table.inner.lower(), path, path.rpartition("/")[2], path.rpartition("/")[2].rpartition(".")[0]}


def _no_table(catalogue: TableCatalogue, name: str) -> str:
    names = [table.name for table in catalogue.tables]
    near = _nearest_names(name.rpartition(".")[2], names)
    listed = (
        f"near: {_join_names(near)}"
        if near
        else f"the tables are {_join_names(names)}"
        if names
        else "there is no table"
    )
    return "; ".join([f"no such table: {name}", listed, *catalogue.remarks[:2]])


def _shared_name(catalogue: TableCatalogue, name: str) -> str:
    own = [table.name for table in catalogue.tables if table.inner.lower() == name.lower()]
    return f"several files have a table {name}: write {_join_names(own, ' or ')}" if own else f"{name} reads itself"


def _no_column(name: str, catalogue: TableCatalogue, database: Database) -> str:
    wanted = name.rpartition(".")[2]
    said = f"no such column: {name}"
    columns = {table.name: [column.name for column in columns] for table, columns in database.columns.items()}
    if others := [table.name for table in catalogue.tables if wanted.lower() in map(str.lower, table.columns)]:
        return f"{said}; it is a column of {_join_names(others)}"
    if near := _nearest_names(wanted, [column for names in columns.values() for column in names]):
        return f"{said}; near: {'; '.join(_with_owners(near, columns))}"
    listed = "; ".join(f"{name_in_query(table)} has {_join_names(names)}" for table, names in columns.items())
    return f"{said}; {listed}; a text value stands in single quotes"


def _ambiguous_column(name: str, database: Database) -> str:
    owners = [
        name_in_query(table.name)
        for table, columns in database.columns.items()
        if name.lower() in {column.name.lower() for column in columns}
    ]
    return f"ambiguous column name: {name}; write {' or '.join(f'{owner}.{name}' for owner in owners)}"


def _wants_quotes(word: str, catalogue: TableCatalogue, database: Database) -> str:
    """Return the advice to quote a name if a syntax error is at a word of a name that needs quotes, or ""."""
    names = [column.name for columns in database.columns.values() for column in columns]
    names += [name for table in catalogue.tables for name in (table.name, *table.columns)]
    meant = [name for name in dict.fromkeys(names) if name_in_query(name) != name and word.lower() in _words(name)]
    return f"; if you mean a name, write {_join_names(meant, ' or ')}" if meant else ""


def _words(name: str) -> list[str]:
    return re.findall(r"\w+", name.lower())


def _nearest_names(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that are most like this one, the most like first."""
    wanted = name.strip("\"'`[]").lower()
    by_lower = {candidate.lower(): candidate for candidate in names}
    like = [by_lower[lower] for lower in get_close_matches(wanted, by_lower, n=3, cutoff=0.7)]
    return like or [candidate for candidate in by_lower.values() if wanted in _words(candidate)]


def _with_owners(names: Iterable[str], columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for name in names:
        owners = [table for table, own in columns.items() if name in own]
        yield f"{name_in_query(name)} in {_join_names(owners)}"


def _join_names(names: Sequence[str], between: str = ", ") -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return between.join(map(name_in_query, names[:NAMED])) + more
