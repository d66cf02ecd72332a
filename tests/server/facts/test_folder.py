"""The history of a folder in its index: it grows with new commits, and follows what is checked out."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from skillstill.facts.history import repository
from skillstill.facts.index import FactIndex
from skillstill.facts.readers import BUNDLED

from tests.server.facts.git_scene import GitScene


@pytest.fixture
def scene(tmp_path: Path) -> GitScene:
    (tmp_path / "project").mkdir()
    return GitScene(tmp_path / "project")


@pytest.fixture
def index(scene: GitScene, tmp_path: Path) -> Iterator[FactIndex]:
    index = FactIndex(scene.root, [BUNDLED["history"]], tmp_path / "facts", processes=1)
    yield index
    index.close()


def subjects(index: FactIndex) -> list[str]:
    return [str(subject) for (subject,) in index.ask("select subject from commits order by number").rows]


def test_commits_and_what_they_changed_are_rows(scene: GitScene, index: FactIndex) -> None:
    scene.commit({"a.py": b"x = 1\n"}, "Begin")
    scene.commit({"a.py": b"x = 2\n", "b.py": b"y = 1\n"}, "Go on")
    index.refresh([])
    assert subjects(index) == ["Begin", "Go on"]
    query = "select changed_path, status, added from changes c join commits k using (short) where subject = 'Go on'"
    assert index.ask(f"{query} order by 1").rows == (("a.py", "modified", 1), ("b.py", "added", 1))


def test_what_stands_for_the_history_is_no_file(scene: GitScene, index: FactIndex) -> None:
    scene.commit({}, "Begin")
    (scene.root / "a.py").write_text("x = 1\n", encoding="utf-8")
    index.refresh(["a.py"])
    assert index.ask("select path from files").rows == (("a.py",),)


def test_a_new_commit_is_added_to_those_that_are_read(
    scene: GitScene, index: FactIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.commit({"a.py": b"x = 1\n"}, "Begin")
    before = index.refresh([]).root
    scene.commit({"a.py": b"x = 2\n"}, "Go on")
    read: list[bytes] = []
    add = repository.Repository._add

    def noted(self: repository.Repository, identity: bytes, batch: repository._Batch) -> None:
        read.append(identity)
        add(self, identity, batch)

    monkeypatch.setattr(repository.Repository, "_add", noted)
    after = index.refresh([]).root
    assert len(read) == 1
    assert subjects(index) == ["Begin", "Go on"]
    assert before != after == index.refresh([]).root


def test_a_commit_that_is_no_longer_part_of_it_is_forgotten(scene: GitScene, index: FactIndex) -> None:
    first = scene.commit({}, "Begin")
    scene.commit({}, "Mistake")
    index.refresh([])
    scene.write("refs/heads/main", first + "\n")
    scene.commit({}, "Better")
    index.refresh([])
    assert subjects(index) == ["Begin", "Better"]
    assert index.ask("select count(*) from branches").rows == ((1,),)


def test_what_there_was_no_time_for_is_read_by_the_next_refresh(
    scene: GitScene, index: FactIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "BATCH", 1)
    for number in range(5):
        scene.commit({}, f"Change {number}")
    index.refresh([], seconds=0)
    found = index.ask("select subject from commits")
    assert len(found.rows) < 5
    assert "older ones are not read yet" in {one.reason for one in found.unseen}
    index.refresh([])
    assert len(subjects(index)) == 5
    assert not index.ask("select subject from commits").unseen


def test_without_a_repository_there_are_no_commits_and_no_gap(tmp_path: Path) -> None:
    index = FactIndex(tmp_path, [BUNDLED["history"]], processes=1)
    index.refresh([])
    found = index.ask("select * from commits")
    assert (found.rows, found.unseen) == ((), ())
    index.close()


def test_a_gap_of_the_history_is_said_of_its_own_tables(scene: GitScene, index: FactIndex) -> None:
    scene.write("shallow", scene.commit({}, "Begin") + "\n")
    index.refresh([])
    assert [one.reason for one in index.ask("select * from commits").unseen] == [repository.SHALLOW.reason]
    assert not index.ask("select * from files").unseen
