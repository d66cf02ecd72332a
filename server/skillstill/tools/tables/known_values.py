"""The values of the workspaces that were asked last: reading them takes seconds, and their files rarely change."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from skillstill.tools.tables.catalogue import read_catalogue
from skillstill.tools.tables.database import Deadline
from skillstill.tools.tables.values import TableValues, read_values
from skillstill.workspace import Workspace

MOST = 2  # workspaces: three hundred thousand values take 140 MB
Stamps = Sequence[tuple[str, int, int]]


class KnownValues:
    """Values by workspace, as long as its files have the same times and sizes."""

    def __init__(self) -> None:
        self._known: OrderedDict[Path, tuple[Stamps, TableValues]] = OrderedDict()
        self._lock = Lock()

    def of(self, workspace: Workspace, paths: Sequence[str], deadline: Deadline) -> TableValues:
        """Return the values of the tables among the files. Raise Refusal if there is no time to read them."""
        stamps = _stamps(workspace, paths)
        with self._lock:
            known = self._known.get(workspace.root)
            if known and known[0] == stamps:
                self._known.move_to_end(workspace.root)
                return known[1]
        values = read_values(workspace, read_catalogue(workspace, paths, deadline.check).tables, deadline)
        with self._lock:
            self._known[workspace.root] = (stamps, values)
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        return values


def _stamps(workspace: Workspace, paths: Sequence[str]) -> Stamps:
    found = [(path, (workspace.root / path).lstat()) for path in paths]
    return [(path, stat.st_mtime_ns, stat.st_size) for path, stat in found]


KNOWN_VALUES = KnownValues()
