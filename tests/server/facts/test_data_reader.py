"""What is known of data files: their tables and columns, and what of them cannot be read."""

import io
import sqlite3
import struct
import zipfile
from collections.abc import Sequence
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest
from skillstill.facts.reader import Facts, Gap, Source, Unreadable
from skillstill.facts.readers.data.load import load_tables
from skillstill.facts.readers.data.reader import DATA, DATA_COLUMNS, DATA_TABLES
from skillstill.facts.table import Row

SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
)
WORKBOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>{}</sheets></workbook>'
)
RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def read(data: bytes, name: str) -> tuple[list[Row], list[Row], list[Gap]]:
    """Return the rows of tables, those of columns, and the gaps."""
    facts: Sequence[Facts] = list(DATA.read(Source(name, len(data), BytesIO(data))))
    tables = [row for each in facts for row in each.rows.get("data_tables", ())]
    columns = [row for each in facts for row in each.rows.get("data_columns", ())]
    return tables, columns, [gap for each in facts for gap in each.gaps]


def database(script: str) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script)
        return connection.serialize()


def workbook(sheets: dict[str, str]) -> bytes:
    """Return an Excel file with the rows of each sheet in its XML."""
    buffer = io.BytesIO()
    names = list(sheets)
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(names, 1))
    related = "".join(
        f'<Relationship Id="r{n}" Type="{RELATION}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(names) + 1)
    )
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        of_workbook = f'<Relationship Id="r" Type="{RELATION}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", RELATIONS.format(of_workbook))
        archive.writestr("xl/workbook.xml", WORKBOOK.format(listed))
        archive.writestr("xl/_rels/workbook.xml.rels", RELATIONS.format(related))
        for n, name in enumerate(names, 1):
            archive.writestr(f"xl/worksheets/sheet{n}.xml", SHEET.format(sheets[name]))
    return buffer.getvalue()


def cells(*rows: Sequence[object]) -> str:
    """Return the XML of rows that begin in A1."""
    return "".join(
        f'<row r="{n}">'
        + "".join(
            f'<c r="{chr(65 + place)}{n}"><v>{cell}</v></c>'
            if isinstance(cell, int | float)
            else f'<c r="{chr(65 + place)}{n}" t="inlineStr"><is><t>{cell}</t></is></c>'
            for place, cell in enumerate(row)
        )
        + "</row>"
        for n, row in enumerate(rows, 1)
    )


def test_rows_fit_the_columns_that_are_declared() -> None:
    tables, columns, _ = read(b"a,b\n1,2\n3,4\n", "x.csv")
    assert {len(row) for row in tables} == {2 + len(DATA_TABLES.columns)}
    assert {len(row) for row in columns} == {2 + len(DATA_COLUMNS.columns)}


def test_a_csv_file_is_a_table_with_its_columns() -> None:
    tables, columns, gaps = read("x\nPreis (€);Ort\n1,50;Köln\n2,75;Bonn\n".encode(), "preise.csv")
    about = "line 2; delimiter semicolon; 1 line before the header left out; Preis_euro: decimal comma"
    assert tables == [(2, 2, "preise", "table", 2, 2, about)]
    assert columns == [
        (2, 2, "preise", "Preis_euro", "Preis (€)", "REAL", 0, 2, "1.5", "2.75", "1.5 | 2.75", None),
        (2, 2, "preise", "Ort", "Ort", "TEXT", 0, 2, "Bonn", "Köln", "Köln | Bonn", None),
    ]
    assert not gaps


def test_an_sqlite_file_has_tables_views_and_foreign_keys() -> None:
    script = (
        "CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE book(title TEXT, by INTEGER REFERENCES author, price);"
        "CREATE VIEW titles AS SELECT title FROM book;"
        "INSERT INTO author VALUES (1, 'Ann'); INSERT INTO book VALUES ('X', 1, 2.5), ('Y', 1, NULL);"
    )
    tables, columns, gaps = read(database(script), "any.name")
    assert [row[2:6] for row in tables] == [
        ("author", "table", 1, 2),
        ("book", "table", 2, 3),
        ("titles", "view", None, 1),
    ]
    assert columns[3] == (0, 0, "book", "by", "by", "INTEGER", 0, 1, "1", "1", "1", "author.id")
    assert columns[4] == (0, 0, "book", "price", "price", None, 1, 1, "2.5", "2.5", "2.5", None)
    assert not gaps


def test_a_hundred_tables_are_read() -> None:
    script = "".join(f"CREATE TABLE t{number}(a); INSERT INTO t{number} VALUES (1);" for number in range(100))
    assert len(read(database(script), "x.db")[0]) == 100


def test_a_write_ahead_log_is_a_gap(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t(a)")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    tables, _, gaps = read((tmp_path / "x.db").read_bytes(), "x.db")
    assert [row[2] for row in tables] == ["t"]
    assert "-wal" in gaps[0].reason


def test_a_view_of_something_that_is_gone_is_a_gap() -> None:
    tables, _, gaps = read(database("CREATE TABLE t(a); CREATE VIEW v AS SELECT b FROM gone;"), "x.db")
    assert [row[2:5] for row in tables] == [("t", "table", 0), ("v", "view", None)]
    assert gaps == [Gap("a view whose columns cannot be read")]


def test_computed_columns_and_views_are_not_computed() -> None:
    script = (
        "CREATE TABLE t(a, b AS (length(zeroblob(a * 900000000))));"
        "INSERT INTO t(a) VALUES (1), (1), (1);"
        "CREATE VIEW endless AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r;"
    )
    tables, columns, _ = read(database(script), "x.db")
    assert [row[2:5] for row in tables] == [("t", "table", 3), ("endless", "view", None)]
    assert columns[1][6:] == (None, None, None, None, None, None)


def test_an_index_for_full_text_is_one_virtual_table() -> None:
    tables, _, _ = read(database("CREATE VIRTUAL TABLE words USING fts5(body); CREATE TABLE t(a);"), "x.db")
    assert [row[2:4] for row in tables] == [("words", "virtual table"), ("t", "table")]


@pytest.mark.parametrize("damage", [lambda data: data[:300], lambda data: data[:100] + b"\xff" * (len(data) - 100)])
def test_a_damaged_database_is_unreadable(damage: object) -> None:
    assert callable(damage)
    with pytest.raises(Unreadable, match="no readable SQLite file"):
        read(damage(database("CREATE TABLE t(a); INSERT INTO t VALUES (1)")), "x.db")


def test_a_hostile_schema_runs_nothing() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript("CREATE TABLE t(a); PRAGMA writable_schema = ON;")
        connection.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE t(a, b DEFAULT (load_extension(''x'')))'")
        connection.execute(
            "INSERT INTO sqlite_master VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT readfile(''x'')')"
        )
        connection.commit()
        data = connection.serialize()
    tables, _, _ = read(data, "x.db")
    assert [row[2] for row in tables] == ["t", "v"]


def test_the_sheets_of_a_workbook_are_tables() -> None:
    data = workbook(
        {
            "Jan 2020": cells(["Title"], ["id", "name", "share"], [1, "x", 0.5], [2, "y", 1]),
            "Empty": "",
            "Feb": cells(["a", "b"], [1, "2020-01-02"], [2, "2020-01-03"]),
        }
    )
    tables, columns, _ = read(data, "book.xlsx")
    assert [row[2:6] for row in tables] == [("book_Jan_2020", "table", 2, 3), ("book_Feb", "table", 2, 2)]
    assert [row[5] for row in columns] == ["INTEGER", "TEXT", "REAL", "INTEGER", "DATE"]
    with closing(sqlite3.connect(":memory:")) as connection:
        load_tables(Source("book.xlsx", len(data), BytesIO(data)), connection)
        assert connection.execute("SELECT * FROM book_Jan_2020").fetchall() == [(3, 1, "x", 0.5), (4, 2, "y", 1.0)]


@pytest.mark.parametrize("length", [2, 100, 400])
def test_a_cut_workbook_is_unreadable(length: int) -> None:
    with pytest.raises(Unreadable, match="no readable workbook"):
        read(workbook({"x": cells(["a"], [1])})[:length], "x.xlsx")


def test_a_sheet_that_reaches_too_far_is_refused() -> None:
    far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    with pytest.raises(Unreadable, match="reaches over more than"):
        read(workbook({"x": far}), "x.xlsx")


def test_a_zip_bomb_is_refused_whatever_it_says_of_its_size() -> None:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("xl/a.bin", "w") as part,
    ):
        for _ in range(520):
            part.write(bytes(1_000_000))
    with pytest.raises(Unreadable, match="unpacks to more than"):
        read(buffer.getvalue(), "x.xlsx")


def test_a_part_of_a_zip_file_that_lies_about_its_size_is_refused() -> None:
    honest = workbook({"x": cells(["a"], *([1] for _ in range(2_000)))})
    with zipfile.ZipFile(BytesIO(honest)) as archive:
        size = struct.pack("<I", archive.getinfo("xl/worksheets/sheet1.xml").file_size)
    with pytest.raises(Unreadable, match="no readable workbook"):
        read(honest.replace(size, struct.pack("<I", 10)), "x.xlsx")


def test_parquet_that_is_none_is_unreadable() -> None:
    for data in (b"PAR1", b"PAR1" + struct.pack("<I", 7) + b"PAR1", b"PAR1" + b"\xff" * 99 + b"PAR1", b"PAR1xx"):
        with pytest.raises(Unreadable, match="Parquet"):
            read(data, "x.parquet")


@pytest.mark.parametrize(
    ("name", "head", "taken"),
    [
        ("a.csv", b"x\n", True),
        ("a.bin", b"SQLite format 3\0", True),
        ("a.json", b'[{"a": 1}]', True),
        ("package.json", b'{\n  "name": "x"\n}\n', False),
        ("a.jsonl", b'{"a": 1}\n{"a": 2}\n', True),
        ("a.txt", b"a\tb\tc\n" * 9, True),
        ("a.txt", b"Some words, and more.\nOther words follow; they do.\n" * 9, False),
        ("a.docx", b"PK\x03\x04", False),
        ("a.xlsx", b"PK\x03\x04", True),
        ("a.py", b"import a, b\n", False),
    ],
)
def test_data_files_are_told_by_their_beginning(name: str, head: bytes, taken: bool) -> None:
    assert DATA.takes(name, head) is taken


def test_parquet_keeps_its_types() -> None:
    core, arro3 = pytest.importorskip("arro3.core"), pytest.importorskip("arro3.io")
    buffer = io.BytesIO()
    columns = {
        "id": core.Array([1, 2, None], type=core.DataType.int64()),
        "name": core.Array(["x", None, "NA"], type=core.DataType.utf8()),
        "share": core.Array([0.5, 1.0, float("nan")], type=core.DataType.float64()),
    }
    arro3.write_parquet(core.Table.from_pydict(columns), buffer)
    tables, rows, _ = read(buffer.getvalue(), "x.parquet")
    assert tables == [(0, 0, "x", "table", 3, 3, None)]
    assert [row[3:9] for row in rows] == [
        ("id", "id", "INTEGER", 1, 2, "1"),
        ("name", "name", "TEXT", 1, 2, "NA"),
        ("share", "share", "REAL", 1, 2, "0.5"),
    ]
