"""The toolset of documentation. What opens a connection is offered only if the user has named a search endpoint."""

from skillstill.tools.kit.tool import tool
from skillstill.tools.web.documents import passages
from skillstill.tools.web.endpoint import is_named
from skillstill.tools.web.search import fetch, web_search

TOOLS = (
    tool(passages),
    tool(web_search, is_offered=is_named, looks_outside=True),
    tool(fetch, is_offered=is_named, looks_outside=True),
)
