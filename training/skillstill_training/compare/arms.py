"""The arms of a comparison: whom an orchestrator may ask beside its own tools, in this process or by our MCP server."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated

from mcp.types import TextContent
from pydantic import Field
from skillstill.errors import SkillstillError
from skillstill.routing.delegation import Delegation
from skillstill.run import store
from skillstill.runtime import Runtime
from skillstill.server import delegating, wire
from skillstill.skills.consent import is_servable
from skillstill.skills.registry import ENVIRONMENT, Document, ListedEntry, Registry, RegistryEntry
from skillstill.tools import Result, Tool, tool
from skillstill.types import PROMPT_CHARACTERS, ModelFile, Models, ToolSchema, Trace, Usage
from skillstill.util.storage import cache_folder
from skillstill.workspace import Workspace

from skillstill_training.compare.outcome import ArmName
from skillstill_training.teachers.ledger import sum_usage
from skillstill_training.util.hashes import hash_parts
from skillstill_training.util.jsonl import write_text

LABELS: Mapping[ArmName, str] = {
    "alone": "alone, with its own tools",
    "script": "the script without a model",
    "self": "subagents of its own model",
    "stock": "subagents of a small untrained model",
    "ours": "our subagents",
    "router": "our subagents behind delegate",
}
ARMS: Sequence[ArmName] = tuple(LABELS)
STATE = "state"


@dataclass(frozen=True)
class Subagents:
    """The subagents of one arm in this process.

    routed   one tool `delegate` in place of one for each
    """

    runtime: Runtime
    routed: bool = False

    async def ask(self, prompt: str, folder: Path, name: str = "") -> Trace:
        """Return what a subagent made of a question; without a name the one that the router chooses.

        Raise SkillstillError.
        """
        if name:
            return await self.runtime.run(name, prompt, folder)

        async def run(subagent: str) -> Trace:
            return await self.runtime.run(subagent, prompt, folder)

        return await Delegation(self.runtime.registry, keep=False).delegate(prompt, folder, run)

    @cached_property
    def schemas(self) -> Sequence[ToolSchema]:
        """Return the tools as an MCP client is told of them."""
        if self.routed:
            told = [delegating.tool(may_write=False)]
        else:
            entries = [one.entry for one in self.runtime.registry.entries() if is_servable(one)]
            told = [wire.tool(entry, always=True) for entry in entries]
        return [
            ToolSchema(name=one.name, description=one.description or "", parameters=one.input_schema) for one in told
        ]

    def tools(self, traces: list[Trace]) -> Sequence[Tool]:
        """Return the same tools for our own loop. What they do is appended to the traces."""
        return [self._tool(schema, traces) for schema in self.schemas]

    def _tool(self, schema: ToolSchema, traces: list[Trace]) -> Tool:
        async def ask(
            workspace: Workspace,
            prompt: Annotated[
                str, Field(min_length=1, max_length=PROMPT_CHARACTERS, description="One self-contained question")
            ],
        ) -> Result:
            """Ask a subagent."""
            try:
                trace = await self.ask(prompt, workspace.root, "" if self.routed else schema.name)
            except SkillstillError as error:
                return Result.of_text(f"failed: {error}")
            traces.append(trace)
            return Result.of_text(report_text(trace, routed=self.routed))

        made = tool(ask)
        told = made.schema.model_copy(update={"name": schema.name, "description": schema.description})
        return replace(made, schema=told)


def report_text(trace: Trace, *, routed: bool) -> str:
    """Return what an orchestrator reads of a subagent's work: the text that our MCP server returns."""
    parts = wire.tool_result(trace, trace.skill if routed else "").content
    return "".join(part.text for part in parts if isinstance(part, TextContent))


@dataclass(frozen=True)
class Staff:
    """Where the subagents of all arms come from.

    folder     where the registry of the untrained is written
    models     of this machine
    registry   of ours; by default the one that counts on this machine
    small      the base of the arm `stock`; by default that of each release
    """

    folder: Path
    models: Models
    registry: Path | None = None
    small: ModelFile | None = None
    offline: bool = False
    threads: int | None = None

    @cached_property
    def key(self) -> str:
        """Return a hash of all subagents and their models."""
        entries = [one.entry.model_dump_json() for one in Registry(self.registry).entries()]
        return hash_parts(*entries, self.small.sha256 if self.small else "")

    def subagents(self, arm: ArmName, own: Models | None = None) -> Subagents | None:
        """Return whom the arm may ask, None if nobody. `own` are the orchestrator's own models, for the arm `self`."""
        if arm in {"ours", "router"}:
            return Subagents(self._runtime(self.registry, self.models), routed=arm == "router")
        if arm == "stock":
            return Subagents(self._runtime(self.untrained, self.models))
        return Subagents(self._runtime(self.untrained, own)) if arm == "self" and own else None

    def server(self, arm: ArmName, workspace: Path, endpoint: str = "") -> Sequence[str] | None:
        """Return the command of our MCP server for an arm, None if it needs none.

        `endpoint` is the orchestrator's own model, for the arm `self`.
        """
        if arm not in {"stock", "ours", "router"} and not (arm == "self" and endpoint):
            return None
        named = self.registry or os.environ.get(ENVIRONMENT)  # which a program in between may not hand on
        registry = named if arm in {"ours", "router"} else self.untrained
        return [
            *(sys.executable, "-m", "skillstill.cli", "serve", "--workspace", str(workspace), "--no-remember"),
            *("--expose", "delegate" if arm == "router" else "each"),
            *(("--registry", str(Path(registry).absolute())) if registry else ()),
            *(("--endpoint", endpoint) if endpoint and arm == "self" else ()),
            *(("--threads", str(self.threads)) if self.threads else ()),
            *(("--offline",) if self.offline and not endpoint else ()),
        ]

    @cached_property
    def untrained(self) -> Path:
        """Write the registry of the same skills without their adapters, and return it. Raise StageError."""
        (folder := self.folder.absolute() / "untrained").mkdir(parents=True, exist_ok=True)
        listed = Registry(self.registry).entries()
        for one in listed:
            if not (link := folder / one.skill_folder.name).exists():
                link.symlink_to(one.skill_folder)
        document = Document(entries=tuple(map(self._untrained, listed)))
        write_text(file := folder / "registry.json", document.model_dump_json(indent=1, exclude_none=True) + "\n")
        return file

    def _untrained(self, listed: ListedEntry) -> RegistryEntry:
        entry = listed.entry
        return RegistryEntry(
            name=entry.name,
            title=entry.title,
            description=entry.description,
            state="untrained",
            skill=listed.skill_folder.name,
            base=self.small or entry.base,
            search_hint=entry.search_hint,
        )

    def _runtime(self, registry: Path | None, models: Models) -> Runtime:
        return Runtime(Registry(registry), models, keep_traces=False, remembers=False)


def tokens_of(traces: Sequence[Trace]) -> Usage:
    """Return what subagents read and wrote."""
    tallies = [trace.tally for trace in traces]
    return sum_usage(
        Usage(prompt=one.prompt_tokens, reused=one.reused_tokens, completion=one.completion_tokens) for one in tallies
    )


def spent(arm: ArmName, traces: Sequence[Trace]) -> dict[str, Usage | int]:
    """Return the fields of an outcome that say who has read and written for it."""
    usage = tokens_of(traces)
    return {"delegated": usage} if arm == "self" else {"local_tokens": usage.prompt - usage.reused + usage.completion}


def server_environment(folder: Path) -> dict[str, str]:
    """Return what our server is told by a program that gives it no other environment: its traces go into the folder."""
    return {"XDG_STATE_HOME": str(folder / STATE), "XDG_CACHE_HOME": str(cache_folder().parent)}


def served_traces(folder: Path) -> Sequence[Trace]:
    """Return the traces that a server has left in the folder, oldest first."""
    return [store.read(file) for file in sorted((folder / STATE / "skillstill" / "runs").glob("*.jsonl"))]
