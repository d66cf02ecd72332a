"""What a hostile repository cannot do: run something, read outside, block, fill the memory, or take forever."""

import os
import re
import sys
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skillstill.facts.history import history_state, list_commits, read_history
from skillstill.facts.history.commits import parse_commit, parse_links, parse_tag
from skillstill.facts.history.errors import ObjectError
from skillstill.facts.history.objects import parse_loose
from skillstill.facts.history.pack import apply_delta

from tests.server.facts.git_scene import ADA, GitScene, counted, entry, history, number, reasons

OUTSIDE = "the history lies outside the workspace"
DAMAGED = "some commits are damaged or missing"
PROGRAM = "#!/bin/sh\ntouch {mark}\n"
CONFIG = """
[core]
    repositoryformatversion = 1
    fsmonitor = {program}
    hooksPath = {hooks}
    sshCommand = {program}
    pager = {program}
    editor = {program}
    gitProxy = {program}
    attributesFile = {outside}/attributes
    worktree = {outside}
[alias]
    log = !{program}
[pager]
    log = {program}
[diff]
    external = {program}
[diff "own"]
    command = {program}
    textconv = {program}
[filter "own"]
    clean = {program}
    smudge = {program}
    process = {program}
    required = true
[credential]
    helper = !{program}
[gpg]
    program = {program}
[log]
    showSignature = true
[remote "origin"]
    url = ext::{program}
    promisor = true
    uploadpack = {program}
[extensions]
    partialClone = origin
[include]
    path = {outside}/config
[includeIf "gitdir:**"]
    path = {outside}/config
"""

_watched: list[tuple[str, tuple[Any, ...]]] | None = None  # an audit hook cannot be taken away again


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _watched is not None:
        _watched.append((event, arguments))


sys.addaudithook(_audit)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


@pytest.fixture
def outside(tmp_path: Path) -> GitScene:
    """Another person's repository, whose history must not be told."""
    scene = GitScene(tmp_path / "outside")
    scene.commit({"secret.txt": b"secret\n"}, "Secret")
    return scene


@pytest.fixture
def events() -> Iterator[list[tuple[str, tuple[Any, ...]]]]:
    """What Python does, from programs that it starts to files that it opens."""
    global _watched
    _watched = []
    yield _watched
    _watched = None


def _read_all(root: Path) -> str:
    """Return everything that is told of a repository."""
    return f"{history(root)} {history_state(root)} {list_commits(root)}"


def test_no_program_that_the_configuration_names_is_run(
    workspace: Path, outside: GitScene, events: list[tuple[str, tuple[Any, ...]]]
) -> None:
    scene, mark = GitScene(workspace), workspace / "mark"
    program = scene.write("hooks/program", PROGRAM.format(mark=mark))
    program.chmod(0o755)
    for hook in ("post-checkout", "reference-transaction", "fsmonitor-watchman", "post-index-change"):
        scene.write(f"hooks/{hook}", PROGRAM.format(mark=mark)).chmod(0o755)
    scene.write("config", CONFIG.format(program=program, hooks=scene.git / "hooks", outside=outside.root))
    scene.write("info/attributes", "* diff=own filter=own\n")
    scene.commit({".gitattributes": b"* diff=own filter=own\n", "a.txt": b"1\n"})
    scene.commit({".gitattributes": b"* diff=own filter=own\n", "a.txt": (0o100644, b"\xcd" * 20)})
    events.clear()
    assert "a.txt" in _read_all(workspace)
    started = {
        event for event, _ in events if event.startswith(("subprocess", "os.exec", "os.system", "os.posix_spawn"))
    }
    assert not started | {event for event, _ in events if event.startswith(("os.fork", "socket", "pty", "ctypes"))}
    assert not mark.exists()


def test_no_configuration_is_opened_and_every_open_refuses_links(
    workspace: Path, events: list[tuple[str, tuple[Any, ...]]]
) -> None:
    scene = GitScene(workspace)
    scene.write("config", "[include]\n\tpath = /etc/hostname\n")
    scene.commit({"a.txt": b"1\n"})
    events.clear()
    assert "a.txt" in _read_all(workspace)
    opened = [(Path(arguments[0]), arguments[2]) for event, arguments in events if event == "open"]
    listed = [Path(arguments[0]) for event, arguments in events if event in ("os.scandir", "os.listdir")]
    assert not [path for path, _ in opened if "config" in path.name]
    assert all(flags & os.O_NOFOLLOW for _, flags in opened)
    assert all(
        path.is_relative_to(workspace) for path in (*listed, *(path for path, _ in opened)) if path.is_absolute()
    )


def test_alternates_outside_are_not_read_and_are_a_gap(workspace: Path, outside: GitScene) -> None:
    scene = GitScene(workspace)
    scene.write("objects/info/alternates", f"{outside.git}/objects\n../../../outside/.git/objects\n")
    scene.write("HEAD", (outside.git / "refs/heads/main").read_text())
    assert "Secret" not in _read_all(workspace)
    assert reasons(workspace) == {DAMAGED, "some objects lie outside the workspace"}


def test_alternates_inside_are_read_also_if_they_name_each_other(workspace: Path) -> None:
    lender, scene = GitScene(workspace / "lender"), GitScene(workspace)
    scene.write("HEAD", lender.commit({"a.txt": b"1\n"}, "Lent"))
    scene.write("objects/info/alternates", "../../lender/.git/objects\n")
    lender.write("objects/info/alternates", f"{scene.git}/objects\n")
    assert [row["subject"] for row in history(workspace)["commits"]] == ["Lent"]


def test_a_git_file_that_points_outside_is_refused(workspace: Path, outside: GitScene) -> None:
    (workspace / ".git").write_text(f"gitdir: {outside.git}\n")
    assert "Secret" not in _read_all(workspace)
    assert reasons(workspace) == {OUTSIDE}
    (workspace / ".git").write_text("gitdir: ../outside/.git\n")
    assert reasons(workspace) == {OUTSIDE}


def test_a_git_file_of_nonsense_is_a_gap(workspace: Path) -> None:
    for text in ("", "gitdir: \n", "gitdir: missing\n", "gitdir: a\0b\n", "x" * 10_000, "gitdir: " + "a/" * 2_000):
        (workspace / ".git").write_text(text)
        assert reasons(workspace) == {"the .git folder is damaged"}


def test_a_common_folder_outside_is_refused(workspace: Path, outside: GitScene) -> None:
    GitScene(workspace).write("commondir", f"{outside.git}\n")
    assert "Secret" not in _read_all(workspace)
    assert reasons(workspace) == {OUTSIDE}


def test_a_link_to_a_repository_outside_is_refused(workspace: Path, outside: GitScene) -> None:
    (workspace / ".git").symlink_to(outside.git)
    assert "Secret" not in _read_all(workspace)
    assert reasons(workspace) == {OUTSIDE}


@pytest.mark.parametrize("name", ["HEAD", "objects", "refs", "refs/heads", "refs/heads/main", "packed-refs"])
def test_a_link_inside_the_git_folder_is_not_followed(workspace: Path, outside: GitScene, name: str) -> None:
    commit = (outside.git / "refs/heads/main").read_text()
    outside.write("packed-refs", f"{commit.strip()} refs/heads/main\n")
    scene = GitScene(workspace)
    target = scene.git / name
    if target.is_dir():
        target.rename(workspace / "away")
    target.unlink(missing_ok=True)
    target.symlink_to(outside.git / name)
    told = _read_all(workspace)
    assert "Secret" not in told
    assert commit.strip() not in told
    assert reasons(workspace)


def test_linked_objects_and_packs_are_not_followed(workspace: Path, outside: GitScene) -> None:
    commit = (outside.git / "refs/heads/main").read_text().strip()
    outside.pack([(commit, entry(1, f"tree {'0' * 40}\n\nSecret".encode()))])
    scene = GitScene(workspace)
    scene.write("HEAD", commit)
    for name in (commit[:2], "pack/pack-1.idx", "pack/pack-1.pack"):
        (scene.git / "objects" / name).symlink_to(outside.git / "objects" / name)
    assert "Secret" not in _read_all(workspace)
    assert reasons(workspace) == {DAMAGED}


@pytest.mark.parametrize(
    "head", ["ref: ../../outside/.git/refs/heads/main", "ref: refs/../../../outside/id", "ref: /etc"]
)
def test_a_head_that_names_a_file_outside_is_not_followed(workspace: Path, outside: GitScene, head: str) -> None:
    commit = (outside.git / "refs/heads/main").read_text()
    (outside.root / "id").write_text(commit)
    GitScene(workspace).write("HEAD", head)
    assert commit.strip() not in _read_all(workspace)
    assert reasons(workspace) == {"the branch that is checked out has no commit"}


@pytest.mark.parametrize("name", ["HEAD", "packed-refs", "refs/heads/main", "shallow", "objects/info/alternates"])
def test_a_pipe_in_the_place_of_a_file_does_not_block(workspace: Path, name: str) -> None:
    scene = GitScene(workspace)
    scene.commit({})
    (scene.git / name).unlink(missing_ok=True)
    (scene.git / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(scene.git / name)
    _read_all(workspace)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_read_like_any_other(workspace: Path) -> None:
    scene = GitScene(workspace)
    scene.commit({}, "Theirs")
    for path in (scene.git, *scene.git.rglob("*")):
        os.chown(path, 12_345, 12_345)
    assert [row["subject"] for row in history(workspace)["commits"]] == ["Theirs"]


def test_replaced_and_grafted_commits_are_told_as_they_were_made(workspace: Path) -> None:
    scene = GitScene(workspace)
    real = scene.commit({}, "Real")
    scene.write(f"refs/replace/{real}", scene.commit({}, "Forged", branch="forged"))
    scene.write("info/grafts", f"{real} {'ab' * 20}\n")
    assert [row["subject"] for row in history(workspace)["commits"]] == ["Real"]
    assert reasons(workspace) == {"replaced and grafted commits are told as they were made"}


def test_names_and_messages_lose_what_cannot_be_seen(workspace: Path) -> None:
    scene = GitScene(workspace)
    files = {"--help": b"", "a\nb\tc": b"", "red\x1b[31m": b"", "\u202efdp.exe": b"", "../up": b""}
    scene.commit(files, "Sub\x1b]0;title\x07ject\x00\n\nBo\x1b[2Jdy\r\u200b\n", author="A\x1b[1mda\u202e <a\x08b@c>")
    scene.write("refs/heads/ev\x1b[31mil", (scene.git / "refs/heads/main").read_text())
    found = history(workspace)
    commit = found["commits"][0]
    assert [commit[name] for name in ("author", "email", "subject", "body")] == ["Ada", "ab@c", "Subject", "Body"]
    assert {row["changed_path"] for row in found["changes"]} == {"--help", "a\ufffdb\ufffdc", "red", "fdp.exe", "../up"}
    assert [row["name"] for row in found["branches"]] == ["evil", "main"]


@pytest.mark.parametrize("date", ["-1", "99999999999999999999999", "9" * 17, "soon", "", "12e3", "0x10", "١٢"])
def test_an_absurd_date_is_none(workspace: Path, date: str) -> None:
    GitScene(workspace).commit({}, "When", dates=(date, date))
    assert [(row["time"], row["author_time"]) for row in history(workspace)["commits"]] == [(None, None)]


@pytest.mark.parametrize("text", ["", "author", "<>", "<", ">", "a <b", "a b> 1 +0000", "<<a>> 5 +0000", "x" * 100_000])
def test_a_broken_author_does_not_hide_the_commit(workspace: Path, text: str) -> None:
    GitScene(workspace).commit({}, "Still here", author=text)
    assert [row["subject"] for row in history(workspace)["commits"]] == ["Still here"]


def test_the_history_before_a_damaged_commit_is_a_gap(workspace: Path) -> None:
    scene = GitScene(workspace)
    broken = scene.put("commit", b"no tree here")
    scene.commit({"a": b""}, "After", broken)
    assert [(row["subject"], row["number"]) for row in history(workspace)["commits"]] == [("After", None)]
    assert "changes" not in history(workspace) or history(workspace)["changes"] == []
    assert reasons(workspace) == {DAMAGED}


@pytest.mark.parametrize(
    "raw", [b"", b"x", zlib.compress(b"tree 5\0abc"), zlib.compress(b"blob 0\0"), zlib.compress(b"tree 9\0100644 a\0")]
)
def test_a_damaged_tree_is_a_gap(workspace: Path, raw: bytes) -> None:
    scene = GitScene(workspace)
    scene.commit({"a": b""})
    tree = scene.tree({"a": b""})
    scene.write(f"objects/{tree[:2]}/{tree[2:]}", raw)
    assert history(workspace)["changes"] == []
    assert reasons(workspace) == {"what some commits changed is damaged or missing"}


def test_a_tree_that_contains_itself_ends(workspace: Path) -> None:
    scene, name = GitScene(workspace), "ab" * 20
    scene.put("tree", b"".join(b"40000 %c\0%s" % (97 + n, bytes.fromhex(name)) for n in range(8)), name)
    scene.write("HEAD", scene.put("commit", f"tree {name}\nauthor {ADA} 1 +0000\n\nBomb".encode()))
    assert [row["subject"] for row in history(workspace)["commits"]] == ["Bomb"]
    assert reasons(workspace) == {"some commits have too many or too large folders"}


def test_a_commit_that_is_its_own_ancestor_is_read_once(workspace: Path) -> None:
    scene, name = GitScene(workspace), "ab" * 20
    text = f"tree {scene.tree({})}\nparent {name}\nauthor {ADA} 1 +0000\n\nLoop"
    scene.write("HEAD", scene.put("commit", text.encode(), name))
    assert [(row["subject"], row["number"]) for row in history(workspace)["commits"]] == [("Loop", None)]


def test_a_tag_that_names_itself_ends(workspace: Path) -> None:
    scene, name = GitScene(workspace), "ab" * 20
    scene.commit({})
    scene.put("tag", f"object {name}\ntype tag\ntag loop\n\nround and round".encode(), name)
    scene.write("refs/tags/loop", name)
    assert [(row["name"], row["short"]) for row in history(workspace)["tags"]] == [("loop", None)]


def test_loose_and_packed_bombs_are_not_unfolded(workspace: Path) -> None:
    scene, blob, packed, lying = GitScene(workspace), "ab" * 20, "cd" * 20, "ef" * 20
    bomb = bytes(40_000_000)
    scene.write(f"objects/{blob[:2]}/{blob[2:]}", zlib.compress(b"blob 40000000\0" + bomb, 1))
    scene.pack([(packed, entry(3, bomb)), (lying, entry(3, bomb, size=10))])
    scene.commit({name: (0o100644, bytes.fromhex(i)) for name, i in (("a", blob), ("b", packed), ("c", lying))})
    del bomb
    tracemalloc.start()
    assert {row[2] for row in counted(workspace)} == {None}
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    assert reasons(workspace) == {
        "lines of files over 1 MB are not counted",
        "contents of some changed files are missing or damaged",
    }


def test_deltas_that_multiply_are_not_unfolded(workspace: Path) -> None:
    scene, base, bomb, chain = GitScene(workspace), "ab" * 20, "cd" * 20, "ef" * 20
    copy = b"\xff\0\0\0\0\0\0\1"  # 65,536 bytes from the beginning
    data = bytes(65_536)
    large = number(65_536) + number(65_536 * 100_000) + copy * 100_000
    lying = number(65_536) + number(10) + copy * 1_000
    entries = [(base, entry(3, data)), (bomb, entry(7, large, base=bytes.fromhex(base)))]
    scene.pack([*entries, (chain, entry(7, lying, base=bytes.fromhex(base)))])
    scene.commit({name: (0o100644, bytes.fromhex(i)) for name, i in (("a", bomb), ("b", chain))})
    tracemalloc.start()
    assert {row[2] for row in counted(workspace)} == {None}
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_deltas_of_themselves_and_of_nothing_are_damaged(workspace: Path) -> None:
    scene, first, second, none = GitScene(workspace), "ab" * 20, "cd" * 20, "ef" * 20
    delta = number(4) + number(4) + b"\x90\4"
    looped = [
        (first, entry(7, delta, base=bytes.fromhex(second))),
        (second, entry(7, delta, base=bytes.fromhex(first))),
        (none, entry(6, delta, base=b"\0")),
    ]
    scene.pack(looped)
    scene.commit({name: (0o100644, bytes.fromhex(i)) for name, i in (("a", first), ("b", second), ("c", none))})
    assert {row[2] for row in counted(workspace)} == {None}


def test_files_that_build_on_each_other_without_end_are_given_up(workspace: Path) -> None:
    scene, size = GitScene(workspace), 900_000
    entries = [("00" * 20, entry(3, bytes(size)))]
    delta = number(size) * 2 + b"\xf0" + size.to_bytes(3, "little")
    for n in range(1, 400):  # 400 steps to read the last file, 399 for the one before
        entries.append((f"{n:040x}", entry(7, delta, base=bytes.fromhex(entries[-1][0]))))
    scene.pack(entries)
    scene.commit({f"{n}": (0o100644, bytes.fromhex(name)) for n, (name, _) in enumerate(reversed(entries))})
    begun = time.monotonic()
    assert {row[2] for row in counted(workspace)} == {None}
    assert time.monotonic() - begun < 20
    assert reasons(workspace) == {"lines of files that changed too much are not counted"}


def test_files_whose_lines_are_all_shuffled_are_given_up(workspace: Path) -> None:
    scene = GitScene(workspace)
    scene.commit({"a": b"".join(b"%d\n" % n for n in range(100_000))})
    scene.commit({"a": b"".join(b"%d\n" % n for n in reversed(range(100_000)))})
    assert counted(workspace) == [("a", "modified", None, None)]
    assert reasons(workspace) == {"lines of files that changed too much are not counted"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(place=st.integers(0, 10_000), byte=st.integers(0, 255), suffix=st.sampled_from(["idx", "pack"]))
def test_a_pack_with_any_byte_changed_is_read_or_is_a_gap(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, suffix: str
) -> None:
    scene = GitScene(tmp_path_factory.mktemp("pack"))
    blob, tree, commit = "ab" * 20, "cd" * 20, "ef" * 20
    delta = number(4) + number(6) + b"\x90\4\2xy"
    scene.pack(
        [
            ("12" * 20, entry(3, b"abc\n")),
            (blob, entry(7, delta, base=b"\x12" * 20)),
            (tree, entry(2, b"100644 a\0" + bytes.fromhex(blob))),
            (commit, entry(1, f"tree {tree}\nauthor {ADA} 1 +0000\ncommitter {ADA} 1 +0000\n\nHi".encode())),
        ]
    )
    scene.write("HEAD", commit)
    file = scene.git / f"objects/pack/pack-1.{suffix}"
    data = bytearray(file.read_bytes())
    data[place % len(data)] = byte
    file.write_bytes(data)
    for facts in read_history(scene.root):
        assert all(isinstance(gap.reason, str) for gap in facts.gaps)


@given(st.binary(max_size=300) | st.builds(lambda data: zlib.compress(b"blob 9\0" + data), st.binary(max_size=20)))
def test_parsers_of_objects_refuse_nonsense(data: bytes) -> None:
    head = b"tree " + b"ab" * 20 + b"\nparent " + data
    for parse in (
        lambda: parse_loose(data, 100),
        lambda: parse_links(head, 20),
        lambda: parse_links(data, 20),
        lambda: parse_tag(b"object " + data, 20),
        lambda: parse_commit(head),
        lambda: apply_delta(b"abc", data),
    ):
        try:
            parse()
        except ObjectError:
            continue


@given(st.text(max_size=60))
def test_any_message_becomes_one_clean_line(text: str) -> None:
    subject = parse_commit(b"tree x\n\n" + text.encode("utf-8", "surrogatepass")).subject
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", subject)
