"""A copy of a workspace and the patch of what a stranger did to it; git says whether the patch is one."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from skillstill.errors import SandboxError
from skillstill.sandbox import scratch as scratches
from skillstill.sandbox.scratch import Scratch, copy_workspace, hidden_paths, remove_scratch
from skillstill.workspace import Workspace

from tests.scenes import write

LINES = "".join(f"line {number}\n" for number in range(1, 30))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(
        tmp_path / "work",
        {"a.py": LINES, "b/c.txt": "one\ntwo", "run.sh": "#!/bin/sh\n", ".env": "K=1\n", "d/.git/config": ""},
    )


@pytest.fixture
def copy(folder: Path) -> Iterator[Scratch]:
    workspace = Workspace(folder)
    made = copy_workspace(workspace.root, workspace.is_secret)
    yield made
    remove_scratch(made)
    assert not made.folder.parent.exists()


def applied(folder: Path, patch: str) -> None:
    """Let git apply a patch to a folder that is no repository."""
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"], input=patch.encode(), cwd=folder, env=environment, check=True
    )


def files(folder: Path) -> dict[str, tuple[bytes, bool]]:
    return {
        str(file.relative_to(folder)): (file.read_bytes(), bool(file.stat().st_mode & 0o100))
        for file in folder.rglob("*")
        if file.is_file() and file.name != ".env" and ".git" not in file.parts
    }


def test_a_copy_that_nobody_touched_has_no_patch_and_no_secrets(folder: Path, copy: Scratch) -> None:
    assert copy.patch() == ""
    assert files(copy.folder) == files(folder)
    assert not (copy.folder / ".env").exists()
    assert not (copy.folder / "d/.git").exists()
    assert sorted(hidden_paths(folder, copy.is_secret)) == [".env", "d/.git/"]


def test_git_makes_of_the_workspace_what_the_copy_is(folder: Path, copy: Scratch) -> None:
    write(
        copy.folder, {"a.py": LINES.replace("line 3\n", "").replace("20", "twenty"), "new/deep.txt": "x\n", "empty": ""}
    )
    write(copy.folder, {"b/c.txt": "one\nTWO\n", "-x": "", "spaced out.md": "no end", 'q"uo\nte\té.txt': "odd\n"})
    (copy.folder / "run.sh").chmod(0o755)
    (copy.folder / "new" / "tool").write_text("#!/bin/sh\n", encoding="utf-8")
    (copy.folder / "new" / "tool").chmod(0o700)
    patch = copy.patch()
    assert "-line 3\n" in patch
    applied(folder, patch)
    assert files(folder) == files(copy.folder)


def test_what_is_gone_is_deleted(folder: Path, copy: Scratch) -> None:
    (copy.folder / "a.py").unlink()
    (copy.folder / "run.sh").rename(copy.folder / "start.sh")
    applied(folder, copy.patch())
    assert files(folder) == files(copy.folder)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(some.text("ab\n\r\x0b\u2028 ", max_size=60), some.text("ab\n\r\x0b\u2028 ", max_size=60))
def test_git_applies_the_patch_of_any_two_texts(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str
) -> None:
    folder = tmp_path_factory.mktemp("texts") / "work"
    folder.mkdir()
    (folder / "a").write_bytes(before.encode())
    workspace = Workspace(folder)
    made = copy_workspace(workspace.root, workspace.is_secret)
    (made.folder / "a").write_bytes(after.encode())
    if patch := made.patch():
        applied(folder, patch)
    assert (folder / "a").read_bytes() == after.encode()
    remove_scratch(made)


def test_a_text_that_would_take_long_to_compare_is_replaced_as_a_whole(folder: Path, copy: Scratch) -> None:
    draw = Random(0)
    for root in (folder, copy.folder):
        (root / "a.py").write_text("".join(draw.choices(["a\n", "b\n", "c\n"], k=3_000)), encoding="utf-8")
    fresh = copy_workspace(folder, copy.is_secret)
    (fresh.folder / "a.py").write_bytes((copy.folder / "a.py").read_bytes())
    patch = fresh.patch()
    applied(folder, patch)
    assert (folder / "a.py").read_bytes() == (copy.folder / "a.py").read_bytes()
    remove_scratch(fresh)


def test_what_is_no_text_is_left_out_and_told(folder: Path, copy: Scratch) -> None:
    (copy.folder / "picture").write_bytes(b"\0\1")
    (copy.folder / "latin").write_bytes(b"\xe9\n")
    (copy.folder / "b/c.txt").write_bytes(b"x" * 1_000_001)
    os.mkfifo(copy.folder / "pipe")
    (copy.folder / "link").symlink_to("/etc/passwd")
    write(copy.folder, {".env": "K=2\n", ".git/hooks/post-checkout": "#!/bin/sh\ntouch /pwned\n", "z.txt": "new\n"})
    patch = copy.patch()
    assert patch.splitlines()[:4] == [
        "Left out (binary): latin, picture",
        "Left out (large): b/c.txt",
        "Left out (named like a secret): .env, .git",
        "Left out (no regular file): link, pipe",
    ]
    applied(folder, patch)
    assert (folder / "z.txt").read_text(encoding="utf-8") == "new\n"
    assert (folder / ".env").read_text(encoding="utf-8") == "K=1\n"


def test_a_folder_that_became_a_link_shows_nothing_of_where_it_leads(folder: Path, copy: Scratch) -> None:
    outside = write(folder.parent / "outside", {"c.txt": "not yours\n"})
    (copy.folder / "b/c.txt").unlink()
    (copy.folder / "b").rmdir()
    (copy.folder / "b").symlink_to(outside)
    patch = copy.patch()
    assert "not yours" not in patch
    assert "deleted file mode" in patch


def test_what_changed_meanwhile_is_not_turned_back(folder: Path, copy: Scratch) -> None:
    write(copy.folder, {"a.py": "theirs\n"})
    write(folder, {"a.py": "mine\n"})
    assert copy.patch() == "Left out (changed in the workspace meanwhile): a.py\n"


def test_links_are_copied_and_not_followed(folder: Path) -> None:
    (folder / "out").symlink_to("/etc")
    made = copy_workspace(folder, Workspace(folder).is_secret)
    assert (made.folder / "out").is_symlink()
    assert made.patch() == ""
    remove_scratch(made)


def test_many_changes_are_cut_and_counted(folder: Path, copy: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratches, "MOST_CHANGES", 3)
    write(copy.folder, {f"n{number}": "x\n" for number in range(10)})
    patch = copy.patch()
    assert patch.count("diff --git") == 3
    assert patch.startswith("Left out (more than a patch holds): n3, n4, n5, n6, n7 and 2 more\n")


def test_a_copy_of_a_huge_folder_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratches, "MOST_FILES", 2)
    with pytest.raises(SandboxError, match="too large for a copy"):
        copy_workspace(folder, Workspace(folder).is_secret)


def test_a_folder_that_is_nested_without_end_is_removed(copy: Scratch) -> None:
    script = "import os\nfor _ in range(3000):\n os.mkdir('n')\n os.chdir('n')\nopen('x', 'w')\nos.chmod('.', 0)"
    subprocess.run(["python3", "-c", script], cwd=copy.folder, check=True)
    copy.patch()
