"""What was imported is kept: replaced whole or not at all, by one process or several, and found by name and key."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from skillstill.errors import LibraryError, UnknownName
from skillstill.library.catalogue import Added, Catalogue
from skillstill.library.definition import Definition
from skillstill.library.searching import search
from skillstill.util.storage import LIBRARY_FILE, data_folder

from tests.scenes import ROOT
from tests.server.library.shelf import SHELF, made, shelf

WRITER = """
import sys
from skillstill.library.catalogue import Catalogue
from tests.server.library.shelf import made
for turn in range(3):
    Catalogue().add([made(f"helper-{n}", f"Helps {turn}") for n in range(40)], sys.argv[1])
"""
DYING = """
import os
from collections.abc import Mapping
from skillstill.library.catalogue import Catalogue
from tests.server.library.shelf import made

class Killer(Mapping):
    def __getitem__(self, path):
        raise KeyError(path)
    def __len__(self):
        return 1
    def __iter__(self):  # when the folders are written down, the definitions already are
        os._exit(9)

Catalogue().add([made("newcomer", "New")], "library", Killer())
"""


@pytest.fixture
def catalogue() -> Catalogue:
    return Catalogue()


def names(catalogue: Catalogue) -> list[str]:
    return [one.name for one in catalogue.definitions()]


def python(code: str, *arguments: str) -> "subprocess.Popen[bytes]":
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", code, *arguments], env=environment, cwd=ROOT)


def test_what_was_added_comes_back_as_it_was(catalogue: Catalogue) -> None:
    assert not catalogue.exists
    assert catalogue.add(shelf(), "library") == Added(new=5)
    assert catalogue.exists
    assert sorted(catalogue.definitions(), key=lambda one: one.name) == sorted(shelf(), key=lambda one: one.name)
    assert catalogue.sources() == {"library": 5}


def test_only_its_owner_may_read_it(catalogue: Catalogue) -> None:
    catalogue.add(shelf(), "library")
    file = data_folder() / "library" / LIBRARY_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_source_is_replaced_by_what_it_holds_now(catalogue: Catalogue) -> None:
    catalogue.add(shelf(), "library")
    catalogue.add([made("sql-analyst", source="other")], "other")
    changed = made("log-triage", "Finds what went wrong in zebra files.")
    assert catalogue.add([made("sql-analyst"), changed, made("new-one", "New.")], "library") == Added(1, 1, 1, 3)
    assert names(catalogue) == ["log-triage", "new-one", "sql-analyst", "sql-analyst"]
    assert search(catalogue, "zebra", 5)[0].definition.name == "log-triage"
    assert not [hit for hit in search(catalogue, "household declaration", 5) if hit.shared.words]


def test_what_lies_in_an_unchanged_folder_stays_though_nobody_read_it(catalogue: Catalogue) -> None:
    folders = {".": "1", "a": "2", "a/deep": "3", "b": "4"}
    paths = ["a/deep/SKILL.md", "a/x.md", "b/y.md", "z.md"]
    catalogue.add([made(f"n{number}", "D", path=path) for number, path in enumerate(paths)], "library", folders)
    assert catalogue.folders("library") == folders
    newer = {".": "9", "a": "2", "b": "8"}
    assert catalogue.add([made("n2", "Other", path="b/y.md")], "library", newer) == Added(0, 1, 2, 1)
    assert names(catalogue) == ["n0", "n1", "n2"]
    assert catalogue.folders("library") == {**newer, "a/deep": "3"}
    assert catalogue.add([], "library", newer) == Added(known=3)


def test_a_source_can_be_forgotten(catalogue: Catalogue) -> None:
    catalogue.add(shelf(), "library", {".": "1"})
    catalogue.add([made("tax-advisor", source="other")], "other")
    assert catalogue.forget("library") == 5
    assert catalogue.sources() == {"other": 1}
    assert catalogue.folders("library") == {}
    assert [hit.definition.origin.source for hit in search(catalogue, "database queries income", 5)] == ["other"]


def test_a_definition_is_found_by_its_name_or_the_beginning_of_its_key(catalogue: Catalogue) -> None:
    first, second = made("twin", "One."), made("twin", "Two.", path="b/SKILL.md")
    catalogue.add([first, second, made("log-triage"), made("log-triage", path="copy/SKILL.md")], "library")
    assert catalogue.get("log-triage").origin.path == "copy/SKILL.md"
    assert catalogue.get(second.key[:8]) == second
    with pytest.raises(UnknownName, match="2 definitions are called 'twin'; type the key") as caught:
        catalogue.get("twin")
    assert first.key[:12] in str(caught.value)
    assert "library/b/SKILL.md" in str(caught.value)
    for unknown in ("nobody", second.key[:7], "", "%"):
        with pytest.raises(UnknownName, match="no definition called"):
            catalogue.get(unknown)


def test_a_source_that_breaks_off_leaves_what_was_there(catalogue: Catalogue) -> None:
    catalogue.add(shelf(), "library")

    def breaking() -> Iterator[Definition]:
        yield made("newcomer", "New.")
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011 - the source's own, unwrapped
        catalogue.add(breaking(), "library")
    assert names(catalogue) == sorted(SHELF)


def test_a_process_that_dies_while_it_writes_leaves_what_was_there(catalogue: Catalogue) -> None:
    catalogue.add(shelf(), "library")
    assert python(DYING).wait(60) == 9
    assert names(catalogue) == sorted(SHELF)
    assert [hit.definition.name for hit in search(catalogue, "database queries", 1)] == ["sql-analyst"]
    assert catalogue.add([made("newcomer", "New.")], "library") == Added(new=1, gone=5)


def test_several_processes_write_at_once(catalogue: Catalogue) -> None:
    writers = [python(WRITER, f"source-{number}") for number in range(3)]
    assert [writer.wait(100) for writer in writers] == [0, 0, 0]
    assert catalogue.sources() == {"source-0": 40, "source-1": 40, "source-2": 40}


def test_a_damaged_file_says_what_to_type(catalogue: Catalogue) -> None:
    catalogue.add(shelf(), "library")
    file = data_folder() / "library" / LIBRARY_FILE
    sqlite3.connect(file).close()
    file.write_bytes(file.read_bytes()[:4096] + b"\xff" * 60_000)
    for use in (catalogue.sources, lambda: catalogue.add(shelf(), "other"), lambda: search(catalogue, "web", 5)):
        with pytest.raises(LibraryError, match=r"is damaged .*type `rm .*catalogue.sqlite\*` and import") as caught:
            use()
        assert "\n" not in str(caught.value)
    for one in file.parent.iterdir():
        one.unlink()
    assert catalogue.add(shelf(), "library") == Added(new=5)


@pytest.mark.parametrize(
    ("content", "says"), [(b"not a database " * 999, "damaged"), (b"", ""), (b"SQLite format 3\0", "damaged")]
)
def test_a_file_that_is_no_catalogue(catalogue: Catalogue, content: bytes, says: str) -> None:
    file = data_folder() / "library" / LIBRARY_FILE
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    if not says:
        assert catalogue.sources() == {}
        return
    with pytest.raises(LibraryError, match=says):
        catalogue.sources()


def test_a_database_of_another_program_or_version_is_left_alone(catalogue: Catalogue) -> None:
    catalogue.add(shelf(), "library")
    with sqlite3.connect(catalogue.file) as connection:
        connection.execute("pragma user_version = 99")
    connection.close()
    with pytest.raises(LibraryError, match="another version"):
        catalogue.add([], "library")


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(LibraryError, match="cannot be opened"):
        Catalogue(tmp_path / "file" / "library").add(shelf(), "library")
