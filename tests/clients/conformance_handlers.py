"""Puts the fixtures of conformance_fixtures.py in front of a server's own handlers. Test-only."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import PromptsListChanged, ToolsListChanged
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    ReadResourceRequestParams,
    ReadResourceResult,
    RequestParams,
    ResourceTemplate,
    Tool,
)
from skillstill.server.tasks import Tasks

from tests.clients import conformance_fixtures as fixtures

Context = ServerRequestContext[Any, Any]
Own = Callable[[Context, Any], Awaitable[Any]]  # the product's handler
Params = TypeVar("Params", bound=RequestParams)


def add(server: Server[Any]) -> None:
    """All fixtures; whatever else is asked for, the product answers."""
    _before(server, "tools/list", PaginatedRequestParams, _tools)
    _add_calls(server)
    _before(server, "resources/list", PaginatedRequestParams, _resources)
    _before(server, "resources/templates/list", PaginatedRequestParams, _templates)
    _before(server, "resources/read", ReadResourceRequestParams, _read)
    _before(server, "prompts/list", PaginatedRequestParams, _prompts)
    _before(server, "prompts/get", GetPromptRequestParams, _prompt)


def _before(
    server: Server[Any],
    method: str,
    params_type: type[Params],
    handler: Callable[[Own, Context, Params], Awaitable[Any]],
) -> None:
    own = _own(server, method)

    async def first(context: Context, params: Params) -> Any:
        return await handler(own, context, params)

    server.add_request_handler(method, params_type, first)


def _own(server: Server[Any], method: str) -> Own:
    entry = server.get_request_handler(method)
    assert entry, f"the product does not answer {method}"
    return entry.handler


async def _tools(own: Own, context: Context, params: PaginatedRequestParams) -> ListToolsResult:
    listed: ListToolsResult = await own(context, params)
    added = [
        Tool(name=name, description=f"Fixture {name}", input_schema=fixtures.SCHEMAS.get(name, {"type": "object"}))
        for name in [*fixtures.CONTENTS, *fixtures.BEHAVIOURS]
    ]
    return ListToolsResult(tools=[*listed.tools, *added])


def _add_calls(server: Server[Any]) -> None:
    """Fixture tools go through tasks as the product's do, with a grace short enough for the suite's quick jobs."""
    own = _own(server, "tools/call")
    Tasks(_fixture, grace=0.1).register(server)
    with_tasks = _own(server, "tools/call")

    async def call(context: Context, params: CallToolRequestParams) -> Any:
        fixture = params.name in fixtures.CONTENTS or params.name in fixtures.BEHAVIOURS
        return await (with_tasks if fixture else own)(context, params)

    server.add_request_handler("tools/call", CallToolRequestParams, call)
    bus = _own(server, "subscriptions/listen")._bus  # type: ignore[attr-defined] # no public way to a change by hand
    fixtures.BEHAVIOURS["test_trigger_tool_change"] = fixtures.publishing(bus, ToolsListChanged())
    fixtures.BEHAVIOURS["test_trigger_prompt_change"] = fixtures.publishing(bus, PromptsListChanged())


async def _fixture(context: Context, params: CallToolRequestParams) -> CallToolResult:
    if behaviour := fixtures.BEHAVIOURS.get(params.name):
        return await behaviour(context, params.arguments or {})
    return CallToolResult(content=fixtures.CONTENTS[params.name])


async def _resources(own: Own, context: Context, params: PaginatedRequestParams) -> ListResourcesResult:
    listed: ListResourcesResult = await own(context, params)
    return ListResourcesResult(resources=[*listed.resources, *fixtures.RESOURCES])


async def _templates(own: Own, context: Context, params: PaginatedRequestParams) -> ListResourceTemplatesResult:
    listed: ListResourceTemplatesResult = await own(context, params)
    added = ResourceTemplate(name="fixture", uri_template=fixtures.TEMPLATE)
    return ListResourceTemplatesResult(resource_templates=[*listed.resource_templates, added])


async def _read(own: Own, context: Context, params: ReadResourceRequestParams) -> Any:
    content = fixtures.content(params.uri)
    return ReadResourceResult(contents=[content]) if content else await own(context, params)


async def _prompts(own: Own, context: Context, params: PaginatedRequestParams) -> ListPromptsResult:
    listed: ListPromptsResult = await own(context, params)
    added = [
        Prompt(
            name=name,
            description=f"Fixture {name}",
            arguments=[PromptArgument(name=argument, required=True) for argument in arguments],
        )
        for name, arguments in fixtures.PROMPTS.items()
    ]
    return ListPromptsResult(prompts=[*listed.prompts, *added])


async def _prompt(own: Own, context: Context, params: GetPromptRequestParams) -> Any:
    if params.name not in fixtures.PROMPTS:
        return await own(context, params)
    return GetPromptResult(messages=fixtures.prompt_messages(params.name, params.arguments or {}))
