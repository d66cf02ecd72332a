"""The indexes that this process keeps open, the last used ones: while serving, the second question finds them warm."""

import atexit
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from skillstill.facts.home import index_folder
from skillstill.facts.index import FactIndex

ROOM = 500_000_000  # bytes of all: thirty projects of some ten thousand lines, or three large ones
MOST = 64  # indexes: each has a handful of open files
AWAKE = 4  # whose worker processes wait for files; each may have several


class OpenIndexes:
    """Indexes by workspace and readers. `home` returns where they are kept; None: in memory, nothing is written."""

    def __init__(self, home: Callable[[], Path | None]) -> None:
        self.home = home
        self._open: OrderedDict[tuple[Path | None, Path, tuple[str, ...]], FactIndex] = OrderedDict()
        self._lock = Lock()

    def get(self, root: Path, references: tuple[str, ...]) -> FactIndex:
        """Return the index of a workspace. Raise SkillstillError if it cannot be kept."""
        with self._lock:
            home = self.home()
            key = (home, root, references)
            if key not in self._open:
                self._open[key] = FactIndex(root, references, home)
            self._open.move_to_end(key)
            for index in [*self._open.values()][:-AWAKE]:
                index.rest()
            while len(self._open) > MOST or (len(self._open) > 1 and self._size() > ROOM):
                _, oldest = self._open.popitem(last=False)
                oldest.close()
            return self._open[key]

    def _size(self) -> int:
        return sum(index.size for index in self._open.values())

    def close(self) -> None:
        """Close all of them."""
        with self._lock:
            while self._open:
                _, index = self._open.popitem()
                index.close()


OPENED = OpenIndexes(index_folder)
atexit.register(OPENED.close)
