"""Branches, tags and HEAD, and what git is in the middle of."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice

from skillstill.facts.history.files import POINTER, GitFolder, list_files, read_file
from skillstill.facts.reader import Unreadable

MAX_REFS = 50_000
MAX_PACKED = 64_000_000  # bytes of the file `packed-refs`
MAX_SHALLOW = 8_000_000

BRANCHES, REMOTES, TAGS, REPLACEMENTS = "refs/heads/", "refs/remotes/", "refs/tags/", "refs/replace/"
_KEPT = (BRANCHES, REMOTES, TAGS, REPLACEMENTS)
_KEPT_BYTES = tuple(map(str.encode, _KEPT))

# What lies in .git while git waits for somebody to go on.
_UNDER_WAY = {
    "rebase-merge/head-name": "a rebase is under way",
    "rebase-apply/rebasing": "a rebase of patches is under way",
    "rebase-apply/applying": "patches are being applied",
    "MERGE_HEAD": "a merge is under way",
    "CHERRY_PICK_HEAD": "a cherry-pick is under way",
    "REVERT_HEAD": "a revert is under way",
    "BISECT_LOG": "a bisection is under way",
}
_IDENTITY = re.compile(rb"([0-9a-f]{64}|[0-9a-f]{40})\s*")
_PACKED = re.compile(rb"^([0-9a-f]{64}|[0-9a-f]{40}) (refs/[^\n]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Refs:
    """Where a repository's names lead.

    head        the newest commit of what is checked out; None if there is none yet
    branch      what is checked out, as in refs/heads/main; None if HEAD is detached
    named       ids by name
    shallow     commits whose parents were left out of the clone
    under_way   what git is in the middle of
    is_cut      whether there are more names than are read
    """

    head: bytes | None
    branch: str | None
    named: Mapping[str, bytes]
    shallow: frozenset[bytes]
    under_way: tuple[str, ...]
    is_cut: bool

    @property
    def width(self) -> int:
        """Return the bytes of an id: 20 for SHA-1, 32 for SHA-256."""
        return len(self.head or next(iter(self.named.values()), b"\0" * 20))

    def digest(self) -> str:
        """Return a text that differs whenever anything here does."""
        parts = [repr((self.head, self.branch, self.under_way, sorted(self.shallow), sorted(self.named.items())))]
        return hashlib.sha256("".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def read_refs(git: GitFolder) -> Refs:
    """Return a repository's names. Raise Unreadable if they are kept in a form that is not read."""
    if (git.common / "reftable").exists():
        raise Unreadable("branches and tags are kept as a reftable, which is not read")
    head = read_file(git.own, "HEAD", limit=POINTER) or b""
    branch = os.fsdecode(head[4:].strip()) if head.startswith(b"ref:") else None
    packed = read_file(git.common, "packed-refs", limit=MAX_PACKED) or b""
    named = dict(islice(chain(_packed_refs(packed), _loose_refs(git)), MAX_REFS))
    tip = _tip(git, packed, branch) if branch else _identity(head)
    return Refs(tip, branch, named, _shallow(git), _under_way(git), len(named) == MAX_REFS)


def _packed_refs(packed: bytes) -> Iterator[tuple[str, bytes]]:
    for identity, name in _PACKED.findall(packed):
        if name.startswith(_KEPT_BYTES):
            yield os.fsdecode(name), bytes.fromhex(identity.decode())


def _loose_refs(git: GitFolder) -> Iterator[tuple[str, bytes]]:
    """Yield the names that are files of their own. They outdo packed ones."""
    for parts in list_files(git.common / "refs"):
        name = "/".join(("refs", *parts))
        identity = _identity(read_file(git.common, "refs", *parts, limit=POINTER) or b"")
        if identity and name.startswith(_KEPT):
            yield name, identity


def _tip(git: GitFolder, packed: bytes, branch: str) -> bytes | None:
    """Return the newest commit of the branch that is checked out, whatever sort of name it has."""
    if not branch.startswith("refs/"):
        return None
    loose = _identity(read_file(git.common, *branch.split("/"), limit=POINTER) or b"")
    line = re.search(rb"^([0-9a-f]+) " + re.escape(os.fsencode(branch)) + rb"$", packed, re.MULTILINE)
    return loose or (_identity(line[1]) if line else None)


def _identity(text: bytes) -> bytes | None:
    match = _IDENTITY.fullmatch(text)
    return bytes.fromhex(match[1].decode()) if match else None


def _shallow(git: GitFolder) -> frozenset[bytes]:
    lines = (read_file(git.common, "shallow", limit=MAX_SHALLOW) or b"").split(b"\n")
    return frozenset(identity for line in lines if (identity := _identity(line)))


def _under_way(git: GitFolder) -> tuple[str, ...]:
    present = [
        said for name, said in _UNDER_WAY.items() if read_file(git.own, *name.split("/"), limit=MAX_SHALLOW) is not None
    ]
    return tuple(dict.fromkeys(present))
