"""What no table has, although a query asks for it in the words of the question: `What is the salary of King?`"""

import re

from skillstill.run.claims import PART, beginnings
from skillstill.types import Report, Trace

PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")  # of a name: `unitPrice`, `unit_price`
NO_COLUMN = re.compile(r"no such column: (?:\w+\.)?(\w+)")


def absent_column(trace: Trace) -> Report | None:
    """Return that no table has the column that the last query wanted, if all columns were shown and none is called so.

    None if the question does not call it so: then the column is the model's own idea.
    """
    if trace.report.status == "answered" or not trace.receipts or not trace.receipts[-1].refused:
        return None
    last = trace.receipts[-1]
    shown = {column.strip('"').casefold() for one in trace.messages for names in one.terms.values() for column in names}
    found = NO_COLUMN.match(last.excerpt)
    if not (shown and found) or found[1].casefold() in shown or not _is_said(found[1], trace.prompt):
        return None
    return Report(answer=f'No table has a column "{found[1]}".', status="answered", evidence=(trace.receipts[0].id,))


def _is_said(name: str, prompt: str) -> bool:
    return beginnings(PIECE.findall(name)) <= beginnings(PART.findall(prompt))
