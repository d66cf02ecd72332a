"""The user's own Claude Code as an orchestrator, headless in the task's folder.

Its own tools are Read, Grep and Glob, and Bash if that is allowed. Our subagents come by an MCP server, those of its
own model as agents of its own. What the user has set up for it is shut out: settings, hooks, memory, skills, servers.
"""

import json
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from skillstill.errors import TeacherError
from skillstill.skills.registry import Registry
from skillstill.types import Trace, Usage

from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.compare.arms import Staff, served_traces, server_environment, spent
from skillstill_training.compare.outcome import HAND_OVER, INSTRUCTIONS, ArmName, Outcome, Step, inside_steps
from skillstill_training.compare.programs import Ended, run_program
from skillstill_training.teachers.claude_code import PROGRAM, environment
from skillstill_training.teachers.claude_stream import TurnReader, results
from skillstill_training.teachers.large_models import file_name
from skillstill_training.teachers.ledger import sum_usage
from skillstill_training.util.hashes import hash_parts

SERVER = "skills"  # what it calls ours
SWITCHES = (
    "--print", "--verbose", "--output-format", "stream-json", "--include-partial-messages", "--strict-mcp-config",
    "--setting-sources", "", "--disable-slash-commands", "--no-session-persistence", "--permission-prompts", "none",
)  # fmt: skip
OWN = ("Read", "Grep", "Glob")
SHELL, AGENTS = "Bash", "Agent"
WAIT = 600_000  # ms that a subagent may take
Event = Mapping[str, Any]


@dataclass(frozen=True)
class ClaudeCodeOrchestrator:
    """The program with one of its models.

    has_shell   whether it may run commands in the folder, as the user
    seconds     that a task may take
    """

    model: str
    staff: Staff
    has_shell: bool = False
    seconds: float = 900.0
    receiver: str = "the provider of Claude Code's model"
    arms: Sequence[ArmName] = field(default=("alone", "self", "stock", "ours", "router"))

    @property
    def name(self) -> str:
        return file_name("claude-code", self.model)

    @property
    def key(self) -> str:
        return hash_parts(self.model, str(self.has_shell), INSTRUCTIONS + HAND_OVER, *SWITCHES)

    async def solve(self, task: Task, arm: ArmName, usd: float | None) -> Outcome:
        """Raise TeacherError if the program is not installed."""
        if not (program := shutil.which(PROGRAM)):
            raise TeacherError(f"Claude Code is not installed: there is no program called `{PROGRAM}`")
        start = time.monotonic()
        with TemporaryDirectory(prefix="skillstill-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            command = [program, *SWITCHES, *self._options(task, arm, usd, folder)]
            ended = await run_program(
                command, Path(task.folder), environment(folder / "cache"), said=task.prompt, seconds=self.seconds
            )
            inside = served_traces(folder)
        return read_outcome(ended, arm, inside, time.monotonic() - start)

    def _options(self, task: Task, arm: ArmName, usd: float | None, folder: Path) -> Iterator[str]:
        own = [*OWN, *([SHELL] if self.has_shell else []), *([AGENTS] if arm == "self" else [])]
        command = self.staff.server(arm, Path(task.folder))
        allowed = [*own, *([f"mcp__{SERVER}"] if command else [])]
        yield from ("--tools", ",".join(own), "--allowedTools", ",".join(allowed))
        yield from ("--mcp-config", str(write_servers(folder, command)))
        yield from ("--append-system-prompt", INSTRUCTIONS + HAND_OVER * (arm != "alone"))
        if arm == "self":
            yield from ("--agents", json.dumps(self._agents([*OWN, *([SHELL] if self.has_shell else [])])))
        if self.model:
            yield from ("--model", self.model)
        if usd is not None:
            yield from ("--max-budget-usd", f"{usd:.4f}")

    def _agents(self, tools: Sequence[str]) -> dict[str, Any]:
        """Return an agent of its own model for each subagent, told what ours are told before they are trained."""
        listed = Registry(self.staff.registry).entries()
        return {
            one.entry.name: {
                "description": one.entry.description,
                "prompt": one.skill().instructions,
                "tools": list(tools),
                "model": "inherit",
            }
            for one in listed
        }


def write_servers(folder: Path, command: Sequence[str] | None) -> Path:
    """Write which MCP servers there are: ours, or none. Its traces go into the same folder."""
    servers: dict[str, Any] = {}
    if command:
        program, *arguments = command
        told = {"command": program, "args": arguments, "env": server_environment(folder)}
        servers = {SERVER: {**told, "timeout": WAIT, "alwaysLoad": True}}
    (file := folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return file


def read_outcome(ended: Ended, arm: ArmName, inside: Sequence[Trace], seconds: float) -> Outcome:
    """Return what the program's stream tells: tokens by who read them, its answer, its cost, all steps.

    A program that waits for an agent ends twice or more often; the last time counts.
    """
    events = list(_events(ended.output))
    result = next((event for event in reversed(events) if event["type"] == "result"), None)
    usage = _own_usage(events)
    served = spent(arm, inside) if arm != "self" else {"delegated": _rest(_whole_usage(result or {}), usage)}
    return Outcome(
        answer=str(result.get("result") or "").strip() if result and not result.get("is_error") else "",
        usage=usage,
        seconds=round(seconds, 3),
        usd=result.get("total_cost_usd") if result else None,
        error=_problem(ended, result),
        steps=(*_steps(events), *inside_steps(inside)),
        **served,
    )


def _problem(ended: Ended, result: Event | None) -> str:
    """Return why nothing is told of the task; running out of turns or money is an answer that was not given."""
    if ended.is_late or (result and str(result.get("subtype")).startswith("error_max")):
        return ""
    if result is None:
        return f"Claude Code broke off: {ended.errors.strip()[-300:] or 'it says nothing'}"
    return f"Claude Code failed: {result.get('result') or result.get('subtype')}" if result.get("is_error") else ""


def _events(output: str) -> Iterator[Event]:
    for line in output.split("\n"):
        try:
            event = json.loads(line)
        except ValueError:  # a line that was cut off with the program
            continue
        if isinstance(event, dict) and "type" in event:
            yield event


def _own_usage(events: Iterable[Event]) -> Usage:
    """Return what the orchestrator itself has read and written: of agents there are no events of the API."""
    turns, reader = list[Usage](), TurnReader()
    for event in events:
        if event["type"] in {"assistant", "stream_event"} and not event.get("parent_tool_use_id"):
            reader.read(event)
        if reader.is_complete:
            turns.append(reader.turn.usage or Usage())
            reader = TurnReader()
    return sum_usage(turns)


def _whole_usage(result: Event) -> Usage:
    """Return what the whole session has read and written, with all of its models."""
    models: Mapping[str, Event] = result.get("modelUsage") or {}
    return sum_usage(
        Usage(
            prompt=one["inputTokens"] + one["cacheReadInputTokens"] + one["cacheCreationInputTokens"],
            reused=one["cacheReadInputTokens"],
            completion=one["outputTokens"],
        )
        for one in models.values()
    )


def _rest(whole: Usage, part: Usage) -> Usage:
    return Usage(
        prompt=max(0, whole.prompt - part.prompt),
        reused=max(0, whole.reused - part.reused),
        completion=max(0, whole.completion - part.completion),
    )


def _steps(events: Iterable[Event]) -> Iterator[Step]:
    for event in events:
        inside = bool(event.get("parent_tool_use_id"))
        if event["type"] == "assistant" and not event.get("error"):
            yield from (step for block in event["message"]["content"] for step in _block_steps(block, inside=inside))
        elif event["type"] == "user" and isinstance(event["message"]["content"], list):
            yield from (Step(kind="read", text=text, inside=inside) for text in results(event).values())


def _block_steps(block: Event, *, inside: bool) -> Iterator[Step]:
    if block["type"] == "text":
        yield Step(kind="said", text=block["text"], inside=inside)
    elif block["type"] == "tool_use":
        called = f"{block['name']} {json.dumps(block['input'], ensure_ascii=False)}"
        yield Step(kind="called", text=called, inside=inside)
