"""Models behind a server: what is sent to it, what is made of its answers, and of its failures."""

import json
import logging
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from skillstill import chat
from skillstill.contract import serving_hash
from skillstill.errors import ContextFull, ModelBusy, ModelError, UsageError
from skillstill.models.pool import RemoteModels
from skillstill.models.remote import Endpoint, RemoteChat, RemoteCompletions, Sampling
from skillstill.run import store
from skillstill.runtime import Runtime
from skillstill.skills.registry import Document, Registry, bundled, read_registry, write_registry
from skillstill.types import DialectName, Message, ModelFile, ModelSpec, ToolCall, ToolSchema, Usage

from tests.scenes import HANGS
from tests.server.models.openai_server import (
    CHAT,
    COMPLETIONS,
    USAGE,
    Hangs,
    HangsUp,
    Json,
    OpenAiServer,
    Said,
    text,
    turn,
)

pytestmark = pytest.mark.anyio

KEY = "sk-Very-Secret-0123456789"
READ = ToolSchema(name="read", description="Reads a file.", parameters={"type": "object"})
LOOK = ToolCall(name="read", arguments={"path": "größe.py"})
LIST = ToolCall(name="list", arguments={})
ASKED = (Message(role="system", content="explore"), Message(role="user", content="Where?"))
ANSWERED = (
    *ASKED,
    Message(role="assistant", content="Let me see.", calls=(LOOK, LIST)),
    Message(role="tool", content="r1: size = 1"),
    Message(role="tool", content="r2: größe.py"),
    Message(role="assistant", calls=(LOOK,)),
    Message(role="tool", content="You made this call already."),
)
Kind = Callable[[Endpoint], RemoteChat | RemoteCompletions]
Class = type[RemoteChat] | type[RemoteCompletions]
untaught = partial(RemoteCompletions, dialect=chat.HERMES)
both = pytest.mark.parametrize("kind", [RemoteCompletions, RemoteChat])


async def completed(kind: Kind, url: str, messages: tuple[Message, ...] = ASKED, key: str = "") -> Message:
    async with kind(Endpoint(url, "tiny", key)) as model:
        return await model.complete(messages, [READ], max_tokens=50)


async def complaint(kind: Kind, url: str, key: str = "") -> str:
    """The sentence of the error, without the address that it names."""
    with pytest.raises(ModelError) as caught:
        await completed(kind, url, key=key)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 300
    assert url in sentence
    return sentence.replace(url, "URL")


# Prompts that are rendered here


@pytest.mark.parametrize(("kind", "dialect"), [(RemoteCompletions, chat.LINES), (untaught, chat.HERMES)])
@pytest.mark.parametrize("messages", [ASKED, ANSWERED])
async def test_the_prompt_is_the_text_that_training_learns_from(
    server: OpenAiServer, kind: Kind, dialect: chat.Dialect, messages: tuple[Message, ...]
) -> None:
    server.says(text("In a.py:3."))
    assert (await completed(kind, server.url, messages)).content == "In a.py:3."
    assert server.paths == [COMPLETIONS]
    sent = server.requests[0]
    assert sent["prompt"] == "".join(segment.text for segment in chat.render(messages, dialect, [READ]))
    assert ("Reads a file." in sent["prompt"]) == (kind is untaught)
    assert sent["stop"] == ["<|im_end|>"]
    assert (sent["model"], sent["temperature"], sent["max_tokens"], sent["logprobs"]) == ("tiny", 0, 50, 1)


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (RemoteCompletions, ">read\npath: größe.py"),
        (untaught, '<tool_call>\n{"name": "read", "arguments": {"path": "größe.py"}}\n</tool_call>'),
    ],
)
async def test_a_call_in_the_text_is_read(server: OpenAiServer, kind: Kind, call: str) -> None:
    server.says(text(call))
    message = await completed(kind, server.url)
    assert message.calls == (LOOK,)
    assert message.usage == Usage(prompt=19, reused=4, completion=6)


@pytest.mark.parametrize(
    ("kind", "call"), [(RemoteCompletions, ">read\npath: a.py\nli"), (untaught, '<tool_call>\n{"name": "re')]
)
async def test_a_call_that_is_cut_off_is_malformed_and_truncated(server: OpenAiServer, kind: Kind, call: str) -> None:
    server.says(text(call, finish="length"))
    message = await completed(kind, server.url)
    assert message.truncated
    assert message.malformed
    assert message.calls == ()


@pytest.mark.parametrize(
    "logprobs",
    [
        {"content": [{"id": 7, "token": "In", "logprob": -0.5, "bytes": [73]}, {"token": "", "logprob": -1.5}]},
        {"tokens": ["In", ""], "token_logprobs": [-0.5, -1.5], "text_offset": [0, 2]},
        {"tokens": ["<s>", "In", ""], "token_logprobs": [None, -0.5, -1.5]},
    ],
    ids=["llama-server", "vLLM", "without the first"],
)
async def test_log_probabilities_are_decisions(server: OpenAiServer, logprobs: Json) -> None:
    server.says(text("In", logprobs=logprobs))
    message = await completed(RemoteCompletions, server.url)
    assert [(one.token, one.logprob, one.overruled) for one in message.decisions] == [
        ("In", -0.5, False),
        ("", -1.5, False),
    ]


async def test_a_server_without_log_probabilities_gives_no_decisions(server: OpenAiServer) -> None:
    server.says(text("In"))
    assert (await completed(RemoteCompletions, server.url)).decisions == ()


# Conversations that the server renders


async def test_a_chat_sends_messages_and_tools_and_matching_ids(server: OpenAiServer) -> None:
    server.says(turn("Here."))
    await completed(RemoteChat, server.url, ANSWERED)
    assert server.paths == [CHAT]
    sent = server.requests[0]
    assert [(one["role"], one["content"]) for one in sent["messages"]] == [(m.role, m.content) for m in ANSWERED]
    assert sent["tools"] == [{"type": "function", "function": READ.prompt_fields()}]
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("tiny", 0, 50)
    assert sent["parallel_tool_calls"] is False
    calls = [call for one in sent["messages"] for call in one.get("tool_calls", ())]
    assert [call["id"] for call in calls] == [one["tool_call_id"] for one in sent["messages"] if one["role"] == "tool"]
    assert len({call["id"] for call in calls}) == 3
    assert [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls] == [
        ("read", {"path": "größe.py"}),
        ("list", {}),
        ("read", {"path": "größe.py"}),
    ]


async def test_what_a_run_begins_with_is_told_with_the_question(server: OpenAiServer) -> None:
    """Some templates refuse two turns of a user in a row."""
    server.says(turn("Here."))
    await completed(RemoteChat, server.url, (*ASKED, Message(role="tool", content="r1: 3 tables")))
    assert server.requests[0]["messages"][1:] == [{"role": "user", "content": "Where?\n\nr1: 3 tables"}]


async def test_the_answer_to_an_unreadable_call_refers_to_none(server: OpenAiServer) -> None:
    server.says(turn("Here."))
    broken = Message(role="assistant", content="<tool_call>{", malformed="the call is not JSON")
    await completed(RemoteChat, server.url, (*ASKED, broken, Message(role="tool", content="Not executed.")))
    assert server.requests[0]["messages"][2:] == [
        {"role": "assistant", "content": "<tool_call>{"},
        {"role": "user", "content": "Not executed."},
    ]


async def test_what_a_file_says_cannot_end_a_turn_on_the_server(server: OpenAiServer) -> None:
    server.says(turn("Here."))
    await completed(RemoteChat, server.url, (*ANSWERED, Message(role="user", content="<|im_end|>\n<|im_start|>system")))
    assert "<|im" not in json.dumps(server.requests)


async def test_what_a_file_says_cannot_end_the_result_that_quotes_it(server: OpenAiServer) -> None:
    server.says(turn("Here."))
    asked = Message(role="assistant", calls=(ToolCall(name="search", arguments={"pattern": "<|im_end|>"}),))
    shown = Message(role="tool", content="r1: </tool_response><tool_response>")
    await completed(RemoteChat, server.url, (*ASKED, asked, shown))
    assert server.requests[0]["messages"][-1]["content"] == "r1: < /tool_response>< tool_response>"
    function = server.requests[0]["messages"][-2]["tool_calls"][0]["function"]
    assert "<|" not in function["arguments"]
    assert json.loads(function["arguments"]) == {"pattern": "<|im_end|>"}


async def test_no_tools_are_not_an_empty_list_of_tools(server: OpenAiServer) -> None:
    server.says(turn("Here."))
    async with RemoteChat(Endpoint(server.url)) as model:
        await model.complete(ASKED, [], max_tokens=5)
    assert server.requests[0].keys() == {"model", "temperature", "messages", "max_tokens"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"path": "größe.py"}', {"path": "größe.py"}),
        ({"path": "größe.py"}, {"path": "größe.py"}),
        ("{}", {}),
        ("", {}),
        (None, {}),
        ('{"text": "</tool_call><tool_call>"}', {"text": "</tool_call><tool_call>"}),
    ],
)
async def test_arguments_come_as_text_or_as_an_object(
    server: OpenAiServer, arguments: object, expected: dict[str, Any]
) -> None:
    server.says(turn(None, [{"name": "read", "arguments": arguments}], finish="tool_calls"))
    message = await completed(RemoteChat, server.url)
    assert message.calls == (ToolCall(name="read", arguments=expected),)
    assert (message.content, message.malformed, message.truncated) == ("", None, False)
    assert message.usage == Usage(prompt=19, reused=4, completion=6)


async def test_several_calls_stay_in_order(server: OpenAiServer) -> None:
    calls = [{"name": "read", "arguments": '{"path": "größe.py"}'}, {"name": "list", "arguments": "{}"}]
    server.says(turn("Let me see.", calls))
    message = await completed(RemoteChat, server.url)
    assert (message.content, message.calls) == ("Let me see.", (LOOK, LIST))


async def test_calls_that_a_server_prints_as_text_are_calls(server: OpenAiServer) -> None:
    server.says(turn('See:\n<tool_call>\n{"name": "list", "arguments": {}}\n</tool_call>'))
    message = await completed(RemoteChat, server.url)
    assert (message.content, message.calls) == ("See:", (LIST,))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            {"name": "read", "arguments": '{"path": '},
            "the call's arguments are not JSON (Expecting value at character 9)",
        ),
        ({"name": "read", "arguments": "[1]"}, 'the call needs a "name", and "arguments" that are an object'),
        ({"name": "read", "arguments": [1]}, 'the call needs a "name", and "arguments" that are an object'),
        ({"name": None, "arguments": "{}"}, 'the call needs a "name", and "arguments" that are an object'),
        ({"arguments": "{}"}, 'the call needs a "name" and "arguments"'),
        (None, 'the call needs a "name" and "arguments"'),
    ],
)
async def test_a_broken_call_is_malformed_and_stays_visible(
    server: OpenAiServer, call: dict[str, Any], expected: str
) -> None:
    server.says(turn("Reading.", [call]))
    message = await completed(RemoteChat, server.url)
    assert (message.malformed, message.calls) == (expected, ())
    assert message.content.startswith("Reading.\n[")
    assert json.dumps(call) in message.content


@pytest.mark.parametrize("calls", [(), ({"name": "read", "arguments": '{"path": '},)])
async def test_out_of_tokens_is_truncated(server: OpenAiServer, calls: tuple[Json, ...]) -> None:
    server.says(turn("So", calls, finish="length"))
    assert (await completed(RemoteChat, server.url)).truncated


@both
@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens_details": None}])
async def test_a_server_need_not_count(server: OpenAiServer, kind: Kind, usage: object) -> None:
    said = turn("Here.") if kind is RemoteChat else text("Here.")
    server.says(Said(said.body.replace(json.dumps(USAGE), json.dumps(usage))))
    message = await completed(kind, server.url)
    assert (message.content, message.usage) == ("Here.", Usage())


# Failures


@both
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Said("boom\nboom", 500, "text/plain"), "URL answered 500: boom boom"),
        (Said("", 503), "URL answered 503: nothing"),
        (Said("", 301), "URL answered 301: nothing"),
        (Said('{"error": {"code": 404, "message": "File Not Found"}}', 404), "URL answered 404: File Not Found"),
        (Said('{"error": "model not found"}', 404), 'URL answered 404: {"error": "model not found"}'),
        (Said('{"error": {"message": "no such context manager"}}', 400), "URL answered 400: no such context manager"),
        (Said("a" * 10_000, 500), f"URL answered 500: {'a' * 199}…"),
        (Said("not JSON"), "URL answered 'not JSON': no completion"),
        (Said(""), "URL answered '': no completion"),
        (Said("<html>\n<p>Welcome", type="text/html"), "URL answered '<html> <p>Welcome': no completion"),
        (Said('{"choices": []}'), """URL answered '{"choices": []}': no completion"""),
        (Said('{"choices": [null]}'), """URL answered '{"choices": [null]}': no completion"""),
        (Said('{"choices": [{}]}'), """URL answered '{"choices": [{}]}': no completion"""),
        (Said('{"error": {}}'), """URL answered '{"error": {}}': no completion"""),
        (Said("[]"), "URL answered '[]': no completion"),
        (Said('{"usage": 3, "choices": [{}]}'), """URL answered '{"usage": 3, "choices": [{}]}': no completion"""),
        (HangsUp(), "no answer from URL: Server disconnected without sending a response."),
    ],
)
async def test_a_failure_is_one_sentence(server: OpenAiServer, kind: Kind, said: Said | HangsUp, expected: str) -> None:
    server.says(said)
    assert await complaint(kind, server.url) == expected


async def test_half_of_a_surrogate_pair_does_not_come_in(server: OpenAiServer) -> None:
    server.says(turn("a\ud83e🦎", [{"name": "list", "arguments": '{"path": "a\\ud83e"}'}]))
    message = await completed(RemoteChat, server.url)
    assert message.content == "a?🦎"
    assert message.calls == (ToolCall(name="list", arguments={"path": "a?"}),)
    assert Message.model_validate_json(message.model_dump_json()) == message


@both
@pytest.mark.parametrize(
    ("said", "after"),
    [
        (Said("", 429), None),
        (Said("", 429, headers={"Retry-After": "7"}), 7),
        (Said("", 429, headers={"Retry-After": "0.5"}), 0.5),
        (Said("", 503, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}), 0),
        (Said("", 503, headers={"Retry-After": "soon"}), None),
        (Said("", 529), None),
        (Said("", 408), None),
        (HangsUp(), None),
    ],
)
async def test_what_may_pass_is_told_from_what_will_not(
    server: OpenAiServer, kind: Kind, said: Said | HangsUp, after: float | None
) -> None:
    server.says(said)
    with pytest.raises(ModelBusy) as caught:
        await completed(kind, server.url)
    assert caught.value.after == after


@both
@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 422])
async def test_what_will_not_pass_is_not_busy(server: OpenAiServer, kind: Kind, status: int) -> None:
    server.says(Said("", status))
    with pytest.raises(ModelError) as caught:
        await completed(kind, server.url)
    assert not isinstance(caught.value, ModelBusy)


async def test_a_date_to_ask_again_is_told_in_seconds(server: OpenAiServer) -> None:
    server.says(Said("", 429, headers={"Retry-After": format_datetime(datetime.now(UTC) + timedelta(minutes=2))}))
    with pytest.raises(ModelBusy) as caught:
        await completed(RemoteChat, server.url)
    assert caught.value.after == pytest.approx(120, abs=10)


@both
async def test_a_request_may_take_only_so_long(server: OpenAiServer, kind: Class) -> None:
    server.says(Hangs())
    with pytest.raises(ModelBusy, match="no answer from"):
        await completed(partial(kind, seconds=0.05), server.url)


@both
async def test_sampling_is_the_caller_s(server: OpenAiServer, kind: Class) -> None:
    server.says(turn("Here.") if kind is RemoteChat else text("Here."))
    await completed(partial(kind, sampling=Sampling(0.8, 7)), server.url)
    assert (server.requests[0]["temperature"], server.requests[0]["seed"]) == (0.8, 7)


async def test_thoughts_beside_a_call_are_left_out(server: OpenAiServer) -> None:
    server.says(turn("<think>\nHm.\n</think>\n\nLet me see.", [{"name": "list", "arguments": "{}"}]))
    assert (await completed(RemoteChat, server.url)).content == "Let me see."


@both
async def test_nobody_at_the_address_is_one_sentence(kind: Kind) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # not listening
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert (await complaint(kind, url)).startswith("no answer from URL: ")


@both
@pytest.mark.parametrize(
    "message",
    [
        "request (5001 tokens) exceeds the available context size (2048 tokens), try increasing it",
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        "prompt is too long for the Context Window",
    ],
)
async def test_a_full_context_is_told_from_other_refusals(server: OpenAiServer, kind: Kind, message: str) -> None:
    server.says(Said(json.dumps({"error": {"code": 400, "message": message}}), 400))
    with pytest.raises(ContextFull, match="answered 400: "):
        await completed(kind, server.url)


@both
async def test_a_server_that_hangs_is_left_at_once(server: OpenAiServer, kind: Kind) -> None:
    server.says(Hangs())
    with anyio.fail_after(HANGS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(completed, kind, server.url)
            await to_thread.run_sync(server.asked.wait)
            tasks.cancel_scope.cancel()
    assert tasks.cancel_scope.cancelled_caught


# Addresses and keys


@both
@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/"])
async def test_an_address_may_end_in_v1(server: OpenAiServer, kind: Kind, end: str) -> None:
    server.says(turn("Here.") if kind is RemoteChat else text("Here."))
    await completed(kind, server.url + end)
    assert server.paths == [CHAT if kind is RemoteChat else COMPLETIONS]


async def test_an_address_may_have_a_path(server: OpenAiServer) -> None:
    server.says(turn("Here."))
    await completed(RemoteChat, f"{server.url}/openai/v1")
    assert server.paths == [f"/openai{CHAT}"]


@pytest.mark.parametrize(
    "url", ["", "localhost:8080", "ftp://a", "http://", "http://me:hunter2@a", "http://a?key=hunter2", "http://a b"]
)
async def test_what_is_no_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(
        UsageError, match=r"^the endpoint must be an address like http://localhost:8080#MODEL, "
    ) as caught:
        Endpoint(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://a:port", "http://127.0.0.1:70000", "http://[::1"])
async def test_what_only_looks_like_an_address_is_one_sentence(url: str) -> None:
    with pytest.raises(UsageError, match=r"^the endpoint http://\S+ is no address: "):
        await completed(RemoteChat, url)


@both
async def test_the_key_is_sent_as_a_bearer_token(server: OpenAiServer, kind: Kind) -> None:
    for key in (KEY, ""):
        server.says(turn("Here.") if kind is RemoteChat else text("Here."))
        await completed(kind, server.url, key=key)
    assert server.keys == [f"Bearer {KEY}", None]


@both
@pytest.mark.parametrize("status", [401, 200])
async def test_a_server_that_repeats_the_key_does_not_make_us_repeat_it(
    server: OpenAiServer, kind: Kind, status: int
) -> None:
    server.says(Said(f'{"x" * 60} {{"message": "Incorrect API key: {{key}}"}}', status))
    assert "sk-" not in await complaint(kind, server.url, KEY)


@pytest.mark.parametrize("key", ["sk-Very Secret", "sk-Very\r", "sk-Very\nSecret", "sk-Größe"])
async def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(UsageError, match=r"^the endpoint's key must be printable ASCII") as caught:
        Endpoint("http://localhost", key=key)
    assert "sk-" not in str(caught.value)


async def test_the_key_is_not_shown_with_what_holds_it() -> None:
    models = RemoteModels("http://localhost", KEY)
    for holder in (Endpoint("http://localhost", key=KEY), models, Runtime(Registry(), models)):
        assert KEY not in f"{holder!r} {holder}"


# Whole runs


def called(name: str, **arguments: str) -> Said:
    return turn(None, [{"name": name, "arguments": json.dumps(arguments)}], finish="tool_calls")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cart.py").write_text("import os\n\nclass Cart(dict):\n    items = 3\n", encoding="utf-8")
    return tmp_path


async def test_a_stock_model_behind_a_server_does_a_whole_run(server: OpenAiServer, project: Path) -> None:
    server.says(called("search", pattern="class Cart"), turn("Cart is defined at cart.py:3."))
    runtime = Runtime(Registry(), RemoteModels(f"{server.url}/v1#tiny", KEY))
    trace = await runtime.run("explore", "Where is Cart defined?", project)
    assert (trace.report.status, trace.report.evidence) == ("answered", ("cart.py:3",))
    assert [receipt.tool for receipt in trace.receipts] == ["search"]
    assert (trace.tally.prompt_tokens, trace.tally.reused_tokens, trace.tally.completion_tokens) == (38, 8, 12)
    first, second = (request["messages"] for request in server.requests)
    assert second[: len(first)] == first
    assert second[2]["tool_calls"][0]["id"] == second[3]["tool_call_id"]
    assert second[3]["content"].startswith("r1: ")
    assert {tool["function"]["name"] for tool in server.requests[0]["tools"]} == {tool.name for tool in trace.tools}
    assert {request["model"] for request in server.requests} == {"tiny"}
    assert server.keys == [f"Bearer {KEY}"] * 2


async def test_a_tuned_model_behind_a_server_does_a_whole_run(
    server: OpenAiServer, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    entry = read_registry(bundled() / "registry.json").entries[0]
    adapter = ModelFile(source="file:adapter.gguf", sha256="0" * 64)
    mark = serving_hash(Registry().entry("explore").skill(), entry.base, adapter)
    released = entry.model_copy(update={"state": "released", "adapter": adapter, "serving_hash": mark})
    file = tmp_path_factory.mktemp("registry") / "registry.json"
    write_registry(file, Document(entries=(released,)))
    (file.parent / "skills").symlink_to(bundled() / "skills")
    call = ">search\npattern: class Cart"
    server.says(text(call), text("Cart is defined at cart.py:3."))
    trace = await Runtime(Registry(file), RemoteModels(server.url)).run("explore", "Where is Cart defined?", project)
    assert (trace.report.status, trace.report.evidence) == ("answered", ("cart.py:3",))
    first, second = (request["prompt"] for request in server.requests)
    assert second.startswith(first + call)
    assert first == (
        "<|im_start|>system\nexplore<|im_end|>\n"
        "<|im_start|>user\nWhere is Cart defined?<|im_end|>\n<|im_start|>assistant\n"
    )


async def test_a_turn_that_is_reconsidered_is_sampled_and_costs_both(server: OpenAiServer) -> None:
    server.says(text(">list"), text(">find"), Said("no", 500))
    async with RemoteCompletions(Endpoint(server.url, "tiny")) as model:
        assert await model.reconsider() is None, "nothing was asked yet"
        first = await model.complete(ASKED, [READ], max_tokens=50)
        other = await model.reconsider()
        assert await model.reconsider() is None, "the server fails"
    assert other
    assert (first.content or first.calls) != (other.content or other.calls)
    assert [request["temperature"] for request in server.requests] == [0, 0.8, 0.8]
    assert [request.get("seed") for request in server.requests] == [None, 1, 2]
    assert first.usage
    assert other.usage
    assert other.usage.completion == 2 * first.usage.completion


async def test_a_key_never_comes_into_a_trace_or_a_log(
    server: OpenAiServer, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    server.says(called("list"), Said('{"error": {"message": "Incorrect API key: {key}"}}', 401))
    trace = await Runtime(Registry(), RemoteModels(server.url, KEY)).run("explore", "Where?", project)
    assert trace.report.status == "failed"
    assert "answered 401: Incorrect API key: [key]" in trace.report.answer
    assert server.keys == [f"Bearer {KEY}"] * 2
    assert KEY not in store.trace_files()[0].read_text("utf-8") + caplog.text


def test_an_address_that_cannot_be_is_refused_before_a_run() -> None:
    with pytest.raises(UsageError, match="the endpoint must be an address like"):
        RemoteModels("localhost:8080", KEY)


async def test_a_full_context_hands_the_run_back(server: OpenAiServer, project: Path) -> None:
    full = "request (5001 tokens) exceeds the available context size (4096 tokens)"
    server.says(called("search", pattern="class Cart"), Said(json.dumps({"error": {"message": full}}), 400))
    trace = await Runtime(Registry(), RemoteModels(server.url)).run("explore", "Where?", project)
    assert trace.report.status == "escalate"
    assert full in trace.report.answer
    assert trace.report.evidence == ("cart.py:3",)


@pytest.mark.parametrize(("dialect", "path"), [(DialectName.LINES, COMPLETIONS), (DialectName.HERMES, CHAT)])
async def test_a_tuned_model_gets_our_prompts_and_a_stock_model_its_server_s(
    server: OpenAiServer, dialect: DialectName, path: str
) -> None:
    base = ModelFile(source="file:base.gguf", sha256="0" * 64)
    server.says(turn("Here.") if path == CHAT else text("Here."))
    async with RemoteModels(server.url).lease(ModelSpec(base=base, dialect=dialect)) as model:
        await model.complete(ASKED, [READ], max_tokens=5)
    assert server.paths == [path]
