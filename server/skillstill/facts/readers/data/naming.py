"""Names for SQL: plain identifiers that keep what titles say."""

import re
from collections.abc import Iterable, Sequence
from unicodedata import normalize

LONGEST = 60
# What cannot stand for a name without quotes in SQLite.
KEYWORDS = frozenset(
    (  # noqa: SIM905  # a list of them takes a hundred lines
        "add all alter and as autoincrement between by case cast check collate commit constraint create cross "
        "current_date current_time current_timestamp default deferrable delete desc distinct drop else end escape "
        "except exists foreign from full group having if in index inner insert intersect into is isnull join key left "
        "like limit natural not nothing notnull null of offset on or order outer primary raise references returning "
        "right row select set table temp then to transaction trigger union unique update using vacuum values view "
        "when where with without"
    ).split()
)
SIGNS = {
    "%": "percent",
    "#": "number",
    "€": "euro",
    "£": "pound",
    "$": "dollar",
    "°": "deg",
    "&": "and",
    "±": "plusminus",
}
_SIGN = re.compile("|".join(map(re.escape, SIGNS)))


def identifier(title: str, fallback: str) -> str:
    """Return the title as a name that needs no quotes."""
    spelled = _SIGN.sub(lambda match: f" {SIGNS[match[0]]} ", normalize("NFC", title))
    name = re.sub(r"\W+", "_", spelled).strip("_") or fallback
    if len(name) > LONGEST:  # the ends of long titles tell them apart
        name = f"{name[: LONGEST // 2].rstrip('_')}_{name[-LONGEST // 2 :].lstrip('_')}"
    if name[0].isdigit() or name.lower().startswith("sqlite_"):
        name = f"_{name}"
    return f"{name}_" if name.lower() in KEYWORDS else name


def unique_names(titles: Sequence[str], taken: Iterable[str] = ()) -> list[str]:
    """Return a name for each title, no two alike in any case. A column without a title is called by its place."""
    used = {name.lower() for name in taken}
    names = []
    for place, title in enumerate(titles, start=1):
        name = free_name(identifier(title, f"column_{place}"), used)
        used.add(name.lower())
        names.append(name)
    return names


def free_name(wanted: str, used: Iterable[str]) -> str:
    """Return the wanted name, with a number behind it if it is used already."""
    taken, name, number = {*used}, wanted, 2
    while name.lower() in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name
