"""Changes: what Debian's patches and later commits meant, and where in the tree they go."""

from __future__ import annotations

import difflib
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest
from skillstill.errors import WorkspaceSourceError
from skillstill_training.workspaces import Source, build_workspace
from skillstill_training.workspaces.requests import cache_folder
from skillstill_training.workspaces.steps.changes import describe_change
from skillstill_training.workspaces.steps.notes import read_notes, write_notes
from skillstill_training.workspaces.steps.patches import patches
from skillstill_training.workspaces.steps.words import rename_words

from tests.scenes import write

CART = "".join(f"line_{number} = {number}\n" for number in range(1, 31))
CHANGED = CART.replace("line_3 = 3\n", "line_3 = 33\nextra = 1\n").replace("line_20 = 20\nline_21 = 21\n", "")
ADDED = CART.replace("line_9 = 9\n", "line_9 = 9\nadded = True\n")


def diff(before: str, after: str, old: str = "a/shop/cart.py", new: str = "b/shop/cart.py") -> str:
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), old, new)
    return "".join(lines)


def noted(tmp_path: Path, *texts: str, tree: dict[str, str] | None = None) -> list[Any]:
    root = write(tmp_path / "tree", tree or {"shop/cart.py": CART, "shop/tax.py": "RATE = 7\n", "README.md": "Hi\n"})
    for number, text in enumerate(texts):
        write(root, {f"debian/patches/{number}.patch": text})
    write(root, {"debian/patches/series": "# first\n\n" + "".join(f"{n}.patch -p1 # why\n" for n in range(len(texts)))})
    changes: Any = patches(root, Random(0))["changes"]
    assert not (root / "debian").exists()
    return changes  # type: ignore[no-any-return]


def one(tmp_path: Path, head: str, body: str | None = None) -> str | None:
    found = noted(tmp_path, head + (diff(CART, CHANGED) if body is None else body))
    return found[0]["description"] if found else None


def test_a_patch_tells_what_it_means_and_where_it_goes(tmp_path: Path) -> None:
    head = "Description: Count every line twice\n Long text that\n goes on.\nAuthor: A <a@b>\n\n"
    assert noted(tmp_path, head + diff(CART, CHANGED)) == [
        {
            "description": "Count every line twice",
            "files": ["shop/cart.py"],
            "lines": {"shop/cart.py": [[3, 3], [20, 21]]},
        }
    ]


def test_added_lines_count_as_the_line_before_them(tmp_path: Path) -> None:
    head = "Subject: say what was added here\n\n"
    first = "before = 0\n" + CART
    assert noted(tmp_path, head + diff(CART, ADDED))[0]["lines"] == {"shop/cart.py": [[9, 9]]}
    assert noted(tmp_path, head + diff(CART, first))[0]["lines"] == {"shop/cart.py": [[1, 1]]}


def test_a_place_that_earlier_patches_moved_is_found_by_its_text(tmp_path: Path) -> None:
    head = "Description: take two of the lines\n\n"
    twelve = CART[CART.index("line_12") :]
    found = noted(tmp_path, head + diff(twelve, twelve.replace("line_20 = 20\nline_21 = 21\n", "")))
    assert found[0]["lines"] == {"shop/cart.py": [[20, 21]]}


@pytest.mark.parametrize(
    "body",
    [
        diff("other = 1\n", "other = 2\n"),  # does not fit
        diff("", "new = 1\n", "/dev/null", "b/shop/new.py"),
        diff("Hi\n", "Ho\n", "a/README.md", "b/README.md"),
        diff(CART, CHANGED, "a/../../out.py", "b/../../out.py"),
        diff(CART, CHANGED) + diff("RATE = 7\n", "RATE = 8\n", "a/shop/tax.py", "b/shop/tax.py")
        + diff("", "x = 1\n", "/dev/null", "b/shop/new.py"),
        "no diff", "--- a/x\n", "",
    ],
)  # fmt: skip
def test_what_goes_nowhere_in_one_or_two_sources_is_passed_over(tmp_path: Path, body: str) -> None:
    assert one(tmp_path, "Description: a change of some kind\n\n", body) is None


def test_two_sources_and_a_text_are_kept(tmp_path: Path) -> None:
    body = diff(CART, CHANGED) + diff("RATE = 7\n", "RATE = 8\n", "shop.orig/shop/tax.py", "shop/shop/tax.py")
    body += diff("Hi\n", "Ho\n", "a/README.md", "b/README.md")
    found = noted(tmp_path, "Description: raise the rate again\n\n" + body)
    assert found[0]["files"] == ["shop/cart.py", "shop/tax.py"]
    assert found[0]["lines"]["shop/tax.py"] == [[1, 1]]


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("Description: Use the right\n rate (Closes: #123456)\n .\n Not this.\n", "Use the right rate"),
        ("Description:\n Tell the truth at last.\n It was time.\n", "Tell the truth at last"),
        ("From abc Mon Sep 17\nFrom: A <a@b>\nDate: now\nSubject: [PATCH 2/3] Keep the rate low (#77)\n\nWhy.\n---\n",
         "Keep the rate low"),
        ("Subject: =?utf-8?q?Keep_the_caf=C3=A9_open?=\n\n", "Keep the café open"),
        ("Description: CVE-2025-1234 (1/2): Keep strangers out of it\n", "Keep strangers out of it"),
        ("# HG changeset patch\n# User A\ncart: count lines only once\n\nMore.\n", "cart: count lines only once"),
        ("Count the lines only once\n\nRef: https://a.b/c\n", "Count the lines only once"),
        ("Description: Fix [the cart](https://a.b) for ``all`` users\n", "Fix the cart for all users"),
        ("Description: Too short this\n", None),
        ("Author: A <a@b>\n", None),
        ("", None),
    ],
)  # fmt: skip
def test_a_header_s_first_sentence_describes_it(tmp_path: Path, head: str, told: str | None) -> None:
    body = "" if not told or head.count(" ") < 3 else None
    assert one(tmp_path, head + "\n", body) == (told if body is None else None)


def test_numbers_and_addresses_are_no_words() -> None:
    assert describe_change("CVE-2024-1 CVE-2024-2 https://a.b/c #12 fix") is None
    assert describe_change("bpo-123: make it work again (LP: #12)") == "make it work again"
    assert describe_change("use a set (not a list) here") == "use a set (not a list) here"


def test_a_tree_without_patches_has_no_changes(tmp_path: Path) -> None:
    assert patches(write(tmp_path / "tree", {"a.py": ""}), Random(0)) == {"changes": []}


def test_a_series_reads_nothing_outside(tmp_path: Path) -> None:
    root = write(tmp_path / "tree", {"shop/cart.py": CART, "debian/patches/series": "../../../secret.patch\n"})
    write(tmp_path, {"secret.patch": "Description: a change of some kind\n\n" + diff(CART, CHANGED)})
    assert patches(root, Random(0)) == {"changes": []}


def test_changes_are_renamed_with_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillstill_training.workspaces.steps.words.SHARE", 1.0)
    before, after = "def basketry(description): pass\n", "def basketry(): ...\n"
    patch = diff(before, after, "a/shop/basketry.py", "b/shop/basketry.py")
    tree = write(tmp_path / "tree", {"shop/basketry.py": before, "debian/patches/series": "a\n"})
    write(tree, {"debian/patches/a": f"Description: let the basketry do it\n\n{patch}"})
    write_notes(tree, {})
    write_notes(tree, patches(tree, Random(0)))
    words: Any = rename_words(tree, Random(0))["words"]
    new = words["basketry"]
    assert read_notes(tree)["changes"] == [
        {"description": f"let the {new} do it", "files": [f"shop/{new}.py"], "lines": {f"shop/{new}.py": [[1, 1]]}}
    ]
    assert (tree / f"shop/{new}.py").is_file()


class Repository:
    """A real one, whose commits a test makes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        ran = subprocess.run(["git", *who, *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return ran.stdout.strip()

    def commit(self, subject: str, files: dict[str, str]) -> str:
        write(self.folder, files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def of(repository: Repository, commit: str, *steps: str) -> Source:
    return Source(name="shop", split="test", source=f"git:{repository.folder}@{commit}", steps=steps)


def test_a_commit_s_tree_comes_out_as_it_was_committed(repository: Repository, skill: Path) -> None:
    attributes = "secret.py export-ignore\nmarked.py export-subst\n*.py filter=lfs\n"
    files = {".gitattributes": attributes, "secret.py": "a\r\n", "marked.py": "$Format:%H$\n"}
    commit = repository.commit("first", files)
    repository.commit("second", {"secret.py": "b\n"})
    root = build_workspace(of(repository, commit), skill).root
    assert {path.name: path.read_bytes().decode() for path in root.iterdir()} == files


def test_a_clone_is_kept_and_then_found_offline(repository: Repository, skill: Path) -> None:
    first = repository.commit("first", {"a.py": "1\n"})
    build_workspace(of(repository, first), skill)
    second = repository.commit("second", {"a.py": "2\n"})
    with pytest.raises(WorkspaceSourceError, match="not in the cache and this run is offline"):
        build_workspace(of(repository, second), skill, offline=True)
    root = build_workspace(of(repository, second), skill).root
    assert (root / "a.py").read_text(encoding="utf-8") == "2\n"
    repository.folder.rename(repository.folder.with_name("gone"))
    build_workspace(of(repository, second).model_copy(update={"keep": ("a.py",)}), skill, offline=True)
    assert len(list((cache_folder() / "clones").glob("*.git"))) <= 1


def test_no_hook_of_a_repository_or_template_runs(
    repository: Repository, skill: Path, tmp_path: Path, home: Path
) -> None:
    hook = f"#!/bin/sh\ntouch {tmp_path}/ran\n"
    for folder in (repository.folder / ".git/hooks", tmp_path / "template/hooks"):
        for name in ("post-checkout", "post-merge", "reference-transaction", "post-index-change"):
            write(folder, {name: hook})
            (folder / name).chmod(0o755)
    write(home, {".gitconfig": f"[init]\n\ttemplateDir = {tmp_path}/template\n"})
    commit = repository.commit("first", {"a.py": "1\n"})
    (tmp_path / "ran").unlink(missing_ok=True)  # by the commit itself
    build_workspace(of(repository, commit), skill)
    assert not (tmp_path / "ran").exists()


def test_other_protocols_and_missing_commits_are_refused(repository: Repository, skill: Path, tmp_path: Path) -> None:
    repository.commit("first", {"a.py": "1\n"})
    with pytest.raises(WorkspaceSourceError, match=f"the repository has no commit {'a' * 40}"):
        build_workspace(of(repository, "a" * 40), skill)
    for address in (f"ext::touch {tmp_path}/ran", "http://127.0.0.1:1/a", f"{tmp_path}/absent"):
        source = Source(name="x", split="test", source=f"git:{address}@{'a' * 40}")
        with pytest.raises(WorkspaceSourceError, match="git clone failed: "):
            build_workspace(source, skill)
    assert not (tmp_path / "ran").exists()


def test_later_commits_are_noted_as_changes_of_the_tree(repository: Repository, skill: Path) -> None:
    commit = repository.commit("first", {"shop/cart.py": CART, "shop/tax.py": "RATE = 7\n", "README.md": "Hi\n"})
    repository.commit("too short", {"shop/tax.py": "RATE = 8\n"})
    repository.commit("this touches no source file", {"README.md": "Ho\n"})
    repository.commit("its file is another one by now", {"shop/tax.py": "RATE = 9\n"})
    repository.commit("Count every line twice (#12)", {"shop/cart.py": CHANGED, "README.md": "Hi\n"})
    repository.commit("bring a new file along", {"shop/new.py": "new = 1\n"})
    notes = build_workspace(of(repository, commit, "later_commits"), skill).notes
    lines = {"shop/cart.py": [[3, 3], [20, 21]]}
    assert notes == {"changes": [{"description": "Count every line twice", "files": ["shop/cart.py"], "lines": lines}]}


def test_later_commits_need_a_repository(tmp_path: Path, skill: Path) -> None:
    write(skill / "shop", {"a.py": ""})
    source = Source(name="shop", split="test", source="folder:shop", steps=("later_commits",))
    with pytest.raises(WorkspaceSourceError) as caught:
        build_workspace(source, skill)
    pinned = source.model_copy(update={"sha256": str(caught.value).split('"')[1]})
    with pytest.raises(WorkspaceSourceError, match="later_commits needs a source of the kind git:"):
        build_workspace(pinned, skill)


def test_a_commit_is_taken_back_but_for_its_tests(repository: Repository, skill: Path) -> None:
    repository.commit("first", {"shop/cart.py": "a = 1\n", "shop/gone.py": "g = 1\n", "tests/test_cart.py": "t = 1\n"})
    (repository.folder / "shop/gone.py").unlink()
    fixed = {"shop/cart.py": "a = 2\n", "shop/new.py": "n = 1\n", "tests/test_cart.py": "t = 2\n", "README.md": "Hi\n"}
    commit = repository.commit("mend the cart", fixed)
    made = build_workspace(of(repository, commit, "unfixed"), skill)
    assert {file.relative_to(made.root).as_posix(): file.read_text("utf-8") for file in made.root.rglob("*.*")} == {
        "shop/cart.py": "a = 1\n",
        "shop/gone.py": "g = 1\n",
        "tests/test_cart.py": "t = 2\n",
        "README.md": "Hi\n",
    }
    assert made.notes == {"unfixed": ["shop/cart.py", "shop/gone.py", "shop/new.py"]}


def test_a_commit_of_tests_alone_has_nothing_to_take_back(repository: Repository, skill: Path) -> None:
    repository.commit("first", {"a.py": "a = 1\n"})
    commit = repository.commit("test it", {"tests/test_a.py": "t = 1\n"})
    with pytest.raises(WorkspaceSourceError, match="changes no source file beside tests"):
        build_workspace(of(repository, commit, "unfixed"), skill)
