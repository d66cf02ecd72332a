"""The user's own Claude Code as a large model: the program asks its model, our loop executes the calls.

One run of the program is one attempt at a goal. It is headless, reads the skill's text behind its own instructions, and
offers its model the skill's tools alone, by an MCP server (`skillstill.server.tool_relay`) that hands each call to the
loop. So everything else is as with any other model: the workspace, the receipts, the budgets, what counts as evidence.
A call of any other tool is refused by the program and, in the trace, by the loop.

The program runs as the user, because the login lies where only it knows: in its configuration folder, a keychain or the
environment. What else lies there is shut out by the program's own switches: settings with their hooks, memory, skills,
agents, other MCP servers. Settings that an organization manages still hold. Its working folder is empty.
"""

import json
import os
import shutil
import signal
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream
from skillstill import chat
from skillstill.errors import ModelError, TeacherError
from skillstill.models.remote import Sampling
from skillstill.server.tool_relay import SCHEMAS, SOCKET, TOOLS
from skillstill.types import Message, ToolSchema
from skillstill.util.text import one_line

from skillstill_training.teachers.claude_stream import SERVER, Event, TurnReader, check_offered, failure, results
from skillstill_training.teachers.large_models import file_name
from skillstill_training.util.tasks import one_error

PROGRAM = "claude"
SWITCHES = (
    "--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
    "--include-partial-messages",
    "--tools", "", "--allowedTools", f"mcp__{SERVER}", "--permission-prompts", "none",
    "--strict-mcp-config", "--setting-sources", "", "--disable-slash-commands", "--no-session-persistence",
)  # fmt: skip
ENVIRONMENT = {
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",  # titles and the like, which cost tokens
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",  # its messages would come without the events of a stream
    "CLAUDE_CODE_MAX_RETRIES": "7",  # a minute of waiting in all; ten take ten minutes
    "DISABLE_AUTOUPDATER": "1",
    "ENABLE_TOOL_SEARCH": "false",  # else a model may be told of tools by name alone
    "MCP_TIMEOUT": "120000",  # ms until the server of our tools has to be there, on a busy machine
}
# What a session of the program tells the programs that it starts, this one perhaps among them.
SESSION = ("CLAUDECODE", "CLAUDE_CODE_", "CLAUDE_PID", "CLAUDE_EFFORT")
LOGIN = ("CLAUDE_CODE_OAUTH_", "CLAUDE_CODE_USE_", "CLAUDE_CODE_SKIP_", "CLAUDE_CODE_CLIENT_")
PATIENCE = 10.0  # seconds to tell the cost and end, if a run ends before its model does
LONGEST = 50_000_000  # bytes of a line
LONGEST_ID = 1_000


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """The program with one of its models: an alias, a full name, or empty for what it would take itself."""

    model: str = ""
    tells_cost: bool = True

    @property
    def name(self) -> str:
        return file_name("claude-code", self.model)

    @property
    def label(self) -> str:
        return f"claude-code:{self.model or 'default'}"

    @property
    def receiver(self) -> str:
        return "the provider of Claude Code's model"

    @asynccontextmanager
    async def open(
        self, sampling: Sampling, *, seconds: float, usd: float | None = None
    ) -> AsyncIterator["ClaudeSession"]:
        """Return one run of the program, which draws at its model's own temperature. Raise TeacherError."""
        if not (program := shutil.which(PROGRAM)):
            raise TeacherError(f"Claude Code is not installed: there is no program called `{PROGRAM}`")
        with one_error(), TemporaryDirectory(prefix="skillstill-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            options = [
                *(["--model", self.model] if self.model else []),
                *(["--max-budget-usd", str(usd)] if usd else []),
            ]
            session = ClaudeSession([program, *SWITCHES, *options], folder, seconds)
            async with (
                await anyio.create_unix_listener(folder / SOCKET) as listener,
                anyio.create_task_group() as group,
            ):
                group.start_soon(listener.serve, session.results.send)
                try:
                    yield session
                finally:
                    await session.close()
                    group.cancel_scope.cancel()


class Results:
    """Results on their way from the loop to the program, by the id of the call that each answers."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._arrivals: defaultdict[str, anyio.Event] = defaultdict(anyio.Event)

    def put(self, call: str, text: str) -> None:
        self._texts[call] = text
        self._arrivals[call].set()

    async def send(self, stream: SocketStream) -> None:
        """Read the id of a call, and write its result as soon as there is one."""
        with suppress(anyio.BrokenResourceError, anyio.IncompleteRead, anyio.DelimiterNotFound):
            async with stream:
                call = (await BufferedByteReceiveStream(stream).receive_until(b"\n", LONGEST_ID)).decode()
                await self._arrivals[call].wait()
                await stream.send(self._texts[call].encode())

    def check(self, read: Mapping[str, str]) -> None:
        """Raise ModelError if the model reads something else than the loop has filed."""
        if any(self._texts.get(call, text) != text for call, text in read.items()):
            raise ModelError("Claude Code has changed a result on its way to the model")


class ClaudeSession:
    """One run of the program as a model. It starts when the first turn is asked for.

    usd   what it cost at list prices, once it is closed; None if the program did not say
    """

    def __init__(self, command: Sequence[str], folder: Path, seconds: float) -> None:
        self.usd: float | None = None
        self.results = Results()
        self._command, self._folder, self._seconds = command, folder, seconds
        self._process: Process | None = None
        self._calls: list[str] = []  # ids of the last turn's calls
        self._tools: tuple[str, ...] = ()
        self._error = ""
        self._has_begun = self._has_ended = False

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        """Return the next turn. How long it may be is for the program to say: there is no switch for `max_tokens`.

        Raise ModelError, TeacherError if the program cannot work here at all, BudgetSpent.
        """
        try:
            with anyio.fail_after(self._seconds):
                if self._process is None:
                    await self._start(messages, tools)
                self._hand_over(messages)
                return await self._turn()
        except TimeoutError as error:
            raise ModelError(f"Claude Code took longer than {self._seconds:g} seconds for a turn") from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, LookupError, TypeError, ValueError) as error:
            raise ModelError(f"Claude Code's output cannot be read ({type(error).__name__}: {error})") from error

    async def close(self) -> None:
        """End the program, if it runs, and let it tell before what it cost."""
        if self._process is None:
            return
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(PATIENCE), suppress(Exception):
                await self._stop(self._process)
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.aclose()

    async def _stop(self, process: Process) -> None:
        if not self._has_ended:
            await self._say({"type": "control_request", "request_id": "stop", "request": {"subtype": "interrupt"}})
        while not self._has_ended:
            await self._event()
        await _stdin(process).aclose()
        await process.wait()

    async def _start(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> None:
        system, *rest = messages
        self._tools = tuple(tool.name for tool in tools)
        command = [*self._command, "--append-system-prompt-file", str(self._write("system.txt", system.content))]
        command += ["--mcp-config", str(self._write_config(tools))]
        (empty := self._folder / "empty").mkdir()
        with self._errors.open("wb") as errors:
            self._process = await anyio.open_process(
                command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=errors,
                cwd=empty,
                env=environment(self._folder / "cache"),
                start_new_session=True,
            )
        self._lines = BufferedByteReceiveStream(_stdout(self._process))
        prompt = "\n\n".join(chat.without_tags(message.content) for message in rest)
        await self._say({"type": "user", "message": {"role": "user", "content": prompt}})

    def _hand_over(self, messages: Sequence[Message]) -> None:
        """Answer the last turn's calls by what the loop has said since, one message a call."""
        if self._calls:
            for call, message in zip(self._calls, messages[-len(self._calls) :], strict=True):
                self.results.put(call, chat.without_tags(message.content))

    async def _turn(self) -> Message:
        reader = TurnReader()
        while not reader.is_complete:
            event = await self._event()
            if self._has_ended:
                raise failure(self._error, event)
            reader.read(event)
        self._calls = reader.call_ids
        return reader.turn

    async def _event(self) -> Event:
        """Return the next event. Raise ModelError, and TeacherError if the program says nothing at all."""
        try:
            event: Event = json.loads(await self._lines.receive_until(b"\n", LONGEST))
        except (anyio.IncompleteRead, anyio.EndOfStream) as end:
            raise self._silence() from end
        match event["type"]:
            case "system" if event.get("subtype") == "init":
                check_offered(event, self._tools)
                self._has_begun = True
            case "assistant":
                self._error = event.get("error") or self._error
            case "user":
                self.results.check(results(event))
            case "result":
                self._has_ended, self.usd = True, event.get("total_cost_usd")
        return event

    def _silence(self) -> ModelError | TeacherError:
        said = one_line(self._errors.read_text(encoding="utf-8", errors="replace").strip(), 300) or "it says nothing"
        if self._has_begun:
            return ModelError(f"Claude Code broke off: {said}")
        return TeacherError(f"Claude Code does not start: {said}")

    async def _say(self, value: Mapping[str, Any]) -> None:
        assert self._process
        await _stdin(self._process).send(json.dumps(value).encode() + b"\n")

    def _write_config(self, tools: Sequence[ToolSchema]) -> Path:
        """Write what our tools are, and how the program starts the server of them."""
        (self._folder / TOOLS).write_bytes(SCHEMAS.dump_json(tuple(tools)))
        server = {"command": sys.executable, "args": ["-m", "skillstill.server.tool_relay", str(self._folder)]}
        waits = {"timeout": round(1_000 * self._seconds), "alwaysLoad": True}
        return self._write("mcp.json", json.dumps({"mcpServers": {SERVER: {**server, **waits}}}))

    def _write(self, name: str, text: str) -> Path:
        (file := self._folder / name).write_text(text, encoding="utf-8")
        return file

    @property
    def _errors(self) -> Path:
        return self._folder / "errors.txt"


def environment(cache: Path) -> dict[str, str]:
    """Return the user's environment, without what a session around the program has put there."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(LOGIN) or not name.startswith((*SESSION, "SKILLSTILL_"))
    }
    return {**kept, **ENVIRONMENT, "XDG_CACHE_HOME": str(cache)}


def _stdin(process: Process) -> ByteSendStream:
    assert process.stdin
    return process.stdin


def _stdout(process: Process) -> ByteReceiveStream:
    assert process.stdout
    return process.stdout
