"""The toolset of facts. A skill that names its readers gets the same tools over the tables of those alone."""

from functools import cache

from skillstill.facts.readers import BUNDLED, WORDS
from skillstill.tools.facts.likeliest import likeliest_tool
from skillstill.tools.facts.locate import locate_tool
from skillstill.tools.facts.overview import overview_tool
from skillstill.tools.facts.query import query_tool
from skillstill.tools.facts.schema import schema_tool
from skillstill.tools.kit.tool import Tool


@cache
def tools_of(references: tuple[str, ...]) -> tuple[Tool, ...]:
    """Return the tools over what these readers find. All ask one index."""
    whole = (*references, WORDS)
    return query_tool(whole), locate_tool(whole), likeliest_tool(whole), overview_tool(whole), schema_tool(whole)


TOOLS = tools_of(tuple(BUNDLED.values()))
