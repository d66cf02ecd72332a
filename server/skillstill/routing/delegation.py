"""A task handed to the subagent that it is for. One that none fits ends at once, with the reason and with leads."""

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from anyio import to_thread

from skillstill.routing.experience import remember
from skillstill.routing.router import Router
from skillstill.run import store
from skillstill.run.finish import neutralized
from skillstill.run.leads import LATE, index_leads
from skillstill.run.prompt import check_prompt
from skillstill.skills.registry import Registry
from skillstill.types import ESCALATE, DialectName, Message, Reason, ReasonKind, Report, Trace
from skillstill.workspace import Workspace

NAME = "delegate"  # what stands in place of a subagent if there is none


@dataclass(frozen=True)
class Delegation:
    """All subagents of a registry as one. `keep`: whether what happened is stored."""

    registry: Registry
    keep: bool = True

    async def delegate(
        self,
        task: str,
        workspace: Path,
        run: Callable[[str], Awaitable[Trace]],
        *,
        within: str = "",
        after: Trace | None = None,
    ) -> Trace:
        """Return the trace of the subagent that the task is for, which `run` runs; or of none, if none fits.

        A follow-up of an earlier run goes to the subagent of that run: its few words say little of their own.

        Raise SkillstillError, as a run does.
        """
        checked, folder = check_prompt(task), Workspace(workspace)
        if after and after.skill != NAME:
            return await run(after.skill)
        choice = await to_thread.run_sync(self._router.route, checked, folder.root, within)
        if not choice.subagent:
            return await self._decline(checked, folder, choice.reason)
        trace = await run(choice.subagent)
        if self.keep:
            remember(folder.root, choice.subagent, trace.report.status)
        return trace

    @cached_property
    def _router(self) -> Router:
        return Router(self.registry)

    async def _decline(self, task: str, folder: Workspace, reason: str) -> Trace:
        text = f"no subagent fits: {reason}. Do it yourself."
        found = await index_leads(folder, (), task)
        report = Report(
            answer=f"{ESCALATE} {text}",
            status="escalate",
            reason=Reason(kind=ReasonKind.NO_SUBAGENT, text=text),
            notes=() if found else (LATE,),
            leads=found.leads if found else (),
        )
        trace = _without_run(task, folder, neutralized(report))
        if self.keep:
            store.store_if_possible(trace)
        return trace


def _without_run(task: str, folder: Workspace, report: Report) -> Trace:
    return Trace(
        run=uuid.uuid4().hex,
        release=NAME,
        skill=NAME,
        model="",
        dialect=DialectName.LINES,
        created=datetime.now(UTC),
        workspace=str(folder.root),
        prompt=task,
        tools=(),
        messages=(Message(role="user", content=task),),
        receipts=(),
        report=report,
    )
