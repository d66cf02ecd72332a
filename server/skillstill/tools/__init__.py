"""The tools a skill can name. Built-in ones enter as any other would: a typed function through `tool`."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from skillstill.tools.kit.tool import Choice, Line, Result, Tool, tool

__all__ = ["TOOLS", "Choice", "Line", "Result", "Tool", "tool"]


class _BuiltIn(Mapping[str, Tool]):
    """The built-in tools by name. They and their parsers are imported when one is first asked for.

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
        from skillstill.tools.code.files import find, list, read
        from skillstill.tools.code.outline import outline
        from skillstill.tools.code.search import search
        from skillstill.tools.logs.tools import entries, tally
        from skillstill.tools.tables.tools import describe, sql

        built_in = [tool(function) for function in (list, find, search, outline, read, tally, entries, describe, sql)]
        return {one.name: one for one in built_in}


TOOLS: Mapping[str, Tool] = _BuiltIn()
