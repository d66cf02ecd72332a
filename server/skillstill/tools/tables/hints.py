"""What a model is told whose table is unknown, whose query fails, or whose query finds nothing."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from skillstill.errors import Refusal
from skillstill.tools.kit.tool import Line
from skillstill.tools.tables.catalogue import Catalogue, Table, name_in_query, quoted_name
from skillstill.tools.tables.database import ENDLESS, MAX_TRIMMED, MAX_VALUE, SLOW, Answer, Column, Database
from skillstill.util.text import one_line

NAMED = 12  # names that a refusal lists
LITERALS = 3  # texts of a query that are looked for
CANDIDATES = 50  # values that hold the words of one
QUOTED_OPERAND = re.compile(  # not an alias: what comes before wants an operand
    r'(?:[=<>(,|]|\b(?:select|distinct|where|having|and|or|not|by|in|like|between|on|then|else|when)\b)\s*"([^"]+)"',
    re.IGNORECASE,
)


def known_table(known: Catalogue, name: str) -> Table:
    """The one table of this name, in any case, or of this file. Raises Refusal."""
    wanted = name.strip("\"'`[]").lower()
    for names_of in (_own_names, _other_names):
        found = [table for table in known.tables if wanted in names_of(table)]
        if len(found) == 1:
            return found[0]
        if found:
            names = _listed([table.name for table in found], " or ")
            raise Refusal(one_line(f"{name!r} may be {names}: give one of these names", 400))
    raise Refusal(one_line(_no_table(known, name), 400))


def explained(error: Exception, known: Catalogue, database: Database) -> Refusal:
    """The error in words to act on."""
    text = str(error)
    kinds: tuple[tuple[str, Callable[[str], str]], ...] = (
        (r"no such table: (?:\w+\.)?(.+)", lambda name: _no_table(known, name)),
        (r"view (.+) is circularly defined", lambda name: _shared_name(known, name)),
        (r"no such column: (.+)", lambda name: _no_column(name, known, database)),
        (r"ambiguous column name: (.+)", lambda name: _ambiguous_column(name, database)),
        (r'near "(.+)": syntax error', lambda word: f"{text}{_wants_quotes(word, known, database)}"),
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
        (r"not authorized|prohibited", lambda _: f"only SELECT is allowed, files are only read ({text})"),
        (r"only execute one statement", lambda _: "give one statement, without what follows the first ;"),
        (r"number of bindings", lambda _: "write the values themselves into the query, not ? or :name"),
        (r"too big", lambda _: f"{text}: a value has more than {MAX_VALUE} bytes, leave its column out"),
        (r"too many columns in result", lambda _: f"{text}: name the columns that you need"),
    )
    for pattern, words in kinds:
        if found := re.search(pattern, text):
            return Refusal(one_line(words(found[found.re.groups]), 400))
    return Refusal(one_line(text, 400))


def near_misses(database: Database, query: str, answer: Answer) -> Iterator[Line]:
    """Where nothing was found: values like the query's texts that are stored in the columns that it reads."""
    if not answer.is_nothing:
        return
    columns = [
        (table, column.name)
        for table, columns in database.columns.items()
        for column in columns
        if {(table.name.lower(), column.name.lower()), (table.inner.lower(), column.name.lower())} & database.reads
    ]
    for text in [found.replace("''", "'") for found in re.findall(r"'((?:[^']|'')+)'", query)][:LITERALS]:
        if near := _stored_like(database, columns, text):
            yield Line(f"no {text!r}; near: {near}")


def taken_as_text(database: Database, query: str, answer: Answer) -> Iterator[Line]:
    """What SQLite does silently with a name in double quotes that no column has."""
    names = {column.name.lower() for columns in database.columns.values() for column in columns}
    names |= {name.lower() for table in database.columns for name in (table.name, table.inner)}
    names |= {name.lower() for name in answer.columns}
    for word in dict.fromkeys(QUOTED_OPERAND.findall(query)):
        if word.lower() not in names:
            yield Line(f'"{word}" is no column: taken as text')


def _stored_like(database: Database, columns: Sequence[tuple[Table, str]], text: str) -> str:
    """The shortest value whose letters and digits hold those of the text, and its column; empty where it is stored.

    People say `three axle` for what is stored as `ThreeAxle` or `three_axle`. A pattern of LIKE is stored where a value
    matches it.
    """
    near: list[tuple[str, str]] = []
    wanted = _bare(text)
    for table, column in columns if wanted else ():
        name = quoted_name(column)
        holds = f"FROM {quoted_name(table.name)} WHERE typeof({name}) = 'text' AND {name} LIKE ?"
        try:
            if "%" in text and database.ask(f"SELECT 1 {holds} LIMIT 1", (text,)).rows:
                return ""
            query = f"SELECT DISTINCT {name} {holds} ORDER BY {name} <> ?, length({name})"
            values = [value for (value,) in database.ask(query, (_spread(text), text), CANDIDATES).rows]
        except (sqlite3.Error, Refusal):
            return ""
        near += [(value, column) for value in values if wanted in _bare(value)]
    value, column = min(near, key=lambda one: (one[0] != text, len(one[0]), one[0]), default=("", ""))
    return f"{column} {value!r}" if value and value != text else ""


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _spread(text: str) -> str:
    """A pattern of LIKE for the words of the text, whatever stands between them."""
    return "%".join(["", *re.findall(r"[A-Z]*[^\W_A-Z]+|[A-Z]+", text), ""])


def _own_names(table: Table) -> set[str]:
    return {table.name.lower()}


def _other_names(table: Table) -> set[str]:
    path = table.path.lower()
    return {table.inner.lower(), path, path.rpartition("/")[2], path.rpartition("/")[2].rpartition(".")[0]}


def _no_table(known: Catalogue, name: str) -> str:
    names = [table.name for table in known.tables]
    near = _near(name.rpartition(".")[2], names)
    listed = f"near: {_listed(near)}" if near else f"the tables are {_listed(names)}" if names else "there is no table"
    return "; ".join([f"no such table: {name}", listed, *known.remarks[:2]])


def _shared_name(known: Catalogue, name: str) -> str:
    own = [table.name for table in known.tables if table.inner.lower() == name.lower()]
    return f"several files have a table {name}: write {_listed(own, ' or ')}" if own else f"{name} reads itself"


def _no_column(name: str, known: Catalogue, database: Database) -> str:
    wanted = name.rpartition(".")[2]
    said = f"no such column: {name}"
    columns = {table.name: [column.name for column in columns] for table, columns in database.columns.items()}
    if others := [table.name for table in known.tables if wanted.lower() in map(str.lower, table.columns)]:
        return f"{said}; it is a column of {_listed(others)}"
    if near := _near(wanted, [column for names in columns.values() for column in names]):
        return f"{said}; near: {'; '.join(_owned(near, columns))}"
    listed = "; ".join(f"{name_in_query(table)} has {_listed(names)}" for table, names in columns.items())
    return f"{said}; {listed}; a text value stands in single quotes"


def _ambiguous_column(name: str, database: Database) -> str:
    owners = [name_in_query(table.name) for table, columns in database.columns.items() if _has(columns, name)]
    return f"ambiguous column name: {name}; write {' or '.join(f'{owner}.{name}' for owner in owners)}"


def _has(columns: Iterable[Column], name: str) -> bool:
    return name.lower() in {column.name.lower() for column in columns}


def _wants_quotes(word: str, known: Catalogue, database: Database) -> str:
    """What to do about a syntax error at a word that is, or belongs to, a name which needs quotes."""
    names = [column.name for columns in database.columns.values() for column in columns]
    names += [name for table in known.tables for name in (table.name, *table.columns)]
    meant = [name for name in dict.fromkeys(names) if name_in_query(name) != name and word.lower() in _words(name)]
    return f"; if you mean a name, write {_listed(meant, ' or ')}" if meant else ""


def _words(name: str) -> list[str]:
    return re.findall(r"\w+", name.lower())


def _near(name: str, names: Iterable[str]) -> list[str]:
    """The names most like it, the most like first."""
    wanted = name.strip("\"'`[]").lower()
    whole = {one.lower(): one for one in names}
    like = [whole[one] for one in get_close_matches(wanted, whole, n=3, cutoff=0.7)]
    return like or [one for one in whole.values() if wanted in _words(one)]


def _owned(names: Iterable[str], columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for name in names:
        owners = [table for table, own in columns.items() if name in own]
        yield f"{name_in_query(name)} in {_listed(owners)}"


def _listed(names: Sequence[str], between: str = ", ") -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return between.join(map(name_in_query, names[:NAMED])) + more
