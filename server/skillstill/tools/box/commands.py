"""The tools that run what a model wrote."""

from typing import Annotated

from pydantic import Field

from skillstill.tools.box.output import ENVIRONMENT, command_result, sandbox_of
from skillstill.tools.kit.tool import Result
from skillstill.workspace import Workspace


async def shell(workspace: Workspace, command: Annotated[str, Field(min_length=1, max_length=4_000)]) -> Result:
    """Run one command line of `sh` in the workspace: `ls src | wc -l`. Each runs anew: `cd` and variables are lost."""
    done = await sandbox_of(workspace).exec(["sh", "-c", "--", command], environment=ENVIRONMENT)
    return command_result(workspace, done)


async def python(workspace: Workspace, code: Annotated[str, Field(min_length=1, max_length=20_000)]) -> Result:
    """Run Python 3 in the workspace, whose modules can be imported. Only what it prints is shown."""
    done = await sandbox_of(workspace).exec(["python3", "-c", code], environment=ENVIRONMENT)
    return command_result(workspace, done)
