"""The steps that make workspaces: invented tables from `domains/`, and altered tables of packages.

For each table a step notes how its rows are called, which column is the key or the label, and the kind of each column.
"""

import csv
import re
import sqlite3
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

HERE = Path(__file__).parent
UNITS = {"cm", "kg", "g", "km", "m", "t", "s", "min", "mw", "ha", "pct", "eur"}
NAMED = {"person", "title", "place", "firm"}
# Columns that the tables of names share, one of these in each workspace: a question may mean any of the tables.
SHARED = (
    ("phone", "phone", NAMED - {"title"}), ("rating", "real 1 5", NAMED), ("file_mark", "mark", NAMED),
    ("last_update", "date 2022 2024", NAMED),
)  # fmt: skip
KEPT_ROWS = 320  # of a table from a package: enough for every kind of question, quick to load
EMPTY = {"", "NA", "nan", "None"}

Row = dict[str, Any]
Notes = dict[str, Any]


@dataclass(frozen=True, slots=True)
class MadeTable:
    """A table to write: its rows under plain names, and its notes."""

    name: str
    rows: Sequence[Row]
    note: Notes


def write_domain(
    spec: Mapping[str, Any], words: Mapping[str, list[str]], domain: str, tree: Path, rng: Random
) -> Notes:
    """Fill the tree with the tables of a domain. Return their notes."""
    tables: dict[str, MadeTable] = {}
    maker = _Maker(words, tables, rng)
    for name, table in spec.items():
        tables[name] = maker.table(name, table)
    return _write_tables(tree, [*tables.values()], domain, rng)


def shipped(tree: Path, rng: Random) -> Notes:
    """Replace the CSV files that `real.toml` lists by tables with other names and values. Return their notes."""
    specs = tomllib.loads((HERE / "real.toml").read_text(encoding="utf-8"))
    files = sorted(file for file in tree.rglob("*") if file.is_file())
    tables = [_alter_table(file, specs[file.name], rng) for file in files if file.name in specs]
    for file in files:
        file.unlink()
    return _write_tables(tree, tables, "records", rng)


def _domains() -> Iterator[tuple[str, dict[str, Any], dict[str, list[str]]]]:
    """Yield the name and the tables of each domain, and the vocabulary of its file."""
    for file in sorted((HERE / "domains").glob("*.toml")):
        domains = tomllib.loads(file.read_text(encoding="utf-8"))
        words = domains.pop("vocabulary")
        yield from ((name, spec, words) for name, spec in domains.items())


class _Maker:
    """Makes one table after another; later ones may refer to earlier ones."""

    def __init__(self, words: Mapping[str, list[str]], tables: Mapping[str, MadeTable], rng: Random) -> None:
        self.words, self.tables, self.rng = words, tables, rng
        self.shared = rng.choice(SHARED)

    def table(self, name: str, spec: Mapping[str, Any]) -> MadeTable:
        count = spec["rows"] + self.rng.randrange(-spec["rows"] // 8, spec["rows"] // 8 + 1)
        kinds: dict[str, str] = dict(spec["columns"])
        column, kind, fitting = self.shared
        if fitting & set(kinds.values()) and column not in kinds and self.rng.random() < 0.95:
            kinds[column] = kind
        note = _note(spec, name)
        columns = {column: self._column(column, kind, count, note) for column, kind in kinds.items()}
        rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
        return MadeTable(name, rows, note)

    def _column(self, name: str, kind: str, count: int, note: Notes) -> list[Any]:
        word, _, rest = kind.partition(" ")
        about: Notes = {"kind": KINDS[word], "said": _spoken_name(name)}
        note["columns"][name] = about
        if word == "refers":
            parent = self.tables[rest]
            about["refers"] = [rest, parent.note["key"]]
            return self._references([row[parent.note["key"]] for row in parent.rows], count)
        if word in ("key", "code"):
            note["key"] = name
            first = int(rest) if word == "key" else self.rng.randrange(100, 900)
            return [number if word == "key" else f"{rest}-{number}" for number in range(first, first + count)]
        if word in ("person", "title", "place", "firm"):
            note["label"] = name
            return self._names(word, count)
        if word in ("pick", "among"):
            return self._categories(re.split(r",\s*", rest), count, about, styled=word == "pick")
        return [self._cell(word, rest.split()) for _ in range(count)]

    def _references(self, keys: Sequence[Any], count: int) -> list[Any]:
        """Return keys of the other table: a few occur never, some more often than most."""
        used = self.rng.sample(keys, len(keys) - self.rng.randint(1, min(5, len(keys) - 2)))
        weights = [self.rng.uniform(0.4, 2) for _ in used]
        return [*used, *self.rng.choices(used, weights, k=count)][:count] if count >= len(used) else used[:count]

    def _names(self, word: str, count: int) -> list[str]:
        first, second, between = {
            "person": ("first", "last", " "),
            "title": ("adjective", "noun", " "),
            "place": ("place", "ending", ""),
            "firm": ("place", "firm", " "),
        }[word]
        pairs = [f"{one}{between}{two}" for one in self.words[first] for two in self.words[second]]
        pairs = [f"The {pair}" if word == "title" and at % 3 == 0 else pair for at, pair in enumerate(pairs)]
        pairs += [f"{pair} {number}" for number in ("II", "III") for pair in pairs] if count > len(pairs) else []
        return self.rng.sample(pairs, count)

    def _categories(self, options: list[str], count: int, about: Notes, *, styled: bool) -> list[str]:
        """Return values of a category. One option does not occur: questions about it have no answer."""
        self.rng.shuffle(options)
        unused = options[: len(options) > 3]
        style = self.rng.choice(STYLES) if styled else str
        about["unused"] = [style(one) for one in unused]
        used = [style(one) for one in options[len(unused) :]]
        return self.rng.choices(used, [self.rng.uniform(0.5, 2) for _ in used], k=count)

    def _cell(self, word: str, limits: Sequence[str]) -> Any:
        match word:
            case "whole" | "year":
                return self.rng.randint(int(limits[0]), int(limits[1]))
            case "money":
                return round(self.rng.uniform(float(limits[0]), float(limits[1])), 2)
            case "real":
                return round(self.rng.uniform(float(limits[0]), float(limits[1])), 1)
            case "date":
                first, last = date(int(limits[0]), 1, 1), date(int(limits[1]), 12, 31)
                return first + timedelta(days=self.rng.randint(0, (last - first).days))
            case "phone":
                return f"{self.rng.randint(20, 99)}-{self.rng.randint(100, 999)}-{self.rng.randint(1000, 9999)}"
            case "mark":
                return f"{self.rng.choice('ABCDEFGH')}{self.rng.randint(1000, 9999)}"
            case "email":
                name, host = self.rng.choice(self.words["last"]), self.rng.choice(self.words["noun"])
                return f"{name.lower()}{self.rng.randint(1, 999)}@{host.lower()}.example"
        raise ValueError(f"no kind of column {word!r}")


KINDS = {
    "key": "key", "code": "key", "refers": "refers", "date": "date", "year": "year", "pick": "category",
    "among": "category", "whole": "measure", "money": "measure", "real": "measure", "phone": "text", "email": "text",
    "mark": "text", "person": "label", "title": "label", "place": "label", "firm": "label",
}  # fmt: skip
STYLES: tuple[Callable[[str], str], ...] = (
    str, str.title, str.upper, str.capitalize,
    lambda text: text.replace(" ", "_"), lambda text: text.replace(" ", "-"),
    lambda text: text.upper().replace(" ", "_"), lambda text: text.title().replace(" ", ""),
)  # fmt: skip


def _alter_table(file: Path, spec: Mapping[str, Any], rng: Random) -> MadeTable:
    """Return some rows of a package's table, with slightly changed numbers."""
    note = _note(spec, spec["table"])
    named = {old: tuple(new.split()) for old, new in spec["columns"].items()}
    for name, kind in named.values():
        note["columns"][name] = {"kind": kind, "said": _spoken_name(name)}
        note |= {kind: name} if kind in ("key", "label") else {}
    with file.open(encoding="utf-8-sig", newline="") as text:
        reader = csv.DictReader(text, skipinitialspace=True)
        rows = [{key.strip(): cell.strip() for key, cell in row.items() if key} for row in reader]
    rows = rng.sample(rows, min(KEPT_ROWS, len(rows) * 4 // 5))
    altered = [{new: _alter_cell(row[old], kind, rng) for old, (new, kind) in named.items()} for row in rows]
    return MadeTable(spec["table"], altered, note)


def _alter_cell(cell: str, kind: str, rng: Random) -> Any:
    if cell in EMPTY:
        return None
    if kind == "date":
        return date.fromisoformat(cell.replace("/", "-"))
    if kind in ("year", "key"):
        return int(float(cell))
    if kind != "measure":
        return cell
    if not re.fullmatch(r"-?[\d.]+", cell):
        return None
    value = float(cell) * rng.uniform(0.93, 1.07)
    return round(value) if value >= 100 and "." not in cell else round(value, 1 if value >= 10 else 2)


def _note(spec: Mapping[str, Any], name: str) -> Notes:
    singular = spec["one"]
    lacks = [word.strip() for word in spec.get("lacks", "").split(",") if word.strip()]
    return {
        "one": singular,
        "many": spec.get("many", f"{singular}s"),
        "lacks": lacks,
        "key": "",
        "label": "",
        "columns": {},
    }


def _spoken_name(name: str) -> str:
    """Return the name of a column as people say it: without its unit."""
    words = name.split("_")
    return " ".join(words[:-1] if words[-1] in UNITS and len(words) > 1 and words[-2] != "per" else words)


def _write_tables(tree: Path, tables: Sequence[MadeTable], stem: str, rng: Random) -> Notes:
    """Write each table into the database or a file of its own, in the style of this workspace. Return the notes."""
    naming, dates = rng.choice(NAMINGS), rng.choice(DATES)
    database = tree / f"{stem}{rng.choice(('.db', '.sqlite'))}"
    split = rng.sample(tables, rng.randint(0, len(tables) - 1))
    noted: Notes = {}
    for table in rng.sample(tables, len(tables)):
        names = {plain: naming(plain) for plain in table.note["columns"]}
        rows = [
            {names[plain]: dates(cell) if isinstance(cell, date) else cell for plain, cell in row.items()}
            for row in table.rows
        ]
        file = tree / rng.choice(("data", "exports")) / f"{table.name}{rng.choice(('.csv', '.csv', '.tsv'))}"
        file = file if table in split else database
        (_to_sqlite if file == database else _to_text)(file, table.name, rows)
        noted[table.name] = _rename_columns(table.note, names, naming) | {"path": file.relative_to(tree).as_posix()}
    if database.exists():
        _clear_sqlite_version(database)
    return {"tables": noted}


NAMINGS: tuple[Callable[[str], str], ...] = (
    str, str, str, lambda name: re.sub(r"_(\w)", lambda found: found[1].upper(), name), str.upper,
)  # fmt: skip
DATES: tuple[Callable[[date], str], ...] = (
    date.isoformat, date.isoformat, date.isoformat,
    lambda day: day.strftime("%d.%m.%Y"), lambda day: day.strftime("%d %b %Y"), lambda day: day.strftime("%Y/%m/%d"),
)  # fmt: skip


def _rename_columns(note: Notes, names: Mapping[str, str], naming: Callable[[str], str]) -> Notes:
    columns = {
        names[plain]: about
        | ({"refers": [about["refers"][0], naming(about["refers"][1])]} if "refers" in about else {})
        for plain, about in note["columns"].items()
    }
    return note | {"columns": columns, "key": names.get(note["key"], ""), "label": names.get(note["label"], "")}


def _to_text(file: Path, _: str, rows: Sequence[Row]) -> None:
    file.parent.mkdir(exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as text:
        delimiter = "\t" if file.suffix == ".tsv" else ","
        writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _to_sqlite(file: Path, name: str, rows: Sequence[Row]) -> None:
    columns = ", ".join(f'"{column}" {_type(row[column] for row in rows)}' for column in rows[0])
    connection = sqlite3.connect(file)
    with connection:
        connection.execute(f'CREATE TABLE "{name}" ({columns})')
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', [tuple(row.values()) for row in rows])  # noqa: S608
    connection.close()


def _type(cells: Iterable[Any]) -> str:
    kinds = {type(cell) for cell in cells if cell is not None}
    return "INTEGER" if kinds == {int} else "REAL" if kinds and kinds <= {int, float} else "TEXT"


def _clear_sqlite_version(file: Path) -> None:
    """Remove the version of SQLite from the file, so that the same rows give the same bytes."""
    data = bytearray(file.read_bytes())
    data[96:100] = bytes(4)
    file.write_bytes(data)


# A step is a function of this module; each domain is one, by its name.
globals().update({name: partial(write_domain, spec, words, name) for name, spec, words in _domains()})
