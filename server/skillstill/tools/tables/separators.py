"""What sets the fields of a text apart that by its name may be anything: lines alike in width show a table.

Few texts are tables, so in doubt there is none. Prose, logs and source code have lines of many widths. Tables that are
set with blanks or commas must also hold numbers, as a sentence has blanks and commas, too.
"""

import re
from collections import Counter
from collections.abc import Sequence

PERHAPS = (".txt", ".dat", ".data", ".item", ".user", ".tab", ".psv")  # suffixes of such texts
BLANKS = " "  # stands for runs of them
SEPARATORS = ("\t", "|", "::", ";", ",", BLANKS)  # the plainest first
LEAST = 5  # lines
ALIKE = 0.95  # of the lines have the same number of fields
NUMBERS = {",": 0.3, BLANKS: 0.5}  # share of the fields between what stands in sentences, too; there are 3 or more
RULE = re.compile(r"[-|+=:*\s]+")  # a line that is drawn, as under the head of a table in a document
CODE = re.compile(r"[{}]\s*$|^\s*(?://|/\*|#include|<\w|<!|\$ |>>> )")
STAMPED = re.compile(  # a line of a log
    r"\W*(?:\d{4}[-/]\d\d[-/]\d\d[T ]|[A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d|.*\b(?:INFO|WARN|ERROR|DEBUG)\b"
)
ALIGNED = re.compile(r"\S {2,}\S")  # by blanks: a tab in such lines is but one more
QUOTED_OR_BARE = re.compile(r'"[^"]*"|\S+')
NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|\?|NA|NaN|nan|-")


def find_separator(head: str) -> str:
    """Return what sets the fields of most lines apart; nothing if the text does not look like a table.

    The last line is left out, as it may be cut.
    """
    lines = [line for line in head.splitlines() if line.strip()][:-1]
    if len(lines) < LEAST or any(RULE.fullmatch(line) or CODE.search(line) for line in lines):
        return ""
    if sum(STAMPED.match(line) is not None for line in lines) * 2 > len(lines):
        return ""
    return next((separator for separator in SEPARATORS if _is_table(lines, separator)), "")


def split_fields(line: str, separator: str) -> list[str]:
    """Return the fields of a line. Quotes keep only blanks together."""
    return QUOTED_OR_BARE.findall(line) if separator == BLANKS else line.split(separator)


def _is_table(lines: Sequence[str], separator: str) -> bool:
    rows = [split_fields(line, separator) for line in lines]
    if all(not row[-1].strip() for row in rows):  # a separator ends each line
        rows = [row[:-1] for row in rows]
    if separator == "\t" and sum(ALIGNED.search(line) is not None for line in lines) * 2 > len(lines):
        return False
    width, count = Counter(map(len, rows)).most_common(1)[0]
    if width < 2 + (separator in NUMBERS) or count < ALIKE * len(rows) or not any(row[0].strip() for row in rows):
        return False
    return _share_of_numbers(rows) >= NUMBERS.get(separator, 0)


def _share_of_numbers(rows: Sequence[Sequence[str]]) -> float:
    fields = [field.strip() for row in rows for field in row]
    return sum(NUMBER.fullmatch(field) is not None for field in fields) / len(fields)
