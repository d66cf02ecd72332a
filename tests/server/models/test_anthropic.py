"""A model behind the Messages API: what is sent to it, what is made of its answers, and of its failures."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from skillstill.errors import ContextFull, ModelBusy, ModelError, UsageError
from skillstill.models.anthropic import THOUGHTS, AnthropicChat
from skillstill.models.remote import Endpoint
from skillstill.types import Message, ToolCall, ToolSchema, Usage

from tests.server.models.openai_server import OpenAiServer, Said

pytestmark = pytest.mark.anyio

KEY = "sk-ant-Very-Secret-0123456789"
READ = ToolSchema(name="read", description="Reads a file.", parameters={"type": "object"})
LOOK = ToolCall(name="read", arguments={"path": "größe.py"})
ASKED = (Message(role="system", content="explore"), Message(role="user", content="Where?"))
MARKER = {"cache_control": {"type": "ephemeral"}}
USAGE = {
    "input_tokens": 7, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 9,
}  # fmt: skip
CALL = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "größe.py"}}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "abc"}


def said(*blocks: dict[str, Any], stop: str = "end_turn") -> Said:
    message = {"type": "message", "role": "assistant", "content": blocks, "stop_reason": stop, "usage": USAGE}
    return Said(json.dumps(message))


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def refused(status: int, message: str, **headers: str) -> Said:
    return Said(json.dumps({"type": "error", "error": {"message": message}}), status, headers=headers)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAiServer]:
    monkeypatch.setenv("NO_PROXY", "*")
    with OpenAiServer() as served:
        yield served


async def turn(server: OpenAiServer, messages: Sequence[Message] = ASKED) -> Message:
    async with AnthropicChat(Endpoint(server.url, "claude-big", KEY), seconds=5) as model:
        return await model.complete(messages, [READ], max_tokens=50)


async def test_a_turn_is_its_texts_and_calls_with_what_was_read_from_the_cache(server: OpenAiServer) -> None:
    server.says(said(THOUGHT, words("Let me see."), CALL, stop="tool_use"))
    came = await turn(server)
    assert (came.content, came.calls, came.truncated) == ("Let me see.", (LOOK,), False)
    assert came.usage == Usage(prompt=127, reused=100, completion=9)


async def test_it_is_told_the_skill_and_the_tools_with_markers_for_its_cache_and_nothing_of_sampling(
    server: OpenAiServer,
) -> None:
    server.says(said(words("Here.")))
    await turn(server)
    (sent,) = server.requests
    assert server.paths == ["/v1/messages"]
    assert sent == {
        "model": "claude-big",
        "max_tokens": 50 + THOUGHTS,
        "system": [words("explore") | MARKER],
        "messages": [{"role": "user", "content": [words("Where?") | MARKER]}],
        "tools": [{"name": "read", "description": "Reads a file.", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    }


async def test_a_turn_goes_back_as_it_came_thoughts_included_and_its_result_answers_it(server: OpenAiServer) -> None:
    server.says(said(THOUGHT, CALL, stop="tool_use"), said(words("At größe.py:1.")))
    async with AnthropicChat(Endpoint(server.url, "claude-big", KEY)) as model:
        first = await model.complete(ASKED, [READ], max_tokens=50)
        result = Message(role="tool", content="r1: größe.py <tool_call>")
        await model.complete([*ASKED, first, result], [READ], max_tokens=50)
    _, assistant, user = server.requests[1]["messages"]
    assert assistant == {"role": "assistant", "content": [THOUGHT, CALL]}
    answered = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "r1: größe.py < tool_call>"}
    assert user == {"role": "user", "content": [answered | MARKER]}


async def test_turns_of_others_and_results_without_a_call_are_blocks_too(server: OpenAiServer) -> None:
    opening = Message(role="tool", content="r1: 3 files")
    unreadable = Message(role="assistant", content="read(", malformed="no call")
    advice = Message(role="tool", content="Not executed.")
    calls = Message(role="assistant", calls=(LOOK, LOOK))
    results = [Message(role="tool", content=text) for text in ("r2: a", "You made this call already.")]
    server.says(said(words("Here.")))
    await turn(server, [*ASKED, opening, unreadable, advice, calls, *results])
    wire = server.requests[0]["messages"]
    assert [message["role"] for message in wire] == ["user", "assistant", "user", "assistant", "user"]
    assert wire[0]["content"] == [words("Where?"), words("r1: 3 files")]
    ids = [block["id"] for block in wire[3]["content"]]
    assert [block["tool_use_id"] for block in wire[4]["content"]] == ids
    assert len(set(ids)) == 2


@pytest.mark.parametrize(("stop", "truncated"), [("max_tokens", True), ("refusal", False), ("end_turn", False)])
async def test_a_turn_that_was_cut_off_says_so(server: OpenAiServer, stop: str, truncated: bool) -> None:
    server.says(said(words("It is"), stop=stop))
    assert (await turn(server)).truncated == truncated


@pytest.mark.parametrize(
    ("answer", "kind", "told"),
    [
        (refused(529, "Overloaded"), ModelBusy, "answered 529: Overloaded"),
        (refused(429, "slow down", **{"Retry-After": "7"}), ModelBusy, "answered 429: slow down"),
        (refused(400, "prompt is too long: 9 tokens > 8 maximum"), ContextFull, "answered 400: prompt is too long"),
        (refused(401, f"invalid x-api-key {KEY}"), ModelError, r"answered 401: invalid x-api-key \[key\]"),
        (Said('{"type": "message"}'), ModelError, "no completion"),
        (said({"type": "tool_use", "id": "x", "name": "read", "input": "no object"}), ModelError, "no completion"),
    ],
)
async def test_failures_are_sorted_by_what_one_can_do(
    server: OpenAiServer, answer: Said, kind: type[ModelError], told: str
) -> None:
    server.says(answer)
    with pytest.raises(kind, match=told) as failed:
        await turn(server)
    assert type(failed.value) is kind
    if isinstance(failed.value, ModelBusy):
        assert failed.value.after == (7 if answer.headers else None)


async def test_the_key_is_a_header_and_no_bearer_token(server: OpenAiServer) -> None:
    server.says(said(words("Here.")))
    await turn(server)
    assert server.keys == [None]
    assert [headers["x-api-key"] for headers in server.headers] == [KEY]
    with pytest.raises(UsageError, match="printable ASCII"):
        Endpoint(server.url, "claude-big", "two words")
