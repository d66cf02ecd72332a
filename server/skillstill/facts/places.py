"""Which files and lines the rows of a query stand for: the query is made to return them, too, if it can."""

import re

# Strings, quoted names, comments, parentheses and words: all that decides where the outermost FROM is.
WORDS = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \[[^\]]*\] | --[^\n]* | /\*.*?\*/ | [()] | \w+ | [^\s\w]""",
    re.DOTALL | re.VERBOSE,
)
GATHERING = re.compile(r"\b(count|sum|total|avg|min|max|group_concat)\s*\(", re.IGNORECASE)
BEHIND_A_TABLE = frozenset(
    re.findall(r"\w+", "where group order limit join left inner cross natural on using having window union full right")
)
NO_ROWS = frozenset({"group", "distinct", "union", "intersect", "except"})  # then a row stands for several


def with_places(query: str) -> str | None:
    """Return the query with the columns `path`, `first` and `last` of its first table behind its own.

    None if its rows stand for no single row of a table: they are counted, grouped, or put together from several.
    """
    outer = _outer(query)
    words = [word.lower() for word, _ in outer]
    if words[:1] != ["select"] or "from" not in words or NO_ROWS & {*words}:
        return None
    start = outer[words.index("from")][1]
    if GATHERING.search(query[:start]):
        return None
    source = _first_source(query, [(word, at) for word, at in outer if at > start])
    if source is None:
        return None
    columns = "".join(f", {source}.{column}" for column in ("path", "first", "last"))
    return f"{query[:start].rstrip()}{columns} {query[start:]}"


def _outer(query: str) -> list[tuple[str, int]]:
    """Return the words and names outside of parentheses with where they begin."""
    depth = 0
    found: list[tuple[str, int]] = []
    for match in WORDS.finditer(query):
        word = match[0]
        depth += (word == "(") - (word == ")")
        if depth == 0 and word != ")" and not word.startswith(("--", "/*")):
            found.append((word, match.start()))
    return found


def _first_source(query: str, behind: list[tuple[str, int]]) -> str | None:
    """Return the name by which the first table of FROM is called: its alias, if it has one."""
    if not behind or behind[0][0] == "(":
        return None
    names = [word for word, _ in behind[:3]]
    if len(names) > 2 and names[1].lower() == "as":
        return names[2]
    is_alias = len(names) > 1 and re.fullmatch(r"\w+", names[1]) and names[1].lower() not in BEHIND_A_TABLE
    return names[1] if is_alias else names[0]
