"""What each row of a query must hold: texts that stand in its file, or in its path.

Only what is sure is told: conditions of a WHERE that all rows must meet, `name = 'retry'`, `name like '%retry%'` or
`name in ('retry', 'again')`, joined by AND. A file that lacks a word of them has no row in the result, even if nobody
could read it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from skillstill.facts.places import WORDS
from skillstill.facts.table import FactTable

Tree: TypeAlias = list["str | Tree"]  # the words of a query, with a list for what is in parentheses
COMBINING = frozenset({"union", "intersect", "except"})
ENDS = frozenset({"where", "group", "having", "order", "limit", "window"})
JOINING = frozenset(re.findall(r"\w+", "left right full inner cross natural outer"))
LOOSE = frozenset({"or", "between", "case"})  # beside them what stands between two ANDs is no condition of every row
WORD = re.compile(rb"[0-9a-z_]+")
WORD_OF_PATTERN = re.compile(rb"[0-9a-z]+")  # _ is any character
PATH = "path"


@dataclass(frozen=True, slots=True)
class Condition:
    """What a column of each row must hold: all words of one of these sets, in small letters."""

    column: str
    options: tuple[frozenset[bytes], ...]

    def is_met_by(self, text: bytes) -> bool:
        """Return whether a row of a file with this text, in small letters, could meet it."""
        return any(all(word in text for word in words) for words in self.options)


@dataclass(frozen=True, slots=True)
class AskedTable:
    """One place of a query that reads a table, and what it asks of each row."""

    table: FactTable
    conditions: tuple[Condition, ...]


class _Unclear(Exception):
    """It cannot be told which tables are read where."""


def asked_tables(query: str, tables: Mapping[str, FactTable]) -> Sequence[AskedTable] | None:
    """Return all places of a query that read tables; None if that cannot be told for sure."""
    try:
        return [*_asked(_tree(query), tables)]
    except _Unclear:
        return None


def _tree(query: str) -> Tree:
    levels: list[Tree] = [[]]
    for match in WORDS.finditer(query):
        word = match[0]
        if word == "(":
            levels.append([])
        elif word == ")" and len(levels) > 1:
            inner = levels.pop()
            levels[-1].append(inner)
        elif not word.startswith(("--", "/*")):
            levels[-1].append(_plain(word))
    return levels[0]


def _plain(word: str) -> str:
    """Return a word or a quoted name in small letters, a text as it is."""
    return word if word.startswith("'") else word.strip('"`[]').lower() or word


def _asked(level: Tree, tables: Mapping[str, FactTable]) -> Iterator[AskedTable]:
    for inner in level:
        if isinstance(inner, list):
            yield from _asked(inner, tables)
    if "with" in level:
        raise _Unclear
    for part in _split(level, COMBINING):
        if part.count("from") > 1:  # `is distinct from`
            raise _Unclear
        if "from" in part:
            yield from _asked_by(part, tables)


def _asked_by(select: Tree, tables: Mapping[str, FactTable]) -> Iterator[AskedTable]:
    """Yield what the FROM of one SELECT reads."""
    named = [*_sources(_clause(select, "from"), tables)]
    sources = dict(named)
    if len(sources) < len(named):
        raise _Unclear
    where = _clause(select, "where")
    parts = () if LOOSE & {word for word in where if isinstance(word, str)} else _split(where, {"and"})
    found = [condition for part in parts if (condition := _condition(part, sources))]
    for alias, table in sources.items():
        yield AskedTable(table, tuple(condition for owner, condition in found if owner == alias))


def _clause(select: Tree, word: str) -> Tree:
    if word not in select:
        return []
    behind = select[select.index(word) + 1 :]
    return behind[: next((at for at, one in enumerate(behind) if isinstance(one, str) and one in ENDS), len(behind))]


def _sources(clause: Tree, tables: Mapping[str, FactTable]) -> Iterator[tuple[str, FactTable]]:
    """Yield the tables of a FROM by the names that the query calls them."""
    for source in _split(clause, {",", "join"}):
        words = [word for word in source if not (isinstance(word, str) and word in JOINING)]
        name = words[0] if words else ""
        if isinstance(name, list):
            if name[:1] != ["select"]:
                raise _Unclear
        elif name in tables and words[1:2] != ["."]:
            behind = words[2:3] if words[1:2] == ["as"] else words[1:2]
            alias = behind[0] if behind and isinstance(behind[0], str) and behind[0] not in ("on", "using") else name
            yield alias, tables[name]
        elif name != "json_each":
            raise _Unclear


def _condition(part: Tree, sources: Mapping[str, FactTable]) -> tuple[str, Condition] | None:
    """Return a condition with the name of its table; None if it is no such one."""
    match part:
        case [str(alias), ".", str(column), str(sign), value] if alias in sources:
            pass
        case [str(column), str(sign), value] if len(sources) == 1:
            (alias,) = sources
        case _:
            return None
    options = tuple(_words(text, sign) for text in _texts(sign, value))
    is_known = column == PATH or column in {one.name for one in sources[alias].columns}
    return (alias, Condition(column, options)) if is_known and options and all(options) else None


def _texts(sign: str, value: str | Tree) -> Iterable[str]:
    """Return the texts of which a value must be one; none if it may be something else."""
    if isinstance(value, str):
        return (value,) if sign in ("=", "like") and value.startswith("'") else ()
    listed, commas = value[::2], value[1::2]
    is_list = sign == "in" and all(isinstance(one, str) and one.startswith("'") for one in listed)
    return [str(one) for one in listed] if is_list and all(comma == "," for comma in commas) else ()


def _words(text: str, sign: str) -> frozenset[bytes]:
    """Return the words of a text in quotes. Other letters than those of ASCII may be stored in another way."""
    pattern = WORD_OF_PATTERN if sign == "like" else WORD
    return frozenset(pattern.findall(text.encode("utf-8", "replace").lower()))


def _split(words: Tree, at: Iterable[str]) -> Iterator[Tree]:
    part: Tree = []
    for word in words:
        if isinstance(word, str) and word in at:
            yield part
            part = []
        else:
            part.append(word)
    yield part
