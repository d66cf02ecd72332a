"""The tools that a definition asks for, as Claude Code spells them.

A list comes in four spellings: a YAML list, a text with commas, one with spaces, and JSON inside a text. Parentheses
stay whole: `Bash(git log *)`, `Agent(one, other)`.
"""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

FIELDS = ("tools", "allowed-tools", "allowedTools", "allowed_tools")
# Other clients' names in lower case, to those that most definitions use; `x/*` is any tool of that set.
# What has no counterpart there is left as it is written.
_SPELLED = {
    "read": ("Read",),
    "search": ("Grep", "Glob"),
    "search/*": ("Grep", "Glob"),
    "codebase": ("Grep", "Glob"),
    "usages": ("Grep", "Glob"),
    "runcommands": ("Bash",),
    "execute": ("Bash",),
    "execute/*": ("Bash",),
    "fetch": ("WebFetch",),
    "web": ("WebFetch",),
    "web/fetch": ("WebFetch",),
    "edit": ("Edit",),
    "edit/*": ("Edit",),
    "editfiles": ("Edit",),
} | {
    name.lower(): (name,)
    for name in ("Bash", "Glob", "Grep", "NotebookEdit", "Task", "TodoWrite", "WebFetch", "WebSearch", "Write")
}
_BETWEEN = frozenset(", \t\n\r[]\"'")


def named_tools(fields: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return each once, in the order of the declaration; none if there is none."""
    declared = next((fields[name] for name in FIELDS if name in fields), None)
    items = declared if isinstance(declared, list) else [] if declared is None else [declared]
    return tuple(dict.fromkeys(name for item in items for tool in _split(str(item)) for name in _names(tool)))


def _names(tool: str) -> tuple[str, ...]:
    lower = tool.lower()
    return _SPELLED.get(lower) or _SPELLED.get(f"{lower.partition('/')[0]}/*", (tool,))


def _split(text: str) -> Iterator[str]:
    depth, current = 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth > 0 or character not in _BETWEEN:
            current += character
        elif current:
            yield from _worded(current)
            current = ""
    yield from _worded(current)  # of an unclosed parenthesis too


def _worded(tool: str) -> Iterator[str]:
    if tool.strip() and tool != "-":
        yield tool.strip()
