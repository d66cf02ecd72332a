"""The tools a skill can name. Built-in ones enter as any other would: a typed function through `tool`."""

from collections.abc import Mapping
from types import MappingProxyType

from skillstill.tools.code.files import find, list, read
from skillstill.tools.code.outline import outline
from skillstill.tools.code.search import search
from skillstill.tools.kit.tool import Choice, Line, Result, Tool, tool
from skillstill.tools.logs.tools import entries, tally
from skillstill.tools.tables.tools import describe, sql

__all__ = ["TOOLS", "Choice", "Line", "Result", "Tool", "tool"]

_built_in = [tool(function) for function in (list, find, search, outline, read, tally, entries, describe, sql)]
TOOLS: Mapping[str, Tool] = MappingProxyType({one.name: one for one in _built_in})
