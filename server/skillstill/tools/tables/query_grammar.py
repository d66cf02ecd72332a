"""The grammar of a query once the tables have been shown: SQL that SQLite can read, each name at its place.

A query's expressions are made of the columns of one table and of those that it refers to, which `sql` joins by itself
(`joins.py`). Behind a written join any table's columns may stand, with their table's name. Why: see "tables 6: a query
that cannot name what is not there" in docs/experiments.md.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from skillstill.tools.tables.joins import TELLING
from skillstill.types import Context, Rules

SAID = re.compile(r"[A-Za-z_]+")
AGGREGATES = ("count", "sum", "avg", "min", "max", "total")
FUNCTIONS = re.findall(
    r"\w+",
    "round abs length lower upper trim substr instr replace coalesce ifnull year month day date strftime julianday",
)
MORE = re.findall(
    r"\w+",
    "select from where and or not in is null like between exists group by having order asc desc limit distinct case"
    " when then else end as on using join left inner with union all except intersect cast integer real text time glob"
    " over partition",
)
KEYWORDS = (
    *MORE,
    *AGGREGATES,
    *FUNCTIONS,
)  # what a query is made of beside the words of the question and of the tables
FURTHER = re.findall(
    r"\w+",
    "group_concat json_extract json_each datetime unixepoch iif replace cross outer full all any"
    " escape collate nocase rowid row_number rank dense_rank preceding following rows hex printf",
)
WORDS_SAID = re.compile(r"[^\W\d]\w*")
# Terminals: a space in one of two words, and around signs what people put there.
SIGNS = {
    "SELECT": "select ",
    "FROM": " from ",
    "WHERE": " where ",
    "GROUP": " group by ",
    "HAVING": " having ",
    "ORDER": " order by ",
    "TURN": " asc| desc",
    "LIMIT": " limit ",
    "JOIN": " join | left join | inner join ",
    "USING": " using ",
    "ON": " on ",
    "NOT": "not ",
    "EXISTS": "exists ",
    "DISTINCT": "distinct ",
    "WITHIN": " in | not in ",
    "EMPTY": " is null| is not null",
    "BETWEEN": " between ",
    "AND": " and ",
    "OPERATOR": " and | or | like | not like ",
}


def query_rules(context: Context) -> Rules:
    """Return the rules of a Lark grammar for one SELECT over the tables that were shown; none if not all were."""
    tables = context.terms
    if not tables:
        return {}
    rules = {
        "query": _any(f"alone_{number} | joined_{number}" for number in range(len(tables))),
        "constant": "NUMBER | TEXT",
        "within": 'WITHIN "(" (query | constant (COMMA constant)*) ")"',
        **{name: _words(words.split("|")) for name, words in SIGNS.items()},
        "AGGREGATE": _words(AGGREGATES),
        "FUNCTION": _words(FUNCTIONS),
        "SIGN": "/ ?(=|<>|!=|<=|>=|<|>|[+*-]|\\/|\\|\\|) ?/",
        "COMMA": "/, ?/",
        "NUMBER": r"/-?[0-9]+(\.[0-9]+)?/",
        "TEXT": f"/{said_text(context.text)}/",
        "TABLE": _any(map(json.dumps, tables)),
        "OWNED": _any(json.dumps(f"{name}.{column}") for name, columns in tables.items() for column in columns),
        "ANYBODYS": _any(map(json.dumps, dict.fromkeys(column for columns in tables.values() for column in columns))),
    }
    for number, table in enumerate(tables):
        rules |= _about(number, table, tables)
    return rules


def free_query_rules(context: Context) -> Rules:
    """Return the rules of a query for a model that knows SQL: any text in quotes, but no name that was not shown."""
    if not context.text:
        return {}
    names = {name for table, columns in context.terms.items() for name in (table, *columns)}
    names.update(WORDS_SAID.findall(context.text))
    words = {case for word in (*KEYWORDS, *FURTHER) for case in (word, word.upper())}
    return {
        "free_query": f"({_words(['select'])}) FREE_GAP (free_word FREE_GAP)* free_word?",
        "free_word": "FREE_NAME | FREE_ALIAS | FREE_NUMBER | FREE_TEXT",
        "FREE_GAP": r"/[ (),.=<>!*+\/|%-]+/",
        "FREE_NAME": _any(map(json.dumps, sorted(words | names))),
        "FREE_ALIAS": r"/[a-zA-Z][a-z]?[0-9]?/",
        "FREE_NUMBER": r"/[0-9]+(\.[0-9]+)?/",
        "FREE_TEXT": r"/'([^'\n]|''){0,80}'/",
    }


def _about(number: int, table: str, tables: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
    """Return the rules of the queries from one table, alone or joined with others.

    Its columns are one terminal, because many alternatives of rules are too much for the parser.
    """
    name = json.dumps(table)
    joins = '(JOIN TABLE (USING "(" ANYBODYS ")" | ON OWNED SIGN OWNED))+'
    return {
        f"COLUMN_{number}": _any(map(json.dumps, _columns_for(table, tables))),
        **_select(f"alone_{number}", f"COLUMN_{number}", f"FROM {name}"),
        **_select(f"joined_{number}", f"(COLUMN_{number} | OWNED)", f"FROM {name} {joins}"),
    }


def _select(rule: str, column: str, source: str) -> Mapping[str, str]:
    """Return the rules of one SELECT: its expressions without an aggregate (`plain`) and with one (`whole`)."""
    plain, whole = f"plain_{rule}", f"whole_{rule}"
    shared = f'{column} | constant | "(" query ")"'
    counted = f'AGGREGATE "(" ("*" | DISTINCT? {plain}) ")"'
    some, wholes = f"{plain} (COMMA {plain})*", f"{whole} (COMMA {whole})*"
    return {
        rule: f'SELECT DISTINCT? ("*" | {wholes}) {source} (WHERE {plain})? (GROUP {some} (HAVING {whole})?)?'
        f" (ORDER {whole} TURN? (COMMA {whole} TURN?)*)? (LIMIT NUMBER)?",
        plain: _expression(f'{shared} | FUNCTION "(" {some} ")" | "(" {plain} ")" | EXISTS "(" query ")"'),
        whole: _expression(f'{shared} | {counted} | FUNCTION "(" {wholes} ")" | "(" {whole} ")"'),
    }


def _expression(value: str) -> str:
    return f"NOT? ({value}) ((SIGN | OPERATOR) NOT? ({value}) | within | EMPTY | BETWEEN constant AND constant)*"


def _columns_for(table: str, tables: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a table's columns, also with its name, and those of tables that it refers to if no other table has them."""
    own = tables[table]
    others = Counter(column for name, columns in tables.items() if name != table for column in columns)
    keys = [columns[0] for name, columns in tables.items() if name != table and TELLING.search(columns[0])]
    linked = [columns for name, columns in tables.items() if name != table and columns[0] in {*keys} & {*own}]
    yield from own
    yield from (f"{table}.{column}" for column in own)
    yield from (column for columns in linked for column in columns if column not in own and others[column] == 1)


def said_text(said: str) -> str:
    """Return a pattern of texts in single quotes whose words were said."""
    words, other = "|".join(sorted({*SAID.findall(said)})), r"([^A-Za-z_'\n]|'')"
    return rf"'{other}*(({words}){other}+)*({words})?'"


def _words(words: Iterable[str]) -> str:
    """Return the alternatives of these words, each in small letters or in capitals."""
    return _any(json.dumps(case) for word in words for case in (word, word.upper()))


def _any(options: Iterable[str]) -> str:
    return f"({' | '.join(options)})"
