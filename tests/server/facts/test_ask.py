"""One SELECT over the facts: what it may do, what its rows stand for, and what it says it has not seen."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from skillstill.errors import Refusal
from skillstill.facts import ask
from skillstill.facts.index import FactIndex
from skillstill.facts.places import with_places

from tests.server.facts.conftest import Toys


@pytest.fixture
def index(toys: Toys) -> FactIndex:
    toys.write(**{"src/a": "one: first\ntwo: second\none: third", "tests/test_b": "two: fourth"})
    index = toys.index(kept=False)
    toys.refresh(index)
    return index


@pytest.mark.parametrize(
    "query",
    [
        "select word from lines where text = 'second'",
        "select l.word, text from lines as l where text = 'second'",
        "select word from lines l where text in (select max(text) from lines where text < 'third')",
        "SELECT word FROM lines JOIN files ON files.path = lines.path WHERE text = 'second' ORDER BY 1 LIMIT 1",
        "select upper(word) from lines where text = 'second' -- from nowhere",
    ],
)
def test_a_row_of_a_table_has_its_place(index: FactIndex, query: str) -> None:
    (place,) = index.ask(query).places
    assert place
    assert (place.path, place.first) == ("src/a.toy", 2)


@pytest.mark.parametrize(
    "query",
    [
        "select count(*) from lines",
        "select max(word), count(*) from lines",
        "select distinct word as w from lines",
        "select word from lines union select text from lines",
        "with w as (select word from lines) select word from w limit 1",
        "select word from (select word from lines) limit 1",
        "select 1",
    ],
)
def test_a_row_that_stands_for_several_has_none(index: FactIndex, query: str) -> None:
    found = index.ask(query)
    assert found.rows
    assert not any(found.places)
    assert "path" not in found.columns


@pytest.mark.parametrize(
    "query",
    [
        "select word, count(*) from lines group by word having count(*) > 0 order by 2 desc",
        "select word, max(text) from lines group by word",
        "select distinct word from lines where text > '' order by word limit 9",
    ],
)
def test_a_group_and_a_distinct_value_have_the_place_of_one_of_their_rows(index: FactIndex, query: str) -> None:
    found = index.ask(query)
    assert len(found.rows) > 1
    for row, place in zip(found.rows, found.places, strict=True):
        assert place
        there = f"select word from lines where path = '{place.path}' and first = {place.first}"
        assert index.ask(there).rows == (row[:1],)


def test_columns_named_like_a_place_are_kept(index: FactIndex) -> None:
    assert index.ask("select path, first, last from lines limit 1").columns == ("path", "first", "last")
    assert index.ask("select path, first, last from lines group by 1, 2, 3").columns == ("path", "first", "last")


def test_more_rows_than_are_kept_are_counted(index: FactIndex) -> None:
    found = index.ask("select a.word from lines a, lines b", kept=5)
    assert (len(found.rows), found.count) == (5, 16)


def test_files_are_a_table_and_tests_are_told_apart(index: FactIndex) -> None:
    assert index.ask("select name, folder, suffix from files where is_test = 1").rows == (
        ("test_b.toy", "tests", ".toy"),
    )


def test_a_gap_is_said_of_the_column_that_it_touches_only(index: FactIndex) -> None:
    assert index.ask("select word from lines").unseen == ()
    assert [(one.reason, one.files) for one in index.ask("select color from lines").unseen] == [
        ("toys have no colors", 2)
    ]
    assert index.ask("select name from files").unseen == ()


@pytest.mark.parametrize(
    "query",
    [
        "delete from lines",
        "insert into _files values (1)",
        "select * from _files",
        "select * from sqlite_master",
        "select sql from sqlite_schema",
        "pragma user_version = 3",
        "attach 'x.db' as x",
        "select load_extension('x')",
        "select readfile('/etc/passwd')",
        "select randomblob(1000000000)",
        "select zeroblob(1000000000)",
        "select printf('%1000000000d', 1)",
        "select sqlite_version()",
        "vacuum into 'x'",
        "create temp table x (y)",
        "select 1; select 2",
        "begin",
        "not sql",
        "",
        "select nope from lines",
        "select * from nowhere",
    ],
)
def test_nothing_but_one_select_over_the_facts_is_run(index: FactIndex, query: str) -> None:
    with pytest.raises(Refusal):
        index.ask(query)
    assert index.ask("select count(*) from lines").rows == ((4,),)


def test_a_wrong_name_is_refused_with_those_there_are(index: FactIndex) -> None:
    with pytest.raises(Refusal, match="no such column: nope; lines has word, text, whole, color"):
        index.ask("select nope from lines")
    with pytest.raises(Refusal, match="no such table: nowhere; the tables are files, lines"):
        index.ask("select * from nowhere")


@pytest.mark.parametrize(
    "query",
    [
        "with recursive x(n) as (select 1 union all select n + 1 from x) select max(n) from x",
        "with recursive x(n) as (select 1 union all select n from x) select word from lines, x where n = 2",
    ],
)
def test_a_query_without_an_end_is_stopped(index: FactIndex, query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "SECONDS", 0.2)
    with pytest.raises(Refusal, match="took longer"):
        index.ask(query)


def test_a_query_that_takes_too_much_memory_is_refused(index: FactIndex) -> None:
    grows = (
        "with recursive x(t) as (select 'ab' union all select t || t || t || t from x) select group_concat(t) from x"
    )
    with pytest.raises(Refusal):
        index.ask(grows)


def test_a_query_that_is_too_long_is_refused(index: FactIndex) -> None:
    with pytest.raises(Refusal, match="at most 2,000"):
        index.ask("select 1 " + " " * 2_000)


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("select a from t", "t.path"),
        ('select "from" from "t x" as y', "y.path"),
        ("select (select b from u) from t z where c", "z.path"),
        ("select a from t where b", "t.path"),
        ("select 'x from y' from t", "t.path"),
    ],
)
def test_the_first_table_gives_the_place(query: str, source: str) -> None:
    assert source in (with_places(query) or "")


@pytest.fixture
def emptied(tmp_path: Path) -> Iterator[FactIndex]:
    index = FactIndex(tmp_path, ["tests.server.facts.toy_reader:TOY"])
    yield index
    index.close()


def test_an_empty_workspace_has_no_rows_and_no_gaps(emptied: FactIndex) -> None:
    emptied.refresh([])
    found = emptied.ask("select * from lines")
    assert (found.rows, found.unseen) == ((), ())


def test_what_a_reader_could_not_read_is_said_of_its_own_tables_only(toys: Toys) -> None:
    toys.write(a="fail: x")
    index = toys.index(kept=False)
    toys.refresh(index)
    assert [one.reason for one in index.ask("select text from lines").unseen] == ["its reader failed"]
    assert not index.ask("select name from files").unseen
