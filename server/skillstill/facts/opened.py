"""The indexes that this process keeps open, the last used ones: while serving, the second question finds them warm."""

import atexit
import os
from collections import OrderedDict
from pathlib import Path
from threading import Lock

from skillstill.facts.home import index_folder
from skillstill.facts.index import FactIndex

NO_INDEX = "SKILLSTILL_NO_INDEX"  # set: indexes are held in memory, and nothing is written
OPEN = 4  # indexes


class OpenIndexes:
    """Indexes by workspace and readers."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[Path, tuple[str, ...]], FactIndex] = OrderedDict()
        self._lock = Lock()

    def get(self, root: Path, references: tuple[str, ...]) -> FactIndex:
        """Return the index of a workspace. Raise SkillstillError if it cannot be kept."""
        with self._lock:
            key = (root, references)
            if key not in self._open:
                self._open[key] = FactIndex(root, references, None if os.environ.get(NO_INDEX) else index_folder())
            self._open.move_to_end(key)
            while len(self._open) > OPEN:
                _, oldest = self._open.popitem(last=False)
                oldest.close()
            return self._open[key]

    def close(self) -> None:
        """Close all of them."""
        with self._lock:
            while self._open:
                _, index = self._open.popitem()
                index.close()


OPENED = OpenIndexes()
atexit.register(OPENED.close)
