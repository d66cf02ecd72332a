"""What the rows say that a question names by their values, quoted as an answer. No model reads it.

Of 962 training questions about tables 538 name a value that stands in one, and the rows are a right answer to 101 of
these. The weights of the chance were learned on them by a logistic regression (docs/experiments.md).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillstill.facts.locate.question import last_question
from skillstill.facts.locate.stems import stems_in
from skillstill.tools.facts.extract import JOINED, LISTED, WHETHER, ExtractiveAnswer, probability, signs_of
from skillstill.tools.kit.redaction import redact
from skillstill.tools.tables.named_rows import NamedRows
from skillstill.tools.tables.references import Names
from skillstill.util.text import clean, shorten

COLUMNS = 12  # of a row: the judges take more numbers for a list
FEW = 3  # ... of each of several rows
CELL = 100  # characters of a value
BIAS, SCORE, COVERED, ALONE, WHOLE = -3.08, 0.085, 2.55, 0.36, 0.42
COMPARED = (
    r"\b(?:latest|last|newest|earliest|first|oldest|highest|lowest|max\w*|min\w*|biggest|largest|smallest|most"
    r"|least|best|worst|top|average|mean|total|sum|share|percent\w*)\b"
)
# What the question is, and what that counts: what has to be compared or counted up is in no row.
ASKED_FOR = signs_of((LISTED, -0.71), (WHETHER, -0.93), (JOINED, -0.82), (COMPARED, -1.22))
ASKED, MEANT = 2, 1  # what a column counts that the question names, or asks for by `when`, `where`, `who`
# What a question asks for, and how columns are called that tell it.
MEANINGS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(called, re.IGNORECASE))
    for asked, called in (
        (r"\bwhen\b|\bdate\b|\bwhat (?:day|year)\b", r"date|time|year|day|born|birth|founded"),
        (r"\bwhere\b", r"city|country|address|place|location|region|state|town"),
        (r"\bwho\b|\bwhose\b|\bcontact\b", r"name|contact|author|person|artist|employee"),
        (r"\bhow much\b|\bprice\b|\bcosts?\b|\bpay\b|\bexpensive\b", r"price|cost|amount|total|salary|fee|value"),
        (r"\bphone\b|\bcall\b", r"phone|mobile"),
    )
)


def extract_rows(question: str, found: Sequence[NamedRows]) -> ExtractiveAnswer | None:
    """Return what the likeliest rows say; None if the question names none. `found` are the rows of some tables."""
    if not found:
        return None
    return ExtractiveAnswer(
        answer=_told_rows(question, found[0]),
        context="",
        places=(found[0].table.path,),
        chance=round(_chance(last_question(question), found[0]), 3),
        source="the rows with the values that the question names",
        is_named=found[0].is_whole,
    )


def _chance(asked: str, found: NamedRows) -> float:
    logit = BIAS + SCORE * found.score + COVERED * found.covered + ALONE * (found.count == 1)
    logit += WHOLE * found.is_whole
    return probability(logit + sum(weight for pattern, weight in ASKED_FOR if pattern.search(asked)))


def _told_rows(question: str, found: NamedRows) -> str:
    """Return the rows as text: the table and what it has, how many they are, and the first of them line by line."""
    where = " and ".join(
        f"{column} is {' or '.join(map(_cell, values))}" for column, values in found.conditions.items()
    )
    head = f"{found.table.path}: {found.table.inner} where {where}: {found.count:,} row{'s' * (found.count != 1)}"
    shown = found.rows if found.count == len(found.rows) else found.rows[:1]
    names = _columns(last_question(question), found)[: COLUMNS if len(shown) == 1 else FEW]
    return "\n".join([head, *(f"  {', '.join(_cells(row, names, found.names))}" for row in shown)])


def _columns(asked: str, found: NamedRows) -> Sequence[str]:
    """Return the columns that are told: those that the question asks for first."""
    stems = frozenset(stems_in(asked))
    others = [name for name in found.rows[0] if name not in found.conditions]
    return sorted(others, key=lambda name: -_asked(name, asked, stems))


def _asked(name: str, asked: str, stems: frozenset[str]) -> int:
    is_meant = any(asks.search(asked) and called.search(name) for asks, called in MEANINGS)
    return ASKED * (not stems.isdisjoint(stems_in(name))) + MEANT * is_meant


def _cells(row: Mapping[str, Any], columns: Sequence[str], names: Names) -> Iterator[str]:
    for column in columns:
        if row[column] is not None and (said := _cell(row[column])):
            name = names.get(column, {}).get(row[column], "")
            yield f"{column} {said} ({_cell(name)})" if name else f"{column} {said}"


def _cell(value: Any) -> str:
    """Return a value as it is told. A key is redacted before it could be cut and so look like none."""
    return shorten(redact(clean(str(value))).strip(), CELL)
