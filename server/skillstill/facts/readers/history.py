"""The history of a git repository as a reader of the folder."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from skillstill.facts.history import TABLES, VERSION, history_state, list_commits, read_history
from skillstill.facts.reader import Facts, Source
from skillstill.facts.table import FactTable


@dataclass(frozen=True, slots=True)
class HistoryReader:
    """Commits and their changes stay; tags and branches are read anew."""

    name: str = "history"
    version: int = VERSION
    tables: tuple[FactTable, ...] = TABLES
    grows: str = ".git"
    changes: str = ".git/refs"

    def takes(self, name: str, head: bytes) -> bool:
        return False

    def read(self, source: Source) -> Iterator[Facts]:
        return iter(())

    def state(self, root: Path) -> str:
        return history_state(root)

    def keys(self, root: Path) -> Collection[str]:
        return list_commits(root)

    def read_since(self, root: Path, known: Collection[str]) -> Iterator[Facts]:
        return read_history(root, known)


HISTORY = HistoryReader()
