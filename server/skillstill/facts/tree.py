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


def folder_hashes(leaves: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the hash of each folder by path, `.` for the root, of the hashes of files by path."""
    children: defaultdict[str, dict[str, bytes]] = defaultdict(dict)
    children[ROOT] = {}
    for path, leaf in leaves.items():
        folder, name = split(path)
        children[folder][name] = leaf
    for folder in [*children]:
        for parent in parents(folder):
            _ = children[parent]  # a folder that holds folders only is one, too
    hashes: dict[str, bytes] = {}
    for folder in sorted(children, key=_depth, reverse=True):
        hashes[folder] = _node(children[folder])
        if folder != ROOT:
            parent, name = split(folder)
            children[parent][name + "/"] = hashes[folder]
    return hashes


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
