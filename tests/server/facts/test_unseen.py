"""A gap is left out only of results that the file could not change: two indexes, one of which misses a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some
from skillstill.errors import Refusal
from skillstill.facts.index import FactIndex
from skillstill.facts.readers import BUNDLED

from tests.scenes import write

ONE = "class A(B):\n    def get(self, key=1): return put(key)\ndef put(key): raise E(key)\nL = 1\n"
OTHER = "class C(A):\n def get(self, size=2): return A.get(L)\n def last(self): raise F(put(3))\ndef get_all(): get()\n"
DEEP = "x = " + "(" * 1_500 + ")" * 1_500  # makes it a file that is not read

NAMES = some.sampled_from(["A", "C", "get", "put", "last", "C.get", "g%t", "%ast", "_et", "zip", "", "a.py", "%b.py"])
TABLES = {
    "definitions": ["name", "qualified", "parent", "kind", "path", "returns", "first"],
    "bases": ["class", "base", "path"],
    "calls": ["name", "caller", "caller_name", "receiver"],
    "mentions": ["name", "function", "function_name", "path"],
    "ancestors": ["class", "base", "path"],
    "raises": ["exception", "function_name", "kind"],
    "files": ["name", "path"],
}
TABLE = some.sampled_from([*TABLES])


def column_of(table: str) -> some.SearchStrategy[str]:
    return some.sampled_from(TABLES[table])


@some.composite
def conditions(draw: some.DrawFn, table: str, alias: str = "", depth: int = 2) -> str:
    column, name, other = f"{alias}{draw(column_of(table))}", draw(NAMES), draw(NAMES)
    if depth == 0 or draw(some.booleans()):
        plain = [f"{column} = '{name}'", f"{column} like '{name}'", f"{column} in ('{name}', '{other}')"]
        odd = [
            f"{column} <> '{name}'",
            f"{column} not like '{name}'",
            f"{column} between '{name}' and {column} = '{other}'",
            f"{column} = '{name}' || '{other}'",
            f"'{name}' = {column}",
            f"{column} is null",
        ]
        return draw(some.sampled_from([*plain, *plain, *odd]))
    one, two = draw(conditions(table, alias, depth - 1)), draw(conditions(table, alias, depth - 1))
    both = f"{one} and {two}"
    return draw(some.sampled_from([both, both, f"{one} or {two}", f"not {one}", f"case when {both} then 0 else 1 end"]))


@some.composite
def queries(draw: some.DrawFn) -> str:
    one, two = draw(TABLE), draw(TABLE)
    picked, where = draw(column_of(one)), draw(conditions(one))
    of_one, of_two = draw(conditions(one, "o.")), draw(conditions(two, "t."))
    inner = f"select {draw(column_of(two))} as found from {two} where {draw(conditions(two))}"
    shapes = [
        f"select {picked} from {one} where {where}",
        f"select count(*) from {one} o where {of_one}",
        f"select {picked} from {one} where {where} and {picked} in ({inner})",
        f"select {picked} from {one} where {where} except {inner}",
        f"select o.path, t.path from {one} o join {two} t on {of_two} where {of_one}",
        f"select o.path, t.path from {one} o left join {two} t on o.path = t.path where {of_two}",
        f"select o.path from {one} o, {two} as t where {of_one} and {of_two}",
        f"select max({picked}) from {one} where {where} group by path",
        f"select * from ({inner}) where found = '{draw(NAMES)}'",
        f"with {one} as ({inner}) select found from {one} where found = '{draw(NAMES)}'",
    ]
    return draw(some.sampled_from(shapes))


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FactIndex, FactIndex]]:
    """An index of both files, and one that misses the other."""
    roots = [tmp_path_factory.mktemp(name) for name in ("whole", "missing")]
    write(roots[0], {"a.py": ONE, "lib/b.py": OTHER})
    write(roots[1], {"a.py": ONE, "lib/b.py": OTHER + DEEP})
    made = [index_of(root) for root in roots]
    yield made[0], made[1]
    for index in made:
        index.close()


def index_of(root: Path) -> FactIndex:
    index = FactIndex(root, [BUNDLED["code"]], processes=1)
    index.refresh(["a.py", "lib/b.py"])
    return index


@settings(deadline=None, max_examples=300)
@given(queries())
@example("select name from definitions where name = 'last'")
def test_what_a_missing_file_changes_is_said(indexes: tuple[FactIndex, FactIndex], query: str) -> None:
    whole, missing = indexes
    try:
        rows, found = whole.ask(query, 1_000).rows, missing.ask(query, 1_000)
    except Refusal:
        return
    assert rows == found.rows or found.unseen, query


def test_what_it_cannot_change_is_not_doubted(indexes: tuple[FactIndex, FactIndex]) -> None:
    _, missing = indexes
    assert missing.ask("select name from definitions where name = 'last'").unseen
    assert not missing.ask("select name from definitions where name = 'first_of_all'").unseen
