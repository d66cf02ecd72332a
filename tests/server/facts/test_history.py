"""What a history tells of commits, changes, tags and branches."""

import shutil
import subprocess
from pathlib import Path

import pytest
from dulwich.object_format import DEFAULT_OBJECT_FORMAT
from dulwich.objects import ShaFile
from dulwich.pack import write_pack
from dulwich.repo import Repo
from hypothesis import given
from hypothesis import strategies as st
from skillstill.facts.history import history_state, list_commits, read_history
from skillstill.facts.history.lines import count_changed_lines

from tests.server.facts.git_scene import ADA, NOON, GitScene, counted, history, reasons

BOB = "Bob <bob@example.org>"
TEXT = b"".join(b"line %d of a text\n" % n for n in range(40))


def test_a_commit_tells_who_when_and_why(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    first = scene.commit({}, "Begin")
    made = scene.commit({}, "Add  a\nthing\n\nBecause.\n\nReally.\n", author=BOB, dates=(NOON, NOON + 3600))
    assert history(tmp_path)["commits"][0] == {
        "first": 0,
        "last": 0,
        "commit_id": made,
        "short": made[:12],
        "author": "Bob",
        "email": "bob@example.org",
        "time": "2023-11-14T23:13:20Z",
        "author_time": "2023-11-14T22:13:20Z",
        "subject": "Add a thing",
        "body": "Because.\n\nReally.",
        "parents": 1,
        "is_merge": 0,
        "number": 2,
    }
    begin = history(tmp_path)["commits"][1]
    assert (begin["commit_id"], begin["author_time"], begin["body"], begin["number"]) == (first, None, None, 1)


def test_changes_tell_added_modified_and_deleted_files_with_their_lines(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    scene.commit({"keep.txt": b"same\n", "src/a.py": b"one\ntwo\nthree\n", "gone.txt": b"x\ny\n"})
    scene.commit({"keep.txt": b"same\n", "src/a.py": b"one\n2\nthree\nfour", "src/deep/new.py": b"p\n"})
    assert counted(tmp_path) == [
        ("gone.txt", "deleted", 0, 2),
        ("src/a.py", "modified", 2, 1),
        ("src/deep/new.py", "added", 1, 0),
    ]


def test_a_moved_file_is_renamed_even_if_some_of_its_lines_changed(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    scene.commit({"old/name.txt": TEXT, "same.bin": b"12345"})
    scene.commit({"new/name.txt": TEXT.replace(b"line 7 ", b"line seven "), "moved.bin": b"12345"})
    found = history(tmp_path)["changes"][:2]
    assert [(row["old_path"], row["changed_path"], row["added"]) for row in found] == [
        ("same.bin", "moved.bin", 0),
        ("old/name.txt", "new/name.txt", 1),
    ]


def test_a_file_that_shares_little_with_a_deleted_one_is_not_renamed(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    scene.commit({"a.txt": TEXT})
    scene.commit({"b.txt": TEXT[:200] + b"entirely other words\n" * 40})
    assert {status for _, status, _, _ in counted(tmp_path)} == {"added", "deleted"}


def test_a_binary_file_has_no_lines_and_a_submodule_is_one_line(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    scene.commit({"image.png": b"\0\1", "library": (0o160000, bytes(20)), "run.sh": b"x\n"})
    run = bytes.fromhex(scene.put("blob", b"x\n"))
    scene.commit({"image.png": b"\0\2", "library": (0o160000, bytes([1] * 20)), "run.sh": (0o100755, run)})
    assert counted(tmp_path) == [
        ("image.png", "modified", None, None),
        ("library", "modified", 1, 1),
        ("run.sh", "modified", 0, 0),
    ]
    assert history(tmp_path)["changes"][0]["binary"] == 1


def test_a_file_in_the_place_of_a_folder_is_told_with_what_it_replaced(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    scene.commit({"a/b.txt": b"1\n"})
    scene.commit({"a": b"2\n"})
    assert counted(tmp_path) == [("a", "added", 1, 0), ("a/b.txt", "deleted", 0, 1)]


def test_a_merge_has_parents_and_no_changes_and_numbers_follow_first_parents(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    first = scene.commit({}, "One")
    side = scene.commit({"side": b""}, "Side", first, branch="side")
    main = scene.commit({"main": b""}, "Two", first)
    merge = scene.commit({"side": b"", "main": b""}, "Merge", main, side)
    found = history(tmp_path)
    assert [(row["subject"], row["is_merge"], row["number"]) for row in found["commits"]] == [
        ("Merge", 1, 3),
        ("Two", 0, 2),
        ("Side", 0, 2),
        ("One", 0, 1),
    ]
    assert merge[:12] not in {row["short"] for row in found["changes"]}


def test_tags_and_branches_tell_where_they_lead(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    one = scene.commit({}, "One")
    two = scene.commit({}, "Two", one, branch="topic/x")
    message = "Release\n-----BEGIN PGP SIGNATURE-----\nabc\n-----END PGP SIGNATURE-----\n"
    tag = scene.put("tag", f"object {one}\ntype commit\ntag v1\ntagger {BOB} {NOON} +0000\n\n{message}".encode())
    blob = scene.put("blob", b"key")
    scene.write("packed-refs", f"# pack-refs\n{tag} refs/tags/v1\n^{one}\n{two} refs/remotes/origin/main\n")
    scene.write("refs/tags/plain", two)
    scene.write("refs/tags/key", blob)
    scene.write("refs/remotes/origin/HEAD", "ref: refs/remotes/origin/main\n")
    found = history(tmp_path)
    assert [(row["name"], row["short"], row["time"], row["message"]) for row in found["tags"]] == [
        ("key", None, None, None),
        ("plain", two[:12], "2023-11-14T22:15:20Z", None),
        ("v1", one[:12], "2023-11-14T22:13:20Z", "Release"),
    ]
    assert [(row["name"], row["message"], row["is_current"], row["is_remote"]) for row in found["branches"]] == [
        ("main", "One", 1, 0),
        ("topic/x", "Two", 0, 0),
        ("origin/main", "Two", 0, 1),
    ]


def test_commits_that_are_known_are_not_read_again(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    first = scene.commit({"a": b""})
    second = scene.commit({"a": b"1"})
    found = history(tmp_path, known=[first])
    assert [row["commit_id"] for row in found["commits"]] == [second]
    assert [row["number"] for row in found["commits"]] == [2]
    assert {row["short"] for row in found["changes"]} == {second[:12]}


def test_a_reader_that_stops_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillstill.facts.history.repository.BATCH", 2)
    scene = GitScene(tmp_path)
    made = [scene.commit({"a": b"%d" % n}) for n in range(7)]
    begun = read_history(tmp_path)
    rows = [next(begun), next(begun), next(begun)][-1].rows["commits"]
    begun.close()  # type: ignore[attr-defined]
    assert [row[2] for row in rows] == [made[4], made[3]]
    rest = history(tmp_path, known=made[3:])
    assert [row["commit_id"] for row in rest["commits"]] == made[2::-1]


def test_the_state_changes_with_commits_tags_and_what_is_checked_out(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    first = scene.commit({})
    states = [history_state(tmp_path), history_state(tmp_path)]
    scene.write("refs/tags/v1", first)
    states.append(history_state(tmp_path))
    scene.write("HEAD", first)
    states.append(history_state(tmp_path))
    scene.commit({"a": b""})
    states.append(history_state(tmp_path))
    assert states[0] == states[1]
    assert len(set(states)) == 4


def test_the_commits_that_have_rows_are_those_of_the_branch_that_is_checked_out(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    first = scene.commit({})
    main = scene.commit({"m": b""})
    other = scene.commit({"o": b""}, "Other", first, branch="other")
    assert list_commits(tmp_path) == [main, first]
    scene.write("HEAD", "ref: refs/heads/other")
    assert list_commits(tmp_path) == [other, first]


def test_older_commits_above_the_limit_are_a_gap(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    made = [scene.commit({"a": b"%d" % n}) for n in range(4)]
    assert [row["commit_id"] for row in history(tmp_path, limit=2)["commits"]] == [made[3], made[2]]
    assert [row["number"] for row in history(tmp_path, limit=2)["commits"]] == [4, 3]
    assert reasons(tmp_path, limit=2) == {"only the newest 2 commits are read"}
    assert reasons(tmp_path, limit=4) == set()


def test_a_folder_without_a_repository_has_no_history_and_says_nothing(tmp_path: Path) -> None:
    assert history(tmp_path) == {"gaps": []}
    assert history_state(tmp_path) == ""
    assert list_commits(tmp_path) == []


def test_a_repository_without_commits_says_so(tmp_path: Path) -> None:
    GitScene(tmp_path)
    assert reasons(tmp_path) == {"the branch that is checked out has no commit"}


def test_a_bare_repository_is_read(tmp_path: Path) -> None:
    GitScene(tmp_path, git=tmp_path).commit({}, "Bare")
    assert [row["subject"] for row in history(tmp_path)["commits"]] == ["Bare"]


def test_a_detached_head_is_read_and_no_branch_is_current(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    scene.write("HEAD", scene.commit({}, "Here"))
    found = history(tmp_path)
    assert [row["subject"] for row in found["commits"]] == ["Here"]
    assert [row["is_current"] for row in found["branches"]] == [0]


def test_a_worktree_is_read_if_its_repository_lies_within(tmp_path: Path) -> None:
    scene = GitScene(tmp_path / "main")
    first = scene.commit({}, "First")
    scene.commit({}, "In the worktree", first, branch="topic")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/.git").write_text(f"gitdir: {scene.git}/worktrees/tree\n")
    scene.write("worktrees/tree/HEAD", "ref: refs/heads/topic\n")
    scene.write("worktrees/tree/commondir", "../..\n")
    assert history(tmp_path / "tree", within=tmp_path)["commits"][0]["subject"] == "In the worktree"
    assert reasons(tmp_path / "tree") == {"the history lies outside the workspace"}


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("rebase-merge/head-name", "a rebase is under way"),
        ("rebase-apply/rebasing", "a rebase of patches is under way"),
        ("MERGE_HEAD", "a merge is under way"),
        ("CHERRY_PICK_HEAD", "a cherry-pick is under way"),
        ("BISECT_LOG", "a bisection is under way"),
    ],
)
def test_what_git_is_in_the_middle_of_is_a_gap(tmp_path: Path, file: str, said: str) -> None:
    scene = GitScene(tmp_path)
    scene.commit({})
    scene.write(file, "x")
    assert reasons(tmp_path) == {said}


def test_a_shallow_clone_says_that_older_commits_are_missing_and_not_that_all_files_were_added(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    edge = scene.commit({"a": b"1\n", "b": b""}, "Edge", "ab" * 20)
    scene.commit({"a": b"2\n", "b": b""}, "Newest")
    scene.write("shallow", f"{edge}\n")
    found = history(tmp_path)
    assert [(row["subject"], row["parents"], row["number"]) for row in found["commits"]] == [
        ("Newest", 1, None),
        ("Edge", 1, None),
    ]
    assert [row["changed_path"] for row in found["changes"]] == ["a"]
    assert reasons(tmp_path) == {"the clone is shallow: older commits are not in it"}


def test_a_partial_clone_tells_files_whose_contents_are_missing_without_their_lines(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    scene.commit({"a": (0o100644, bytes.fromhex("cd" * 20)), "b": b"x\n"})
    assert counted(tmp_path) == [("a", "added", None, None), ("b", "added", 1, 0)]
    assert reasons(tmp_path) == {"contents of some changed files are missing or damaged"}


def test_a_repository_with_sha256_ids_is_read(tmp_path: Path) -> None:
    scene = GitScene(tmp_path, algorithm="sha256")
    scene.commit({"d/a": b"1\n"})
    made = scene.commit({"d/a": b"2\n"})
    assert len(made) == 64
    assert history(tmp_path)["commits"][0]["commit_id"] == made
    assert counted(tmp_path) == [("d/a", "modified", 1, 1)]


def test_refs_in_a_reftable_are_a_gap(tmp_path: Path) -> None:
    GitScene(tmp_path).write("reftable/tables.list", "")
    assert reasons(tmp_path) == {"branches and tags are kept as a reftable, which is not read"}


def test_lines_of_large_files_and_of_commits_with_many_files_are_not_counted(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    scene.commit({"large.txt": b"0123456789\n" * 100_000, "small.txt": b"x\n"})
    assert counted(tmp_path) == [("large.txt", "added", None, None), ("small.txt", "added", 1, 0)]
    small = bytes.fromhex(scene.put("blob", b"x\n"))
    scene.commit({f"{n}.txt": (0o100644, small) for n in range(501)})
    assert {row[2] for row in counted(tmp_path)} == {None}
    assert reasons(tmp_path) == {
        "lines of files over 1 MB are not counted",
        "lines of commits with more than 500 files are not counted",
    }


def test_a_message_in_an_old_encoding_is_read(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    head = (
        f"tree {scene.tree({})}\nauthor J\xf6rg <j@example.org> 1 +0000\ncommitter {ADA} 1 +0000\nencoding ISO-8859-1"
    )
    scene.write("HEAD", scene.put("commit", f"{head}\n\nGr\xfc\xdfe".encode("latin-1")))
    found = history(tmp_path)["commits"][0]
    assert (found["author"], found["subject"]) == ("J\xf6rg", "Gr\xfc\xdfe")


def test_packed_objects_give_the_same_rows_as_loose_ones(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    for n in range(12):
        scene.commit({"a.txt": TEXT + b"%d\n" % n, "d/b.txt": TEXT * 50 + b"%d\n" % (n * n)})
    loose = history(tmp_path)
    with Repo(str(tmp_path)) as repo:
        objects: list[ShaFile] = [repo.object_store[identity] for identity in repo.object_store]
    _pack(scene, objects)
    assert history(tmp_path) == loose
    assert len(loose["changes"]) == 24


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git itself")
def test_git_itself_says_the_same(tmp_path: Path) -> None:
    scene = GitScene(tmp_path)
    versions = [TEXT, TEXT[300:], TEXT[:100] + b"x\n" + TEXT[100:], b"", TEXT.replace(b"\n", b"\r\n"), TEXT[:-1]]
    for content in versions:
        scene.commit({"dir/a.txt": content, "b.txt": content[::-1]})
    environment = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/local/bin:/usr/bin:/bin"}
    command = ["git", f"--git-dir={scene.git}", "log", "--numstat", "--no-renames", "--format="]
    lines = subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout.splitlines()
    mine = [f"{row['added']}\t{row['removed']}\t{row['changed_path']}" for row in history(tmp_path)["changes"]]
    assert mine == [line for line in lines if line]


@given(st.lists(st.sampled_from("abcd\n"), max_size=40), st.lists(st.sampled_from("abcd\n"), max_size=40))
def test_counted_lines_are_those_of_a_smallest_diff(old: list[str], new: list[str]) -> None:
    before, after = ("\n".join(lines) for lines in (old, new))
    common = _longest_common(before.splitlines(keepends=True), after.splitlines(keepends=True))
    expected = (len(after.splitlines()) - common, len(before.splitlines()) - common)
    assert count_changed_lines(before.encode(), after.encode()) == expected


def _longest_common(old: list[str], new: list[str]) -> int:
    above = [0] * (len(new) + 1)
    for line in old:
        row = [0]
        for column, other in enumerate(new):
            row.append(above[column] + 1 if line == other else max(above[column + 1], row[-1]))
        above = row
    return above[-1]


def _pack(scene: GitScene, objects: list[ShaFile]) -> None:
    """Move all objects into one pack with deltas."""
    objects.sort(key=lambda item: (item.type_num, len(item.as_raw_string())), reverse=True)
    write_pack(
        str(scene.git / "objects/pack/pack-1"), [(item, None) for item in objects], DEFAULT_OBJECT_FORMAT, deltify=True
    )
    for folder in scene.git.glob("objects/??"):
        shutil.rmtree(folder)
