"""A workspace that keeps the commits behind its tree, for the reader of histories."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from skillstill.errors import SkillError
from skillstill.facts.history import read_history
from skillstill_training.workspaces import Source, build_workspace, load_sources, tree

from tests.scenes import write

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Run git in a repository with two commits; the first one has a tag."""
    folder = write(tmp_path / "shop", {"cart.py": "x = 1\n"})

    def run(*arguments: str) -> str:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        ran = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
        return ran.stdout.strip()

    run("init", "--quiet", "--initial-branch=main")
    run("add", "--all")
    run("commit", "--quiet", "--message", "Begin")
    run("tag", "v1")
    write(folder, {"cart.py": "x = 2\n"})
    run("commit", "--quiet", "--all", "--message", "Go on")
    return run


def rows(root: Path, table: str, column: int) -> list[str]:
    """Return the values of a column, counted behind the two of the lines."""
    return [str(row[2 + column]) for facts in read_history(root, ()) for row in facts.rows.get(table, ())]


def test_the_commits_that_led_to_a_commit_are_kept_with_their_tags(git: Git, tmp_path: Path) -> None:
    source = f"git:{tmp_path}/shop@{git('rev-parse', 'HEAD')}"
    built = build_workspace(Source(name="shop", split="test", source=source, keep_history=True), tmp_path)
    assert rows(built.root, "commits", 6) == ["Go on", "Begin"]
    assert rows(built.root, "tags", 0) == ["v1"]


def test_later_commits_are_not_part_of_it(git: Git, tmp_path: Path) -> None:
    source = f"git:{tmp_path}/shop@{git('rev-parse', 'v1')}"
    built = build_workspace(Source(name="shop", split="test", source=source, keep_history=True), tmp_path)
    assert rows(built.root, "commits", 6) == ["Begin"]


def test_a_folder_keeps_what_led_to_its_checkout(git: Git, tmp_path: Path) -> None:
    pin = tree.sha256(tmp_path / "shop")
    source = Source(name="shop", split="test", source=f"folder:{tmp_path}/shop", sha256=pin, keep_history=True)
    assert rows(build_workspace(source, tmp_path).root, "commits", 6) == ["Go on", "Begin"]


def test_without_the_word_no_history_is_kept(git: Git, tmp_path: Path) -> None:
    source = Source(name="shop", split="test", source=f"git:{tmp_path}/shop@{git('rev-parse', 'HEAD')}")
    assert not (build_workspace(source, tmp_path).root / ".git").exists()


@pytest.mark.parametrize("source", ['"pypi:click==8"', f'"git:here@{"a" * 40}"\nroot = "src"'])
def test_what_has_no_history_to_keep_is_told(skill: Path, source: str) -> None:
    entry = f'[[workspace]]\nname = "one"\nsplit = "test"\nkeep_history = true\nsource = {source}\n'
    with pytest.raises(SkillError, match="only `git:` and `folder:` have a history to keep"):
        load_sources(write(skill, {"sources.toml": entry}))
