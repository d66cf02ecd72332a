"""A folder of toys and its index."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from skillstill.facts.index import FactIndex
from skillstill.facts.refreshing import Refresh

from tests.scenes import write

TOY = f"{Path(__file__).parent / 'toy_reader.py'}:TOY"


class Toys:
    """A workspace with its indexes. `refresh` gives the index all files that the folder holds."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root, self.home = root, home
        self._open: list[FactIndex] = []

    def write(self, **texts: str) -> None:
        write(self.root, {f"{name}.toy": text for name, text in texts.items()})

    def paths(self) -> list[str]:
        return sorted(str(file.relative_to(self.root)) for file in self.root.rglob("*") if file.is_file())

    def index(self, root: Path | None = None, *, kept: bool = True) -> FactIndex:
        index = FactIndex(root or self.root, [TOY], self.home if kept else None, processes=1)
        self._open.append(index)
        return index

    def refresh(self, index: FactIndex, seconds: float = 60.0) -> Refresh:
        return index.refresh(self.paths(), seconds)

    def close(self) -> None:
        for index in self._open:
            index.close()


@pytest.fixture
def toys(tmp_path: Path) -> Iterator[Toys]:
    (tmp_path / "root").mkdir()
    toys = Toys(tmp_path / "root", tmp_path / "facts")
    yield toys
    toys.close()


Words = Callable[[FactIndex], list[str]]


@pytest.fixture
def words() -> Words:
    """The words that an index knows, in the order of their places."""

    def of(index: FactIndex) -> list[str]:
        return [str(word) for (word,) in index.ask("select word from lines order by path, first", kept=1_000).rows]

    return of
