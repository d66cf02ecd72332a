"""Which sort of data file a file is, by its name and first bytes."""

import json
from pathlib import PurePosixPath

from skillstill.facts.readers.data.dialect import infer_dialect
from skillstill.facts.readers.data.encoding import MARKS

SQLITE = b"SQLite format 3\0"
PARQUET = b"PAR1"
ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
WORKBOOKS = {".xlsx", ".xlsm", ".xlsb", ".xltx", ".xltm", ".ods", ".ots", ".xls", ".xlt"}
OPEN_DOCUMENT = b"application/vnd.oasis.opendocument.spreadsheet"
DELIMITED = {".csv", ".tsv", ".tab", ".psv"}
PERHAPS_DELIMITED = {".txt", ".dat", ".data", ".asc", ".prn"}  # if the first lines look like a table
JSON = {".json", ".jsonl", ".ndjson", ".jsonlines"}
POINTER = b"version https://git-lfs"  # what Git leaves in place of a large file
EVEN = 5  # lines of one width by which a text is told to be delimited
BLANKS = b" \t\r\n\xef\xbb\xbf"


def format_of(name: str, head: bytes) -> str:
    """Return sqlite, parquet, workbook, json or delimited; nothing if the file is none of them."""
    suffix = PurePosixPath(name).suffix.lower()
    if head.startswith(SQLITE):
        return "sqlite"
    if head.startswith(PARQUET):
        return "parquet"
    if head.startswith((ZIP, OLE)):
        return "workbook" if suffix in WORKBOOKS or OPEN_DOCUMENT in head[:200] else ""
    if suffix in WORKBOOKS:
        return "workbook"
    if suffix in JSON:
        return "json" if _is_json_table(head, suffix != ".json") else ""
    if suffix in DELIMITED:
        return "delimited"
    return "delimited" if suffix in PERHAPS_DELIMITED and _is_even(head) else ""


def _is_json_table(head: bytes, has_lines: bool) -> bool:
    """Return whether an array of objects begins, or lines of them; with `has_lines` one line is enough."""
    begin = head.lstrip(BLANKS)
    if begin.startswith(b"["):
        return begin[1:].lstrip(BLANKS).startswith(b"{")
    line, _, rest = begin.partition(b"\n")
    if not begin.startswith(b"{") or not (rest.lstrip(BLANKS) or b"{" * has_lines).startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_even(head: bytes) -> bool:
    """Return whether most of the first lines have as many cells, and more than one."""
    if head.startswith(tuple(MARKS)) or b"\0" in head:
        return head.startswith(tuple(MARKS))
    lines = [f"{line}\n" for line in head.decode("utf-8", "replace").splitlines() if line.strip()][:-1]
    if len(lines) < EVEN:
        return False
    dialect = infer_dialect(lines)
    widths = [len(row) for row in dialect.rows(iter(lines))]
    usual = max(widths, key=widths.count)
    return (
        dialect.delimiter in ",;\t|"
        and usual > 1 + (dialect.delimiter == ",")
        and widths.count(usual) > 0.9 * len(widths)
    )
