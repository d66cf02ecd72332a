"""`skillstill purge`: all that is ours goes, and nothing else."""

import hashlib
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from skillstill import cli
from skillstill.models.sources import locate
from skillstill.types import ModelFile
from skillstill.util.storage import cache_folder, config_folder, data_folder, library_folder, state_folder

from tests.scenes import write
from tests.server.models.hub import Hub, serving

GGUF = b"GGUF and more"
Purge = Callable[..., "tuple[int, str, str]"]


@pytest.fixture
def purge(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Purge:
    """The command; `answer` is what a person at a terminal types, None if nobody is there."""

    def run(*arguments: str, answer: str | None = None) -> tuple[int, str, str]:
        typed = io.StringIO(answer or "")
        monkeypatch.setattr(typed, "isatty", lambda: answer is not None, raising=False)
        monkeypatch.setattr(sys, "stdin", typed)
        monkeypatch.setattr(sys, "argv", ["skillstill", "purge", *arguments])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        return int(exit.value.code or 0), *capsys.readouterr()

    return run


@pytest.fixture
def kept(home: Path) -> list[Path]:
    """Files of ours in each of our places."""
    files = [
        data_folder() / "registry.json",
        library_folder() / "blobs" / "one",
        state_folder() / "runs" / "one.jsonl",
        cache_folder() / "workspaces" / "one",
        config_folder() / "config.toml",
    ]
    for file in files:
        write(file.parent, {file.name: "" if file.suffix == ".toml" else "x" * 200_000})
    return files


@pytest.fixture
def others(home: Path) -> list[Path]:
    """Files beside them that are not ours."""
    names = ["project/runs/explore/recipe.json", "project/.skillstill/registry.json", ".claude.json"]
    write(home, dict.fromkeys(names, "{}"))
    beside = [folder().parent / "another" / "file" for folder in (data_folder, state_folder, cache_folder)]
    for file in beside:
        write(file.parent, {file.name: "x"})
    return [*(home / name for name in names), *beside]


def test_all_that_is_ours_goes_and_nothing_else(purge: Purge, kept: list[Path], others: list[Path]) -> None:
    code, said, _ = purge("--yes")
    assert code == 0
    for folder in (data_folder(), library_folder(), state_folder(), cache_folder(), config_folder()):
        assert str(folder) in said
        assert not folder.exists()
    assert said.count("0.2 MB") == 4, "each is counted once"
    assert "0.8 MB  in all" in said
    assert all(file.exists() for file in others)
    assert purge("--yes") == (0, "nothing is stored\n", "")


@pytest.mark.parametrize(("answer", "gone"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_it_lists_and_asks_first(purge: Purge, kept: list[Path], answer: str, gone: bool) -> None:
    code, said, _ = purge(answer=answer)
    assert code == 0
    assert said.index(str(data_folder())) < said.index("Remove all of it for good?")
    assert [file.exists() for file in kept] == [not gone] * len(kept)


def test_where_nobody_can_be_asked_it_removes_nothing(purge: Purge, kept: list[Path]) -> None:
    code, _, said = purge()
    assert (code, said) == (64, "skillstill: nobody is there to ask: type `skillstill purge --yes`\n")
    assert all(file.exists() for file in kept)


def test_a_link_goes_and_what_it_leads_to_stays(purge: Purge, tmp_path: Path) -> None:
    write(tmp_path, {"mine/file": "x"})
    state_folder().parent.mkdir(parents=True)
    state_folder().symlink_to(tmp_path / "mine")
    write(data_folder(), {"registry.json": "{}"})
    (data_folder() / "packs").symlink_to(tmp_path / "mine")
    assert purge("--yes")[0] == 0
    assert not state_folder().is_symlink()
    assert not data_folder().exists()
    assert (tmp_path / "mine" / "file").exists()


def test_a_repository_that_stands_where_our_folder_would_be_stays(purge: Purge, kept: list[Path]) -> None:
    write(data_folder(), {".git/HEAD": "ref: refs/heads/main"})
    code, _, said = purge("--yes")
    assert code == 1
    assert f"{data_folder()} is a git repository, and stays" in said
    assert all(file.exists() for file in kept)


def test_a_broken_configuration_file_goes_too(purge: Purge) -> None:
    write(config_folder(), {"config.toml": "thread ="})
    assert purge("--yes")[0] == 0
    assert not config_folder().exists()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(Hub(), tmp_path, monkeypatch) as served:
        yield served


def fetched(hub: Hub, name: str, content: bytes) -> Path:
    hub.files[name] = content
    source = f"hf:{hub.repository}/{name}@{hub.commit}"
    return locate(ModelFile(source=source, sha256=hashlib.sha256(content).hexdigest()))


def test_a_model_file_that_was_fetched_goes_with_its_content(purge: Purge, hub: Hub) -> None:
    ours = fetched(hub, "model.gguf", GGUF)
    theirs = ours.with_name("config.json")  # which another program has put there
    theirs.write_text("{}", encoding="utf-8")
    content = ours.resolve()
    code, said, _ = purge("--yes")
    assert code == 0
    assert f"a model file that was fetched: {ours}" in said
    assert not ours.is_symlink()
    assert not content.exists()
    assert theirs.exists()


def test_a_model_file_that_lay_in_the_cache_before_stays(
    purge: Purge, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillstill.models.sources._note_fetched", lambda _: None)  # as if another program had
    before = fetched(hub, "model.gguf", GGUF)
    assert fetched(hub, "model.gguf", GGUF) == before
    assert "model.gguf" not in purge("--yes")[1]
    assert before.read_bytes() == GGUF


def test_content_that_another_version_links_to_stays(purge: Purge, hub: Hub) -> None:
    ours = fetched(hub, "model.gguf", GGUF)
    other = ours.parent.with_name("f" * 40) / "model.gguf"
    other.parent.mkdir()
    other.symlink_to(ours.resolve())
    purge("--yes")
    assert not ours.is_symlink()
    assert other.read_bytes() == GGUF
