"""What the conformance suite asks for by name, in front of the product's own handlers. Test-only.

Only kinds of things that the product has: tools, resources, prompts, tasks. It never asks its client for anything, so
what sampling, elicitation, roots and input-required results need is not here but in expected_failures.yml.
"""

import base64
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ServerEvent, SubscriptionBus
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    Resource,
    TextContent,
    TextResourceContents,
)

Context = ServerRequestContext[Any, Any]
Arguments = Mapping[str, Any]
Behaviour = Callable[[Context, Arguments], Awaitable[CallToolResult]]

PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
        "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
    )
).decode()
SILENCE = base64.b64encode(
    b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x02\0\0\0\x80\x80"
).decode()


def text(content: str) -> TextContent:
    return TextContent(type="text", text=content)


def embedded(uri: str, mime_type: str, content: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=content))


IMAGE = ImageContent(type="image", data=PIXEL, mime_type="image/png")
CONTENTS: dict[str, list[ContentBlock]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "json_schema_2020_12_tool": [text("Only its schema is looked at.")],
    "test_x_mcp_header": [text("Only its headers are looked at.")],
    "test_streaming_elicitation": [text("The suite wants to see no request of ours beside it.")],
    "test_logging_tool": [text("The suite wants to see no log message beside it.")],
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
    "test_x_mcp_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
    "slow_compute": {
        "type": "object",
        "properties": {"seconds": {"type": "number"}, "label": {"type": "string"}},
    },
    "greet": {"type": "object", "properties": {"name": {"type": "string"}}},
}


async def progress(context: Context, _: Arguments) -> CallToolResult:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)
        await anyio.sleep(0.05)  # the suite prescribes the pause
    return CallToolResult(content=[text("Three steps reported.")])


async def failing(_: Context, __: Arguments) -> CallToolResult:
    return CallToolResult(content=[text("This tool intentionally returns an error for testing")], is_error=True)


async def needs_sampling(context: Context, _: Arguments) -> CallToolResult:
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        data: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "this tool needs sampling", data)
    return CallToolResult(content=[text("The client offers sampling.")])


async def greet(_: Context, arguments: Arguments) -> CallToolResult:
    return CallToolResult(content=[text(f"Hello, {arguments.get('name', 'World')}!")])


async def slow_compute(_: Context, arguments: Arguments) -> CallToolResult:
    await anyio.sleep(arguments.get("seconds", 1))
    return CallToolResult(content=[text("computed")])


async def failing_job(context: Context, arguments: Arguments) -> CallToolResult:
    await anyio.sleep(1)  # the suite prescribes it
    return await failing(context, arguments)


async def protocol_error_job(_: Context, __: Arguments) -> CallToolResult:
    await anyio.sleep(0.3)  # longer than the grace: the suite wants to see the error in a task
    raise MCPError(INTERNAL_ERROR, "panic")


def publishing(bus: SubscriptionBus, event: ServerEvent) -> Behaviour:
    async def publish(_: Context, __: Arguments) -> CallToolResult:
        await bus.publish(event)
        return CallToolResult(content=[text("Told to whoever listens.")])

    return publish


BEHAVIOURS: dict[str, Behaviour] = {
    "test_tool_with_progress": progress,
    "test_error_handling": failing,
    "test_missing_capability": needs_sampling,
    "greet": greet,
    "slow_compute": slow_compute,
    "failing_job": failing_job,
    "protocol_error_job": protocol_error_job,
    "confirm_delete": failing,  # the suite wants an elicitation inside a task, or no task: our runs ask nobody
}
STATIC: dict[str, TextResourceContents | BlobResourceContents] = {
    "test://static-text": TextResourceContents(
        uri="test://static-text", mime_type="text/plain", text="This is the content of the static text resource."
    ),
    "test://static-binary": BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PIXEL),
}
RESOURCES = [Resource(name=uri.rpartition("/")[2], uri=uri) for uri in STATIC]
TEMPLATE = "test://template/{id}/data"


def content(uri: str) -> TextResourceContents | BlobResourceContents | None:
    """A fixture resource, or None where the URI is not one of ours."""
    if found := re.fullmatch(re.escape(TEMPLATE).replace(r"\{id\}", "([^/]+)"), uri):
        data = json.dumps({"id": found[1], "templateTest": True, "data": f"Data for ID: {found[1]}"})
        return TextResourceContents(uri=uri, mime_type="application/json", text=data)
    return STATIC.get(uri)


PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}


def prompt_messages(name: str, arguments: Mapping[str, str]) -> list[PromptMessage]:
    """What the suite wants to read back for one of PROMPTS."""
    contents: dict[str, list[ContentBlock]] = {
        "test_simple_prompt": [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [text(f"Prompt with arguments: {dict(arguments)}")],
        "test_prompt_with_embedded_resource": [
            embedded(arguments.get("resourceUri", ""), "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [IMAGE, text("Please analyze the image above.")],
    }
    return [PromptMessage(role="user", content=content) for content in contents[name]]
