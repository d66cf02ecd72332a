"""Where the tools of a run work: the workspace, and a sandbox around it as soon as one of them executes something."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import anyio
from anyio import to_thread
from anyio.abc import TaskStatus

from skillstill.errors import Refusal, SandboxError
from skillstill.run.servers import reason, served
from skillstill.sandbox.choice import chosen
from skillstill.sandbox.sandbox import Driver, Sandbox, SandboxPlan
from skillstill.sandbox.scratch import Scratch, copy_workspace, hidden_paths, remove_scratch
from skillstill.skills.skill import McpServer, Mode, Skill
from skillstill.tools import Result, Tool
from skillstill.tools.kit.indexing import forget_folder
from skillstill.tools.kit.tool import ALONE, Functions
from skillstill.types import Scorer
from skillstill.workspace import Workspace

log = logging.getLogger(__name__)


class Box:
    """The workspace of one run, as an async context manager. Leaving ends everything that was executed.

    Its `tools` are those given, or else the skill's with those of its MCP servers, which are started on entering.
    Without a driver, the tools that execute and the servers are left out, and `notes` say so; also what a server does
    not offer. In the mode `scratch`, and in `write` unless the user allowed it, the tools work on a copy from the first
    call on that executes something. Its changes are the `patch` afterwards.
    """

    def __init__(
        self, skill: Skill, workspace: Workspace, *, tools: Sequence[Tool] | None = None, may_write: bool = False
    ) -> None:
        own = skill.tools if tools is None else tools
        self.tools = {tool.name: tool for tool in own if tool.is_offered()}
        self.patch, self.notes = "", list[str]()
        self._servers = skill.subagent.mcp if tools is None else ()
        self._use, self._mode = skill.subagent.sandbox, _mode(skill.subagent.workspace.mode, may_write)
        self._workspace = self._now = workspace
        self._driver: Driver | None = None
        self._scratch: Scratch | None = None
        self._tasks = anyio.create_task_group()
        self._opening = anyio.Lock()  # a script calls several tools at once

    async def __aenter__(self) -> Self:
        """Raise SandboxError if no tool is left."""
        await self._choose_driver()
        await self._tasks.__aenter__()
        try:
            if self._driver and self._servers:
                await self._start_servers()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _choose_driver(self) -> None:
        """Find what builds sandboxes, if any is needed. Without it leave out what executes."""
        executing = [name for name, tool in self.tools.items() if tool.executes]
        servers = [f"the MCP server {server.name}" for server in self._servers]
        if not (executing or servers):
            return
        try:
            self._driver = await chosen()
        except SandboxError as error:
            note = f"Without a sandbox {', '.join((*executing, *servers))} cannot run: {error}"
            self.tools = {name: tool for name, tool in self.tools.items() if name not in executing}
            if not self.tools:
                raise SandboxError(note) from error
            self.notes.append(note)

    async def _start_servers(self) -> None:
        """Start the MCP servers, each in a task that keeps it. Raise SandboxError if no tool is left."""
        folder, hidden = await to_thread.run_sync(self._folder)
        self._now = Workspace(folder)
        for server in self._servers:
            await self._tasks.start(self._serve, server, folder, self._plan(hidden))
        if not self.tools:
            raise SandboxError(" ".join(self.notes))

    async def _serve(
        self, server: McpServer, folder: Path, plan: SandboxPlan, *, task_status: TaskStatus[None]
    ) -> None:
        """Keep a server, and add its tools. Whatever it does, the run goes on without it."""
        assert self._driver
        try:
            async with served(server, self._driver, folder, plan, self.tools) as offer:
                self.tools |= {tool.name: tool for tool in offer.tools}
                if offer.left_out:
                    self.notes.append(f"Of the MCP server {server.name}, left out: {'; '.join(offer.left_out)}.")
                task_status.started()
                await anyio.sleep_forever()
        except Exception as error:
            log.debug("the MCP server %s failed", server.name, exc_info=True)
            self.notes.append(f"The tools of the MCP server {server.name} are missing: {reason(error)}.")
            with suppress(RuntimeError):  # it had started
                task_status.started()

    async def __aexit__(self, *_: object) -> None:
        try:
            self._tasks.cancel_scope.cancel()
            await self._tasks.__aexit__(None, None, None)
        finally:
            if self._scratch:
                with anyio.CancelScope(shield=True):
                    self.patch = await to_thread.run_sync(_closed, self._scratch)

    async def call(
        self, name: str, arguments: Mapping[str, Any], scorer: Scorer | None, functions: Functions = ALONE
    ) -> Result:
        """Return what a tool answers. Raise Refusal if it refuses, or its sandbox cannot be had or broke down."""
        if name not in self.tools:
            raise Refusal(f"no tool called {name!r}; the tools are {', '.join(self.tools)}")
        tool = self.tools[name]
        try:
            if tool.executes:
                await self._open()
            return await tool.call(self._now, arguments, scorer, functions)
        except SandboxError as error:
            raise Refusal(f"{name}: {error}") from error

    async def _open(self) -> None:
        """Put a sandbox around the workspace, if there is none yet. Raise SandboxError."""
        async with self._opening:
            if self._now.sandbox is None:
                folder, hidden = await to_thread.run_sync(self._folder)
                self._now = Workspace(folder, await self._tasks.start(self._keep, folder, self._plan(hidden)))

    def _plan(self, hidden: tuple[str, ...]) -> SandboxPlan:
        use, writable = self._use, self._mode != "read"
        return SandboxPlan(writable=writable, hidden=hidden, packages=use.packages, hosts=use.hosts, limits=use.limits)

    async def _keep(self, folder: Path, plan: SandboxPlan, *, task_status: TaskStatus[Sandbox]) -> None:
        """Keep a sandbox open, in a task of its own: who calls the first tool may be one that ends before the run."""
        assert self._driver
        async with self._driver.open(folder, plan) as sandbox:
            task_status.started(sandbox)
            await anyio.sleep_forever()

    def _folder(self) -> tuple[Path, tuple[str, ...]]:
        """Return what the sandbox is opened around, and what of it is hidden. Raise SandboxError."""
        root, is_secret = self._workspace.root, self._workspace.is_secret
        if self._mode != "scratch":
            return root, hidden_paths(root, is_secret)
        self._scratch = self._scratch or copy_workspace(root, is_secret)
        return self._scratch.folder, ()


def _mode(wanted: Mode, may_write: bool) -> Mode:
    return "scratch" if wanted == "write" and not may_write else wanted


def _closed(scratch: Scratch) -> str:
    """Return the patch of a copy, and remove that, with what was read of it for its facts."""
    try:
        return scratch.patch()
    finally:
        remove_scratch(scratch)
        forget_folder(scratch.folder)
