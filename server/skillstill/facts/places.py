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
COMBINED = frozenset({"union", "intersect", "except"})
BEHIND_GROUPS = frozenset({"having", "order", "limit", "window"})


def with_places(query: str) -> str | None:
    """Return the query with the columns `path`, `first` and `last` of its first table behind its own.

    Those of a group are of one of its rows, all three of the same (SQLite's bare columns). Distinct rows become groups.
    None if rows stand for no row of a table: all is counted as one, or they are put together from several queries.
    """
    outer = _outer(query)
    words = [word.lower() for word, _ in outer]
    if words[:1] != ["select"] or "from" not in words or COMBINED & {*words}:
        return None
    start = outer[words.index("from")][1]
    if GATHERING.search(query[:start]) and "group" not in words:
        return None
    source = _first_source(query, [(word, at) for word, at in outer if at > start])
    if source is None:
        return None
    columns = "".join(f", {source}.{column}" for column in ("path", "first", "last"))
    if words[1] != "distinct":
        return f"{query[:start].rstrip()}{columns} {query[start:]}"
    chosen = query[outer[1][1] + len("distinct") : start].strip()
    end = next((at for word, at in outer if at > start and word.lower() in BEHIND_GROUPS), len(query))
    if "group" in words or "as" in words[: words.index("from")] or "*" in chosen:
        return None
    return f"select {chosen}{columns} {query[start:end]} group by {chosen} {query[end:]}"


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
