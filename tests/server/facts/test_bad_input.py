"""What `query` says of files that are not as they should be: rows that are there, and a gap for what is not."""

import os
import socket
import sqlite3
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from functools import partialmethod
from pathlib import Path

import pytest
from skillstill.facts import parsing, reading
from skillstill.facts.index import FactIndex
from skillstill.facts.opened import OPENED
from skillstill.facts.readers import BUNDLED
from skillstill.tools.facts.query import query_tool
from skillstill.util.storage import open_no_link
from skillstill.workspace import Workspace

from tests.scenes import write
from tests.server.facts.conftest import TOY
from tests.server.facts.git_scene import GitScene

pytestmark = pytest.mark.anyio
Ask = Callable[..., Awaitable[str]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "root", {"good.py": "def good(): pass\n"})


@pytest.fixture
async def ask(root: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """What the tool shows for a query over the tables of bundled readers, or of the toy."""
    monkeypatch.setattr(OPENED, "home", lambda: None)

    async def asked(sql: str, *readers: str, under: Path = root) -> str:
        tool = query_tool(tuple(TOY if name == "toy" else BUNDLED[name] for name in readers))
        return (await tool.call(Workspace(under), {"sql": sql})).text

    return asked


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("blob.py", b"\0\1\2\3" * 100, "(Not seen: binary or not UTF-8, 1 file.)"),
        ("wide.py", "def wide(): pass\n".encode("utf-16"), "(Not seen: binary or not UTF-8, 1 file.)"),
        ("wrong.py", b"def (:\n  x = (\n", "(Not seen: syntax errors, 1 file.)"),
        (
            "minified.js",
            b"var a=1;" * 20_000,
            "(Not seen: minified or generated: a line is longer than 20,000 bytes, 1 file.)",
        ),
    ],
)
async def test_a_source_that_cannot_be_read_is_said(root: Path, ask: Ask, name: str, content: bytes, said: str) -> None:
    (root / name).write_bytes(content)
    assert await ask("select name from definitions", "code") == f"1 row: name\ngood.py:1: good\n{said}"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
async def test_tables_and_logs_are_read_in_the_encoding_that_they_have(root: Path, ask: Ask, encoding: str) -> None:
    log = "".join(f"2026-01-0{day} 10:00:00 ERROR Übung {day}\n" for day in (1, 2, 3))
    (root / "app.log").write_bytes(log.encode(encoding))
    (root / "menu.csv").write_bytes("dish;price\nCrème brûlée;4\nGruß;5\n".encode(encoding))
    assert "Crème brûlée" in await ask("select dish from menu", "data", "logs")
    found = await ask("select coalesce(message, body) from entries where time like '2026-01-02%'", "data", "logs")
    assert "bung 2" in found


async def test_a_huge_file_that_takes_too_long_keeps_the_rows_that_were_found(
    root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGE", 1_000)
    monkeypatch.setattr(parsing, "LONGEST", 3.0)
    write(root, {"big.toy": "one: x\n" * 2_000 + "hang: x\n"})
    found = await ask("select count(*) > 1000 from lines", "toy")
    assert found == "1 row: count(*) > 1000\n1\n(Not seen: reading it took too long, 1 file.)"


async def test_what_is_no_regular_file_is_no_file(root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "pipe.py")
    (root / "loop.py").symlink_to("loop2.py")
    (root / "loop2.py").symlink_to("loop.py")
    (root / "folder.py").symlink_to(".")
    monkeypatch.chdir(root)  # the path of a socket may have a hundred characters
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind("socket.py")
        assert await ask("select path from files", "code") == "1 row: path\ngood.py: good.py"


async def test_a_file_that_may_not_be_opened_is_said(root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"closed.py": "def closed(): pass\n"})

    def guarded(file: str, flags: int) -> int:
        if os.fspath(file).endswith("closed.py"):
            raise PermissionError(13, "Permission denied", file)
        return open_no_link(file, flags)

    monkeypatch.setattr("skillstill.facts.reading.open_no_link", guarded)
    found = "1 row: name\ngood.py:1: good\n(Not seen: it cannot be opened, 1 file.)"
    assert await ask("select name from definitions", "code") == found
    monkeypatch.undo()
    assert (await ask("select name from definitions", "code")).startswith("2 rows")


async def test_a_file_whose_name_is_not_utf8_is_said(root: Path, ask: Ask) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/b\xffd.py")).write_text("def hidden(): pass\n", encoding="utf-8")
    for _ in range(2):
        found = await ask("select name from definitions where name = 'hidden'", "code")
        assert found == "0 rows: name\n(Not seen: its name is not UTF-8, 1 file.)"


async def test_a_large_file_that_changes_while_it_is_read_is_said_and_read_again(
    root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGE", 1_000)
    write(root, {"big.toy": "one: x\n" * 1_000})
    stream = parsing.Parser.stream

    def changing(self: parsing.Parser, name: str, path: Path, size: int) -> Iterator[parsing.Batch]:
        yield from stream(self, name, path, size)
        path.write_text("two: x\n" * 1_000, encoding="utf-8")

    monkeypatch.setattr(parsing.Parser, "stream", changing)
    said = "(Not seen: it changed while it was read, 1 file.)"
    assert said in await ask("select count(*) from lines where word = 'two'", "toy")
    monkeypatch.setattr(parsing.Parser, "stream", stream)
    found = await ask("select count(*) from lines where word = 'two'", "toy")
    assert found == "1 row: count(*)\n1000"


async def test_rows_in_the_log_beside_a_database_are_said_to_be_missing(root: Path, ask: Ask) -> None:
    with closing(sqlite3.connect(root / "shop.db")) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.executescript("create table orders (id); insert into orders values (1); pragma wal_checkpoint(full)")
        connection.executescript("insert into orders values (2)")
        assert (root / "shop.db-wal").stat().st_size
        found = await ask("select id from orders where id = 2", "data")
    assert found.startswith("0 rows")
    assert "write-ahead log (`-wal`) beside the file are not seen, 1 file" in found


async def test_a_folder_of_more_files_than_there_is_time_for_is_said_and_read_later(
    root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, {f"many/{number}.py": "def one(): pass\n" for number in range(300)})
    monkeypatch.setattr(FactIndex, "refresh", partialmethod(FactIndex.refresh, seconds=0.0))
    assert (
        await ask("select count(*) from definitions", "code")
        == "1 row: count(*)\n1\n(Not seen: not read yet, 300 files.)"
    )
    monkeypatch.undo()
    assert await ask("select count(*) from definitions", "code") == "1 row: count(*)\n301"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"rebase-merge/head-name": "{first}\n", "HEAD": "{second}\n"}, "\n(Not seen: a rebase is under way, 1 file.)"),
        ({"MERGE_HEAD": "{first}\n"}, "\n(Not seen: a merge is under way, 1 file.)"),
        ({"HEAD": "{second}\n"}, ""),
        ({"packed-refs": "{second} refs/heads/packed\n", "HEAD": "ref: refs/heads/packed\n"}, ""),
    ],
    ids=["rebase", "merge", "detached", "packed"],
)
async def test_history_is_told_whatever_git_is_in_the_middle_of(
    root: Path, ask: Ask, files: dict[str, str], said: str
) -> None:
    scene = GitScene(root)
    first, second = scene.commit({}, "Begin"), scene.commit({}, "Go on")
    for name, text in files.items():
        scene.write(name, text.format(first=first, second=second))
    found = await ask("select subject from commits order by number", "history")
    assert found == f"2 rows: subject\n.git: Begin\n.git: Go on{said}"


async def test_a_shallow_clone_and_a_worktree_say_what_is_not_in_them(root: Path, ask: Ask, tmp_path: Path) -> None:
    scene = GitScene(root)
    newest = scene.commit({}, "Go on", scene.commit({}, "Begin"))
    outside = write(tmp_path / "worktree", {".git": f"gitdir: {root}/.git/worktrees/one\n"})
    found = await ask("select subject from commits", "history", under=outside)
    assert found == "0 rows: subject\n(Not seen: the history lies outside the workspace, 1 file.)"
    scene.write("shallow", newest + "\n")
    found = await ask("select subject from commits", "history")
    assert found.endswith("(Not seen: the clone is shallow: older commits are not in it, 1 file.)")


async def test_a_repository_that_git_made_is_read(root: Path, ask: Ask) -> None:
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
    for arguments in (["init"], ["add", "."], ["commit", "-m", "Begin"], ["gc"], ["pack-refs", "--all"]):
        subprocess.run([*git, *arguments], cwd=root, check=True, capture_output=True)
    assert await ask("select subject from commits", "history") == "1 row: subject\n.git: Begin"
