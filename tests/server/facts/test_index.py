"""The index of a workspace: fresh, shared, and sound after whatever happens to it."""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from skillstill.errors import SkillstillError
from skillstill.facts import parsing
from skillstill.facts.home import forget, forget_all, prune
from skillstill.facts.index import OFTEN
from skillstill.facts.parsing import Batch
from skillstill.facts.reading import FileReaders, OpenedFile

from tests.scenes import HANGS
from tests.server.facts.conftest import TOY, Toys, Words


def test_rows_have_the_place_that_shows_them(toys: Toys) -> None:
    toys.write(a="one: first\ntwo: second")
    index = toys.index()
    toys.refresh(index)
    found = index.ask("select text from lines where word = 'two'")
    assert found.rows == (("second",),)
    assert found.places[0]
    assert (found.places[0].path, found.places[0].first, found.places[0].last) == ("a.toy", 2, 2)


def test_a_refresh_reads_what_changed_and_forgets_what_is_gone(toys: Toys, words: Words) -> None:
    toys.write(a="one: x", b="two: x", c="three: x")
    index = toys.index()
    toys.refresh(index)
    (toys.root / "b.toy").unlink()
    toys.write(a="four: x", d="five: x")
    done = toys.refresh(index)
    assert words(index) == ["four", "three", "five"]
    assert done.removed == 1


def test_a_file_of_the_same_size_and_time_is_read_if_it_changed(toys: Toys, words: Words) -> None:
    toys.write(a="one: x")
    status = (toys.root / "a.toy").stat()
    index = toys.index()
    toys.refresh(index)
    toys.write(a="two: x")
    os.utime(toys.root / "a.toy", ns=(status.st_atime_ns, status.st_mtime_ns))
    toys.refresh(index)
    assert words(index) == ["two"]


def test_a_moved_folder_keeps_its_hash_and_the_root_names_the_state(toys: Toys) -> None:
    toys.write(**{"one/a": "one: x", "one/b": "two: x"})
    index = toys.index()
    first = toys.refresh(index).root
    hashes = dict(index.connection.execute("select path, hash from _folders").fetchall())
    (toys.root / "one").rename(toys.root / "other")
    second = toys.refresh(index).root
    assert dict(index.connection.execute("select path, hash from _folders"))["other"] == hashes["one"]
    (toys.root / "other").rename(toys.root / "one")
    assert toys.refresh(index).root == first != second


def test_a_file_that_is_written_anew_with_the_same_content_leaves_the_state_as_it_is(toys: Toys) -> None:
    toys.write(**{"one/a": "one: x"}, b="two: x")
    index = toys.index()
    first = toys.refresh(index).root
    toys.write(**{"one/a": "one: x"})
    assert toys.refresh(index).root == first


def test_a_refresh_that_fails_halfway_leaves_no_state_and_the_next_one_a_whole_one(
    toys: Toys, words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    toys.write(**{"one/a": "one: x"}, b="two: x")
    index = toys.index(kept=False)
    first = toys.refresh(index).root
    (toys.root / "one").rename(toys.root / "other")
    monkeypatch.setattr("skillstill.facts.reading.open_file", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        toys.refresh(index)
    monkeypatch.undo()
    assert index.ask("select word from lines").root == b""
    (toys.root / "other").rename(toys.root / "one")
    assert toys.refresh(index).root == first
    assert words(index) == ["two", "one"]
    assert {path for (path,) in index.connection.execute("select path from _folders")} == {".", "one"}


def test_words_that_are_looked_up_one_by_one_keep_their_numbers(toys: Toys, words: Words) -> None:
    toys.write(a="one: x", b="two: x")
    index = toys.index()
    toys.refresh(index)
    for _ in range(OFTEN):
        words(index)
    toys.write(b="one: x\nthree: x")
    toys.refresh(index)
    assert words(index) == ["one", "one", "three"]
    assert index.connection.execute("select count(*) from _words where text = 'one'").fetchone() == (1,)


def test_look_ups_are_made_before_the_first_question_that_compares_tables(toys: Toys) -> None:
    toys.write(a="one: x")
    index = toys.index()
    toys.refresh(index)
    made = "select count(*) from sqlite_master where type = 'index' and sql is not null"
    index.ask("select word from lines")
    assert index.connection.execute(made).fetchone() == (0,)
    index.ask("select l.word from lines l, lines m where l.word = m.word")
    assert index.connection.execute(made).fetchone() > (0,)


def test_a_reading_tells_how_many_files_are_read(toys: Toys) -> None:
    toys.write(**{f"a{number}": "one: x" for number in range(150)})
    heard: list[tuple[int, int]] = []
    toys.index().refresh(toys.paths(), told=lambda done, of: heard.append((done, of)))
    assert [done for done, of in heard if of == 150] == [*range(150)]


def test_another_process_finds_what_the_first_has_read(
    toys: Toys, words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    toys.write(a="one: x", b="two: x")
    toys.refresh(toys.index())
    monkeypatch.setattr(parsing.Parser, "read", _nobody_reads)
    index = toys.index()
    toys.refresh(index)
    assert words(index) == ["one", "two"]


def test_another_checkout_reads_only_what_differs(
    toys: Toys, words: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillstill.facts.index.FEW", 0)
    toys.write(**{f"same{number}": f"word{number}: x" for number in range(9)}, differs="old: x")
    toys.refresh(toys.index())
    other = Toys(tmp_path / "other", toys.home)
    other.write(**{f"same{number}": f"word{number}: x" for number in range(9)}, differs="new: x")
    read = files_that_are_read(monkeypatch)
    index = other.index()
    other.refresh(index)
    assert read == ["differs.toy"]
    assert words(index)[:2] == ["new", "word0"]
    other.close()


def test_without_a_home_nothing_is_written(toys: Toys, words: Words) -> None:
    toys.write(a="one: x")
    index = toys.index(kept=False)
    toys.refresh(index)
    assert words(index) == ["one"]
    assert not toys.home.exists()


def test_nothing_is_written_into_the_workspace(toys: Toys) -> None:
    toys.write(a="one: x")
    toys.refresh(toys.index())
    assert toys.paths() == ["a.toy"]


@pytest.mark.parametrize("damage", [b"not a database", b""])
def test_a_damaged_store_is_begun_anew(toys: Toys, words: Words, damage: bytes) -> None:
    toys.write(a="one: x")
    first = toys.index()
    toys.refresh(first)
    first.close()
    (file,) = toys.home.glob("*.sqlite")
    file.write_bytes(damage)
    index = toys.index()
    toys.refresh(index)
    assert words(index) == ["one"]


def test_a_snapshot_with_a_wrong_bit_is_noticed(toys: Toys, words: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillstill.facts.index.FEW", 0)
    toys.write(a="one: x", b="two: x")
    first = toys.index()
    toys.refresh(first)
    first._store._connection.execute("update snapshot set data = zeroblob(length(data))")  # type: ignore[union-attr]
    first._store._connection.commit()  # type: ignore[union-attr]
    index = toys.index()
    toys.refresh(index)
    assert words(index) == ["one", "two"]


def test_what_a_killed_process_had_read_is_not_lost(toys: Toys, words: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    toys.write(**{f"a{number:03}": f"word{number}: x" for number in range(200)}, z="hang: x" + " " * 100)
    script = (
        "import sys; from pathlib import Path; from skillstill.facts.index import FactIndex\n"
        f"FactIndex(Path({str(toys.root)!r}), [{TOY!r}], Path({str(toys.home)!r}), processes=1)"
        ".refresh(sys.stdin.read().split())"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE)
    assert process.stdin
    process.stdin.write("\n".join(toys.paths()).encode())
    process.stdin.close()
    wait_for_journal(toys.home, 128)
    process.send_signal(signal.SIGKILL)
    process.wait(HANGS)
    (toys.root / "z.toy").unlink()
    read = files_that_are_read(monkeypatch)
    index = toys.index()
    toys.refresh(index)
    assert len(words(index)) == 200
    assert len(read) <= 2 * 64


def test_two_processes_at_once_agree(toys: Toys) -> None:
    toys.write(**{f"a{number}": f"word{number}: x" for number in range(100)})
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        counts = pool.starmap(count_lines, [(toys.root, toys.home, toys.paths())] * 2)
    assert counts == [100, 100]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("fail: x", "its reader failed"),
        ("set: x", "its reader failed"),
        ("crash: x", "reading it broke off"),
        ("unreadable: too blue", "too blue"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_gap_and_costs_no_other(toys: Toys, words: Words, word: str, said: str) -> None:
    toys.write(a="one: x", b=word, c="three: x")
    index = toys.index()
    toys.refresh(index)
    assert words(index) == ["one", "three"]
    assert said in {one.reason for one in index.ask("select * from lines").unseen}


def test_half_of_a_surrogate_pair_costs_only_itself(toys: Toys) -> None:
    toys.write(a="half: x\ntwo: y")
    index = toys.index()
    toys.refresh(index)
    assert index.ask("select word, text from lines").rows == (("half", "?"), ("two", "y"))


def test_a_reader_that_hangs_is_ended(toys: Toys, words: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "SECONDS", 0.5)
    toys.write(a="one: x", b="hang: x", c="three: x")
    index = toys.index()
    toys.refresh(index)
    assert words(index) == ["one", "three"]
    assert "reading it took too long" in {one.reason for one in index.ask("select * from lines").unseen}


def test_what_there_was_no_time_for_is_said_and_read_later(
    toys: Toys, words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    toys.write(a="one: x", b="two: longer")
    index = toys.index()
    done = toys.refresh(index, 0.0)
    assert done.left == 1
    assert words(index) == ["one"]
    assert ("not read yet", 1) in {(one.reason, one.files) for one in index.ask("select * from lines").unseen}
    assert toys.refresh(index).left == 0
    assert words(index) == ["one", "two"]


def test_what_is_parsed_when_the_time_is_up_is_not_parsed_again(
    toys: Toys, words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    parse = FileReaders.parse

    def count(readers: FileReaders, file: OpenedFile) -> Sequence[Batch]:
        parsed.append(file.path)
        return parse(readers, file)

    monkeypatch.setattr(FileReaders, "parse", count)
    names = "abcdefgh"
    toys.write(**{name: f"{name}: x" for name in names})
    assert toys.refresh(toys.index(), 0.0).left == len(names) - 1
    later = toys.index()
    assert toys.refresh(later).left == 0
    assert words(later) == [*names]
    assert sorted(parsed) == [f"{name}.toy" for name in names]


def test_files_that_are_too_much_together_are_left_the_largest_first(toys: Toys, words: Words) -> None:
    toys.write(a="one: x", b="two: " + "x" * 1_000)
    index = toys.index()
    assert index.refresh(toys.paths(), most=500).left == 1
    assert words(index) == ["one"]
    assert index.refresh(toys.paths()).left == 0
    assert words(index) == ["one", "two"]


def test_links_pipes_and_files_that_vanish_are_left_out(toys: Toys, words: Words, tmp_path: Path) -> None:
    (tmp_path / "secret.toy").write_text("secret: x", encoding="utf-8")
    toys.write(a="one: x")
    (toys.root / "link.toy").symlink_to(tmp_path / "secret.toy")
    os.mkfifo(toys.root / "pipe.toy")
    index = toys.index()
    index.refresh(["a.toy", "link.toy", "pipe.toy", "gone.toy"])
    assert words(index) == ["one"]


def test_an_excerpt_of_a_file_that_changed_is_empty_and_said(toys: Toys) -> None:
    toys.write(a="one: x")
    index = toys.index()
    toys.refresh(index)
    assert index.ask("select whole from lines").rows == (("one: x",),)
    toys.write(a="one: x and more")
    found = index.ask("select whole from lines")
    assert found.rows == ((None,),)
    assert "changed since they were read" in {one.reason for one in found.unseen}


def test_a_large_file_is_streamed(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillstill.facts.reading.LARGE", 1000)
    toys.write(a="word: x\n" * 1000)
    index = toys.index()
    toys.refresh(index)
    assert index.ask("select count(*) from lines").rows == ((1000,),)


def test_a_folder_that_cannot_be_written_says_so(toys: Toys, tmp_path: Path) -> None:
    (tmp_path / "facts").write_text("a file", encoding="utf-8")
    with pytest.raises(SkillstillError, match="--no-index"):
        toys.index()


def test_an_index_is_forgotten_by_name_or_with_all_others(toys: Toys, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    toys.index().close()
    toys.index(tmp_path / "other").close()
    assert forget(toys.home, toys.root) == 1
    assert forget(toys.home, toys.root) == 0
    assert forget_all(toys.home) == 1
    assert not [*toys.home.iterdir()]


def test_the_longest_unused_indexes_make_room(toys: Toys, tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        toys.index(tmp_path / name).close()
    old, new = sorted(toys.home.glob("*.sqlite"), key=lambda file: file.stat().st_ino)
    os.utime(old, (1, 1))
    prune(toys.home, keep=new)
    assert [*toys.home.glob("*.sqlite")] == [new]


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def _nobody_reads(*_: object) -> None:
    raise AssertionError("a file was read again")


def files_that_are_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that each file's name is added to as a reader gets it."""
    names: list[str] = []
    read = parsing.Parser.read

    def noted(self: parsing.Parser, name: str, data: bytes) -> Iterator[parsing.Batch]:
        names.append(name)
        return read(self, name, data)

    monkeypatch.setattr(parsing.Parser, "read", noted)
    return names


def count_lines(root: Path, home: Path, paths: list[str]) -> int:
    from skillstill.facts.index import FactIndex

    index = FactIndex(root, [TOY], home, processes=1)
    index.refresh(paths)
    (count,) = index.ask("select count(*) from lines").rows[0]
    index.close()
    return int(count)


def wait_for_journal(home: Path, files: int) -> None:
    """Return once so many files are safe."""
    import sqlite3
    import time
    from contextlib import closing, suppress

    end = time.monotonic() + HANGS
    while time.monotonic() < end:
        with suppress(sqlite3.Error, ValueError):
            (file,) = home.glob("*.sqlite")
            with closing(sqlite3.connect(file)) as connection:
                if connection.execute("select count(*) from journal").fetchone()[0] >= files:
                    return
        time.sleep(0.01)
    raise AssertionError("nothing was written")
