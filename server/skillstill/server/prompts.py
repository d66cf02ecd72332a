"""One prompt, by which a person tells an orchestrator to delegate, and completion of names and run ids."""

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ResourceTemplateReference,
    TextContent,
)

from skillstill.server.resources import TranscriptResources
from skillstill.skills.registry import Registry

Context = ServerRequestContext[Any, Any]
SHOWN = 100  # values of one completion, the protocol's maximum
DELEGATE = Prompt(
    name="delegate",
    title="Delegate to a subagent",
    description="Ask one local subagent to do a piece of work and report back",
    arguments=[
        PromptArgument(name="subagent", description="Which one", required=True),
        PromptArgument(name="request", description="What you want to know", required=True),
    ],
)


class Prompts:
    def __init__(self, registry: Registry, transcripts: TranscriptResources) -> None:
        self.registry, self.transcripts = registry, transcripts

    async def listed(self, _: Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
        return ListPromptsResult(prompts=[DELEGATE])

    async def get(self, _: Context, params: GetPromptRequestParams) -> GetPromptResult:
        arguments = params.arguments or {}
        if params.name != DELEGATE.name or not {"subagent", "request"} <= arguments.keys():
            raise MCPError(INVALID_PARAMS, "the prompt is `delegate`, with the arguments subagent and request")
        if not self._is_known(arguments["subagent"]):
            raise MCPError(INVALID_PARAMS, f"there is no subagent {arguments['subagent']!r}: the completion names all")
        text = (
            f"Call the `{arguments['subagent']}` tool with one self-contained prompt for this: {arguments['request']}\n"
            "If it answers `escalate`, do the work yourself."
        )
        content = TextContent(type="text", text=text)
        return GetPromptResult(messages=[PromptMessage(role="user", content=content)])

    def _is_known(self, name: str) -> bool:
        return any(listed.entry.name == name for listed in self.registry.entries())

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        """Return names of subagents for the prompt, ids of the caller's own runs for the transcript."""
        if isinstance(params.ref, ResourceTemplateReference):
            known = self.transcripts.runs(context)
        elif params.argument.name == "subagent":
            known = [listed.entry.name for listed in self.registry.entries()]
        else:
            known = []
        fitting = [value for value in known if value.startswith(params.argument.value)]
        return CompleteResult(
            completion=Completion(values=fitting[:SHOWN], total=len(fitting), has_more=len(fitting) > SHOWN)
        )
