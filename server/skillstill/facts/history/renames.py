"""Renamed files: those that a commit adds with the bytes, or most of the bytes, of one that it deletes.

The rules are git's: files of equal bytes first, then those that alone have their name, then whichever are most alike.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from skillstill.facts.history.errors import ObjectError
from skillstill.facts.history.lines import count_pieces, similarity
from skillstill.facts.history.trees import Change, FileVersion

SIMILAR = 0.5  # share of bytes, git's default
SIMILAR_OF_ONE_NAME = 0.75
MAX_COMPARED = 20_000  # pairs of files: a second
MAX_COMPARED_BYTES = 8_000_000  # a table of pieces takes several times as much

Read = Callable[[FileVersion], bytes]


def find_renames(changes: Sequence[Change], read: Read) -> tuple[list[Change], bool]:
    """Return the changes with each pair of a deleted and an added file that are alike as one renamed file.

    Beside them: whether all files were compared.
    """
    renames = _Renames(sorted(changes, key=lambda change: change.path))
    alike = _Likeness(read)
    renames.pair(_equal_pairs(renames.gone.values(), renames.came.values()))
    renames.pair(alike.pairs(_pairs_of_one_name(renames), SIMILAR_OF_ONE_NAME))
    if len(renames.gone) * len(renames.came) > MAX_COMPARED:
        return renames.changes(), False
    renames.pair(alike.pairs(product(renames.gone.values(), renames.came.values()), SIMILAR))
    return renames.changes(), alike.left > 0


class _Renames:
    """Deleted and added files that have no partner yet, and pairs."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self._others = [change for change in changes if change.status == "modified"]
        self.gone = {change.path: change for change in changes if change.status == "deleted"}
        self.came = {change.path: change for change in changes if change.status == "added"}

    def pair(self, pairs: Iterable[tuple[Change, Change]]) -> None:
        """Make a renamed file of each pair whose files are both still without a partner."""
        for old, new in list(pairs):
            if old.path in self.gone and new.path in self.came:
                del self.gone[old.path], self.came[new.path]
                self._others.append(Change(new.path, old.old, new.new, old.path))

    def changes(self) -> list[Change]:
        """Return all changes in the order of their paths."""
        return sorted([*self._others, *self.gone.values(), *self.came.values()], key=lambda change: change.path)


class _Likeness:
    """Compares files until too many bytes were read.

    left    bytes that may still be read
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self.left = MAX_COMPARED_BYTES
        self._pieces: dict[bytes, tuple[Counter[bytes], int]] = {}

    def pairs(self, pairs: Iterable[tuple[Change, Change]], least: float) -> Iterator[tuple[Change, Change]]:
        """Yield the pairs that are alike enough, the most alike first."""
        found = [(self._alike(old.old, new.new, least), _base(old) == _base(new), old, new) for old, new in pairs]
        for alike, _, old, new in sorted(found, key=lambda pair: (-pair[0], -pair[1])):
            if alike >= least:
                yield old, new

    def _alike(self, old: FileVersion | None, new: FileVersion | None, least: float) -> float:
        if old is None or new is None or not (old.is_regular and new.is_regular):
            return 0
        (pieces, size), (others, other) = self._counted(old), self._counted(new)
        small, large = sorted((size, other))
        return similarity(pieces, others, large) if small and small >= least * large else 0

    def _counted(self, version: FileVersion) -> tuple[Counter[bytes], int]:
        if version.identity not in self._pieces:
            self._pieces[version.identity] = self._count(version)
        return self._pieces[version.identity]

    def _count(self, version: FileVersion) -> tuple[Counter[bytes], int]:
        try:
            data = self._read(version) if self.left > 0 else b""
        except ObjectError:
            data = b""
        self.left -= len(data)
        return count_pieces(data), len(data)


def _equal_pairs(gone: Iterable[Change], came: Iterable[Change]) -> Iterator[tuple[Change, Change]]:
    """Yield for each added file a deleted one of equal bytes, preferably of the same name, each only once."""
    sources: dict[bytes, list[Change]] = {}
    for old in gone:
        if old.old:
            sources.setdefault(old.old.identity, []).append(old)
    for new in came:
        olds = sources.get(new.new.identity) if new.new else None
        if olds:
            chosen = next((old for old in olds if _base(old) == _base(new)), olds[0])
            olds.remove(chosen)
            yield chosen, new


def _pairs_of_one_name(renames: _Renames) -> Iterator[tuple[Change, Change]]:
    """Yield the pairs of a deleted and an added file that alone have their name, whatever their folder."""
    gone, came = _by_name(renames.gone.values()), _by_name(renames.came.values())
    for name, olds in gone.items():
        if len(olds) == len(came.get(name, ())) == 1:
            yield olds[0], came[name][0]


def _by_name(changes: Iterable[Change]) -> dict[bytes, list[Change]]:
    named: dict[bytes, list[Change]] = {}
    for change in changes:
        named.setdefault(_base(change), []).append(change)
    return named


def _base(change: Change) -> bytes:
    return change.path.rpartition(b"/")[2]
