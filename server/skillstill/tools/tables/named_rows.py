"""The rows that a question names by values that stand in them, such as `Ernst Handel` or `order 10267`."""

import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from skillstill.errors import Refusal
from skillstill.facts.locate.question import chat_words, last_question, stop_words
from skillstill.facts.locate.stems import stem, stems_in
from skillstill.tools.tables.catalogue import Table, quoted_name
from skillstill.tools.tables.database import Database, Deadline, open_database, without_bytes
from skillstill.tools.tables.references import Names, key_names, possible_owners
from skillstill.tools.tables.values import TableValues, Value, words_in
from skillstill.workspace import Workspace

ROWS = 6  # that are kept
TABLES = 3  # whose rows are compared
CONDITIONS = 6  # of a table
ALIKE = 20  # spellings of one value: `Bonn` and `bonn`
SEVERAL = 3  # values of a column that tell as much: `France or Brazil`
LONG_NUMBER = 4  # digits from which a number is an id, whatever its column is called
COUNTS = re.compile(r"\bhow many\b|\bnumber of\b|\bcount\b", re.IGNORECASE)
SHORTEST_PLURAL = 4  # letters
YEAR = re.compile(r"(?:19|20)\d\d")
YEARS = frozenset(stems_in("year season"))  # columns whose numbers are named without the column
LETTER = 0.15  # what a letter of a word counts beside the word: longer ones are rarer
NAME = 0.2  # what a value keeps whose words name a column or the table: `product` in a column of kinds
COVERED = 2.0  # what it counts that all words of the question are told, beside the values
OF_TABLE = 0.5  # ... and that it says the table's name


@dataclass(frozen=True, slots=True)
class NamedRows:
    """Rows of a table that have values which a question names.

    conditions  columns, each with the value that all these rows have, or with those of which each row has one
    count       how many rows they are
    rows        the first of them, by column
    names       of what the keys in these rows refer to
    score       what the values tell, by their words and by how rare they are, and how much of the question they tell
    covered     the share of the question's words that are values, or in the names of the table and its columns
    is_whole    the question says all words of these values
    """

    table: Table
    conditions: Mapping[str, Sequence[Any]]
    count: int
    rows: Sequence[Mapping[str, Any]]
    names: Names
    score: float
    covered: float
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """Values of a column that a question names by `words`, what that tells, and the rows that have them.

    `distinct` has each of the values in one spelling.
    """

    column: str
    values: Sequence[Any]
    words: frozenset[str]
    worth: float
    rows: int
    is_whole: bool
    distinct: Sequence[Any] = ()


def find_conditions(question: str, values: TableValues) -> Mapping[Table, Sequence[Condition]]:
    """Return the values that the last question of a text names, by table: of a column those that tell most."""
    return _conditions(last_question(question), values)


def find_named_rows(
    question: str, values: TableValues, workspace: Workspace, deadline: Deadline
) -> Sequence[NamedRows]:
    """Return the rows that the last question of a text names, of each of the likeliest tables, the likeliest first."""
    asked = last_question(question)
    by_table = _conditions(asked, values)
    likely = sorted(by_table, key=lambda table: -sum(each.worth for each in by_table[table]))[:TABLES]
    found = [_rows_of(asked, table, by_table[table], values, workspace, deadline) for table in likely]
    return sorted(filter(None, found), key=lambda one: -one.score)


def _conditions(asked: str, values: TableValues) -> Mapping[Table, Sequence[Condition]]:
    """Return the values that a question names, by table: of a column those that tell most."""
    said, stems, is_count = _said(asked), frozenset(stems_in(asked)), COUNTS.search(asked) is not None
    named: defaultdict[tuple[Table, str], list[Condition]] = defaultdict(list)
    for value in values.named_by(said):
        if condition := _condition(value, values, stems, said, is_count=is_count):
            named[value.table, value.column].append(condition)
    found: defaultdict[Table, list[Condition]] = defaultdict(list)
    for (table, _), several in named.items():
        found[table].append(_best(several))
    return {table: [*islice(_told_once(several), CONDITIONS)] for table, several in found.items()}


def _best(several: Sequence[Condition]) -> Condition:
    """Return the condition that tells most, with its other spellings and the values of all that tell as much."""
    best = max(several, key=lambda each: each.worth)
    by_words: defaultdict[frozenset[str], list[Any]] = defaultdict(list)
    for each in several:
        is_spelling = best.is_whole and each.is_whole and each.words == best.words  # a rarer one tells more
        if is_spelling or each.worth == best.worth:
            by_words[each.words] += each.values
    spellings = [*by_words.values()][:SEVERAL]
    values = [value for alike in spellings for value in alike[:ALIKE]]
    return replace(best, values=values, distinct=[alike[0] for alike in spellings])


def _told_once(conditions: Sequence[Condition]) -> Iterator[Condition]:
    """Yield the conditions that tell words which no better one has told: `Casablanca`, and not `Casablanca-Settat`."""
    told = set[str]()
    for condition in sorted(conditions, key=lambda one: (one.is_whole, one.worth, one.rows), reverse=True):
        if not condition.words <= told:
            told |= condition.words
            yield condition


def _said(asked: str) -> frozenset[str]:
    """Return the words of a question, and of those in the plural the singular."""
    words = words_in(asked)
    return words | {word[:-1] for word in words if word.endswith("s") and len(word) >= SHORTEST_PLURAL}


def _condition(
    value: Value, values: TableValues, stems: Collection[str], said: Collection[str], *, is_count: bool
) -> Condition | None:
    """Return what it tells that a value is named; None if the words may mean anything else.

    What is rare tells more, unless rows are counted: nobody counts one.
    """
    telling = _telling(value.words.intersection(said))
    names = {*stems_in(value.column), *stems_in(value.table.inner)}
    if not telling or (len(str(value.value)) == 1 and not str(value.value).isdigit()):
        return None
    if all(word.isdigit() for word in value.words) and not (_is_id(value.words) or names & {*stems, *YEARS}):
        return None
    worth = sum(1 + LETTER * len(word) for word in telling)
    if all(stem(word) in values.stems[value.table] for word in telling):
        worth *= NAME
    share = len(telling) / len(value.words - stop_words())
    worth *= share * (1.0 if is_count else math.sqrt(math.log1p(values.rows[value.table] / value.rows)))
    is_whole = value.words.issubset(said)
    return Condition(value.column, (value.value,), telling, round(worth, 6), value.rows, is_whole)


def _telling(words: Collection[str]) -> frozenset[str]:
    """Return the words without those by which people ask."""
    return frozenset(word for word in words if word not in stop_words() and stem(word) not in chat_words())


def _is_id(words: Collection[str]) -> bool:
    longest = max(words, key=len)
    return len(longest) >= LONG_NUMBER and not YEAR.fullmatch(longest)


def _rows_of(
    asked: str,
    table: Table,
    conditions: Sequence[Condition],
    values: TableValues,
    workspace: Workspace,
    deadline: Deadline,
) -> NamedRows | None:
    """Return the rows of a table that meet the conditions that tell most; None if the file cannot be read."""
    try:
        with open_database(workspace, [table, *possible_owners(table, values.columns)], (), deadline) as database:
            best, count, rows = _best_rows(database, table, conditions)
            names = key_names(database, table, rows)
    except (Refusal, sqlite3.Error):
        return None
    met = [each for each in conditions if rows[0][each.column] in each.values]
    covered = _covered(asked, values.stems[table], [word for each in met for word in each.words])
    of_table = not {*stems_in(table.inner)}.isdisjoint(stems_in(asked))
    return NamedRows(
        table=table,
        conditions={each.column: _met(each, rows[0]) for each in met},
        count=count,
        rows=rows,
        names=names,
        score=best + COVERED * covered + OF_TABLE * of_table,
        covered=covered,
        is_whole=all(each.is_whole for each in met),
    )


def _met(condition: Condition, row: Mapping[str, Any]) -> Sequence[Any]:
    """Return the values of which rows like this one have one, that of the row if all are spellings of it."""
    return condition.distinct if len(condition.distinct) > 1 else (row[condition.column],)


def _best_rows(
    database: Database, table: Table, conditions: Sequence[Condition]
) -> tuple[float, int, Sequence[Mapping[str, Any]]]:
    """Return the highest sum of worths that a row has, how many rows have it, and the first of them."""
    place = database.places[table]
    worths = [
        f"CASE WHEN {quoted_name(each.column)} IN ({', '.join('?' * len(each.values))}) THEN {each.worth} ELSE 0 END"
        for each in conditions
    ]
    given = [value for each in conditions for value in each.values]
    scored = f"(SELECT *, {' + '.join(worths)} AS worth_ FROM {place})"  # noqa: S608
    best, count = database.ask(
        f"SELECT worth_, count(*) FROM {scored} GROUP BY worth_ ORDER BY worth_ DESC LIMIT 1",  # noqa: S608
        given,
    ).rows[0]
    names = database.names[table]  # however many they are: none of our own queries is held to a width
    first = database.every(f"SELECT * FROM {scored} WHERE worth_ = ? LIMIT {ROWS}", [*given, best])  # noqa: S608
    return best, count, [dict(zip(names, without_bytes(row[:-1]), strict=True)) for row in first]


def _covered(asked: str, names: Collection[str], told: Collection[str]) -> float:
    """Return the share of a question's words that are told, or in the names of a table and its columns."""
    words = _telling(words_in(asked))
    return sum(_is_told(word, names, told) for word in words) / max(1, len(words))


def _is_told(word: str, names: Collection[str], told: Collection[str]) -> bool:
    return stem(word) in names or word in told or word.removesuffix("s") in told
