"""The MCP front over real HTTP on loopback: who gets in, what is refused, and that nobody disturbs anybody."""

import asyncio
import json
import re
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import httpx2
import pytest
from anyio.abc import SocketStream
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import ResourceTemplateReference
from skillstill.errors import UsageError
from skillstill.models.scripted import call
from skillstill.runtime import Runtime
from skillstill.server import build
from skillstill.server.connections import STRANGERS
from skillstill.server.guards import CLIENTS, HangUps, RateLimit
from skillstill.server.http import HttpOptions, application, check, say, serve_http
from skillstill.server.tokens import read_tokens
from skillstill.skills.registry import Registry
from skillstill.types import Message, Model
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.flow_control import FlowControl

from tests.scenes import HANGS, Scripted, ScriptedModels, tools_with

pytestmark = pytest.mark.anyio
ERAS = ["legacy", "2026-07-28"]
TOKEN = "a-token-that-nobody-guesses"
OPTIONS = HttpOptions(token=TOKEN)
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}
MODERN = {"MCP-Protocol-Version": "2026-07-28"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
LOOK = call("search", pattern="class Cart")
CLAIM = "Cart is defined in cart.py:3."
ASK = {"name": "explore", "arguments": {"prompt": "Where is Cart?"}}


@pytest.fixture(autouse=True)
def attentive_uvicorn(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvicorn looks each 0.1 s if it is to stop, then waits as long for connections to end: here, a tenth of it."""
    hurried = SimpleNamespace(**vars(asyncio) | {"sleep": lambda seconds: asyncio.sleep(seconds / 10)})
    monkeypatch.setattr("uvicorn.server.asyncio", hurried)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cart.py").write_text("import os\n\nclass Cart(dict):\n    pass\n", encoding="utf-8")
    return tmp_path


@dataclass(frozen=True)
class Served:
    url: str
    said: str

    def post(self, body: Any, **headers: str) -> partial[Any]:
        """What posts this body, bytes as they are and all else as JSON, with a token unless told otherwise."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return partial(httpx2.AsyncClient.post, url=self.url, content=content, headers=ACCEPT | BEARER | headers)


@asynccontextmanager
async def serving(
    runtime: Runtime, project: Path, options: HttpOptions = OPTIONS, **more: Any
) -> AsyncIterator[Served]:
    said: list[str] = []
    ready = anyio.Event()

    def announce(text: str) -> None:
        said.append(text)
        ready.set()

    async with anyio.create_task_group() as group:
        group.start_soon(partial(serve_http, build(runtime, project), options, announce=announce, **more))
        with anyio.fail_after(HANGS):
            await ready.wait()
        found = re.search(r"http://\S+", said[0])
        assert found
        yield Served(found[0], said[0])
        group.cancel_scope.cancel()


@asynccontextmanager
async def connected(served: Served, era: str = "2026-07-28", token: str = TOKEN) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(served.url, http_client=http), mode=era) as client,
    ):
        yield client


async def answered(served: Served, body: Any, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as http:
        response = await served.post(body, **headers)(http)
    assert isinstance(response, httpx2.Response)
    return response


class Waiting:
    """A model that never answers, and says when it was asked and when it was let go."""

    def __init__(self) -> None:
        self.asked, self.freed = anyio.Event(), anyio.Event()

    async def complete(self, *_: object, **__: object) -> Message:
        self.asked.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.freed.set()
        raise AssertionError


def running(model: Model) -> Runtime:
    return Runtime(Registry(), ScriptedModels(model), keep_traces=False)


# Who gets in


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_with_the_token_is_served_in_both_eras(scripted: Scripted, project: Path, era: str) -> None:
    async with serving(scripted([LOOK, CLAIM]), project) as served, connected(served, era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == tools_with()
        result = await client.call_tool("explore", {"prompt": "Where is Cart?"})
    assert result.structured_content == {"answer": CLAIM, "status": "answered", "evidence": ["cart.py:3"]}


@pytest.mark.parametrize("sent", ["", f"Bearer {TOKEN}x", "Bearer", TOKEN, f"Basic {TOKEN}", "Bearer ünknown"])
async def test_a_wrong_or_missing_token_is_401(scripted: Scripted, project: Path, sent: str) -> None:
    async with serving(scripted([]), project) as served, httpx2.AsyncClient() as http:
        authorization = [(b"Authorization", sent.encode())] if sent else []
        response = await http.post(served.url, json=PING, headers=authorization)
    assert response.status_code == 401
    assert response.headers["www-authenticate"].startswith("Bearer ")
    assert response.json()["error"] == "invalid_token"


async def test_a_client_with_a_wrong_token_is_told_and_another_served(scripted: Scripted, project: Path) -> None:
    async with serving(scripted([]), project) as served:
        with pytest.raises(ExceptionGroup) as caught:
            async with connected(served, token="another-token-altogether") as client:
                await client.list_tools()
        assert caught.group_contains(MCPError)
        async with connected(served) as client:
            assert (await client.list_tools()).tools


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Host", "evil.example", 421),
        ("Host", "evil.example:80", 421),
        ("Host", "127.0.0.1.evil.example", 421),
        ("Host", "localhost", 404),
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://localhost.evil.example", 403),
        ("Host", "localhost:99999x", 421),
        ("Host", "localhost:99999", 421),
        ("Host", "localhost:0", 421),
        ("Host", "localhost:80:80", 421),
        ("Host", "localhost:80@evil.example", 421),
        ("Host", "[::1]:80.evil.example", 421),
        ("Host", "[::1]:65535", 404),
        ("Origin", "http://localhost:99999x", 403),
        ("Origin", "http://localhost:80.evil.example", 403),
        ("Origin", "http://localhost:80@evil.example", 403),
        ("Origin", "http://localhost:3000/", 403),
        ("Origin", "http://[::1", 403),
        ("Origin", "http://localhost:3000", 404),
    ],
)
@pytest.mark.parametrize("era", [{}, MODERN])
async def test_foreign_hosts_are_421_and_foreign_origins_403(
    scripted: Scripted, project: Path, header: str, value: str, status: int, era: dict[str, str]
) -> None:
    """`ping` is unknown in the new era and needs a session in the old one: what gets past the checks fails there."""
    async with serving(scripted([]), project) as served:
        response = await answered(served, PING, **{header: value}, **era)
        assert response.status_code in ({status} if status != 404 else {400, 404})
        assert (await answered(served, PING, **{header: value, "Authorization": "Bearer wrong"})).status_code == 401


async def test_names_and_origins_that_were_allowed_are_answered(scripted: Scripted, project: Path) -> None:
    options = replace(OPTIONS, allowed_hosts=("Build.lan",), allowed_origins=("https://build.lan",))
    async with serving(scripted([]), project, options) as served:
        for host in ("build.lan", "build.lan:8443"):
            response = await answered(served, PING, **MODERN, Host=host, Origin="https://build.lan")
            assert response.status_code in {400, 404}
        assert (await answered(served, PING, **MODERN, Host="lan")).status_code == 421


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::", "build.lan", "127.0.0.1.evil.example", ""])
@pytest.mark.parametrize("given", [{}, {"token": TOKEN}, {"allowed_hosts": ("build.lan",)}])
async def test_off_loopback_nothing_starts_without_a_token_and_names(
    scripted: Scripted, project: Path, host: str, given: dict[str, Any]
) -> None:
    with pytest.raises(UsageError, match=r"type `SKILLSTILL_TOKEN=.* --allowed-host NAME`$") as caught:
        await serve_http(build(scripted([]), project), HttpOptions(host=host, **given))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_only_a_token(host: str) -> None:
    check(HttpOptions(host=host, token=TOKEN))
    check(HttpOptions(host="0.0.0.0", token=TOKEN, allowed_hosts=("build.lan", "10.0.0.7:80", "[fe80::1]:80")))


@pytest.mark.parametrize(
    "token", ["", "short", "a token with some spaces", "newline-in-a-token\n", "ümlaut-in-a-token"]
)
async def test_a_token_that_is_none_is_refused_without_being_told(
    scripted: Scripted, project: Path, token: str
) -> None:
    with pytest.raises(UsageError, match="16 or more printable ASCII") as caught:
        application(build(scripted([]), project), HttpOptions(token=token))
    assert not token or token not in str(caught.value)


@pytest.mark.parametrize("name", ["*", "https://build.lan", "build.lan/mcp", ":*", "", "build lan", "lan:65536"])
def test_a_pattern_or_an_address_is_no_host_name(name: str) -> None:
    with pytest.raises(UsageError, match="is no host name: expected one such as"):
        check(replace(OPTIONS, allowed_hosts=(name,)))


OTHERS = {"laptop": "the-token-of-the-laptop", "builder": "the-token-of-the-builder"}


@asynccontextmanager
async def connected_as(served: Served, name: str) -> AsyncIterator[Client]:
    async with connected(served, token=OTHERS.get(name, TOKEN)) as client:
        yield client


@pytest.mark.parametrize("token", ["", TOKEN])
async def test_each_client_with_a_token_of_its_own_sees_its_own_runs_alone(
    scripted: Scripted, project: Path, token: str
) -> None:
    transcript = ResourceTemplateReference(uri="run://{id}")
    others = ["builder", *([""] if token else [])]
    async with serving(scripted([LOOK, CLAIM]), project, HttpOptions(token=token, clients=OTHERS)) as served:
        async with connected_as(served, "laptop") as client:
            result = await client.call_tool("explore", {"prompt": "Where is Cart?"})
            run = (result.meta or {})["skillstill/run"]
            own = await client.complete(transcript, {"name": "id", "value": ""})
            assert (await client.read_resource(run)).contents
        for name in others:
            async with connected_as(served, name) as other:
                assert (await other.complete(transcript, {"name": "id", "value": ""})).completion.values == []
                with pytest.raises(MCPError, match="no such resource"):
                    await other.read_resource(run)
        async with connected(served, token=OTHERS["laptop"]) as again:
            assert (await again.read_resource(run)).contents
        assert (await answered(served, PING, Authorization="Bearer nobody-has-this-one")).status_code == 401
    assert own.completion.values == [run.removeprefix("run://")]
    assert not [one for one in OTHERS.values() if one in served.said + repr(HttpOptions(clients=OTHERS))]


async def test_a_session_of_one_client_is_unknown_to_another(scripted: Scripted, project: Path) -> None:
    async with serving(scripted([]), project, replace(OPTIONS, clients=OTHERS)) as served:
        headers = await session(served)
        assert (await answered(served, LIST, **headers)).status_code == 200
        stolen = {**headers, "Authorization": f"Bearer {OTHERS['laptop']}"}
        assert (await answered(served, LIST, **stolen)).status_code == 404


def token_file(folder: Path, text: str) -> Path:
    (file := folder / "tokens").write_text(text, encoding="utf-8")
    file.chmod(0o600)
    return file


def test_a_token_file_names_clients(tmp_path: Path) -> None:
    lines = ["# who may call", "", *(f"{name}: {token}" for name, token in OTHERS.items())]
    assert read_tokens(token_file(tmp_path, "\n".join(lines))) == OTHERS


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no token: expected lines such as"),
        ("# nobody", "holds no token: expected lines such as"),
        ("a-token-without-a-name", "line 1: expected lines such as `build-server: TOKEN`"),
        ("one: short-secret", "line 1: expected lines such as"),
        ("one: a-long-secret with spaces", "line 1: expected lines such as"),
        ("a b: a-long-secret-of-one", "line 1: expected lines such as"),
        ("one: a-long-secret-of-one\none: a-long-secret-of-two", "line 2: expected each name and each token once"),
        ("one: a-long-secret-of-one\ntwo: a-long-secret-of-one", "line 2: expected each name and each token once"),
    ],
)
def test_a_token_file_that_is_none_is_refused_without_being_told(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        read_tokens(token_file(tmp_path, text))
    assert "secret" not in str(caught.value)


def test_a_token_file_that_others_may_read_or_that_is_missing_is_refused(tmp_path: Path) -> None:
    file = token_file(tmp_path, "one: a-long-secret-of-one")
    file.chmod(0o640)
    with pytest.raises(UsageError, match=rf"others may read the tokens in {file}: type `chmod 600 {file}`"):
        read_tokens(file)
    with pytest.raises(UsageError, match=r"cannot be read as a file of tokens: .*No such file"):
        read_tokens(tmp_path / "missing")


def test_the_token_of_all_is_nobodys_own() -> None:
    with pytest.raises(UsageError, match="each needs its own"):
        check(HttpOptions(token=TOKEN, clients={"laptop": TOKEN}))


async def test_an_address_in_use_is_one_sentence(scripted: Scripted, project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UsageError, match=rf"^cannot listen on 127.0.0.1 port {port}: Address already in use$"):
            await serve_http(build(scripted([]), project), replace(OPTIONS, port=port))


async def test_without_a_token_one_is_made_up_and_shown_once_as_a_command_to_type(
    scripted: Scripted, project: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", logger="skillstill")
    async with serving(scripted([LOOK, CLAIM]), project, HttpOptions()) as served:
        command = re.search(
            rf'claude mcp add --transport http skillstill {served.url} --header "Authorization: Bearer (\S+)"',
            served.said,
        )
        assert command
        async with connected(served, token=command[1]) as client:
            assert (await client.list_tools()).tools
    assert len(command[1]) >= 43
    assert served.said.count(command[1]) == 1
    assert command[1] not in caplog.text + "".join(capsys.readouterr())


async def test_a_given_token_is_in_no_repr_log_or_announcement(
    scripted: Scripted, project: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    for noisy in ("httpx2", "httpcore2"):  # the client's side
        caplog.set_level("WARNING", logger=noisy)
    async with serving(scripted([]), project, announce_on_stderr := OPTIONS) as served:
        assert (await answered(served, PING, Host="evil.example")).status_code == 421
        assert (await answered(served, PING, Authorization=f"Bearer {TOKEN[:-1]}")).status_code == 401
        say(served.said)
    text = caplog.text + served.said + repr(announce_on_stderr) + "".join(capsys.readouterr())
    assert "$SKILLSTILL_TOKEN" in text
    assert TOKEN[:-1] not in text


# What is refused


async def test_a_body_over_the_limit_is_413_and_the_server_lives(scripted: Scripted, project: Path) -> None:
    options = replace(OPTIONS, max_body=10_000)
    async with serving(scripted([]), project, options) as served:
        for size in (10_001, 4_000_000):
            assert (await answered(served, b"x" * size)).status_code == 413
        async with httpx2.AsyncClient() as http:
            chunked = await http.post(served.url, content=chunks(20), headers=ACCEPT | BEARER)
            assert chunked.status_code == 413
        async with connected(served) as client:
            assert (await client.list_tools()).tools


async def chunks(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * 1_000


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, -32700),
        (b"\xff\xfe", 400, -32700),
        (b"[" * 100_000, 400, -32700),
        ([PING, PING], 400, -32600),
        ("a string", 400, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 400, -32600),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, 400, -32600),
    ],
    ids=str,
)
async def test_malformed_json_rpc_gets_its_error_code_and_the_server_lives(
    scripted: Scripted, project: Path, body: Any, status: int, code: int
) -> None:
    async with serving(scripted([]), project) as served:
        modern = await answered(served, body, **MODERN)
        assert (modern.status_code, modern.json()["error"]["code"]) == (status, code)
        older = await answered(served, body)
        assert older.status_code == status
        assert older.json()["error"]["code"] in ({-32600, -32602} if code == -32600 else {code})  # as the SDK has it
        async with connected(served) as client:
            assert (await client.list_tools()).tools


@pytest.mark.parametrize("era", ERAS)
async def test_unknown_tools_and_wrong_types_are_told_and_the_session_goes_on(
    scripted: Scripted, project: Path, era: str
) -> None:
    async with serving(scripted([LOOK, CLAIM]), project) as served, connected(served, era) as client:
        with pytest.raises(MCPError, match="no subagent called 'nobody'"):
            await client.call_tool("nobody", {"prompt": "Where?"})
        assert (await client.call_tool("explore", {"prompt": 3})).is_error
        assert not (await client.call_tool("explore", {"prompt": "Where is Cart?"})).is_error


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "HEAD"])
async def test_other_methods_and_paths_reach_nothing(scripted: Scripted, project: Path, method: str) -> None:
    async with serving(scripted([]), project) as served, httpx2.AsyncClient(headers=ACCEPT) as http:
        assert (await http.request(method, served.url)).status_code == 401
        assert (await http.request(method, served.url, headers=BEARER)).status_code in {400, 405}
        assert (await http.request(method, served.url.replace("/mcp", "/"), headers=BEARER)).status_code == 404


async def test_a_session_that_was_made_up_is_404(scripted: Scripted, project: Path) -> None:
    async with serving(scripted([]), project) as served:
        assert (await answered(served, PING, **{"Mcp-Session-Id": "0" * 32})).status_code == 404


async def test_too_many_calls_are_429_until_time_has_passed(scripted: Scripted, project: Path) -> None:
    now = [0.0]
    options = replace(OPTIONS, calls_per_minute=6)
    async with serving(scripted([]), project, options, clock=lambda: now[0]) as served:
        for _ in range(20):
            assert (await answered(served, PING, Authorization="Bearer wrong")).status_code == 401
        first = [(await answered(served, PING, **MODERN)).status_code for _ in range(7)]
        assert first == [400] * 6 + [429], "those without the token used up nobody's rate"
        refused = await answered(served, PING, **MODERN)
        now[0] += float(refused.headers["retry-after"])
        later = [(await answered(served, PING, **MODERN)).status_code for _ in range(2)]
    assert refused.json()["error"] == "rate_limited"
    assert later == [400, 429]


def test_the_rate_of_one_address_is_not_that_of_another_and_memory_is_bounded() -> None:
    limit = RateLimit(application, per_minute=2, clock=lambda: 0.0)  # type: ignore[arg-type]
    assert [limit.wait("10.0.0.1") > 0 for _ in range(3)] == [False, False, True]
    assert limit.wait("10.0.0.2") <= 0
    for number in range(2 * CLIENTS):
        limit.wait(str(number))
    assert len(limit.due) == CLIENTS


# Nobody disturbs anybody


async def test_two_clients_are_served_at_once(project: Path) -> None:
    class Meeting:
        """Answers nobody before two have asked."""

        def __init__(self) -> None:
            self.asked, self.both = 0, anyio.Event()

        async def complete(self, *_: object, **__: object) -> Message:
            self.asked += 1
            if self.asked == 2:
                self.both.set()
            await self.both.wait()
            return Message(role="assistant", content="escalate: not sure")

    async with (
        serving(running(Meeting()), project) as served,
        connected(served, "legacy") as one,
        connected(served) as other,
        anyio.create_task_group() as group,
    ):
        for client in (one, other):
            group.start_soon(client.call_tool, "explore", {"prompt": "Where is Cart?"})


async def session(served: Served) -> dict[str, str]:
    """The headers of a new session of the 2025 era."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    opened = await answered(served, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    headers = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
    await answered(served, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **headers)
    return headers


async def tool_call(served: Served, era: str) -> partial[Any]:
    """What calls the tool without the SDK's client, which would say goodbye."""
    request: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": ASK}
    if era == "legacy":
        return served.post(request, **await session(served))
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": era, f"{prefix}clientCapabilities": {}}
    request["params"] = ASK | {"_meta": meta}
    return served.post(request, **MODERN, **{"Mcp-Method": "tools/call", "Mcp-Name": "explore"})


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_hangs_up_frees_its_run(project: Path, era: str) -> None:
    model = Waiting()
    async with serving(running(model), project) as served:
        post = await tool_call(served, era)
        async with httpx2.AsyncClient() as http, anyio.create_task_group() as group:
            group.start_soon(post, http)
            with anyio.fail_after(HANGS):
                await model.asked.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(HANGS):
            await model.freed.wait()
        async with connected(served, era) as client:
            assert (await client.list_tools()).tools


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_cancels_frees_its_run_and_keeps_its_connection(project: Path, era: str) -> None:
    model = Waiting()
    async with serving(running(model), project) as served, connected(served, era) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "explore", {"prompt": "Where is Cart?"})
            with anyio.fail_after(HANGS):
                await model.asked.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(HANGS):
            await model.freed.wait()
            assert (await client.list_tools()).tools


async def test_a_client_that_never_reads_keeps_nobody_waiting(
    scripted: Scripted, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sends until the server, whose answers go nowhere, can write no more of them."""
    stuck = anyio.Event()
    pause_writing = FlowControl.pause_writing

    def pause(flow: FlowControl) -> None:
        pause_writing(flow)
        stuck.set()

    monkeypatch.setattr(FlowControl, "pause_writing", pause)
    body = json.dumps(PING | {"id": "x" * 60_000})  # which the answer repeats
    lines = [f"{name}: {value}" for name, value in (ACCEPT | BEARER | MODERN).items()]
    request = "\r\n".join(["POST /mcp HTTP/1.1", "Host: localhost", *lines, f"Content-Length: {len(body)}", "", body])

    async with serving(scripted([LOOK, CLAIM]), project, replace(OPTIONS, calls_per_minute=100_000)) as served:
        deaf = socket.socket()
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        deaf.connect(("127.0.0.1", httpx2.URL(served.url).port))
        async with await SocketStream.from_socket(deaf) as stream, anyio.create_task_group() as group:

            async def flood() -> None:
                while True:
                    await stream.send(request.encode())

            group.start_soon(flood)
            with anyio.fail_after(HANGS):
                await stuck.wait()
                async with connected(served) as client:
                    result = await client.call_tool("explore", {"prompt": "Where is Cart?"})
            group.cancel_scope.cancel()
    assert not result.is_error


async def test_an_answer_that_is_not_read_in_time_counts_as_a_hang_up() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        seen.append((await receive())["type"])

    async def never(*_: object) -> Any:
        await anyio.sleep_forever()

    with anyio.fail_after(HANGS):
        await HangUps(app, patience=0.01)({"type": "http", "headers": []}, never, never)
    assert seen == ["http.disconnect"]


@asynccontextmanager
async def strangers(served: Served, count: int) -> AsyncIterator[list[SocketStream]]:
    """Connections on which nothing is ever sent."""
    port = httpx2.URL(served.url).port or 0
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", port)) for _ in range(count)]


async def ended(stream: SocketStream) -> bool:
    with anyio.fail_after(HANGS):
        try:
            await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return True
    return False


@pytest.mark.parametrize("era", ERAS)
async def test_connections_that_never_ask_take_nobodys_place(scripted: Scripted, project: Path, era: str) -> None:
    async with (
        serving(scripted([]), project) as served,
        connected(served, era) as client,
        strangers(served, 350) as idle,
    ):
        assert (await client.list_tools()).tools
        async with connected(served, era) as late:
            assert (await late.list_tools()).tools
        assert await ended(idle[0]), "the oldest made room"


async def test_a_client_with_the_token_keeps_its_place_among_strangers(project: Path) -> None:
    model = Waiting()
    async with serving(running(model), project) as served:
        post = await tool_call(served, "2026-07-28")
        async with httpx2.AsyncClient() as http, anyio.create_task_group() as group:
            group.start_soon(post, http)
            with anyio.fail_after(HANGS):
                await model.asked.wait()
            async with strangers(served, 2 * STRANGERS) as idle:
                assert await ended(idle[0])
                assert not model.freed.is_set()
            group.cancel_scope.cancel()


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "POST /mcp HTTP/1.1\r\nHost: local",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf",
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 9\r\n\r\nhalf",
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\nPOST /mcp HTTP/1.1\r\nHost: local",
    ],
    ids=[
        "nothing",
        "half of the headers",
        "half of a body",
        "half of a body with the token",
        "half of a second request",
    ],
)
async def test_a_request_that_does_not_arrive_in_time_is_hung_up(scripted: Scripted, project: Path, sent: str) -> None:
    options = replace(OPTIONS, patience=0.05)
    async with serving(scripted([]), project, options) as served, strangers(served, 1) as (stream,):
        if sent:
            await stream.send(sent.encode())
        while not await ended(stream):
            """What was answered before."""


async def test_an_answer_may_take_longer_than_its_request(project: Path) -> None:
    class Slow(Waiting):
        async def complete(self, *_: object, **__: object) -> Message:
            self.asked.set()
            await self.freed.wait()
            return Message(role="assistant", content="escalate: not sure")

    model = Slow()
    async with (
        serving(running(model), project, replace(OPTIONS, patience=0.05)) as served,
        connected(served) as client,
        anyio.create_task_group() as group,
    ):
        group.start_soon(client.call_tool, "explore", {"prompt": "Where is Cart?"})
        await model.asked.wait()
        async with strangers(served, 1) as (stranger,):
            assert await ended(stranger), "by now the request of the other one would have been hung up, too"
        model.freed.set()


async def test_when_sessions_are_full_the_longest_unused_one_ends(scripted: Scripted, project: Path) -> None:
    async with serving(scripted([]), project, replace(OPTIONS, max_sessions=3)) as served:
        first, second, third = [await session(served) for _ in range(3)]
        assert (await answered(served, LIST, **first)).status_code == 200
        fourth = await session(served)
        statuses = [(await answered(served, LIST, **one)).status_code for one in (first, second, third, fourth)]
        assert statuses == [200, 404, 200, 200]
        async with httpx2.AsyncClient() as http:
            await http.delete(served.url, headers=ACCEPT | BEARER | first)
        fifth = await session(served)
        left = [(await answered(served, LIST, **one)).status_code for one in (first, third, fourth, fifth)]
    assert left == [404, 200, 200, 200], "one that was closed had made room"


async def test_a_session_that_is_in_use_is_not_ended(project: Path) -> None:
    model = Waiting()
    async with serving(running(model), project, replace(OPTIONS, max_sessions=2)) as served:
        post = await tool_call(served, "legacy")
        async with httpx2.AsyncClient() as http, anyio.create_task_group() as group:
            group.start_soon(post, http)
            with anyio.fail_after(HANGS):
                await model.asked.wait()
            opened = [await session(served) for _ in range(3)]
            statuses = [(await answered(served, LIST, **one)).status_code for one in opened]
            assert not model.freed.is_set()
            group.cancel_scope.cancel()
    assert statuses == [404, 404, 200]


# The end


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_stops_it_in_order(
    scripted: Scripted, project: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sse_starlette.sse import AppStatus

    monkeypatch.setattr(AppStatus, "should_exit", False)  # which a signal sets for the whole process
    passed_on: list[int] = []
    before = signal.signal(number, lambda received, _: passed_on.append(received))
    try:
        with anyio.fail_after(HANGS):
            server = build(scripted([]), project)
            await serve_http(server, OPTIONS, announce=lambda _: signal.raise_signal(number))
    finally:
        signal.signal(number, before)
    assert passed_on == [number], "uvicorn hands it on once it has stopped"


@pytest.mark.parametrize("era", ERAS)
async def test_stopping_ends_runs_and_streams_that_clients_hold_open_without_an_error(
    project: Path, era: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("skillstill.server.http.GRACE", 0.1)
    model = Waiting()
    async with httpx2.AsyncClient() as http, anyio.create_task_group() as group:
        with anyio.fail_after(HANGS):
            async with serving(running(model), project) as served:
                post = await tool_call(served, era)

                async def hold() -> None:
                    with pytest.raises(httpx2.TransportError):
                        await post(http)

                group.start_soon(hold)
                await model.asked.wait()
            await model.freed.wait()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
