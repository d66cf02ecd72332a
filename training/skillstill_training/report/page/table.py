"""HTML of tables. `text` escapes what is not HTML."""

from collections.abc import Iterable
from html import escape
from urllib.parse import urlencode

from skillstill.util.text import clean


def text(words: str) -> str:
    """Escape words for use between tags and in a quoted attribute."""
    return escape(clean(words))


def link(words: str, **filters: str) -> str:
    """Return a link to the goals that match these filters, which `page.js` reads from the address."""
    chosen = {name: value for name, value in filters.items() if value}
    return f'<a href="#{text(urlencode(chosen))}">{text(words)}</a>' if chosen else text(words)


def cell(inner: str = "", *classes: str) -> str:
    names = " ".join(filter(None, classes))
    return f'<td class="{names}">{inner}</td>' if names else f"<td>{inner}</td>"


def head(inner: str, classes: str = "", *, wide: int = 1, high: int = 1) -> str:
    """Return the head of a column, or of `wide` columns."""
    scope = "colgroup" if wide > 1 else "col"
    return f'<th scope={scope} class="{classes}" colspan={wide} rowspan={high}>{inner}</th>'


def row(name: str, cells: Iterable[str], classes: str = "") -> str:
    """Return a row. `name` is HTML, such as a link."""
    return f'<tr class="{classes}"><th scope=row>{name}</th>{"".join(cells)}</tr>'


def section(id: str, title: str, heads: Iterable[str], body: Iterable[str], foot: Iterable[str] = ()) -> str:
    """Return a table under a heading. If it is wider than the page, it scrolls, with the keyboard as well."""
    table = f"<thead>{''.join(heads)}</thead><tbody>{''.join(body)}</tbody><tfoot>{''.join(foot)}</tfoot>"
    label = f"aria-labelledby={id}-title"
    return (
        f"<section {label}><h2 id={id}-title>{title}</h2>"
        f"<div class=wide tabindex=0 role=group {label}><table id={id}>{table}</table></div></section>"
    )


def number(count: int) -> str:
    return f"{count:,}" if count else "–"


def share(part: int, whole: int) -> str:
    """Format a share as a percentage. Only all are 100 %, and only none are 0 %."""
    if not whole or part in {0, whole}:
        return "100%" if part else "0%"
    return f"{min(99, max(1, round(100 * part / whole)))}%"


def mean(numbers: Iterable[int]) -> str:
    counted = list(numbers)
    return f"{sum(counted) / max(1, len(counted)):.1f}"


def many(count: int, one: str, several: str = "") -> str:
    """Format a count with its noun: `1 goal`, `2,000 goals`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"
