"""Tables of data files, asked by their own names beside the tables of facts."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from skillstill.errors import Refusal
from skillstill.facts import data_tables
from skillstill.facts.index import FactIndex
from skillstill.facts.readers import BUNDLED

from tests.scenes import write

ORDERS = "id;customer;total\n1;ada;1.200,50\n2;bob;3,00\n3;ada;10,00\n"


class Shelf:
    """A folder of data files and its index."""

    def __init__(self, root: Path, home: Path | None) -> None:
        self.root = root
        self.index = FactIndex(root, [BUNDLED["data"]], home, processes=1)

    def database(self, name: str, *statements: str) -> None:
        with closing(sqlite3.connect(self.root / name)) as connection:
            connection.executescript(";".join(statements))

    def refresh(self) -> FactIndex:
        self.index.refresh(sorted(file.relative_to(self.root).as_posix() for file in self.root.rglob("*.*")))
        return self.index


@pytest.fixture(params=[True, False], ids=["kept", "in memory"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(write(tmp_path / "root", {"orders.csv": ORDERS}), tmp_path / "facts" if request.param else None)
    yield shelf
    shelf.index.close()


def test_rows_of_a_csv_file_are_typed_and_have_their_line(shelf: Shelf) -> None:
    found = shelf.refresh().ask("select id, total from orders where customer = 'ada' order by total desc")
    assert found.rows == ((1, 1200.5), (3, 10.0))
    assert [(place.path, place.first) for place in found.places if place] == [("orders.csv", 2), ("orders.csv", 4)]


def test_tables_of_several_files_can_be_joined(shelf: Shelf) -> None:
    shelf.database("people.db", "create table people (name, city)", "insert into people values ('ada', 'Oslo')")
    query = "select city, sum(total) from orders join people on name = customer group by city"
    assert shelf.refresh().ask(query).rows == (("Oslo", 1210.5),)


def test_a_row_of_a_database_has_its_file(shelf: Shelf) -> None:
    shelf.database("people.db", "create table people (name, city)", "insert into people values ('ada', 'Oslo')")
    (place,) = shelf.refresh().ask("select city from people").places
    assert place
    assert (place.path, place.first) == ("people.db", 0)


def test_a_database_whose_program_brought_its_own_order_of_texts_is_read(shelf: Shelf) -> None:
    for number, name in enumerate(("cards.db", "old.db", "notes.db")):
        with closing(sqlite3.connect(shelf.root / name)) as connection:
            connection.create_collation("unicase", lambda one, other: (one.lower() > other.lower()) - (one < other))
            connection.executescript(
                f"create table tags{number} (tag text primary key collate unicase, uses integer) without rowid;"
                f"insert into tags{number} values ('\u00c4rger', 3)"
            )
    index = shelf.refresh()
    assert index.ask("select uses from tags0 where tag = '\u00e4rger'").rows == ((3,),)
    assert index.ask("select table_name, rows from data_tables where table_name = 'tags0'").rows == (("tags0", 1),)
    both = 'select uses from "old.db/tags1" union all select uses from "notes.db/tags2"'
    assert index.ask(both).rows == ((3,), (3,))


def test_a_name_that_two_files_have_needs_the_path(shelf: Shelf) -> None:
    write(shelf.root, {"old/orders.csv": "id,customer,total\n9,eve,1\n"})
    index = shelf.refresh()
    with pytest.raises(Refusal, match=r'2 files have a table orders: write "old/orders\.csv/orders"'):
        index.ask("select id from orders")
    assert index.ask('select id from "old/orders.csv/orders"').rows == ((9,),)


def test_a_table_of_facts_keeps_its_name(shelf: Shelf) -> None:
    shelf.database("own.db", "create table files (name)", "insert into files values ('mine')")
    index = shelf.refresh()
    assert ("own.db",) in index.ask("select path from files").rows
    assert index.ask('select name from "own.db/files"').rows == (("mine",),)


def test_columns_called_like_a_place_are_the_files_own(shelf: Shelf) -> None:
    shelf.database("own.db", "create table visits (path, first)", "insert into visits values ('/home', 1)")
    found = shelf.refresh().ask("select * from visits")
    assert (found.columns, found.rows) == (("path", "first"), (("/home", 1),))


def test_a_file_that_changes_gives_its_new_rows(shelf: Shelf) -> None:
    assert shelf.refresh().ask("select count(*) from orders").rows == ((3,),)
    write(shelf.root, {"orders.csv": ORDERS + "4;eve;5,00\n"})
    assert shelf.refresh().ask("select count(*) from orders").rows == ((4,),)


def test_more_files_than_can_be_attached_take_turns(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(data_tables.MOST + 3):
        shelf.database(f"d{number}.db", f"create table t{number} (x)", f"insert into t{number} values ({number})")
    index = shelf.refresh()
    for number in (*range(data_tables.MOST + 3), 0):
        assert index.ask(f"select x from t{number}").rows == ((number,),)


@pytest.mark.parametrize(
    "query",
    [
        "delete from people",
        "insert into people values (1, 2)",
        "select * from data0.sqlite_master",
        "select name, sql from people, sqlite_master",
        "drop table people",
    ],
)
def test_data_is_only_read(shelf: Shelf, query: str) -> None:
    shelf.database("people.db", "create table people (name, city)", "insert into people values ('ada', 'Oslo')")
    index = shelf.refresh()
    index.ask("select * from people")
    before = (shelf.root / "people.db").read_bytes()
    with pytest.raises(Refusal):
        index.ask(query)
    assert (shelf.root / "people.db").read_bytes() == before
    assert sorted(file.name for file in shelf.root.iterdir()) == ["orders.csv", "people.db"]


def test_a_view_that_would_work_without_end_is_stopped(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillstill.facts.ask.SECONDS", 0.2)
    endless = "with recursive x(n) as (select 1 union all select n + 1 from x) select max(n) as n from x"
    shelf.database("hostile.db", f"create view people as {endless}")
    with pytest.raises(Refusal, match="took longer"):
        shelf.refresh().ask("select n from people")


def test_a_file_that_cannot_be_read_as_tables_has_none(shelf: Shelf) -> None:
    (shelf.root / "broken.xlsx").write_bytes(b"PK\x03\x04 and nothing else")
    index = shelf.refresh()
    assert index.ask("select table_name from data_tables").rows == (("orders",),)
    assert index.ask("select table_name from data_tables").unseen
