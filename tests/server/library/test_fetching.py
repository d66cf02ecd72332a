"""A repository is cloned without running anything of it, and a clone that fails leaves nothing."""

import socket
import subprocess
import tempfile
from pathlib import Path
from threading import Thread

import pytest
from skillstill.errors import LibraryError
from skillstill.library.scanning import fetch, scan
from skillstill.library.scanning.fetch import public, sources

from tests.scenes import write

AGENT = "---\nname: {0}\ndescription: Does {0}.\ntools: Read\n---\nBody.\n"
WHO = ("-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *WHO, "-C", folder, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def committed(folder: Path) -> str:
    """All that lies in the folder, as a commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "c")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    write(tmp_path / "repository", {"agents/a.md": AGENT.format("a"), "agents/deep/b.md": AGENT.format("b")})
    committed(tmp_path / "repository")
    return tmp_path / "repository"


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where clones lie for a while."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    return tmp_path / "scratch"


def test_a_clone_has_its_commit_and_is_gone_afterwards(repository: Path, scratch: Path) -> None:
    with sources(f"file://{repository}/.git") as (source,):
        found = scan(source.place, source.name, source.commit, {}, source.tree_ids)
        assert sorted(one.origin.path for one in found.definitions) == ["agents/a.md", "agents/deep/b.md"]
    assert {one.origin.commit for one in found.definitions} == {git(repository, "rev-parse", "HEAD")}
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("ending", ["", "/", "/.git"])
def test_a_skill_at_the_top_of_a_clone_is_called_like_the_repository(repository: Path, ending: str) -> None:
    write(repository, {"SKILL.md": "---\ndescription: d\n---\nB"})
    committed(repository)
    with sources(f"file://{repository}{ending}") as (source,):
        found = scan(source.place, source.name, source.commit, {}, source.tree_ids).definitions
    assert [one.name for one in found if one.kind == "skill"] == ["repository"]


def test_a_tree_of_another_clone_that_git_calls_the_same_is_not_read_again(repository: Path) -> None:
    with sources(f"file://{repository}") as (source,):
        first = scan(source.place, source.name, source.commit, {}, source.tree_ids)
    write(repository, {"agents/a.md": AGENT.format("z")})
    committed(repository)
    with sources(f"file://{repository}") as (source,):
        again = scan(source.place, source.name, source.commit, first.folders, source.tree_ids)
    assert [one.name for one in again.definitions] == ["z"]
    assert again.unchanged == ("agents/deep",)


def test_nothing_of_a_repository_runs_and_its_bytes_are_those_of_the_commit(
    repository: Path, tmp_path: Path, home: Path
) -> None:
    """Neither by its attributes nor by what the user's git is told to do at each clone."""
    hooks = write(tmp_path / "template", {"hooks/post-checkout": f"#!/bin/sh\ntouch {tmp_path}/ran\n"})
    (hooks / "hooks" / "post-checkout").chmod(0o755)
    write(
        home,
        {
            ".gitconfig": f"[init]\ntemplateDir = {hooks}\n[core]\nhooksPath = {hooks}/hooks\nautocrlf = true\n"
            f'[filter "lfs"]\nsmudge = touch {tmp_path}/ran\n[filter "own"]\nsmudge = "touch {tmp_path}/ran; cat"\n'
        },
    )
    write(repository, {".gitattributes": "a.md filter=own eol=crlf\nb.md filter=lfs text eol=crlf\n"})
    git(repository, "-c", "core.hooksPath=/dev/null", "add", ".gitattributes")
    git(repository, "-c", "core.hooksPath=/dev/null", "commit", "-qm", "attributes")
    (tmp_path / "ran").unlink(missing_ok=True)
    with sources(f"file://{repository}") as (source,):
        assert (source.place / "agents" / "a.md").read_bytes() == AGENT.format("a").encode()
        assert (source.place / "agents" / "deep" / "b.md").read_bytes() == AGENT.format("b").encode()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("said", [b"", b"00", b"003f" + b"0" * 20, None])
def test_a_repository_that_vanishes_is_one_sentence_and_leaves_nothing(scratch: Path, said: bytes | None) -> None:
    """`said` is all that a server says before it hangs up; None: there is none."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"git://127.0.0.1:{server.getsockname()[1]}/gone"

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1_000)
                connection.sendall(said or b"")

        if said is None:
            server.close()
        else:
            Thread(target=answer, daemon=True).start()
        with pytest.raises(LibraryError) as caught, sources(address):
            pass
    assert str(caught.value).startswith(f"{address} was not imported: ")
    assert "\n" not in str(caught.value)
    assert not list(scratch.iterdir())


def test_a_clone_that_outgrows_a_limit_ends(repository: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "FILES", 3)
    with pytest.raises(LibraryError, match=r"holds 4 files of 0 MB: clone it and import a folder of it$"):
        sources(f"file://{repository}").__enter__()
    monkeypatch.setattr(fetch, "SECONDS", 0)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(LibraryError, match="not done after 0 seconds"),
        sources(f"git://127.0.0.1:{server.getsockname()[1]}/slow"),
    ):
        pass
    assert not list(scratch.iterdir())


@pytest.mark.parametrize(
    "address", ["ext::touch ran", "--upload-pack=touch ran", "ftp://x.example/y", "no/such/folder"]
)
def test_what_is_no_address_is_no_command_either(address: str) -> None:
    with (
        pytest.raises(LibraryError, match="expected a folder, a file or the address of a git repository"),
        sources(address),
    ):
        pass


def test_an_address_is_kept_without_its_password() -> None:
    assert public("https://me:secret@git.example/x/y.git/") == "https://git.example/x/y"
    assert public("git@git.example:x/y.git") == "git@git.example:x/y"


def test_a_folder_of_repositories_is_as_many_sources(repository: Path, tmp_path: Path, scratch: Path) -> None:
    git(repository, "remote", "add", "origin", "https://me:secret@git.example/x/y.git")
    (tmp_path / "plain").mkdir()
    with sources(str(tmp_path)) as found:
        named = {source.place.name: (source.name, source.commit) for source in found}
    assert named == {
        "repository": ("https://git.example/x/y", git(repository, "rev-parse", "HEAD")),
        "plain": (str(tmp_path / "plain"), ""),
        scratch.name: (str(scratch), ""),
    }


def test_the_commit_of_a_clone_is_found_among_packed_names(repository: Path) -> None:
    git(repository, "pack-refs", "--all")
    with sources(str(repository)) as (source,):
        assert source.commit == git(repository, "rev-parse", "HEAD")
