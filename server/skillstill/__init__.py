"""Skills, distilled: small local models for the narrow, repeated work of subagents.

report = await subagent("What does Session inherit from?", "explore", "~/src/app")
"""

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillstill.types import Report

__all__ = ["subagent"]


async def subagent(prompt: str, name: str = "explore", workspace: str | PathLike[str] = ".") -> "Report":
    """Return the report of a subagent of the user's registries on one question about one folder.

    Raise SkillstillError if there is nothing to run; what goes wrong in the run is told in the report.
    """
    # Delayed: importing the package, as the command line does, must stay cheap.
    from pathlib import Path

    from skillstill.models.pool import LocalModels, LocalOptions
    from skillstill.runtime import Runtime
    from skillstill.skills.registry import Registry

    folder = Path(workspace).expanduser()
    runtime = Runtime(Registry(project=folder), LocalModels(LocalOptions()))
    return (await runtime.run(name, prompt, folder)).report
