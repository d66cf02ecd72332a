"""A workspace out of a git repository, of which only a part may be kept."""

import subprocess
from pathlib import Path

import pytest
from skillstill.errors import WorkspaceSourceError
from skillstill_training.workspaces import Source, archives, build_workspace

from tests.scenes import write

ROOM = 40_000  # bytes of a workspace
WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A repository that is larger than a workspace may be."""
    folder = write(
        tmp_path / "shop", {"sales/2024.csv": "a,b\n", "sales/notes.md": "x", "dumps/all.csv": "x" * 200_000}
    )
    write(folder, {"odd*.csv": "c\n", "README.md": "shop\n"})
    for arguments in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "Begin")):
        subprocess.run(["git", *WHO, *arguments], cwd=folder, check=True)
    monkeypatch.setattr(archives, "MAX_BYTES", ROOM)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return f"git:{folder}@{head.stdout.strip()}"


def kept(source: str, folder: Path, *keep: str) -> list[str]:
    root = build_workspace(Source(name="shop", split="test", source=source, keep=keep), folder).root
    return sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())


def test_a_repository_may_be_larger_than_what_is_kept_of_it(source: str, tmp_path: Path) -> None:
    assert kept(source, tmp_path, "/sales/*.csv", "/README.md") == ["README.md", "sales/2024.csv"]
    assert kept(source, tmp_path, "/odd\\*.csv") == ["odd*.csv"]


def test_what_is_kept_may_not_be_larger_than_a_workspace(source: str, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceSourceError, match="unpacks to more than"):
        kept(source, tmp_path, "*.csv")
