"""The indexes that stay open: as many as there is room for, and few of them with processes that wait."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from skillstill.facts import opened
from skillstill.facts.index import FactIndex
from skillstill.facts.opened import OpenIndexes

from tests.scenes import write
from tests.server.facts.conftest import TOY


@pytest.fixture
def indexes() -> Iterator[OpenIndexes]:
    indexes = OpenIndexes(lambda: None)
    yield indexes
    indexes.close()


def index_of(indexes: OpenIndexes, root: Path) -> FactIndex:
    write(root, {"a.toy": "one: x"})
    index = indexes.get(root, (TOY,))
    index.refresh(["a.toy"])
    return index


def processes(index: FactIndex) -> int:
    return sum(parser._process is not None for parser in index._readers._parsers)


def test_small_indexes_stay_open_and_the_last_used_ones_have_processes(indexes: OpenIndexes, tmp_path: Path) -> None:
    first, *others = [index_of(indexes, tmp_path / str(number)) for number in range(6)]
    assert indexes.get(tmp_path / "0", (TOY,)) is first
    assert [processes(index) for index in (first, *others)] == [0, 0, 0, 1, 1, 1]
    write(tmp_path / "0", {"b.toy": "two: x"})
    assert first.refresh(["a.toy", "b.toy"]).files == 2
    assert first.ask("select word from lines order by 1").rows == (("one",), ("two",))


def test_the_longest_unused_indexes_are_closed_if_all_take_too_much_room(
    indexes: OpenIndexes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (index_of(indexes, tmp_path / name) for name in ("one", "other"))
    monkeypatch.setattr(opened, "ROOM", one.size + other.size)
    third = index_of(indexes, tmp_path / "third")
    assert indexes.get(tmp_path / "third", (TOY,)) is third
    assert indexes.get(tmp_path / "other", (TOY,)) is other
    assert indexes.get(tmp_path / "one", (TOY,)) is not one
