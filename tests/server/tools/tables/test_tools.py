"""describe and sql, over databases and CSV files that people really have, and that someone prepared."""

import os
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import anyio
import pytest
from anyio import to_thread
from skillstill.facts import files
from skillstill.tools.tables import catalogue, csv_cache, database
from skillstill.tools.tables.delimited import load_delimited
from skillstill.types import Span

from tests.scenes import write
from tests.server.tools.calling import call, lines, refused

pytestmark = pytest.mark.anyio
SHELF = Path(__file__).parents[3] / "fixtures" / "shelf"
COUNTING = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT {})"
ENDLESS = f"{COUNTING.format(-1)} SELECT count(*) FROM t"


def store(file: Path, *statements: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    return file


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


async def test_describe_shows_every_table_with_rows_and_columns_as_a_query_writes_them() -> None:
    result = await call("describe", SHELF)
    assert result.text.split("\n") == [
        "5 tables in 3 files",
        "library.db:",
        "  author, 5 rows: id, name, country, born",
        '  book, 40 rows: id, title, author_id, genre, price, printed, "order"',
        "  cheap, 7 rows: title, price",
        'loans/loans.csv: loans, 30 rows: loan, book_id, reader, "Due Date", fee',
        'readers.csv: readers, 4 rows: name, city, "member since", note',
    ]
    assert [*dict.fromkeys(result.spans)] == [
        Span(path=path) for path in ("library.db", "loans/loans.csv", "readers.csv")
    ]


async def test_describe_names_tables_and_columns_for_a_querys_grammar_if_it_shows_all(tmp_path: Path) -> None:
    assert (await call("describe", SHELF)).terms["loans"] == ("loan", "book_id", "reader", '"Due Date"', "fee")
    tables = [f"CREATE TABLE t{number} (a, b)" for number in range(13)]
    store(tmp_path / "few" / "x.db", *tables[:12])
    store(tmp_path / "many" / "x.db", *tables)
    store(tmp_path / "wide" / "x.db", f"CREATE TABLE t ({', '.join(f'column_{number}' for number in range(20))})")
    store(tmp_path / "broken" / "x.db", *tables[:2], "CREATE VIEW v AS SELECT a FROM t1", "DROP TABLE t1")
    found = {folder: (await call("describe", tmp_path / folder)).terms for folder in names(tmp_path)}
    assert {folder: len(terms) for folder, terms in found.items()} == {"broken": 0, "few": 12, "many": 0, "wide": 0}


async def test_describe_shows_types_keys_nulls_and_values_as_they_are_stored() -> None:
    assert await lines("describe", SHELF, table="BOOK") == [
        "book in library.db: 40 rows",
        "id INTEGER key: 40 distinct, 1..40",
        "title TEXT: 40 distinct, such as 'The Blue Engine', 'The Blue Garden', 'The Blue Harbour'",
        "author_id INTEGER -> author.id: 5 distinct, 1..5",
        "genre TEXT: 4 distinct, 4 NULL: 'Crime', 'Travel', 'crime fiction', 'Poetry'",
        "price REAL: 40 distinct, 4.81..38.16",
        "printed TEXT dates: 40 distinct, '2010-02-27'..'2024-03-12'",
        '"order" INTEGER: 40 distinct, 10..400',
    ]


@pytest.mark.parametrize("name", ["readers", "readers.csv", "Readers", '"readers"', "readers "])
async def test_a_table_is_known_by_its_name_in_any_case_and_by_its_file(name: str) -> None:
    assert (await lines("describe", SHELF, table=name))[0] == "readers in readers.csv: 4 rows"


async def test_an_unknown_table_is_answered_with_near_names_or_all() -> None:
    assert await refused("describe", SHELF, table="boks") == "no such table: boks; near: book"
    everything = "the tables are author, book, cheap, loans, readers"
    assert await refused("describe", SHELF, table="invoice") == f"no such table: invoice; {everything}"
    assert "may be author or book or cheap" in await refused("describe", SHELF, table="library.db")


async def test_a_query_joins_tables_of_several_files_and_names_the_files_it_read() -> None:
    query = "SELECT l.reader, title, city FROM loans l JOIN book b ON b.id = book_id JOIN readers r ON r.name = reader"
    result = await call("sql", SHELF, query=f"{query} WHERE fee IS NULL ORDER BY 1, 2 LIMIT 2")
    assert (
        result.text == "2 rows: reader | title | city\nKim | The Blue Harbour | Leeds\nLee | The Silent Garden | York"
    )
    assert {span.path for span in result.spans} == {"library.db", "loans/loans.csv", "readers.csv"}


async def test_only_files_that_were_read_are_named_though_others_are_mentioned() -> None:
    result = await call("sql", SHELF, query="SELECT count(*) AS readers FROM author")
    assert (result.text, result.spans) == ("1 rows: readers\n5", (Span(path="library.db"),))


@pytest.mark.parametrize("table", ["orders", '"orders"', "'orders'"])
async def test_a_text_of_a_query_is_no_table(table: str, tmp_path: Path) -> None:
    write(tmp_path, {"empty.csv": "", "orders.csv": "id,state\n1,empty\n2,full\n3,it's empty\n"})
    query = f"SELECT count(*) AS \"it's\" FROM {table} WHERE state IN ('empty', 'it''s empty')"
    assert await lines("sql", tmp_path, query=query) == ["1 rows: it's", "2"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM orders -- don't\nJOIN items ON item = 7 WHERE state = 'pen'",
        "SELECT count(`it's`.item) FROM items AS `it's` JOIN orders WHERE state = 'pen'",
        "SELECT count(*) /* it's */ FROM items JOIN orders WHERE state = 'pen'",
    ],
)
async def test_an_apostrophe_in_a_comment_or_a_name_begins_no_text(query: str, tmp_path: Path) -> None:
    write(tmp_path, {"items.csv": "item,price\n7,1\n", "orders.csv": "id,state\n1,pen\n"})
    assert (await lines("sql", tmp_path, query=query))[1] == "1"


async def test_a_view_of_what_is_gone_spoils_no_other_table_of_its_file(tmp_path: Path) -> None:
    store(
        tmp_path / "a.db",
        "CREATE TABLE t(a)",
        "CREATE VIEW broken AS SELECT * FROM gone",
        "CREATE VIEW v(b) AS SELECT a FROM t",
    )
    assert await lines("describe", tmp_path) == [
        "3 tables in 1 files",
        "a.db:",
        "  broken, ? rows",
        "  t, 0 rows: a",
        "  v, 0 rows: b",
    ]
    assert (await lines("sql", tmp_path, query="SELECT count(*) AS broken FROM t"))[1] == "0"
    assert await refused("describe", tmp_path, table="broken") == (
        "broken in a.db rests on what is not there: use other tables"
    )


async def test_ten_rows_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    write(tmp_path, {"n.csv": "n\n" + "".join(f"{number}\n" for number in range(2_000))})
    few = await lines("sql", tmp_path, query="SELECT n FROM n LIMIT 45")
    assert (few[0], len(few), few[-1]) == ("45 rows: n", 12, "… 35 more rows")
    many = await lines("sql", tmp_path, query="SELECT n FROM n")
    assert (many[0], many[-1]) == ("more than 1000 rows: n", "… more than 990 more rows")


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("NULL", "NULL"), ("0.1 + 0.2", "0.3"), ("1234567890123.25", "1234567890123.25"), ("3000.0", "3000"),
        ("1e300", "1e+300"), ("9007199254740993", "9007199254740993"), ("x'0001'", "<2 bytes>"),
        ("'a' || char(10) || 'b' || char(27) || '[31m'", "a b"), ("''", ""), ("'naïve ☕'", "naïve ☕"),
        ("12345678901.23", "12345678901.23"), ("9876543210.12 - 0.0", "9876543210.12"),
        ("replace(hex(zeroblob(500)), '0', 'x')", "x" * 399 + "…"),
    ],
)  # fmt: skip
async def test_values_are_shown_in_one_line_without_losing_digits(tmp_path: Path, expression: str, shown: str) -> None:
    assert (await lines("sql", tmp_path, query=f"SELECT {expression} AS v"))[1:] == [shown]


@pytest.mark.parametrize("name", ["unicase", '"Windows-NoCase"', "[own order]"])
async def test_a_table_in_an_order_that_only_its_program_knows_is_read_without_case(name: str, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "cards.db", isolation_level=None)) as connection:
        connection.create_collation(name.strip('"[]'), lambda one, other: (one > other) - (one < other))
        connection.execute(f"CREATE TABLE tags (tag TEXT PRIMARY KEY COLLATE {name}, uses INTEGER) WITHOUT ROWID")
        connection.execute("INSERT INTO tags VALUES ('\u00c4rger', 3)")
    assert (await call("sql", tmp_path, query="SELECT uses FROM tags WHERE tag = '\u00e4rger'")).text.endswith("\n3")
    assert "1 row" in (await call("describe", tmp_path, table="tags")).text


async def test_a_huge_value_spoils_no_other_column_of_its_row(tmp_path: Path) -> None:
    store(tmp_path / "a.db", "CREATE TABLE t(id, photo)", "INSERT INTO t VALUES (7, zeroblob(3000000))")
    assert await lines("sql", tmp_path, query="SELECT id, length(photo) AS size FROM t") == [
        "1 rows: id | size", "7 | 3000000",
    ]  # fmt: skip
    assert "leave its column out" in await refused("sql", tmp_path, query="SELECT * FROM t")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("2024-03-09", "2024 | 3 | 9"),
        ("2024/3/9 10:00", "2024 | 3 | 9"),
        ("09.03.2024", "2024 | 3 | 9"),
        ("19/03/2024", "2024 | 3 | 19"),
        ("03/19/2024", "2024 | 3 | 19"),
        ("03-03-2024", "2024 | 3 | 3"),
        ("9 March 2024", "2024 | 3 | 9"),
        ("Mar 9, 2024", "2024 | 3 | 9"),
        ("March 2024", "2024 | 3 | NULL"),
        ("9 March, 2024", "2024 | 3 | 9"),
        ("9th of March 2024", "2024 | 3 | 9"),
        ("Sat, 9 Mar 2024 10:00:00 GMT", "2024 | 3 | 9"),
        ("Saturday, March 9, 2024", "2024 | 3 | 9"),
        ("09-Mar-24", "2024 | 3 | 9"),
        ("09-Mar-99", "1999 | 3 | 9"),
        ("2024-03", "2024 | 3 | NULL"),
        ("20240309", "2024 | 3 | 9"),
        ("2024", "2024 | NULL | NULL"),
        ("20241309", "NULL | NULL | NULL"),
        ("1709978400", "NULL | NULL | NULL"),
        ("2024-13-09", "NULL | NULL | NULL"),
        ("soon", "NULL | NULL | NULL"),
    ],
)
async def test_parts_of_a_date_are_read_however_it_is_written(written: str, told: str, tmp_path: Path) -> None:
    store(tmp_path / "x.db", "create table t (at)", f"insert into t values ('{written}')")
    shown = await lines("sql", tmp_path, query="SELECT year(at), month(at), day(at) FROM t")
    assert shown == ["1 rows: year(at) | month(at) | day(at)", told]


@pytest.mark.parametrize(
    ("telling", "sums", "order"), [("2/25/2019", "11", "month/day/year"), ("25/2/2019", "14", "day/month/year")]
)
async def test_a_date_that_may_be_read_in_two_ways_is_read_as_its_column_tells(
    telling: str, sums: str, order: str, tmp_path: Path
) -> None:
    write(tmp_path, {"sale.csv": f"at,amount\n2/3/2019,1\n3/2/2019,4\n{telling},10\n"})
    shown = await lines("sql", tmp_path, query="SELECT sum(amount) FROM sale WHERE month(at) = 2")
    assert shown == ["1 rows: sum(amount)", sums, f"dates of at read as {order}"]


@pytest.mark.parametrize(
    ("dates", "why"),
    [
        (["2/3/2019"], "no value of at tells which comes first"),
        (["2/3/2019", "2/25/2019", "25/2/2019"], "at has dates of both orders"),
    ],
)
async def test_a_date_that_its_column_leaves_open_is_said_to_be_unclear(
    dates: list[str], why: str, tmp_path: Path
) -> None:
    write(tmp_path, {"sale.csv": "at,amount\n" + "".join(f"{date},1\n" for date in dates)})
    result = await call("sql", tmp_path, query="SELECT amount FROM sale WHERE day(at) = 2")
    told = f"month and day of '2/3/2019' are unclear and NULL: {why}"
    assert (result.text, result.missed) == (f"0 rows\n{told}", told)
    assert len(await lines("sql", tmp_path, query="SELECT sum(year(at)) FROM sale")) == 2


async def test_two_columns_that_write_dates_differently_are_not_read_alike(tmp_path: Path) -> None:
    write(tmp_path, {"sale.csv": "sold,paid\n2/3/2019,2/3/2019\n2/25/2019,25/3/2019\n"})
    told = await refused("sql", tmp_path, query="SELECT month(sold), month(paid) FROM sale")
    assert "(sold month/day/year, paid day/month/year): ask for month or day of one column in a query" in told
    assert (await lines("sql", tmp_path, query="SELECT month(paid), sold FROM sale"))[1:3] == [
        "3 | 2/3/2019",
        "3 | 2/25/2019",
    ]


@pytest.mark.parametrize("test", ["body LIKE '%hello%'", "m.\"body\" NOT GLOB 'x'", "body = 'hello you'"])
async def test_that_a_text_is_never_like_a_blob_is_said(test: str, tmp_path: Path) -> None:
    blob = "CAST('hello you' AS BLOB)"
    store(tmp_path / "x.db", "CREATE TABLE mail(id, body BLOB)", f"INSERT INTO mail VALUES (1, {blob})")
    told = "body holds BLOBs, which no text is like: compare CAST(body AS TEXT)"
    assert (await lines("sql", tmp_path, query=f"SELECT count(*) FROM mail m WHERE {test}"))[-1] == told
    query = "SELECT id FROM mail WHERE CAST(body AS TEXT) LIKE '%hello%'"
    assert await lines("sql", tmp_path, query=query) == ["1 rows: id", "1"]


async def test_the_elements_of_json_in_a_column_are_rows(tmp_path: Path) -> None:
    store(tmp_path / "x.db", "CREATE TABLE t(id, tags)", """INSERT INTO t VALUES (1, '["a","b"]'), (2, '["b"]')""")
    query = "SELECT value, count(*) FROM t, json_each(t.tags) GROUP BY 1"
    assert await lines("sql", tmp_path, query=query) == ["2 rows: value | count(*)", "a | 1", "b | 2"]
    query = "SELECT count(*) FROM t, json_tree(t.tags)"
    assert await lines("sql", tmp_path, query=query) == ["1 rows: count(*)", "5"]


async def test_what_is_no_json_is_answered_with_what_to_do(tmp_path: Path) -> None:
    store(tmp_path / "x.db", "CREATE TABLE t(tags)", "INSERT INTO t VALUES ('a, b')")
    told = await refused("sql", tmp_path, query="SELECT value FROM t, json_each(tags)")
    assert "not all values are JSON, ask json_valid(x) for those that are" in told


async def test_endless_rows_of_json_are_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(database, "SECONDS", 0.3)
    array = "SELECT json_group_array(n) FROM t"
    store(tmp_path / "x.db", "CREATE TABLE j(a)", f"INSERT INTO j {COUNTING.format(30_000)} {array}")
    query = "SELECT count(*) FROM j, json_each(j.a) x, json_tree(j.a) y, json_each(j.a) z"
    assert "took longer than" in await refused("sql", tmp_path, query=query)


async def test_parts_of_a_date_are_read_from_a_number_too(tmp_path: Path) -> None:
    write(tmp_path, {"film.csv": "title,released,seen\nHugo,2011,20240309\nRoma,2018,20240310\n"})
    query = "SELECT title, day(seen) AS day FROM film WHERE year(released) = 2011"
    assert await lines("sql", tmp_path, query=query) == ["1 rows: title | day", "Hugo | 9"]
    assert (await lines("sql", tmp_path, query="SELECT year(5), year(2011.5), year(NULL)"))[1] == "NULL | NULL | NULL"


async def test_a_column_of_another_table_is_told_before_one_that_is_merely_like_it(tmp_path: Path) -> None:
    store(tmp_path / "hiring.db", "create table job (job_id, job_title)", "create table application (stage)")
    told = await refused("sql", tmp_path, query="SELECT job_title FROM application")
    assert told == "no such column: job_title; it is a column of job"


async def test_what_only_the_row_has_that_a_row_refers_to_is_joined_unasked() -> None:
    result = await call("sql", SHELF, query="SELECT country, count(*) FROM book GROUP BY country")
    assert result.text.split("\n") == [
        "5 rows: country | count(*)",
        *("NULL | 6", "France | 13", "Germany | 6", "Italy | 7", "Nigeria | 8"),
        "joined author by author_id",
    ]
    across = await call("sql", SHELF, query="SELECT count(*) FROM loans WHERE loans.genre = 'crime' AND price > 5")
    assert across.text.split("\n") == [
        "1 rows: count(*)",
        "0",
        "joined book by book_id",
        "no 'crime'; near: genre 'Crime'",
    ]
    assert {span.path for span in across.spans} == {"library.db", "loans/loans.csv"}


async def test_a_row_that_refers_to_nothing_is_still_a_row(tmp_path: Path) -> None:
    write(tmp_path, {"bin.csv": "bin_id,hall\n1,A\n2,B\n", "part.csv": "part,bin_id\nnut,1\nbolt,\ncog,9\n"})
    assert (await lines("sql", tmp_path, query="SELECT part, hall FROM part"))[1:4] == [
        "nut | A",
        "bolt | NULL",
        "cog | NULL",
    ]


async def test_two_tables_that_rows_refer_to_are_both_joined(tmp_path: Path) -> None:
    store(
        tmp_path / "fleet.db",
        "create table driver (driver_id, depot)",
        "create table truck (truck_code, layout)",
        "create table trip (driver_id, truck_code, km)",
        "insert into driver values (1, 'Cork'), (2, 'Derry')",
        "insert into truck values ('TR-1', 'van'), ('TR-2', 'artic')",
        "insert into trip values (1, 'TR-1', 10), (2, 'TR-2', 20), (2, 'TR-1', 40)",
    )
    both = await lines("sql", tmp_path, query="SELECT sum(km) FROM trip WHERE depot = 'Derry' AND layout = 'van'")
    assert both[1:] == ["40", "joined driver by driver_id", "joined truck by truck_code"]
    assert (await lines("sql", tmp_path, query="SELECT * FROM trip LIMIT 1"))[1] == "1 | TR-1 | 10"


@pytest.mark.parametrize(
    ("job", "application", "why"),
    [
        ("job_id, title", "job_id, stage", "no two jobs may share a number"),
        ("id, title", "id, stage", "an `id` is each table's own"),
        ("name, title", "name, stage", "and so is a `name`"),
        ("pay, job_id, title", "job_id, stage", "what stands first or is declared is a key"),
    ],
)
async def test_nothing_is_joined_that_might_count_a_row_twice_or_belong_to_another(
    job: str, application: str, why: str, tmp_path: Path
) -> None:
    twice = ", 1" * job.count(",")
    store(
        tmp_path / "hiring.db",
        f"create table job ({job})",
        f"create table application ({application})",
        f"insert into job values (1{twice}), ({'1' if 'two jobs' in why else '2'}{twice})",
    )
    assert "it is a column of job" in await refused("sql", tmp_path, query="SELECT title FROM application"), why


async def test_another_table_that_cannot_be_read_spoils_no_refusal(tmp_path: Path) -> None:
    write(tmp_path, {"trip.csv": "driver_id,km\n1,2\n", "driver.csv": "driver_id,depot\n1,Cork\n", "empty.csv": ""})
    told = await refused("sql", tmp_path, query="SELECT depot FROM trip")
    assert told == "no such column: depot; trip has driver_id, km; a text value stands in single quotes"


async def test_a_column_of_two_tables_that_rows_refer_to_is_not_guessed(tmp_path: Path) -> None:
    files = {"cat.csv": "cat_id,age\n1,2\n", "dog.csv": "dog_id,age\n1,3\n", "walk.csv": "cat_id,dog_id\n1,1\n"}
    write(tmp_path, files)
    assert "it is a column of cat, dog" in await refused("sql", tmp_path, query="SELECT age FROM walk")


LIBRARY = (
    "create table author (id, name, country, born)",
    "insert into author values (1, 'Ada', 'FR', 1900), (2, 'Bo', 'DE', 1950)",
    "create table reader (name, city)",
    "insert into reader values ('Ann', 'Cork'), ('Ray', 'Derry')",
    "create table book (id, title, author_id, lent_to, printed)",
    "insert into book values (1, 'x', 1, 'Ann', 2010), (2, 'y', 1, 'Ray', 2011), (3, 'z', 2, 'Ann', 2010)",
)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (
            "SELECT printed AS born, country, count(*) FROM book GROUP BY born, country",
            ["2010 | DE | 1", "2010 | FR | 1"],
        ),
        ("SELECT (SELECT count(*) FROM book WHERE lent_to = name AND country = 'FR') FROM reader", ["1", "1"]),
        ("SELECT name, country FROM book JOIN reader ON lent_to = name", ["Ann | FR", "Ray | FR"]),
        ("SELECT * FROM book WHERE country = 'DE'", ["3 | z | 2 | Ann | 2010 | DE"]),
    ],
)
async def test_only_the_column_that_is_lacked_is_joined_so_that_no_other_name_changes_its_meaning(
    query: str, rows: list[str], tmp_path: Path
) -> None:
    store(tmp_path / "library.db", *LIBRARY)
    assert (await lines("sql", tmp_path, query=query))[1 : len(rows) + 1] == rows


async def test_several_columns_of_a_row_that_is_referred_to_are_joined_once(tmp_path: Path) -> None:
    store(tmp_path / "library.db", *LIBRARY)
    told = await lines("sql", tmp_path, query="SELECT title, country, born FROM book WHERE name = 'Bo'")
    assert told[1:] == ["z | DE | 1950", "joined author by author_id"]


@pytest.mark.parametrize("query", ["SELECT depot, mark FROM trip", "SELECT trip.depot, leg.mark FROM trip JOIN leg"])
async def test_a_column_of_two_tables_is_not_guessed_though_one_of_them_is_joined_already(
    query: str, tmp_path: Path
) -> None:
    store(
        tmp_path / "fleet.db",
        "create table driver (driver_id, depot, mark)",
        "create table truck (truck_code, mark)",
        "create table trip (driver_id, truck_code)",
        "create table leg (truck_code, driver_id)",
    )
    assert "mark; it is a column of driver, truck" in await refused("sql", tmp_path, query=query)


async def test_a_natural_join_gets_no_column_that_it_would_go_by(tmp_path: Path) -> None:
    store(
        tmp_path / "fleet.db",
        "create table driver (driver_id, mark)",
        "insert into driver values (1, 'D')",
        "create table truck (truck_code, mark)",
        "insert into truck values ('T', 'M')",
        "create table trip (driver_id, truck_code)",
        "insert into trip values (1, 'T')",
    )
    told = await refused("sql", tmp_path, query="SELECT trip.mark FROM trip NATURAL JOIN truck")
    assert told == "no such column: trip.mark; it is a column of driver, truck"


@pytest.mark.parametrize(
    ("key", "other", "column", "value"),
    [("7", "007", "integer", "7"), ("a", "A", "text collate nocase", "'a'"), ("1.0", "1", "real", "1")],
)
async def test_two_keys_that_are_the_same_to_what_refers_to_them_are_not_joined(
    key: str, other: str, column: str, value: str, tmp_path: Path
) -> None:
    store(
        tmp_path / "stock.db",
        "create table part (part_code text, hall)",
        f"insert into part values ('{key}', 'A'), ('{other}', 'B')",
        f"create table stock (part_code {column}, n)",
        f"insert into stock values ({value}, 10)",
    )
    told = await refused("sql", tmp_path, query="SELECT sum(n) FROM stock WHERE hall IS NOT NULL")
    assert told == "no such column: hall; it is a column of part"


@pytest.mark.parametrize("column", ["job_id", "code"])
async def test_a_foreign_key_that_names_no_column_refers_to_the_primary_key(column: str, tmp_path: Path) -> None:
    store(
        tmp_path / "hiring.db",
        "create table job (id integer primary key, code, title)",
        f"create table application ({column} integer references job, stage)",
        "insert into job values (1, 2, 'baker'), (2, 1, 'smith')",
        "insert into application values (1, 'new')",
    )
    told = await lines("sql", tmp_path, query="SELECT title FROM application")
    assert told[1:] == ["baker", f"joined job by {column}"]


async def test_one_half_of_a_foreign_key_joins_nothing(tmp_path: Path) -> None:
    store(
        tmp_path / "rooms.db",
        "create table room (baseline integer, number integer, size, primary key (baseline, number))",
        "create table stay (baseline integer, number integer, foreign key (baseline, number) references room)",
        "insert into room values (1, 1, 20), (2, 1, 30)",
        "insert into stay values (2, 2)",
    )
    assert "it is a column of room" in await refused("sql", tmp_path, query="SELECT size FROM stay")


@pytest.mark.parametrize("declared", ["", "references author (id)"])
async def test_a_namesake_in_another_file_is_not_what_is_referred_to(declared: str, tmp_path: Path) -> None:
    book = f"create table book (title, author_id {declared})"
    store(tmp_path / "a.db", "create table author (id, name)", book, "insert into book values ('x', 1)")
    store(tmp_path / "b.db", "create table author (id, country)", "insert into author values (1, 'FR')")
    told = await refused("sql", tmp_path, query="SELECT title, country FROM book")
    assert told == "no such column: country; it is a column of b_author"


async def test_a_join_names_no_file_that_only_has_a_namesake(tmp_path: Path) -> None:
    book = "create table book (title, author_id references author (id))"
    ours = ("create table author (id, country)", "insert into author values (1, 'FR')", book)
    store(tmp_path / "a.db", *ours, "insert into book values ('x', 1)")
    store(tmp_path / "b.db", "create table author (id, note)")
    result = await call("sql", tmp_path, query="SELECT title, country FROM book")
    assert result.text.split("\n")[1:] == ["x | FR", "joined a_author by author_id"]
    assert {span.path for span in result.spans} == {"a.db"}


async def test_a_quoted_name_of_a_table_that_was_not_joined_is_said_to_be_text(tmp_path: Path) -> None:
    store(
        tmp_path / "fleet.db",
        "create table driver (driver_id, depot, mark)",
        "create table truck (seats)",
        "create table trip (driver_id, km)",
    )
    told = await lines("sql", tmp_path, query='SELECT depot FROM trip WHERE "seats" = 4 AND "mark" = 2')
    assert told[2:] == ['"seats" is no column: taken as text', '"mark" is no column: taken as text']


async def test_a_join_to_a_very_wide_table_is_no_long_query(tmp_path: Path) -> None:
    columns = ", ".join(f"column_number_{number}" for number in range(450))
    store(
        tmp_path / "wide.db",
        f"create table job (job_id, title, {columns})",
        "create table application (job_id)",
        "insert into job (job_id, title) values (1, 'baker')",
        "insert into application values (1)",
    )
    assert (await lines("sql", tmp_path, query="SELECT * FROM application WHERE title > ''"))[1] == "1 | baker"


@pytest.mark.parametrize("said", ["three axle", "three_axle", "ThreeAxle", "axle"])
@pytest.mark.parametrize("stored", ["THREE AXLE", "three-axle", "Three_Axle", "threeAxle"])
async def test_a_stored_value_is_like_another_whose_words_it_holds(said: str, stored: str, tmp_path: Path) -> None:
    store(tmp_path / "fleet.db", "create table truck (layout)", f"insert into truck values ('{stored}')")
    told = await lines("sql", tmp_path, query=f"SELECT count(*) FROM truck WHERE layout = '{said}'")
    assert told == ["1 rows: count(*)", "0", f"no '{said}'; near: layout '{stored}'"]


async def test_what_only_holds_the_same_letters_far_apart_or_matches_the_pattern_itself_is_no_near_miss(
    tmp_path: Path,
) -> None:
    store(tmp_path / "shop.db", "create table t (code, city)", "insert into t values ('Canada 2012', 'St Ives')")
    assert await lines("sql", tmp_path, query="SELECT code FROM t WHERE code = 'A-1'") == ["0 rows"]
    both = "SELECT code FROM t WHERE city LIKE '%st%ives%' AND code = 'Bo'"
    assert await lines("sql", tmp_path, query=both) == ["0 rows"]
    half = "SELECT code FROM t WHERE city LIKE 'ives%'"
    assert await lines("sql", tmp_path, query=half) == ["0 rows", "no 'ives%'; near: city 'St Ives'"]


async def test_where_nothing_is_found_a_stored_value_that_is_like_it_is_told() -> None:
    nothing = await lines("sql", SHELF, query="SELECT title FROM book WHERE genre = 'poetry'")
    assert nothing == ["0 rows", "no 'poetry'; near: genre 'Poetry'"]
    counted = await lines("sql", SHELF, query="SELECT count(*) FROM author WHERE name = 'Ada'")
    assert counted == ["1 rows: count(*)", "0", "no 'Ada'; near: name 'Ada Brandt'"]
    assert await lines("sql", SHELF, query="SELECT 1 FROM author WHERE name = 'Zzz'") == ["0 rows"]
    assert await lines("sql", SHELF, query="SELECT 1 FROM author WHERE name = '%'") == ["0 rows"]
    assert await lines("sql", SHELF, query="SELECT 1 FROM readers WHERE city = 'leeds' AND name = 'Kim'") == ["0 rows"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT titel FROM book", "no such column: titel; near: title in book"),
        ("SELECT b.titel FROM book b", "no such column: b.titel; near: title in book"),
        ("SELECT genre FROM author", "no such column: genre; it is a column of book"),
        ("SELECT city FROM loans", "no such column: city; it is a column of readers"),
        ("WITH b AS (SELECT country FROM book) SELECT * FROM b", "no such column: country; it is a column of author"),
        ("SELECT Due Date FROM loans", 'no such column: Due; near: "Due Date" in loans'),
        (
            "SELECT 1 FROM author WHERE name = Berlin",
            "author has id, name, country, born; a text value stands in single",
        ),
        ("SELECT 1 FROM invoice", "no such table: invoice; the tables are author, book, cheap, loans, readers"),
        ("SELECT 1 FROM shop.autor", "no such table: autor; near: author"),
        ("SELECT id FROM book JOIN author ON 1", "ambiguous column name: id; write author.id or book.id"),
        ("SELECT order FROM book", 'near "order": syntax error; if you mean a name, write "order"'),
        ("SELECT 1 FORM book", 'near "book": syntax error'),
        ("SELECT nope(1)", "no such function: nope"),
        ("SELECT ?", "write the values themselves into the query, not ? or :name"),
        ("SELECT 1; SELECT 2", "give one statement, without what follows the first ;"),
        ("SELECT name FROM sqlite_master", "tables are not listed by a query: use describe"),
        ("SELECT * FROM pragma_table_info('book')", "columns and keys are shown by describe"),
        ("SELECT * FROM pragma_foreign_key_list('book')", "columns and keys are shown by describe"),
        ("SELECT 'a", "unrecognized token"),
        ("\0", "give one SELECT"),
        ("SELECT '\0'", ""),
    ],
)
async def test_a_failed_query_is_answered_with_what_to_do(query: str, words: str) -> None:
    assert words in await refused("sql", SHELF, query=query)


async def test_a_quoted_name_that_no_column_has_is_said_to_be_text() -> None:
    told = await lines("sql", SHELF, query='SELECT "Due Dat" FROM loans LIMIT 1')
    assert told[1:] == ["Due Dat", '"Due Dat" is no column: taken as text']
    for query in ('SELECT "order" FROM book LIMIT 1', 'SELECT id AS "No" FROM book ORDER BY "No" LIMIT 1'):
        assert len(await lines("sql", SHELF, query=query)) == 2


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM book", "INSERT INTO book(title) VALUES ('x')", "UPDATE book SET title = 'x'", "DROP TABLE book",
        "WITH x AS (SELECT 1) DELETE FROM book", "WITH x AS (SELECT 1) INSERT INTO book(title) SELECT 'x'",
        "CREATE TABLE made(a)", "CREATE TEMP TABLE made(a)", "PRAGMA table_info(book)", "PRAGMA user_version = 1",
        "SELECT * FROM pragma_table_info('book')", "SELECT * FROM pragma_database_list", "EXPLAIN SELECT 1",
        "ATTACH '/etc/hostname' AS x", "DETACH file0", "VACUUM INTO '/tmp/made.db'", "BEGIN", "REINDEX", "ANALYZE",
        "SELECT load_extension('/tmp/x.so')", "SELECT fts3_tokenizer('simple')", "SELECT writefile('/tmp/made', 'x')",
        "SELECT * FROM sqlite_schema", "SELECT sql FROM file0.sqlite_master", "SELECT * FROM sqlite_temp_master, book",
        "/* SELECT */ DELETE FROM book", "SELECT 1; DELETE FROM book", "VALUES (1); DROP TABLE book",
    ],
)  # fmt: skip
async def test_nothing_but_a_select_runs(tmp_path: Path, query: str) -> None:
    file = store(
        tmp_path / "library.db", "CREATE TABLE book(id INTEGER, title TEXT)", "INSERT INTO book VALUES (1, 'a')"
    )
    before = file.read_bytes(), names(tmp_path)
    assert await refused("sql", tmp_path, query=query)
    assert (file.read_bytes(), names(tmp_path)) == before


async def test_an_endless_query_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SECONDS", 0.1)
    for query in (ENDLESS, "SELECT count(*) FROM book a, book b, book c, book d, book e, book f, book g"):
        assert "took longer than" in await refused("sql", SHELF, query=query)


async def test_a_cancelled_call_stops_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SECONDS", float("inf"))
    await cancelled(SHELF, ENDLESS)


@pytest.mark.parametrize("expression", ["printf('%.*c', 200000000 + n, 'x')", "FORMAT('%s', n)"])
async def test_a_function_whose_one_call_may_take_seconds_is_denied_to_queries_and_views(
    tmp_path: Path, expression: str
) -> None:
    store(
        tmp_path / "a.db",
        "CREATE TABLE t(n)",
        "INSERT INTO t VALUES (1)",
        f"CREATE VIEW v AS SELECT {expression} s FROM t",
    )
    name = expression.split("(")[0].lower()
    for query in (f"SELECT {expression} FROM t", "SELECT s FROM v", "SELECT count(*) FROM v WHERE length(s) > 3"):
        assert await refused("sql", tmp_path, query=query) == f"{name} may take too long: write without it"
    assert f"function: {name}" in (await lines("describe", tmp_path, table="v"))[1].lower()


async def test_slow_functions_are_counted_in_each_query(tmp_path: Path) -> None:
    columns = [f"replace('a', 'a', 'b') AS c{number}" for number in range(41)]
    store(tmp_path / "a.db", "CREATE TABLE t(n)", f"CREATE VIEW v AS SELECT {', '.join(columns)}")
    assert await refused("sql", tmp_path, query="SELECT * FROM v") == "replace and its like are used too often: less"
    few = f"SELECT {', '.join(['c1 LIKE 1'] * 20)} FROM (SELECT n AS c1 FROM t)"
    for _ in range(3):
        assert (await lines("sql", tmp_path, query=few))[0] == "0 rows"


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("trim('xxaxbxx', 'x')", "axb"), ("ltrim('00.70', '0')", ".70"), ("rtrim(2.50, '05')", "2."),
        ("rtrim(3.0, '0')", "3."), ("trim('a', '')", "a"), ("trim(NULL, 'x')", "NULL"), ("trim('a', NULL)", "NULL"),
        ("trim(120, 1)", "20"), ("trim(' a ')", "a"), ("rtrim(0.1 + 0.2, '3')", "0."), ("trim(x'6162', 'a')", "b"),
    ],
)  # fmt: skip
async def test_trimming_is_that_of_sqlite(tmp_path: Path, expression: str, shown: str) -> None:
    assert (await lines("sql", tmp_path, query=f"SELECT {expression} AS v"))[1:] == [shown]
    with closing(sqlite3.connect(":memory:")) as plain:
        stored = plain.execute(f"SELECT {expression}").fetchone()[0]
    assert shown == ("NULL" if stored is None else stored)


async def test_only_few_characters_are_trimmed(tmp_path: Path) -> None:
    told = await refused("sql", tmp_path, query="SELECT trim(hex(zeroblob(90000)), hex(zeroblob(51)))")
    assert told == "trim takes off at most 100 different characters: name fewer"


# Of each row SQLite makes few instructions, and they take a tenth of a second.
LABOURED = f"{COUNTING.format(1_000)} SELECT max(n + length(replace(a, substr(a, 1, 90000) || 'b', ''))) FROM t, "
LABOURED += "(SELECT hex(zeroblob(95000)) AS a)"


async def test_rows_that_take_long_are_stopped_at_the_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(database, "SECONDS", 0.1)
    assert "took longer than" in await refused("sql", tmp_path, query=LABOURED)


async def test_rows_that_take_long_are_stopped_by_a_cancel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(database, "SECONDS", 600)
    await cancelled(tmp_path, LABOURED)


async def cancelled(folder: Path, query: str) -> None:
    """Cancel the query once a thread is at work on it; come back if the thread has ended."""
    threads = to_thread.current_default_thread_limiter()
    async with anyio.create_task_group() as group:
        group.start_soon(partial(call, "sql", folder, query=query))
        while not threads.borrowed_tokens:
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    while threads.borrowed_tokens:
        await anyio.lowlevel.checkpoint()


async def test_views_of_views_are_told_within_the_time_for_loading(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    twice = "SELECT a FROM v{0} UNION ALL SELECT a FROM v{0}"
    views = [f"CREATE VIEW v{number + 1} AS {twice.format(number)}" for number in range(60)]
    store(tmp_path / "a.db", "CREATE TABLE t(a)", "CREATE VIEW v0 AS SELECT a FROM t", *views)
    monkeypatch.setattr(database.Deadline.__init__, "__defaults__", (0.5, "too late"))
    assert await refused("describe", tmp_path) == "too late"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT zeroblob(1000000000)", "SELECT hex(zeroblob(4000000))",
        "SELECT replace(hex(zeroblob(100000)), '0', hex(zeroblob(100)))", "SELECT randomblob(1000000000)",
        "WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t) SELECT max(length(s)) FROM t",
        f"{COUNTING.format(4_000)} SELECT n, randomblob(190000) AS b FROM t ORDER BY b",
        f"SELECT {'(' * 150}1{')' * 150}", "SELECT " + "+".join("1" * 300), "SELECT " + ",".join("1" * 101),
        "SELECT 1" + " UNION SELECT 1" * 30, f"SELECT 'a' LIKE '{'%a' * 150}'",
    ],
)  # fmt: skip
async def test_a_query_that_wants_too_much_memory_is_refused(tmp_path: Path, query: str) -> None:
    assert await refused("sql", tmp_path, query=query)


async def test_many_large_values_are_neither_kept_nor_shown(tmp_path: Path) -> None:
    query = f"{COUNTING.format(30)} SELECT n, zeroblob(150000), hex(zeroblob(70000)) FROM t"
    told = await call("sql", tmp_path, query=query)
    assert told.text.split("\n")[1].startswith("1 | <150000 bytes> | 00000")
    assert len(told.text) < 1_800


async def test_files_outside_ignored_and_secret_ones_are_no_tables(tmp_path: Path) -> None:
    root = tmp_path / "root"
    store(tmp_path / "outside.db", "CREATE TABLE outside(a)")
    write(tmp_path, {"outside.csv": "a\n1\n"})
    write(root, {".gitignore": "made/\n", "made/hidden.csv": "a\n1\n", ".ssh/keys.csv": "a\n1\n", "seen.csv": "a\n1\n"})
    write(root, {"id_rsa.csv": "a\n1\n"})
    (root / "link.db").symlink_to(tmp_path / "outside.db")
    (root / "link.csv").symlink_to(tmp_path / "outside.csv")
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.csv")
    assert await lines("describe", root) == ["1 tables in 1 files", "seen.csv: seen, 1 rows: a"]
    for name in ("outside", "hidden", "keys", "link", "id_rsa", "pipe"):
        assert "no such table" in await refused("sql", root, query=f"SELECT * FROM {name}")


async def test_a_database_is_known_by_its_first_bytes_whatever_its_file_is_called(tmp_path: Path) -> None:
    store(tmp_path / "cards.anki2", "CREATE TABLE notes (id, sort)", "INSERT INTO notes VALUES (1, 'a')")
    store(tmp_path / "History", "CREATE TABLE urls (url)")
    write(tmp_path, {"notes.md": "CREATE TABLE nothing (a)"})
    assert (await call("describe", tmp_path)).text.split("\n") == [
        "2 tables in 2 files",
        "History: urls, 0 rows: url",
        "cards.anki2: notes, 1 rows: id, sort",
    ]
    assert "1 | a" in (await call("sql", tmp_path, query="select * from notes")).text


async def test_broken_and_empty_files_are_told_and_spoil_nothing(tmp_path: Path) -> None:
    write(
        tmp_path, {"ok.csv": "a\n1\n", "empty.csv": "", "blank.csv": "\n\n", "text.db": "just text\n", "empty.db": ""}
    )
    (tmp_path / "binary.csv").write_bytes(b"a\0b\n")
    (tmp_path / "broken.db").write_bytes(catalogue.MAGIC + b"\xff" * 4_000)
    (tmp_path / "noise.sqlite").write_bytes(bytes(range(256)) * 20)
    store(tmp_path / "wide.sqlite3", "PRAGMA encoding = 'UTF-16'", "CREATE TABLE t(a)")
    told = "\n".join(await lines("describe", tmp_path))
    assert "ok.csv: ok, 1 rows: a" in told
    assert "text.db is not an SQLite file" in told
    assert "noise.sqlite is not an SQLite file" in told
    assert "broken.db cannot be read" in told
    assert "stores its text as UTF-16" in told
    assert await lines("sql", tmp_path, query="SELECT a FROM ok") == ["1 rows: a", "1"]
    assert await refused("sql", tmp_path, query="SELECT * FROM empty") == "empty.csv is empty: use another table"
    assert "is binary" in await refused("describe", tmp_path, table="binary")


async def test_a_database_with_damaged_pages_is_refused_in_words(tmp_path: Path) -> None:
    file = store(tmp_path / "a.db", "CREATE TABLE t(a)", f"INSERT INTO t {COUNTING.format(5_000)} SELECT n FROM t")
    data = file.read_bytes()
    file.write_bytes(data[:8_192] + b"\xff" * (len(data) - 8_192))
    assert "malformed" in await refused("sql", tmp_path, query="SELECT sum(a) FROM t")
    assert (await lines("describe", tmp_path))[1] == "a.db: t, ? rows: a"
    assert "malformed" in (await call("describe", tmp_path, table="t")).text
    file.write_bytes(data[:9_000])
    assert "malformed" in await refused("sql", tmp_path, query="SELECT sum(a) FROM t")


async def test_a_workspace_without_tables_says_so(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    assert await lines("describe", tmp_path) == ["no SQLite, CSV or TSV file among 1 files"]
    assert await refused("sql", tmp_path, query="SELECT * FROM a") == "no such table: a; there is no table"


async def test_a_database_in_use_is_read_without_a_file_made_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "live.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE t(a)")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        writer.execute("INSERT INTO t VALUES (1)")
        before = names(tmp_path)
        told = await lines("sql", tmp_path, query="SELECT * FROM t")
        assert told == ["0 rows", "live.db is being changed: what live.db-wal holds is not seen"]
        assert names(tmp_path) == before
    assert await lines("sql", tmp_path, query="SELECT * FROM t") == ["1 rows: a", "1"]
    assert names(tmp_path) == ["live.db"]


async def test_that_a_table_in_use_lacks_something_is_not_believed(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "live.db", isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE t(a)")
        writer.execute("INSERT INTO t VALUES (1)")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        writer.execute("INSERT INTO t VALUES (2)")
        for query in ("SELECT * FROM t WHERE a = 2", "SELECT count(*) FROM t WHERE a = 2"):
            nothing = await call("sql", tmp_path, query=query)
            assert nothing.missed == "live.db is being changed: what live.db-wal holds is not seen"
        assert (await call("sql", tmp_path, query="SELECT * FROM t WHERE a = 1")).missed == ""


@pytest.mark.parametrize(
    ("content", "head", "first"),
    [
        ("a,b\n1,x\n", "a INTEGER|b TEXT", "1 | x"),
        ("\ufeffa,b\n1,x\n", "a INTEGER|b TEXT", "1 | x"),
        ("id,of,at\n1,4,7\n1,5,3\n2,5,9\n", "id INTEGER|of INTEGER|at INTEGER", "1 | 4 | 7"),
        (
            "id,name,Rank,,,,\n,,I,II,III,IV,V\n7,x,3,1,2,4,5\n8,y,1,2,3,4,5\n9,z,2,1,3,5,4\n",
            "id INTEGER|name TEXT|" + "|".join(f'"Rank {number}" INTEGER' for number in ("I", "II", "III", "IV", "V")),
            "7 | x | 3 | 1 | 2 | 4 | 5",
        ),
        ("a,b\r1,x\r2,y\r\n", "a INTEGER|b TEXT", "1 | x"),
        ("a;b\r\n1,5;x\r\n2,5;y\r\n", "a REAL|b TEXT", "1.5 | x"),
        ('a,sum\nx,"1,200.50"\ny,99.2\nz,"3,000.00"\n', "a TEXT|sum REAL", "x | 1200.5"),
        ("a,b\nx,NA\ny,5\nz,7\n", "a TEXT|b INTEGER", "x | NULL"),
        ("a,day\nx,03/01/2024\ny,31/01/2024\n", "a TEXT|day TEXT", "x | 03/01/2024"),
        ("a,is_open\nx,true\ny,false\n", "a TEXT|is_open TEXT", "x | true"),
        ("day,n\n20240131,4\n20240201,5\n", "day INTEGER|n INTEGER", "20240131 | 4"),
        ("sep=;\nname;n\nAnn;4\nBen;5\n", "name TEXT|n INTEGER", "Ann | 4"),
        ("# by tool 1.2\nname,n\nAnn,4\nBen,5\n", "name TEXT|n INTEGER", "Ann | 4"),
        ("Sales report\n\nname,n\nAnn,4\nBen,5\nTotal,9\n", "name TEXT|n INTEGER", "Ann | 4"),
        ("status,open\nopen,4\nshut,5\nopen,6\n", "status TEXT|open INTEGER", "open | 4"),
        ("a\tb\n1\tx, y\n", "a INTEGER|b TEXT", "1 | x, y"),
        ("a|b\n1|x\n", "a INTEGER|b TEXT", "1 | x"),
        ('a,b\n1,"x, ""y""\nz"\n', "a INTEGER|b TEXT", '1 | x, "y" z'),
        ("zip,price\n01234,1.50\n99999,2\n", "zip TEXT|price REAL", "01234 | 1.5"),
        ("n,phone\n-3,+49123456\n,2\n", "n INTEGER|phone TEXT", "-3 | +49123456"),
        ("a,delta\nx,-10000\ny,+10001\n", "a TEXT|delta INTEGER", "x | -10000"),
        ("2000,1800\n2500,1200\n2600,1100\n", "c1 INTEGER|c2 INTEGER", "2000 | 1800"),
        ("big,small\n12345678901234567890,1e-05\n1,2\n", "big TEXT|small REAL", "12345678901234567890 | 1e-05"),
        ("n,part,big\n10 ,.5,1e+5\n9  ,-.25,2.5E3\n", "n INTEGER|part REAL|big REAL", "10 | 0.5 | 100000"),
        ("n,room,hash\n10,1E2,12e4567\n9,2E3,98e1234\n", "n INTEGER|room TEXT|hash TEXT", "10 | 1E2 | 12e4567"),
        ("a,a,,A\n1,2,3,4\n", "a INTEGER|a_2 INTEGER|c3 INTEGER|A_3 INTEGER", "1 | 2 | 3 | 4"),
        ("a,b\n1\n2,3,4\n", "a INTEGER|b INTEGER|c3 INTEGER", "1 | NULL | NULL"),
        ("1,x\n2,y\n", "c1 INTEGER|c2 TEXT", "1 | x"),
        ("Anna,Bath\nBen,Bath\n", "c1 TEXT|c2 TEXT", "Anna | Bath"),
        ("land,2019,2020\nChad,7,2021\n", 'land TEXT|"2019" INTEGER|"2020" INTEGER', "Chad | 7 | 2021"),
        ("land,2020,2019\nChad,7,8\n", 'land TEXT|"2020" INTEGER|"2019" INTEGER', "Chad | 7 | 8"),
        ("Golf,1974,1983\nPolo,1975,1981\n", "c1 TEXT|c2 INTEGER|c3 INTEGER", "Golf | 1974 | 1983"),
        ("Golf,1974,12\nPolo,1975,13\n", "c1 TEXT|c2 INTEGER|c3 INTEGER", "Golf | 1974 | 12"),
        ("name,city\nAnna,Bath\n", "name TEXT|city TEXT", "Anna | Bath"),
        ("größe,日本\n1,x\n", "größe INTEGER|日本 TEXT", "1 | x"),
        ("order,Unit Price\n1,2\n", '"order" INTEGER|"Unit Price" INTEGER', "1 | 2"),
        ("a\n\n5\n\n", "a INTEGER", "5"),
        ("a,empty\n1,\n", "a INTEGER|empty TEXT", "1 | NULL"),
    ],
)
async def test_csv_files_of_all_kinds_are_typed_tables(tmp_path: Path, content: str, head: str, first: str) -> None:
    (tmp_path / "t.csv").write_bytes(content.encode())
    described = await lines("describe", tmp_path, table="t")
    assert "|".join(line.partition(":")[0] for line in described[1:]) == head
    assert (await lines("sql", tmp_path, query="SELECT * FROM t"))[1] == first


MOVIES = ["1::Toy Story (1995)::Animation|Comedy", "2::Heat (1995)::Action", "3::Casino (1995)::Drama"]
CARS = ['18.0   8   307.0\t"chevrolet malibu"', '15.0   8   350.0\t"buick skylark"', ' 9.5   4     ?  \t"vw pickup"']


@pytest.mark.parametrize(
    ("name", "rows", "first"),
    [
        ("u.item", ["1|Toy Story|01-Jan-1995||0", "2|Heat|02-Jan-1995||1"], "1 | Toy Story | 01-Jan-1995 | 0"),
        ("u.data", ["196\t242\t3", "186\t302\t3"], "196 | 242 | 3"),
        ("movies.dat", MOVIES, "1 | Toy Story (1995) | Animation|Comedy"),
        ("auto.data", CARS, "18 | 8 | 307 | chevrolet malibu"),
        ("iris.data", ["5.1,3.5,Iris-setosa", "4.9,3.0,Iris-setosa"], "5.1 | 3.5 | Iris-setosa"),
        ("people.txt", ["ann;24;UK", "bob;31;FR"], "ann | 24 | UK"),
    ],
)
async def test_a_text_whose_lines_are_alike_in_width_is_a_table(
    name: str, rows: list[str], first: str, tmp_path: Path
) -> None:
    write(tmp_path, {name: "\n".join(rows * 4) + "\n"})
    table = name.partition(".")[0]
    assert (await lines("describe", tmp_path))[1].startswith(f"{name}: {table}, {4 * len(rows)} rows: c1, c2, c3")
    assert (await lines("sql", tmp_path, query=f"SELECT * FROM {table}"))[1] == first


@pytest.mark.parametrize(
    "line",
    [
        "The ships came home, and the men sang.",
        "one two three four",
        "2024-03-09 10:00:00|INFO|started|4",
        "10:00:01 3 200 17",
        "int main(int a, int b) { return 4; }",
        "    x = 1;",
        "| name | age |\n|------|-----|",
        "word",
        "\tindented",
    ],
)
async def test_prose_and_logs_and_code_are_no_tables(line: str, tmp_path: Path) -> None:
    write(tmp_path, {f"a.{suffix}": f"{line}\n" * 20 for suffix in ("txt", "dat", "data")})
    assert await lines("describe", tmp_path) == ["no SQLite, CSV or TSV file among 3 files"]


async def test_a_text_that_is_a_table_takes_no_name_from_another_file(tmp_path: Path) -> None:
    rows = "1|2\n" * 20
    write(tmp_path, {"u.csv": "a\n1\n", "u.data": rows, "u.user": rows, "v.item": rows, ".ssh/k.txt": rows})
    told = [line.partition(",")[0] for line in await lines("describe", tmp_path)]
    assert told == ["4 tables in 4 files", "u.csv: u", "u.data: u_data", "u.user: u_user", "v.item: v"]
    assert await lines("sql", tmp_path, query="SELECT * FROM u") == ["1 rows: a", "1"]
    assert await lines("sql", tmp_path, query="SELECT count(*) FROM u_data") == ["1 rows: count(*)", "20"]


async def test_a_text_between_colons_may_be_of_western_windows(tmp_path: Path) -> None:
    (tmp_path / "movies.dat").write_bytes("".join(f"{n}::Les Misérables::Drama\n" for n in range(9)).encode("cp1252"))
    assert (await lines("sql", tmp_path, query="SELECT c2 FROM movies LIMIT 1"))[1] == "Les Misérables"


async def test_a_csv_of_too_many_equal_titles_is_refused_before_they_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"a.csv": f"{','.join('a' * 1_500)}\n{','.join('1' * 1_500)}\n"})
    assert "it has 1500 columns, at most 500 are read" in await refused("sql", tmp_path, query="SELECT * FROM a")


async def test_a_header_alone_is_an_empty_table(tmp_path: Path) -> None:
    write(tmp_path, {"t.tsv": "a\tb, c\n"})
    assert await lines("describe", tmp_path) == ["1 tables in 1 files", 't.tsv: t, 0 rows: a, "b, c"']
    assert (await lines("describe", tmp_path, table="t"))[1] == "a TEXT: 0 distinct"
    assert await lines("sql", tmp_path, query="SELECT * FROM t") == ["0 rows"]


async def test_a_csv_that_is_not_utf_8_is_that_of_western_windows_or_read_with_replacements(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\ncaf\xe9,1\n5 \x80,2\n")
    assert await lines("sql", tmp_path, query="SELECT b FROM t WHERE a IN ('café', '5 €')") == ["2 rows: b", "1", "2"]
    (tmp_path / "t.csv").write_bytes(("a,b\n" + "café,1\n" * 9).encode() + b"caf\xe9,2\n")
    assert (await lines("sql", tmp_path, query="SELECT * FROM t WHERE b > 1"))[1:] == ["caf\ufffd | 2"]
    (tmp_path / "t.csv").write_bytes("a,b\ncafé,1\n".encode("utf-16"))
    assert (await lines("sql", tmp_path, query="SELECT * FROM t"))[1:] == ["café | 1"]


async def test_tables_of_one_name_in_several_files_are_told_apart(tmp_path: Path) -> None:
    for number, file in enumerate(("shop.db", "old/shop.db", "store.db")):
        store(tmp_path / file, "CREATE TABLE orders(a)", f"INSERT INTO orders VALUES ({number})")
    write(tmp_path, {"2023/Orders.csv": "a\n3\n", "other.csv": "a\n9\n"})
    told = await lines("describe", tmp_path)
    assert [line.split(",")[0].split(": ")[1] for line in told[1:]] == [
        "t_2023_Orders", "shop_orders", "other", "shop_orders_2", "store_orders",
    ]  # fmt: skip
    for name, value in (("t_2023_orders", 3), ("shop_orders", 1), ("shop_orders_2", 0), ("store_orders", 2)):
        assert (await lines("sql", tmp_path, query=f"SELECT a FROM {name}"))[1] == str(value)
    both = "SELECT a FROM orders JOIN store_orders s USING (a)"
    assert "several files have a table orders: write t_2023_Orders or shop_orders" in await refused(
        "sql", tmp_path, query=both
    )
    assert "'orders' may be" in await refused("describe", tmp_path, table="orders")
    named = await lines("sql", tmp_path, query="WITH orders AS (SELECT 7 AS a) SELECT a FROM orders")
    assert named == ["1 rows: a", "7"]


async def test_of_a_hundred_tables_the_names_are_listed_and_each_can_be_queried(tmp_path: Path) -> None:
    store(tmp_path / "big.db", *(f"CREATE TABLE table{number:03}(a, b)" for number in range(100)))
    told = await call("describe", tmp_path)
    assert told.text.startswith("100 tables in 1 files\nbig.db:\n  table000 table001")
    assert told.text.endswith("… 40 more: big.db 40")
    assert await lines("sql", tmp_path, query="SELECT count(*) AS n FROM table099") == ["1 rows: n", "0"]


async def test_of_more_files_than_sqlite_attaches_only_those_are_opened_that_the_query_names(tmp_path: Path) -> None:
    for number in range(12):
        store(tmp_path / f"f{number}.db", f"CREATE TABLE t{number}(a)")
    assert (await lines("describe", tmp_path))[0] == "12 tables in 12 files"
    assert await lines("sql", tmp_path, query="SELECT * FROM t11, t3") == ["0 rows"]
    every = ", ".join(f"t{number}" for number in range(12))
    assert "at most 10 are read" in await refused("sql", tmp_path, query=f"SELECT * FROM {every}")


async def test_more_csv_files_than_sqlite_attaches_are_read_in_one_query_beside_a_database(tmp_path: Path) -> None:
    write(tmp_path, {f"t{number}.csv": f"a,b\n{number},x\n" for number in range(14)})
    store(tmp_path / "u.db", "CREATE TABLE u(a)", "INSERT INTO u VALUES (100)")
    every = " UNION ALL ".join(f"SELECT a FROM {name}" for name in [*(f"t{number}" for number in range(14)), "u"])
    for _ in range(2):
        assert await lines("sql", tmp_path, query=f"SELECT sum(a) AS s FROM ({every})") == ["1 rows: s", "191"]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the CSV files that are parsed from here on, each as often as it is. New ones are kept."""
    found: list[str] = []

    def load(connection: sqlite3.Connection, schema: str, table: catalogue.Table, *others: Any) -> None:
        found.append(table.path)
        load_delimited(connection, schema, table, *others)

    monkeypatch.setattr(csv_cache, "load_delimited", load)
    monkeypatch.setattr(files, "RECENT", 0)
    return found


async def test_a_csv_file_is_parsed_once_until_it_changes(tmp_path: Path, parsed: list[str]) -> None:
    write(tmp_path, {"a.csv": "n\n1\n", "b.csv": "n\n5\n"})
    assert await lines("sql", tmp_path, query="SELECT n FROM a") == ["1 rows: n", "1"]
    assert await lines("sql", tmp_path, query="SELECT a.n + b.n AS s FROM a, b") == ["1 rows: s", "6"]
    assert parsed == ["a.csv", "b.csv"]
    write(tmp_path, {"a.csv": "n\n1\n2\n"})
    assert await lines("sql", tmp_path, query="SELECT max(n) AS m FROM a") == ["1 rows: m", "2"]
    assert parsed == ["a.csv", "b.csv", "a.csv"]


async def test_a_csv_file_that_has_just_changed_is_not_believed_to_stay_so(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "RECENT", 60_000_000_000)
    write(tmp_path, {"a.csv": "n\n1\n"})
    for _ in range(2):
        assert await lines("sql", tmp_path, query="SELECT n FROM a") == ["1 rows: n", "1"]
    assert parsed == ["a.csv", "a.csv"]


async def test_of_kept_csv_files_the_oldest_goes_if_together_they_are_too_large(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "CSV_CACHE", csv_cache.CsvCache(20_000))  # each takes two pages of 4,096 bytes
    write(tmp_path, {f"{name}.csv": "n\n1\n" for name in "abc"})
    for name in "abcbca":
        assert await lines("sql", tmp_path, query=f"SELECT n FROM {name}") == ["1 rows: n", "1"]
    assert parsed == ["a.csv", "b.csv", "c.csv", "a.csv"]


@pytest.mark.parametrize("name", ['a "b" c', "größe", "select", "sqlite x", "a;b--", "tab\tle", "x' OR 1"])
async def test_odd_names_of_tables_and_columns_are_only_names(tmp_path: Path, name: str) -> None:
    quoted = catalogue.quoted_name(name)
    store(tmp_path / "a.db", f"CREATE TABLE {quoted}({quoted} TEXT)", f"INSERT INTO {quoted} VALUES ('v')")
    assert (await lines("describe", tmp_path))[0] == "1 tables in 1 files"
    assert "1 distinct: 'v'" in (await call("describe", tmp_path, table=name)).text
    assert (await lines("sql", tmp_path, query=f"SELECT {quoted} FROM {quoted}"))[1] == "v"


@pytest.mark.parametrize("name", ["a b?c#d%20&mode=rwc.db", "ü.db", "-x.db", "file:x?mode=memory.db", "';--.db"])
async def test_odd_file_names_are_opened_as_they_are(tmp_path: Path, name: str) -> None:
    store(tmp_path / name, "CREATE TABLE t(a)", "INSERT INTO t VALUES (5)")
    assert await lines("sql", tmp_path, query="SELECT a FROM t") == ["1 rows: a", "5"]
    assert names(tmp_path) == [name]


async def test_files_above_their_limits_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.csv": "a\n" + "1\n" * 100, "b.csv": "a\n1\n"})
    store(tmp_path / "c.db", "CREATE TABLE c(a)")
    for module in (database, csv_cache):
        monkeypatch.setattr(module, "MAX_DELIMITED", 100)
    monkeypatch.setattr(catalogue, "MAX_DATABASE", 100)
    assert "at most 100 are read" in await refused("sql", tmp_path, query="SELECT * FROM a")
    assert "c.db has 8,192 bytes, at most 100 are read" in await refused("sql", tmp_path, query="SELECT * FROM c")
    assert (await lines("describe", tmp_path))[1:3] == ["a.csv: a, ? rows", "b.csv: b, 1 rows: a"]


async def test_views_and_full_text_tables_of_a_file_are_tables(tmp_path: Path) -> None:
    store(
        tmp_path / "a.db", "CREATE TABLE t(a)", "INSERT INTO t VALUES (4)",
        "CREATE VIEW v AS SELECT a * 2 AS twice FROM t",
        "CREATE VIEW gone AS SELECT * FROM missing", "CREATE VIEW evil AS SELECT load_extension('x') AS a",
        "CREATE VIRTUAL TABLE docs USING fts5(body)", "INSERT INTO docs VALUES ('red apples')",
    )  # fmt: skip
    assert [line.split(",")[0].strip() for line in (await lines("describe", tmp_path))[2:]] == [
        "docs", "evil", "gone", "t", "v",
    ]  # fmt: skip
    assert (await lines("sql", tmp_path, query="SELECT twice FROM v"))[1] == "8"
    assert (await lines("sql", tmp_path, query="SELECT body FROM docs WHERE docs MATCH 'apples'"))[1] == "red apples"
    assert "load_extension" in await refused("sql", tmp_path, query="SELECT * FROM evil")
    assert "no such table" in await refused("sql", tmp_path, query="SELECT * FROM gone")


async def test_only_what_full_text_tables_keep_for_themselves_is_hidden(tmp_path: Path) -> None:
    store(tmp_path / "a.db", "CREATE VIRTUAL TABLE notes USING fts5(body)", "CREATE TABLE notes_tags(tag)")
    assert await lines("describe", tmp_path) == [
        "2 tables in 1 files", "a.db:", "  notes, 0 rows: body", "  notes_tags, 0 rows: tag",
    ]  # fmt: skip
    assert await lines("sql", tmp_path, query="SELECT tag FROM notes_tags") == ["0 rows"]


async def test_columns_that_are_computed_are_columns(tmp_path: Path) -> None:
    twice = "CREATE TABLE t(a INT, b INT AS (a * 2), c INT AS (a + 1) STORED)"
    store(tmp_path / "a.db", twice, "INSERT INTO t(a) VALUES (4)")
    assert (await lines("describe", tmp_path))[1] == "a.db: t, 1 rows: a, b, c"
    assert (await lines("describe", tmp_path, table="t"))[2].startswith("b INT")


async def test_wide_namesakes_of_several_files_can_be_queried_by_columns(tmp_path: Path) -> None:
    wide = f"CREATE TABLE wide({', '.join(f'c{number}' for number in range(150))})"
    for file in ("a.db", "b.db"):
        store(tmp_path / file, wide, "INSERT INTO wide(c149) VALUES (5)")
    assert (await lines("sql", tmp_path, query="SELECT c149 FROM a_wide"))[1] == "5"
    assert "name the columns that you need" in await refused("sql", tmp_path, query="SELECT * FROM b_wide")


async def test_a_wide_table_can_be_queried_by_columns(tmp_path: Path) -> None:
    write(tmp_path, {"w.csv": ",".join(f"k{n}" for n in range(150)) + "\n" + ",".join(map(str, range(150))) + "\n"})
    assert (await lines("sql", tmp_path, query="SELECT k149 FROM w"))[1] == "149"
    assert "name the columns that you need" in await refused("sql", tmp_path, query="SELECT * FROM w")
    told = await call("describe", tmp_path, table="w")
    assert "k19 INTEGER: 1 distinct, 19..19\nalso k20 k21" in told.text


async def test_ten_times_the_rows_of_a_csv_file_take_about_ten_times_as_long(tmp_path: Path) -> None:
    short, long = [await seconds(tmp_path, rows) for rows in (10_000, 100_000)]
    assert long < 40 * short, "100 times as long is quadratic"


async def seconds(folder: Path, rows: int) -> float:
    """Return the processor time that reading so many rows takes."""
    line = "{},name {},some note,{},2024-01-02,and another\n".format
    text = "id,name,note,price,day,more\n" + "".join(line(n, n % 977, n * 1.25) for n in range(rows))
    write(folder / str(rows), {"large.csv": text})
    began = process_time()
    assert (await lines("sql", folder / str(rows), query="SELECT count(*) AS n FROM large"))[1] == str(rows)
    return process_time() - began


async def test_two_calls_give_the_same_result() -> None:
    for name, arguments in (
        ("describe", {}),
        ("describe", {"table": "loans"}),
        ("sql", {"query": "SELECT * FROM book"}),
    ):
        assert await call(name, SHELF, **arguments) == await call(name, SHELF, **arguments)


async def test_several_calls_run_at_once() -> None:
    async def ask() -> None:
        assert (await lines("sql", SHELF, query="SELECT count(*) AS n FROM book, loans"))[1] == "1200"

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(ask)
    assert to_thread.current_default_thread_limiter().borrowed_tokens == 0
