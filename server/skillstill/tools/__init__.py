"""The tools that a skill can name: the bundled toolsets. A skill's own tools come through the same door, `toolset`."""

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path

from skillstill.facts.readers import BUNDLED as READERS
from skillstill.tools.kit.tool import Line, PendingRanking, Result, Tool, tool
from skillstill.tools.kit.toolset import GoldenCall, Toolset, toolset

__all__ = [
    "READERS",
    "TOOLS",
    "GoldenCall",
    "Line",
    "PendingRanking",
    "Result",
    "Tool",
    "Toolset",
    "bundled_toolsets",
    "fact_tools",
    "tool",
    "toolset",
]
BUNDLED = ("code", "logs", "tables", "facts")


@cache
def bundled_toolsets() -> tuple[Toolset, ...]:
    """Import the bundled toolsets, and with them their parsers."""
    here = Path(__file__).parent
    return tuple(toolset(here / name, import_module(f"{__name__}.{name}.tools")) for name in BUNDLED)


@cache
def fact_tools(references: tuple[str, ...]) -> tuple[Tool, ...]:
    """Return the tools that ask the facts of these readers."""
    from skillstill.tools.facts.tools import fact_tools  # its readers bring their parsers

    return fact_tools(references)


class _Bundled(Mapping[str, Tool]):
    """The bundled tools by name. They are imported when one is first asked for.

    A server answers its client before that: listing subagents needs no tool.
    """

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    @cached_property
    def _tools(self) -> Mapping[str, Tool]:
        return {name: tool for one in bundled_toolsets() for name, tool in one.by_name.items()}


TOOLS: Mapping[str, Tool] = _Bundled()
"""The bundled tools by name."""
