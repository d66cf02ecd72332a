"""A repository's history as rows: commits with their changes, tags and branches.

Nothing is run and no configuration is read: no hooks, filters, aliases, pagers or remotes. Nothing outside the jail is
opened, and what is missing is never fetched. Replaced and grafted commits are told as they were made. What a hostile
repository can do is to tell wrong things: ids are not checked against contents.
"""

import heapq
import time
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path

from skillstill.facts.history.changes import ChangeReader
from skillstill.facts.history.commits import (
    MAX_MESSAGE,
    NAME,
    SUBJECT,
    Links,
    Person,
    iso_time,
    parse_commit,
    parse_links,
    parse_tag,
)
from skillstill.facts.history.errors import ObjectError
from skillstill.facts.history.files import GitFolder, find_git_folder, read_file
from skillstill.facts.history.objects import ObjectStore
from skillstill.facts.history.refs import BRANCHES, REMOTES, REPLACEMENTS, TAGS, Refs, read_refs
from skillstill.facts.reader import Facts, Gap, Unreadable
from skillstill.facts.table import Row
from skillstill.util.text import one_line

VERSION = 1  # raised whenever the same history gives other rows
MAX_COMMITS = 20_000
MAX_SEEN = 100_000  # commits whose children were read: usually few more than are read themselves
MAX_NUMBERED = 200_000  # commits whose place is known: they take 30 MB
WALK_BUDGET = 2_000_000_000  # bytes unfolded to find the commits; 20,000 usual ones have 20 MB
NESTED_TAGS = 5
BATCH = 200  # commits that are handed over together
BATCH_SECONDS = 0.5  # so that a caller can stop soon

DAMAGED = Gap("some commits are damaged or missing")
SHALLOW = Gap("the clone is shallow: older commits are not in it")
OLDER = "only the newest {:,} commits are read"
REPLACED = Gap("replaced and grafted commits are told as they were made")
BORROWED = Gap("some objects lie outside the workspace")
NO_COMMIT = Gap("the branch that is checked out has no commit")
MANY_REFS = Gap("there are too many branches and tags to tell all")


def history_state(root: Path, within: Path | None = None) -> str:
    """Return a text that differs whenever the history does. It is empty if `root` has none."""
    try:
        git = find_git_folder(root, within)
        return "" if git is None else f"{VERSION}:{read_refs(git).digest()}"
    except Unreadable as error:
        return f"{VERSION}:{error}"


def list_commits(root: Path, within: Path | None = None, limit: int = MAX_COMMITS) -> list[str]:
    """Return the ids of the commits that have rows, newest first. Rows of other commits are of another branch."""
    try:
        git = find_git_folder(root, within)
        if git is None:
            return []
        with closing(Repository(git)) as repository:
            return [identity.hex() for identity in repository.newest_commits(limit)]
    except Unreadable:
        return []


def read_history(
    root: Path, known: Collection[str] = (), within: Path | None = None, limit: int = MAX_COMMITS
) -> Iterator[Facts]:
    """Yield the rows of a folder's history: all tags and branches, then commits that are not known, newest first.

    The gaps that come with tags and branches are of the repository as it is now, those that come with commits are of
    these commits for good.

    known     ids of commits whose rows are there already. Each commit comes together with all of its changes, so who
              stops early goes on by naming those that came
    within    the folder that nothing is read outside of, if it is not `root`: a worktree's history lies beside it
    """
    try:
        git = find_git_folder(root, within)
        if git is not None:
            with closing(Repository(git)) as repository:
                yield from repository.read(frozenset(known), limit)
    except Unreadable as error:
        yield Facts(gaps=(Gap(str(error)),))


class Repository:
    """A repository that is open for reading. Raise Unreadable if its names are kept in a form that is not read."""

    def __init__(self, git: GitFolder) -> None:
        self._git = git
        self._refs: Refs = read_refs(git)
        self._store = ObjectStore(git.common / "objects", git.jail, self._refs.width)
        self._links: dict[bytes, Links | None] = {}
        self._numbers: dict[bytes, int | None] = {}
        self._gaps: set[Gap] = set()
        self._is_cut = False

    def close(self) -> None:
        """Close all files."""
        self._store.close()

    def read(self, known: Collection[str], limit: int) -> Iterator[Facts]:
        """Yield tags and branches, then the commits that are not known."""
        found = self.newest_commits(limit)
        names = {"tags": list(self._tags()), "branches": list(self._branches())}
        commits = [identity for identity in found if identity.hex() not in known]
        self._number(commits)
        yield Facts(names, tuple(sorted(self._said(limit), key=str)))
        yield from self._batches(iter(commits))

    def newest_commits(self, limit: int) -> list[bytes]:
        """Return the commits that led to HEAD, newest first."""
        self._store.grant(WALK_BUDGET)
        found: list[bytes] = []
        waiting: list[tuple[int, int, bytes]] = []
        seen: set[bytes] = set()
        self._wait(self._refs.head, waiting, seen)
        while waiting and len(found) < limit:
            _, _, identity = heapq.heappop(waiting)
            found.append(identity)
            for parent in self._parents(identity):
                self._wait(parent, waiting, seen)
        self._is_cut = self._is_cut or bool(waiting)
        return found

    def _wait(self, identity: bytes | None, waiting: list[tuple[int, int, bytes]], seen: set[bytes]) -> None:
        """Put a commit that was not seen yet among those that wait, the newest first, else in the order they came."""
        if len(seen) > MAX_SEEN:
            self._is_cut = True
        elif identity is not None and identity not in seen:
            seen.add(identity)
            links = self._read_links(identity)
            if links is not None:
                heapq.heappush(waiting, (-links.seconds, len(seen), identity))

    def _read_links(self, identity: bytes) -> Links | None:
        if identity not in self._links:
            self._links[identity] = self._parse_links(identity)
        return self._links[identity]

    def _parse_links(self, identity: bytes) -> Links | None:
        try:
            return parse_links(self._store.read(identity, "commit", MAX_MESSAGE), self._store.width)
        except ObjectError:
            self._gaps.add(DAMAGED)
            return None

    def _parents(self, identity: bytes) -> tuple[bytes, ...]:
        """Return a commit's parents, none if a shallow clone leaves them out."""
        links = None if identity in self._refs.shallow else self._read_links(identity)
        return links.parents if links else ()

    def _number(self, commits: list[bytes]) -> None:
        """Find the place of each commit on its line of first parents. It is the same whatever is checked out."""
        for commit in commits:
            line: list[bytes] = []
            at: bytes | None = commit
            while at and at not in self._numbers and len(self._numbers) < MAX_NUMBERED:
                line.append(at)
                self._numbers[at] = None  # so that a line that comes back to itself ends
                at = next(iter(self._parents(at)), None)
            number = self._numbers.get(at) if at else 0
            for identity in reversed(line):
                number = None if number is None or self._is_rootless(identity) else number + 1
                self._numbers[identity] = number

    def _is_rootless(self, identity: bytes) -> bool:
        """Return whether what came before a commit cannot be known."""
        return identity in self._refs.shallow or self._read_links(identity) is None

    def _batches(self, commits: Iterator[bytes]) -> Iterator[Facts]:
        """Yield the commits with their changes, some at a time."""
        batch, end = _Batch(ChangeReader(self._store)), time.monotonic() + BATCH_SECONDS
        self._gaps = batch.reader.gaps
        for identity in commits:
            self._add(identity, batch)
            if len(batch.commits) >= BATCH or time.monotonic() > end:
                yield batch.hand_over()
                end = time.monotonic() + BATCH_SECONDS
        if batch.commits:
            yield batch.hand_over()

    def _add(self, identity: bytes, batch: "_Batch") -> None:
        """Add the rows of a commit."""
        self._store.grant(MAX_MESSAGE * 50)
        links = self._read_links(identity)
        if links is None:
            return
        try:
            commit = parse_commit(self._store.read(identity, "commit", MAX_MESSAGE))
        except ObjectError:
            self._gaps.add(DAMAGED)
            return
        written, committed = commit.author.time, commit.committer.time
        batch.commits.append((
            0, 0, identity.hex(), short(identity), commit.author.name, commit.author.email, committed,
            written if written != committed else None, commit.subject, commit.body, len(links.parents),
            int(len(links.parents) > 1), self._numbers.get(identity),
        ))  # fmt: skip
        self._add_changes(identity, links, batch)

    def _add_changes(self, identity: bytes, links: Links, batch: "_Batch") -> None:
        """Add the rows of the files that a commit changed, unless it is a merge or its parent was left out."""
        if len(links.parents) > 1 or identity in self._refs.shallow:
            return
        parent = self._read_links(links.parents[0]) if links.parents else None
        if parent is not None or not links.parents:
            batch.changes += batch.reader.rows(short(identity), links, parent)

    def _tags(self) -> Iterator[Row]:
        for name, identity in self._names(TAGS):
            commit, tagger, message = self._peel(identity)
            links = self._read_links(commit) if commit else None
            when = tagger.time or (iso_time(links.seconds) if links else None)
            yield 0, 0, name, short(commit) if links and commit else None, when, message

    def _peel(self, identity: bytes) -> tuple[bytes | None, Person, str | None]:
        """Return the commit that a tag leads to, and who wrote which message. None for one that leads to no commit."""
        tagger, message = Person(), None
        for _ in range(NESTED_TAGS):
            try:
                tag = parse_tag(self._store.read(identity, "tag", MAX_MESSAGE), self._store.width)
            except ObjectError:
                return identity, tagger, message
            if message is None:
                tagger, message = tag.tagger, one_line(tag.message, SUBJECT)
            identity = tag.target
            if tag.kind not in ("commit", "tag"):
                break
        return None, tagger, message

    def _branches(self) -> Iterator[Row]:
        for kind, is_remote in ((BRANCHES, 0), (REMOTES, 1)):
            for name, identity in self._names(kind):
                is_current = int(kind + name == self._refs.branch)
                yield 0, 0, name, short(identity), *self._tip(identity), is_current, is_remote

    def _tip(self, identity: bytes) -> tuple[str | None, str | None]:
        """Return the time and subject of a branch's newest commit."""
        try:
            commit = parse_commit(self._store.read(identity, "commit", MAX_MESSAGE))
        except ObjectError:
            return None, None
        return commit.committer.time, commit.subject

    def _names(self, kind: str) -> Iterator[tuple[str, bytes]]:
        for name, identity in sorted(self._refs.named.items()):
            if name.startswith(kind):
                yield one_line(name.removeprefix(kind), NAME), identity

    def _said(self, limit: int) -> Iterator[Gap]:
        """Yield what a query could take for the whole history though it is not."""
        yield from (Gap(said) for said in self._refs.under_way)
        yield from self._gaps
        replaced = any(name.startswith(REPLACEMENTS) for name in self._refs.named)
        conditions = {
            NO_COMMIT: self._refs.head is None,
            SHALLOW: bool(self._refs.shallow),
            Gap(OLDER.format(limit)): self._is_cut,
            REPLACED: replaced or read_file(self._git.common, "info", "grafts", limit=MAX_MESSAGE) is not None,
            BORROWED: self._store.outside,
            MANY_REFS: self._refs.is_cut,
        }
        yield from (gap for gap, holds in conditions.items() if holds)


class _Batch:
    """Rows of some commits, and what is missing among them."""

    def __init__(self, reader: ChangeReader) -> None:
        self.reader = reader
        self.commits: list[Row] = []
        self.changes: list[Row] = []

    def hand_over(self) -> Facts:
        """Return what was gathered, and begin anew."""
        facts = Facts({"commits": self.commits, "changes": self.changes}, tuple(sorted(self.reader.gaps, key=str)))
        self.commits, self.changes = [], []
        self.reader.gaps.clear()
        return facts


def short(identity: bytes) -> str:
    """Return the first characters of an id, which are enough to tell a repository's commits apart."""
    return identity[:6].hex()
