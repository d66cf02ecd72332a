"""Repositories for tests, written byte by byte: no git is needed, and everything in them can be wrong."""

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skillstill.facts.history import TABLES, read_history

Files = Mapping[str, bytes | tuple[int, bytes]]  # bytes by path, or (mode, raw id) of what is no plain file

ADA = "Ada Lovelace <ada@example.org>"
NOON = 1_700_000_000  # 2023-11-14T22:13:20Z


class GitScene:
    """A repository that a test builds."""

    def __init__(self, root: Path, git: Path | None = None, algorithm: str = "sha1") -> None:
        self.root, self.git, self._algorithm = root, git or root / ".git", algorithm
        for folder in ("objects/pack", "refs/heads", "refs/tags"):
            (self.git / folder).mkdir(parents=True, exist_ok=True)
        self.write("HEAD", "ref: refs/heads/main\n")
        self._clock = NOON

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file of the folder .git."""
        file = self.git / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def put(self, kind: str, data: bytes, name: str = "") -> str:
        """Write a loose object and return its id, or one that it does not deserve."""
        whole = f"{kind} {len(data)}\0".encode() + data
        identity = name or hashlib.new(self._algorithm, whole).hexdigest()
        self.write(f"objects/{identity[:2]}/{identity[2:]}", zlib.compress(whole))
        return identity

    def tree(self, files: Files) -> str:
        """Write a tree of files and return its id."""
        folders: dict[str, dict[str, bytes | tuple[int, bytes]]] = {}
        entries: list[tuple[str, int, bytes]] = []
        for path, content in files.items():
            name, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(name, {})[rest] = content
            elif isinstance(content, tuple):
                entries.append((name, *content))
            else:
                entries.append((name, 0o100644, bytes.fromhex(self.put("blob", content))))
        entries += [(name, 0o40000, bytes.fromhex(self.tree(inner))) for name, inner in folders.items()]
        return self.put("tree", b"".join(b"%o %s\0%s" % (mode, name.encode(), i) for name, mode, i in sorted(entries)))

    def commit(
        self,
        files: Files,
        message: str = "Change",
        *parents: str,
        author: str = ADA,
        dates: Sequence[object] | None = None,
        branch: str = "main",
    ) -> str:
        """Write a commit and let a branch lead to it. Without other parents, its parent is the branch's newest one."""
        tip = self.git / "refs/heads" / branch
        before = parents or ((tip.read_text().strip(),) if tip.exists() else ())
        self._clock += 60
        written, committed = dates or (self._clock, self._clock)
        lines = [f"tree {self.tree(files)}", *(f"parent {parent}" for parent in before)]
        lines += [f"author {author} {written} +0100", f"committer {ADA} {committed} +0100", "", message]
        identity = self.put("commit", "\n".join(lines).encode())
        self.write(f"refs/heads/{branch}", identity + "\n")
        return identity

    def pack(self, entries: Sequence[tuple[str, bytes]], name: str = "pack-1") -> None:
        """Write a pack of entries as they are, by the ids that it says they have."""
        body, offsets = b"PACK" + (2).to_bytes(4) + len(entries).to_bytes(4), {}
        for identity, entry in entries:
            offsets[identity] = len(body)
            body += entry
        ids = sorted(offsets)
        fan = b"".join(sum(int(i[:2], 16) <= first for i in ids).to_bytes(4) for first in range(256))
        index = b"\xfftOc" + (2).to_bytes(4) + fan + b"".join(map(bytes.fromhex, ids)) + bytes(4 * len(ids))
        self.write(f"objects/pack/{name}.idx", index + b"".join(offsets[i].to_bytes(4) for i in ids))
        self.write(f"objects/pack/{name}.pack", body)


def entry(code: int, data: bytes, size: int | None = None, base: bytes = b"") -> bytes:
    """Return an entry of a pack, with a size that may be another one."""
    rest = len(data) if size is None else size
    head, rest = [code << 4 | rest & 15], rest >> 4
    while rest:
        head[-1] |= 0x80
        head.append(rest & 0x7F)
        rest >>= 7
    return bytes(head) + base + zlib.compress(data)


def number(value: int) -> bytes:
    """Return a number as a delta begins with it."""
    parts = [value & 0x7F]
    while value := value >> 7:
        parts[-1] |= 0x80
        parts.append(value & 0x7F)
    return bytes(parts)


def history(root: Path, **options: Any) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a history by table, by the names of their columns, and the reasons of its gaps as `gaps`."""
    found: dict[str, list[dict[str, Any]]] = {"gaps": []}
    columns = {table.name: [column.name for column in table.columns] for table in TABLES}
    for facts in read_history(root, **options):
        for table, rows in facts.rows.items():
            named = [dict(zip(("first", "last", *columns[table]), row, strict=True)) for row in rows]
            found.setdefault(table, []).extend(named)
        found["gaps"] += [{"reason": gap.reason} for gap in facts.gaps]
    return found


def reasons(root: Path, **options: Any) -> set[str]:
    """Return what the gaps of a history say."""
    return {gap["reason"] for gap in history(root, **options)["gaps"]}


def counted(root: Path) -> list[tuple[Any, ...]]:
    """Return the changes of the newest commit: path, status, and lines added and removed."""
    found = history(root)
    newest = found["commits"][0]["short"]
    return [
        (row["changed_path"], row["status"], row["added"], row["removed"])
        for row in found["changes"]
        if row["short"] == newest
    ]
