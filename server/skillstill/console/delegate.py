"""`skillstill delegate`: what a person types, and what is said back."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from skillstill.console import show
from skillstill.routing.delegation import NAME, Delegation
from skillstill.runtime import Runtime
from skillstill.types import Trace

_out = Console(soft_wrap=True, highlight=False, markup=False)


async def delegate(runtime: Runtime, task: str, workspace: Path, after: Trace | None = None) -> Trace:
    """Return the trace of the subagent that the task is for, its steps shown on a terminal. Raise SkillstillError."""
    with show.steps_on_terminal() as on_step:

        async def run(subagent: str) -> Trace:
            return await runtime.run(subagent, task, workspace, on_step, after=after)

        return await Delegation(runtime.registry, keep=runtime.keep_traces).delegate(task, workspace, run, after=after)


def print_delegated(trace: Trace, *, as_json: bool) -> None:
    """Print the report as `run` does, under the name of the subagent."""
    if not as_json and trace.skill != NAME:
        _out.print(Text(f"{trace.skill}:"))
    show.print_report(trace, as_json=as_json)
