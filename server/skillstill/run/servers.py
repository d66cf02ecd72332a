"""The MCP servers of a skill, each in a sandbox of its own around the workspace of the run."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from skillstill.sandbox.sandbox import Driver, SandboxPlan
from skillstill.skills.skill import McpServer
from skillstill.tools.box.output import ENVIRONMENT

if TYPE_CHECKING:
    from skillstill.tools.servers.offer import Offer


@asynccontextmanager
async def served(
    server: McpServer, driver: Driver, folder: Path, plan: SandboxPlan, taken: Collection[str]
) -> AsyncIterator["Offer"]:
    """Yield the tools of a server that was started; `plan` is that of the run.

    Raise SandboxError if there is no sandbox, Refusal if the server does not do what it should; either may come in an
    exception group.
    """
    # Delayed: the library of the protocol takes a second, and no other run needs it.
    from skillstill.tools.servers.connection import connected
    from skillstill.tools.servers.offer import offered

    own = plan.model_copy(update={"packages": server.packages, "hosts": server.hosts})
    async with driver.open(folder, own) as sandbox:
        stream = await sandbox.serve([server.command, *server.args], environment=ENVIRONMENT)
        async with connected(server.name, stream, plan.limits.seconds) as connection:
            yield await offered(connection, server.tools, taken)


def reason(error: BaseException) -> str:
    """Return what a server that is not served did wrong."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
