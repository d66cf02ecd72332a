"""Data files as tables of SQLite, as a person reads them."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from io import BytesIO

import pytest
from skillstill.facts.reader import Source, Unreadable
from skillstill.facts.readers.data.load import load_tables
from skillstill.facts.readers.data.sheet import LoadedColumn, LoadedTable


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as opened:
        yield opened


def load(connection: sqlite3.Connection, text: str | bytes, name: str = "sales.csv") -> LoadedTable:
    data = text if isinstance(text, bytes) else text.encode()
    (table,) = load_tables(Source(name, len(data), BytesIO(data)), connection)
    return table


def rows(connection: sqlite3.Connection, table: LoadedTable) -> list[tuple[object, ...]]:
    return connection.execute(f'SELECT * FROM "{table.name}"').fetchall()


def column(table: LoadedTable, name: str) -> LoadedColumn:
    return next(column for column in table.columns if column.name == name)


def load_column(connection: sqlite3.Connection, values: Sequence[str], name: str = "x.tsv") -> LoadedColumn:
    lines = "".join(f"k{number}\t{value}\n" for number, value in enumerate(values))
    return column(load(connection, f"key\tvalue\n{lines}", name), "value")


def values(connection: sqlite3.Connection) -> list[object]:
    return [value for (value,) in connection.execute("SELECT value FROM x")]


def test_rows_have_types_and_the_lines_where_they_begin(connection: sqlite3.Connection) -> None:
    table = load(connection, 'id,name,price\n1,"a\nb",1.5\n2,c,\n')
    assert rows(connection, table) == [(2, 1, "a\nb", 1.5), (4, 2, "c", None)]
    assert [(each.name, each.type) for each in table.columns] == [
        ("id", "INTEGER"),
        ("name", "TEXT"),
        ("price", "REAL"),
    ]


def test_a_column_is_described_by_all_of_its_values(connection: sqlite3.Connection) -> None:
    table = load(connection, "n\n" + "".join(f"{number % 7}\n" for number in range(20_000)) + "NA\n99\n")
    assert column(table, "n") == LoadedColumn("n", "n", "INTEGER", "", 1, 8, 0, 99, (0, 1, 2))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["1.234,56", "7,5"], [1234.56, 7.5]),
        (["1,234.56", "7.5"], [1234.56, 7.5]),
        (["1 234,56", "7,5"], [1234.56, 7.5]),
        (["1'234.56", "7.5"], [1234.56, 7.5]),
        (["1,234", "12,345,678"], [1234, 12345678]),
        (["$1,234.50", "($7.25)", "-$1.00"], [1234.5, -7.25, -1.0]),
        (["€ 12", "€ 7"], [12, 7]),
        (["12 %", "7.5 %"], [12.0, 7.5]),
        (["12 km", "7 km", "-"], [12, 7, None]),
        (["1.5e-3", "2"], [0.0015, 2.0]),
        (["n/a", "3", "null", "-"], [None, 3, None, None]),
        (["01234", "99999"], ["01234", "99999"]),
        (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
        (["true", "FALSE", ""], [1, 0, None]),
    ],
)
def test_numbers_are_read_in_the_notation_of_their_column(
    connection: sqlite3.Connection, written: list[str], read: list[object]
) -> None:
    load_column(connection, written)
    assert values(connection) == read


def test_a_comma_that_may_mean_either_is_read_as_the_rest_of_the_file_does(connection: sqlite3.Connection) -> None:
    table = load(connection, "a;b;c\n1,234;0,5;1.500\n2,345;12,25;2.250\n", "x.csv")
    assert rows(connection, table)[0] == (2, 1.234, 0.5, 1500)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["25/12/2020", "01/02/2020"], ["2020-12-25", "2020-02-01"]),
        (["12/25/2020", "01/02/2020"], ["2020-12-25", "2020-01-02"]),
        (["1.2.2020", "3.4.21"], ["2020-02-01", "2021-04-03"]),
        (["2020-01-02T10:00:00Z", "2020-01-03T00:00:00Z"], ["2020-01-02T10:00:00Z", "2020-01-03T00:00:00Z"]),
        (["3 March 2020", "12 Oct 2021"], ["2020-03-03", "2021-10-12"]),
        (["Mar 3, 2020", "October 12, 2021"], ["2020-03-03", "2021-10-12"]),
        (["25/12/2020 1:05 PM", "26/12/2020 12:30 AM"], ["2020-12-25 13:05", "2020-12-26 00:30"]),
        (["20200102", "20211231"], ["2020-01-02", "2021-12-31"]),
        (["2020-01-02 00:00:00", "2020-01-03 00:00:00"], ["2020-01-02", "2020-01-03"]),
    ],
)
def test_dates_become_iso_text(connection: sqlite3.Connection, written: list[str], read: list[object]) -> None:
    assert load_column(connection, written).type in ("DATE", "DATETIME")
    assert values(connection) == read


def test_the_order_of_day_and_month_is_settled_by_a_late_value(connection: sqlite3.Connection) -> None:
    dates = [f"0{number % 9 + 1}/0{number % 8 + 1}/2020" for number in range(40_000)]
    load_column(connection, [*dates, "31/12/2020"])
    assert values(connection)[1] == "2020-02-02"
    assert values(connection)[-1] == "2020-12-31"


def test_dates_whose_order_is_open_stay_as_they_are(connection: sqlite3.Connection) -> None:
    table = load(connection, "day,n\n01/02/2020,1\n03/04/2020,2\n")
    assert rows(connection, table)[0] == (2, "01/02/2020", 1)
    assert "day: dates left as they are: day or month may come first" in table.findings


def test_a_column_with_a_few_texts_stays_a_column_of_numbers(connection: sqlite3.Connection) -> None:
    table = load(connection, "n,m\n" + "1,2\n" * 198 + "suppressed,2\n1,2\n")
    assert column(table, "n").type == "INTEGER"
    assert column(table, "n").maximum == 1
    assert rows(connection, table)[198] == (200, "suppressed", 2)
    assert "n: 1 of 200 are no INTEGER, kept as text, such as suppressed" in table.findings


def test_words_for_no_value_are_told(connection: sqlite3.Connection) -> None:
    assert load(connection, "a,b\n1,N/A\n-,x\n3,4\n5,6\n7,\n").findings == (
        "a: - read as no value",
        "b: N/A, x read as no value",
    )


def test_a_type_that_only_the_sample_has_is_given_up(connection: sqlite3.Connection) -> None:
    table = load(connection, "n,m\n" + "1,2\n" * 35_000 + "1.5,y\n" * 35_000)
    assert [each.type for each in table.columns] == ["REAL", "TEXT"]


def test_na_is_a_text_among_codes(connection: sqlite3.Connection) -> None:
    table = load(connection, "country,name\nNA,Namibia\nDE,Germany\nFR,France\n")
    assert rows(connection, table)[0] == (2, "NA", "Namibia")
    assert not table.findings


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(connection: sqlite3.Connection, delimiter: str) -> None:
    text = "".join(delimiter.join(row) + "\n" for row in (["a b", "c", "d"], ["x, y", "1", "2"], ["z", "3", "4"]))
    table = load(connection, text.replace("x, y", '"x, y"'))
    assert rows(connection, table) == [(2, "x, y", 1, 2), (3, "z", 3, 4)]


def test_lines_before_the_header_and_totals_and_notes_behind_are_left_out(connection: sqlite3.Connection) -> None:
    text = "Report 2020,,\n,,\nRegion,Sales,Cost\nNorth,10,5\nSouth,20,6\nTotal,30,11\n,,\nSource: own survey,,\n"
    table = load(connection, text)
    assert rows(connection, table) == [(4, "North", 10, 5), (5, "South", 20, 6)]
    assert table.place == "line 3"
    assert table.findings == (
        "2 lines before the header left out",
        "1 totals behind the rows left out",
        "1 notes behind the rows left out",
    )


def test_a_file_without_header_has_named_columns(connection: sqlite3.Connection) -> None:
    table = load(connection, "1,2.5\n2,3.5\n3,4.5\n")
    assert [each.name for each in table.columns] == ["column_1", "column_2"]
    assert table.rows == 3
    assert table.findings == ("no header",)


def test_years_are_titles(connection: sqlite3.Connection) -> None:
    table = load(connection, "Country,2010,2011,2012\nA,1,2,7\nB,4,5,5\n")
    assert [each.name for each in table.columns] == ["Country", "_2010", "_2011", "_2012"]


def test_names_are_plain_and_unique_and_titles_are_kept(connection: sqlite3.Connection) -> None:
    table = load(connection, 'Price (€),Price (%),order,,name,Name,"x ""y"""\n1,2,3,4,a,b,c\n2,3,4,5,b,c,d\n')
    names = [each.name for each in table.columns]
    assert names == ["Price_euro", "Price_percent", "order_", "column_4", "name", "Name_2", "x_y"]
    assert table.columns[0].title == "Price (€)"
    connection.execute(f"SELECT {', '.join(names)}, _line FROM {table.name}")


def test_ragged_rows_lose_nothing(connection: sqlite3.Connection) -> None:
    table = load(connection, "a,b,c\n" + "1,2,3\n" * 9 + "1,2\n1,2,3,4,5\n")
    assert rows(connection, table)[-2:] == [(11, 1, 2, None, None), (12, 1, 2, 3, "4,5")]
    assert table.columns[-1].title == "more cells than titles"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8-sig", "naïve"),
        ("utf-16", "naïve"),
        ("cp1252", "Düsseldorf für 5 €"),
        ("cp1251", "Москва"),
        ("cp1250", "Dvořák žluťoučký kůň"),
        ("mac_roman", "Frédéric"),
        ("cp932", "今日はいい天気"),
        ("gb18030", "中文数据"),
    ],
)
def test_the_encoding_is_found(connection: sqlite3.Connection, encoding: str, text: str) -> None:
    table = load(connection, f"id,name\n1,{text}\n2,{text}\n".encode(encoding))
    assert [row[2] for row in rows(connection, table)] == [text, text]
    assert column(table, "id").type == "INTEGER"


def test_lines_of_json_are_rows_and_nested_values_stay_json(connection: sqlite3.Connection) -> None:
    lines = [{"id": 1, "tags": ["a"]}, {"id": 2, "ok": True}]
    table = load(connection, "".join(json.dumps(line) + "\n" for line in lines) + "{broken\n", "x.jsonl")
    assert rows(connection, table) == [(1, 1, '["a"]', None), (2, 2, None, 1)]
    assert table.gaps[0].reason == "lines that are no JSON object left out"


def test_an_array_of_objects_is_a_table(connection: sqlite3.Connection) -> None:
    table = load(connection, '[\n {"id": 1, "day": "2020-01-02"},\n {"id": 2, "day": null}\n]\n', "x.json")
    assert rows(connection, table) == [(2, 1, "2020-01-02"), (3, 2, None)]


def test_two_files_of_one_name_become_two_tables(connection: sqlite3.Connection) -> None:
    assert [load(connection, "a,b\n1,2\n").name for _ in range(2)] == ["sales", "sales_2"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\n\n\n", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS"),
        (b"x," * 3_000 + b"\n", "columns"),
    ],
)
def test_what_is_no_table_says_why(connection: sqlite3.Connection, data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        load(connection, data)


def test_nul_bytes_are_left_out(connection: sqlite3.Connection) -> None:
    table = load(connection, b"a,b\n1,x\0y\n2,z\n")
    assert rows(connection, table)[0] == (2, 1, "xy")


def test_a_line_without_end_is_refused(connection: sqlite3.Connection) -> None:
    with pytest.raises(Unreadable, match="longer than 2 MB"):
        load(connection, b"a,b\n1," + b"x" * 100_000_000)


def test_a_quote_without_end_is_refused(connection: sqlite3.Connection) -> None:
    with pytest.raises(Unreadable, match="no readable CSV"):
        load(connection, b'a,b\n1,"x' + b"y\n" * 6_000_000)


def test_two_thousand_columns_are_refused_or_read(connection: sqlite3.Connection) -> None:
    wide = ",".join(f"c{number}" for number in range(1_990))
    table = load(connection, f"{wide}\n" + f"{','.join('1' * 1_990)}\n" * 20)
    assert (len(table.columns), table.rows) == (1_990, 20)


def test_numbers_among_codes_are_codes(connection: sqlite3.Connection) -> None:
    assert load_column(connection, ["20005", "20006", "20007-1234", *["20008"] * 9]).type == "TEXT"
