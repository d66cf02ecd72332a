"""The files that one commit changed, with their lines counted, as rows."""

from collections.abc import Iterator, Sequence
from itertools import islice

from skillstill.facts.history.commits import Links
from skillstill.facts.history.errors import Exhausted, ObjectError, TooLarge
from skillstill.facts.history.lines import count_changed_lines, count_lines, is_binary
from skillstill.facts.history.objects import ObjectStore
from skillstill.facts.history.renames import find_renames
from skillstill.facts.history.trees import Change, FileVersion, changed_files
from skillstill.facts.reader import Gap
from skillstill.facts.table import Row
from skillstill.util.text import clean

MAX_BLOB = 1_000_000  # bytes of a file whose lines are counted
MAX_COUNTED = 500  # files of one commit whose lines are counted
MAX_FILES = 5_000  # files of one commit
BUDGET = 256_000_000  # bytes unfolded for one commit: a second or two

_COUNTS = "changes", "added"
TOO_MANY_FILES = Gap(f"only {MAX_FILES:,} files of a commit are told", "changes")
NO_TREES = Gap("what some commits changed is damaged or missing", "changes")
TOO_MANY_TREES = Gap("some commits have too many or too large folders", "changes")
MANY_FILES = Gap(f"lines of commits with more than {MAX_COUNTED} files are not counted", *_COUNTS)
LARGE_FILES = Gap(f"lines of files over {MAX_BLOB // 1_000_000} MB are not counted", *_COUNTS)
MUCH_CHANGED = Gap("lines of files that changed too much are not counted", *_COUNTS)
NO_BLOBS = Gap("contents of some changed files are missing or damaged", *_COUNTS)
_UNCOUNTED: dict[type[ObjectError], Gap] = {TooLarge: LARGE_FILES, Exhausted: MUCH_CHANGED}
NO_RENAMES = Gap("some commits with many files tell renamed files as deleted and added", "changes", "old_path")

Lines = tuple[int | None, int | None, int | None]  # added, removed, binary


class ChangeReader:
    """Reads the changes of one commit after the other.

    gaps     what is missing since they were taken last
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self.gaps: set[Gap] = set()

    def rows(self, short: str, links: Links, parent: Links | None) -> Iterator[Row]:
        """Yield a row for each file that differs between a commit and its parent, or no commit."""
        self._store.grant(BUDGET)
        changes = self._changes(parent.tree if parent else None, links.tree)
        is_counted = len(changes) <= MAX_COUNTED
        if not is_counted:
            self.gaps.add(MANY_FILES)
        for change in changes:
            added, removed, binary = self._count(change) if is_counted else (None, None, None)
            old_path = None if change.old_path is None else path_text(change.old_path)
            yield 0, 0, short, path_text(change.path), change.status, old_path, added, removed, binary

    def _changes(self, old: bytes | None, new: bytes) -> Sequence[Change]:
        try:
            changes = list(islice(changed_files(self._store, old, new), MAX_FILES + 1))
        except ObjectError as error:
            self.gaps.add(TOO_MANY_TREES if isinstance(error, TooLarge) else NO_TREES)
            return []
        if len(changes) > MAX_FILES:
            self.gaps |= {TOO_MANY_FILES, NO_RENAMES}
            return changes[:MAX_FILES]
        found, is_complete = find_renames(changes, self._content)
        if not is_complete:
            self.gaps.add(NO_RENAMES)
        return found

    def _count(self, change: Change) -> Lines:
        try:
            old, new = (self._content(version) if version else b"" for version in (change.old, change.new))
        except ObjectError as error:
            self.gaps.add(_UNCOUNTED.get(type(error), NO_BLOBS))
            return None, None, None
        if is_binary(old) or is_binary(new):
            return None, None, 1
        if not old or not new:
            return count_lines(new), count_lines(old), 0
        counts = count_changed_lines(old, new)
        if counts is None:
            self.gaps.add(MUCH_CHANGED)
            return None, None, 0
        return *counts, 0

    def _content(self, version: FileVersion) -> bytes:
        """Return a file's bytes; those of a submodule are a line, as git shows them."""
        if version.is_submodule:
            return b"Subproject commit " + version.identity.hex().encode() + b"\n"
        return self._store.read(version.identity, "blob", MAX_BLOB)


def path_text(path: bytes) -> str:
    """Return a path on one line. What cannot be seen of it is left out, a tab or newline is U+FFFD."""
    return clean(path.decode("utf-8", "replace")).replace("\n", "\ufffd").replace("\t", "\ufffd")
