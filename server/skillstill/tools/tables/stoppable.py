"""Work on tables in a thread, which ends with the task that waits for it."""

from collections.abc import Callable, Sequence

from anyio import to_thread

from skillstill.tools.kit.tool import Result
from skillstill.tools.tables.database import Deadline
from skillstill.workspace import Workspace


async def stoppable(
    work: Callable[[Workspace, Sequence[str], str, Deadline], Result],
    workspace: Workspace,
    files: Sequence[str],
    text: str,
) -> Result:
    """Return what the work returns, in a thread. If the call is cancelled SQLite is stopped without waiting for it."""
    loading = Deadline()
    try:
        return await to_thread.run_sync(work, workspace, files, text, loading, abandon_on_cancel=True)
    finally:
        loading.stop()
