"""The state of a workspace as a Merkle tree: leaves are files by their content, nodes are folders.

A folder's hash is one of the names and hashes of what lies in it, so equal folders have equal hashes wherever they
lie, and the root's hash names the whole state.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping

BYTES = 16  # of a hash: 2^64 files until one collides by chance
ROOT = "."


def content_hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=BYTES).digest()


class Tree:
    """The hashes of files and folders. After a change only the folders above it are hashed again."""

    def __init__(self, leaves: Mapping[str, bytes]) -> None:
        self.hashes: dict[str, bytes] = {}
        self._children: defaultdict[str, dict[str, bytes]] = defaultdict(dict)
        self._stale: set[str] = set()
        for path, leaf in leaves.items():
            self.put(path, leaf)

    def put(self, path: str, leaf: bytes) -> None:
        """Set the hash of a file."""
        folder, name = split(path)
        self._children[folder][name] = leaf
        self._stale.add(folder)

    def remove(self, path: str) -> None:
        folder, name = split(path)
        self._children[folder].pop(name, None)
        self._stale.add(folder)

    def rehash(self) -> Mapping[str, bytes | None]:
        """Return the hashes of the root and of the folders that changed, by path; None for those that are gone."""
        stale = {ROOT, *(above for folder in self._stale for above in (folder, *parents(folder)))}
        for folder in sorted(stale, key=_depth, reverse=True):
            self._rehash(folder)
        self._stale = set()
        return {folder: self.hashes.get(folder) for folder in stale}

    def _rehash(self, folder: str) -> None:
        parent, name = split(folder) if folder != ROOT else ("", "")
        if self._children[folder] or folder == ROOT:
            self.hashes[folder] = _node(self._children[folder])
            if parent:
                self._children[parent][name + "/"] = self.hashes[folder]
        else:
            del self._children[folder]
            self.hashes.pop(folder, None)
            self._children[parent].pop(name + "/", None)


def split(path: str) -> tuple[str, str]:
    """Return the folder of a path and its name in there."""
    folder, _, name = path.rpartition("/")
    return folder or ROOT, name


def parents(path: str) -> list[str]:
    """Return the folders that a path lies in, the innermost first and the root last."""
    parts = path.split("/")[:-1] if path != ROOT else []
    inner = ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return [*inner, ROOT] if path != ROOT else []


def _node(children: Mapping[str, bytes]) -> bytes:
    node = hashlib.blake2b(digest_size=BYTES)
    for name in sorted(children):
        node.update(name.encode("utf-8", "surrogateescape") + b"\0" + children[name])
    return node.digest()


def _depth(folder: str) -> int:
    return 0 if folder == ROOT else folder.count("/") + 1
