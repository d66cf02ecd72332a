"""The tools a skill can name. Built-in ones enter as any other would: a typed function through `tool`."""

from collections.abc import Mapping
from types import MappingProxyType

from skillstill.tools.files import find, list, read
from skillstill.tools.logs import entries, tally
from skillstill.tools.outline import outline
from skillstill.tools.search import search
from skillstill.tools.tables import describe, sql
from skillstill.tools.tool import Choice, Line, Result, Tool, tool

__all__ = ["TOOLS", "Choice", "Line", "Result", "Tool", "tool"]

_built_in = [tool(function) for function in (list, find, search, outline, read, tally, entries, describe, sql)]
TOOLS: Mapping[str, Tool] = MappingProxyType({one.name: one for one in _built_in})
