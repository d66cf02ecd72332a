"""The rows of a query whose dates leave open which part is the month: the columns that it reads tell.

A column has one notation. If one of its values can only be read as month first, all of them are read so. If none of
its values tells, or they contradict each other, parts that are unclear stay NULL, and the result says so.
"""

import re
from collections.abc import Mapping

from skillstill.errors import Refusal
from skillstill.tools.tables.catalogue import name_in_query, quoted_name
from skillstill.tools.tables.database import Database, QueryRows
from skillstill.tools.tables.dates import DAY_FIRST, MONTH_FIRST, OPEN, ORDER, Order

PARTS = re.compile(r"\b(?:month|day)\s*\(((?:[^()]|\([^()]*\))*)\)", re.IGNORECASE)  # with what is in their brackets


def ask_with_dates(database: Database, query: str, kept: int) -> QueryRows:
    """Return the rows as `Database.ask`, with dates read as their columns write them. What is unclear stays noted."""
    dates = database.dates
    dates.order, dates.unclear, dates.remark = OPEN, "", ""
    answer = database.ask(query, kept=kept)
    if not dates.unclear:
        return answer
    orders = _orders_by_column(database, query)
    if not orders or any(len(found) != 1 or found == {OPEN} for found in orders.values()):
        dates.remark = _doubt(dates.unclear, orders)
        return answer
    dates.order, dates.unclear = _common_order(orders), ""
    dates.remark = f"dates of {_join(orders)} read as {dates.order}"
    return database.ask(query, kept=kept)


def _orders_by_column(database: Database, query: str) -> Mapping[str, set[str]]:
    """Return which orders the dates of each column show, for the columns that leave some of their dates open.

    Only columns in the brackets of `month` and `day` count, if these hold the name of one: others are only shown.
    """
    read = database.read_columns
    brackets = " ".join(PARTS.findall(query))
    named = [(table, column) for table, column in read if _has_name(brackets, column)]
    orders: dict[str, set[str]] = {}
    for table, column in named or read:
        if OPEN in (found := _orders(database, table.name, column)):
            own = name_in_query(column) if column not in orders else f"{name_in_query(table.name)}.{column}"
            orders[own] = found - {OPEN} or {OPEN}
    return orders


def _orders(database: Database, table: str, column: str) -> set[str]:
    different = f"SELECT DISTINCT {quoted_name(column)} AS v FROM {quoted_name(table)}"  # noqa: S608
    ((orders,),) = database.ask(f"SELECT group_concat(DISTINCT {ORDER}(v)) FROM ({different})").rows  # noqa: S608
    return {*(orders or "").split(",")}


def _common_order(orders: Mapping[str, set[str]]) -> Order:
    """Return the order of all columns. Raise Refusal if they differ."""
    several = {order for found in orders.values() for order in found}
    if len(several) > 1:
        told = ", ".join(f"{column} {order}" for column, found in orders.items() for order in found)
        raise Refusal(f"dates are written in several ways ({told}): ask for month or day of one column in a query")
    return MONTH_FIRST if MONTH_FIRST in several else DAY_FIRST


def _doubt(example: str, orders: Mapping[str, set[str]]) -> str:
    unclear = f"month and day of {example!r} are unclear and NULL"
    if mixed := [column for column, found in orders.items() if len(found) > 1]:
        return f"{unclear}: {_join(mixed)} has dates of both orders"
    undecided = [column for column, found in orders.items() if found == {OPEN}]
    return f"{unclear}: no value of {_join(undecided)} tells which comes first" if undecided else unclear


def _join(names: Mapping[str, set[str]] | list[str]) -> str:
    return " and ".join(names)


def _has_name(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
