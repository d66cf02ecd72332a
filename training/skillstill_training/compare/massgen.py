"""MassGen as an orchestrator: the program itself, by a configuration that is written for each task.

It is installed by its user (docs/comparing.md) and found as `massgen`. One agent, at an OpenAI-compatible endpoint,
works with MassGen's own tools on the task's folder, which it may read; our subagents come by an MCP server. Tokens are
those that MassGen counts.
"""

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import yaml
from skillstill.errors import TeacherError
from skillstill.models.remote import Endpoint
from skillstill.types import Usage
from skillstill.util.hosts import leads_here

from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.compare.arms import Staff, served_traces, server_environment, spent
from skillstill_training.compare.outcome import HAND_OVER, INSTRUCTIONS, ArmName, Outcome, Step, inside_steps
from skillstill_training.compare.programs import Ended, run_program
from skillstill_training.teachers.large_models import EndpointModel, file_name
from skillstill_training.teachers.ledger import sum_usage
from skillstill_training.util.hashes import hash_parts

PROGRAM = "massgen"
SWITCHES = ("--automation", "--no-session-registry")
LAST = "turn_1/attempt_*"  # of a run's logs


@dataclass(frozen=True)
class MassGen:
    """The program with the model of an endpoint. `seconds`: that a task may take."""

    endpoint: Endpoint
    staff: Staff
    seconds: float = 900.0
    arms: Sequence[ArmName] = field(default=("alone", "self", "stock", "ours", "router"))

    @property
    def name(self) -> str:
        return file_name("massgen", self.endpoint.model)

    @property
    def model(self) -> str:
        return self.endpoint.model

    @property
    def receiver(self) -> str:
        return EndpointModel(self.endpoint).receiver

    @property
    def key(self) -> str:
        return hash_parts(self.endpoint.address, INSTRUCTIONS + HAND_OVER, *SWITCHES)

    async def solve(self, task: Task, arm: ArmName, usd: float | None) -> Outcome:
        """Raise TeacherError if the program is not installed."""
        if not (program := shutil.which(PROGRAM)):
            raise TeacherError(f"MassGen is not installed: there is no program called `{PROGRAM}`")
        start = time.monotonic()
        with TemporaryDirectory(prefix="skillstill-", ignore_cleanup_errors=True) as name:
            folder = Path(name).resolve()
            config = folder / "config.yaml"
            config.write_text(yaml.safe_dump(self.config(task, arm, folder)), encoding="utf-8")
            command = [program, "--config", str(config), *SWITCHES, task.prompt]
            ended = await run_program(command, folder, self._environment(program), seconds=self.seconds)
            return self._outcome(ended, arm, folder, time.monotonic() - start)

    def config(self, task: Task, arm: ArmName, folder: Path) -> dict[str, Any]:
        """Return the configuration: one agent that reads the task's folder, with our server if the arm needs it."""
        backend = {
            "type": "chatcompletion",
            "model": self.endpoint.model,
            "base_url": f"{self.endpoint.base_url}/v1",
            "cwd": str(folder / "workspace"),
            "context_paths": [{"path": task.folder, "permission": "read"}],
            "mcp_servers": list(self._servers(task, arm, folder)),
        }
        told = INSTRUCTIONS + HAND_OVER * (arm != "alone") + f" The folder is {task.folder}."
        places = {"snapshot_storage": "snapshots", "agent_temporary_workspace": "temporary"}
        return {
            "agents": [{"id": "orchestrator", "backend": backend, "system_message": told}],
            "orchestrator": {name: str(folder / place) for name, place in places.items()},
            "ui": {"display_type": "simple", "logging_enabled": True},
        }

    def _servers(self, task: Task, arm: ArmName, folder: Path) -> Iterator[dict[str, Any]]:
        if command := self.staff.server(arm, Path(task.folder), self.endpoint.address):
            program, *arguments = command
            told = {**server_environment(folder), "SKILLSTILL_ENDPOINT_KEY": self.endpoint.key}
            yield {"name": "skills", "type": "stdio", "command": program, "args": arguments, "env": told}

    def _environment(self, program: str) -> dict[str, str]:
        """Return the user's environment, with the key where MassGen looks for it and the programs that it starts."""
        path = os.pathsep.join([str(Path(program).parent), os.environ.get("PATH", os.defpath)])
        here = {"NO_PROXY": urlsplit(self.endpoint.url).hostname or ""} if leads_here(self.endpoint.url) else {}
        return {**os.environ, **here, "PATH": path, "OPENAI_API_KEY": self.endpoint.key or "none"}

    def _outcome(self, ended: Ended, arm: ArmName, folder: Path, seconds: float) -> Outcome:
        """Return the outcome. Without an answer MassGen says so in its place: only its events tell."""
        inside = served_traces(folder)
        logs = sorted((folder / ".massgen" / "massgen_logs").glob(f"*/{LAST}"))
        events = list(_events(logs[-1] / "events.jsonl")) if logs else []
        answers = [str(event["data"]["content"]) for event in events if event["event_type"] == "final_answer"]
        usage = _usage(logs[-1] / "status.json") if logs else Usage()
        return Outcome(
            answer=answers[-1].strip() if answers else "",
            usage=usage,
            seconds=round(seconds, 3),
            error="" if answers or usage.prompt or ended.is_late else f"MassGen gave no answer: {_said(ended)}",
            steps=(*_steps(events), *inside_steps(inside)),
            **spent(arm, inside),
        )


def _said(ended: Ended) -> str:
    lines = [line for line in (ended.errors + ended.output).splitlines() if line.strip()]
    return " ".join(lines[-3:])[-300:] or "it says nothing"


def _usage(status: Path) -> Usage:
    """Return what its agents have read and written, as it counts that."""
    if not status.is_file():
        return Usage()
    agents = json.loads(status.read_text(encoding="utf-8")).get("agents") or {}
    counts = [agent.get("token_usage") or {} for agent in agents.values()]
    return sum_usage(
        Usage(
            prompt=one.get("input_tokens") or 0,
            reused=one.get("cached_input_tokens") or 0,
            completion=(one.get("output_tokens") or 0) + (one.get("reasoning_tokens") or 0),
        )
        for one in counts
    )


def _events(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        yield json.loads(line)


def _steps(events: Iterable[dict[str, Any]]) -> Iterator[Step]:
    for event in events:
        data = event.get("data") or {}
        match event.get("event_type"):
            case "tool_start":
                arguments = json.dumps(data.get("args"), ensure_ascii=False)
                yield Step(kind="called", text=f"{data.get('tool_name')} {arguments}")
            case "tool_complete":
                yield Step(kind="read", text=str(data.get("result")))
            case "answer_submitted" | "final_answer":
                yield Step(kind="said", text=str(data.get("content")))
