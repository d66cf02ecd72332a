"""The tools for source trees."""

from skillstill.tools.code.files import find, list, read
from skillstill.tools.code.outline import outline
from skillstill.tools.code.search import search
from skillstill.tools.kit.tool import tool

TOOLS = (tool(list), tool(find), tool(search), tool(outline), tool(read))
