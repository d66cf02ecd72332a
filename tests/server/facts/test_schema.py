"""The tool `schema`: what a folder of tables holds, and first what a question is about."""

from pathlib import Path

import pytest
from skillstill.facts.readers import BUNDLED
from skillstill.tools.facts.tools import tools_of
from skillstill.workspace import Workspace

from tests.scenes import write

pytestmark = pytest.mark.anyio
CITIES = "name,country,people\nBonn,Germany,330000\nLyon,France,520000\nGraz,Austria,290000\nBari,Italy,320000\n"


async def schema(root: Path, text: str) -> list[str]:
    tool = next(one for one in tools_of((BUNDLED["data"],)) if one.name == "schema")
    return (await tool.call(Workspace(root), {"text": text})).text.split("\n")


async def test_it_shows_the_table_that_is_meant_first_with_the_values_of_its_columns(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"cities.csv": CITIES, "animals.csv": "animal,legs\ncat,4\nbird,2\n"})
    shown = await schema(root, "which city has the most people?")
    assert shown == [
        "2 tables in 2 files",
        "cities.csv: cities, 4 rows",
        "  name TEXT: Bonn | Lyon | Graz",
        "  country TEXT: Germany | France | Austria",
        "  people INTEGER: 290000 to 520000",
        "animals.csv: animals, 2 rows",
        "  animal TEXT: cat | bird",
        "  legs INTEGER: 4 | 2",
    ]
    assert (await schema(root, "how many legs has a bird?"))[1] == "animals.csv: animals, 2 rows"


async def test_of_many_tables_and_columns_the_rest_are_named(tmp_path: Path) -> None:
    wide = ",".join([*(f"c{number}" for number in range(59)), "altitude"]) + "\n" + ",".join("1" * 60) + "\n"
    root = write(tmp_path / "root", {"wide.csv": wide, **{f"t{letter}.csv": "a,b\n1,2\n" for letter in "uvwxyz"}})
    shown = await schema(root, "the altitude of wide")
    assert shown[1] == "wide.csv: wide, 1 rows"
    assert "  altitude INTEGER: 1" in shown
    assert any(line.startswith("  also c") and line.endswith("more") for line in shown)
    assert shown[-1].startswith("other tables: t")


async def test_a_folder_without_tables_says_so(tmp_path: Path) -> None:
    assert await schema(write(tmp_path / "root", {"notes.txt": "nothing\n"}), "how many?") == ["no table in any file"]
