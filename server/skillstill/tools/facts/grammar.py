"""The grammar of a query over facts: SELECT, and then words that mean something, with signs between them.

A word is a table, a column, a word of SQL, a short alias, a number or any text in quotes.
So a name that is not there cannot be written. That the words stand at their places is left to SQLite, whose refusal
names what there is: the tables are many and always the same, and a stricter grammar of them costs more than it saves.
Texts are free: of the plans of people for questions about logs a quarter look for a word that nobody had said yet
(docs/experiments.md, "What a grammar may forbid").
"""

import json
import re
from collections.abc import Iterator, Sequence

from skillstill.facts.ask import FUNCTIONS
from skillstill.facts.table import FactTable
from skillstill.tools.tables.query_grammar import KEYWORDS
from skillstill.types import Context, Rules


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
        "FACT_TEXT": r"/'([^'\n]|''){0,80}'/",
    }


def _names(tables: Sequence[FactTable]) -> Iterator[str]:
    for table in tables:
        yield table.name
        yield from (column.name for column in table.columns)
    yield from ("path", "first", "last")
    for word in (*KEYWORDS, "recursive", *sorted(FUNCTIONS)):
        if re.fullmatch(r"\w+", word):
            yield from (word, word.upper())
