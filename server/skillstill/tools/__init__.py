"""The tools that a skill can name: the bundled toolsets. A skill's own tools come through the same door, `toolset`."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from skillstill.facts.readers import BUNDLED as READERS
from skillstill.tools.kit.tool import Line, PendingRanking, Result, Tool, tool
from skillstill.tools.kit.toolset import GoldenCall, Toolset, toolset

__all__ = [
    "BUNDLED",
    "READERS",
    "TOOLS",
    "GoldenCall",
    "Line",
    "PendingRanking",
    "Result",
    "Tool",
    "Toolset",
    "bundled_toolset",
    "bundled_toolsets",
    "fact_tools",
    "tool",
    "toolset",
    "toolset_of",
]
BUNDLED: Mapping[str, tuple[str, ...]] = {
    "code": ("list", "find", "search", "outline", "read"),
    "logs": ("tally", "entries"),
    "tables": ("describe", "sql", "tables", "named", "select"),
    "facts": ("query", "locate", "likeliest", "overview", "schema"),
    "box": ("shell", "python", "write", "edit", "run_tests", "suspects"),
    "script": ("script",),
    "web": ("passages", "web_search", "fetch"),
}  # tools by toolset: so that the parsers of a toolset are imported only if one of its tools is asked for


@cache
def bundled_toolset(name: str) -> Toolset:
    """Import a bundled toolset, and with it its parsers."""
    return toolset(Path(__file__).parent / name, import_module(f"{__name__}.{name}.tools"))


def bundled_toolsets() -> tuple[Toolset, ...]:
    """Import all bundled toolsets."""
    return tuple(map(bundled_toolset, BUNDLED))


def toolset_of(tool: str) -> Toolset:
    """Return the bundled toolset that a tool comes from. Raise KeyError if it is in none."""
    for name, tools in BUNDLED.items():
        if tool in tools:
            return bundled_toolset(name)
    raise KeyError(tool)


def fact_tools(readers: tuple[str, ...]) -> tuple[Tool, ...]:
    """Return the tools that ask the facts of these readers."""
    from skillstill.tools.facts.tools import tools_of  # it imports the readers, with their parsers

    return tools_of(readers)


class _Bundled(Mapping[str, Tool]):
    """The bundled tools by name. A toolset is imported when one of its tools is first asked for.

    A server answers its client before that: listing subagents needs no tool.
    """

    def __getitem__(self, name: str) -> Tool:
        return toolset_of(name).by_name[name]

    def __iter__(self) -> Iterator[str]:
        return (name for tools in BUNDLED.values() for name in tools)

    def __len__(self) -> int:
        return sum(map(len, BUNDLED.values()))


TOOLS: Mapping[str, Tool] = _Bundled()
"""The bundled tools by name."""
