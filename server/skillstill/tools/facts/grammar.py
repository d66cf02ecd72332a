"""The grammar of a query over facts: SELECT, and then words that mean something, with signs between them.

A word is a table, a column, a word of SQL, a short alias, a number, a value that a column can have, or a text in quotes
whose words were said or shown.
So a name that is not there cannot be written. That the words stand at their places is left to SQLite, whose refusal
names what there is: the tables are many and always the same, and a stricter grammar of them costs more than it saves.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from skillstill.facts.ask import FUNCTIONS
from skillstill.facts.table import FactTable
from skillstill.tools.tables.query_grammar import KEYWORDS, said_text
from skillstill.types import Context, Rules

PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")  # of worker_thread and WorkerThread
SIGNS, BACKSLASHED = re.compile(r"[^\w ]", re.ASCII), r"\\\g<0>"  # what a pattern may not say as it is


def fact_query_rules(tables: Sequence[FactTable], context: Context) -> Rules:
    """Return the rules of a Lark grammar for one SELECT over these tables."""
    return {
        "fact_query": "FACT_SELECT FACT_SIGNS (fact_word FACT_SIGNS)* fact_word FACT_END?",
        "fact_word": "FACT_NAME | FACT_ALIAS | FACT_NUMBER | FACT_TEXT",
        "FACT_SELECT": '"select" | "SELECT" | "with" | "WITH"',
        "FACT_SIGNS": r"/[ ,.()=<>!*+\/|%-]+/",
        "FACT_END": r"/\)+/",
        "FACT_NAME": " | ".join(map(json.dumps, dict.fromkeys(_names(tables)))),
        "FACT_ALIAS": "/[a-z][0-9]?/",
        "FACT_NUMBER": r"/[0-9]+(\.[0-9]+)?/",
        "FACT_TEXT": f"/{'|'.join((said_text(_with_parts(context.text)), *_values(tables)))}/",
    }


def _with_parts(text: str) -> str:
    """Return the text with the parts of its words: a name may be spelled otherwise than it was said."""
    parts = (part for word in re.findall(r"\w+", text) for part in PARTS.findall(word) if part != word)
    return " ".join((text, *dict.fromkeys(parts)))


def _values(tables: Sequence[FactTable]) -> Iterable[str]:
    """Return patterns of the values that columns can have, in quotes."""
    values = dict.fromkeys(value for table in tables for column in table.columns for value in column.values)
    return (f"'{SIGNS.sub(BACKSLASHED, value)}'" for value in values)


def _names(tables: Sequence[FactTable]) -> Iterator[str]:
    for table in tables:
        yield table.name
        yield from (column.name for column in table.columns)
    yield from ("path", "first", "last")
    for word in (*KEYWORDS, "recursive", *sorted(FUNCTIONS)):
        if re.fullmatch(r"\w+", word):
            yield from (word, word.upper())
