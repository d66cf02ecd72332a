"""The symbols of a workspace's files, for the tools that parse many of them."""

from anyio import from_thread

from skillstill.errors import Refusal
from skillstill.symbols import Symbol, language_of, symbols
from skillstill.workspace import Workspace


def symbols_of(workspace: Workspace, path: str) -> tuple[Symbol, ...]:
    """None where the file is refused or of no known language. In a worker thread only: a cancelled run ends here."""
    from_thread.check_cancelled()
    language = language_of(path)
    try:
        return symbols(workspace.read(path), language) if language else ()
    except Refusal:
        return ()
