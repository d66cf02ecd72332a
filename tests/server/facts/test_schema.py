"""The tool `schema`: what a folder of tables holds, and first what a question is about."""

from pathlib import Path

import pytest
from skillstill.facts.readers import BUNDLED
from skillstill.tools.facts.tools import tools_of
from skillstill.tools.kit.tool import Result
from skillstill.workspace import Workspace

from tests.scenes import write

pytestmark = pytest.mark.anyio
CITIES = "name,country,people\nBonn,Germany,330000\nLyon,France,520000\nGraz,Austria,290000\nBari,Italy,320000\n"


async def asked(root: Path, text: str) -> Result:
    tool = next(one for one in tools_of((BUNDLED["data"],)) if one.name == "schema")
    return await tool.call(Workspace(root), {"text": text})


async def schema(root: Path, text: str) -> list[str]:
    return (await asked(root, text)).text.split("\n")


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


async def test_of_many_tables_and_columns_the_rest_are_named_and_counted(tmp_path: Path) -> None:
    wide = ",".join([*(f"c{number}" for number in range(79)), "altitude"]) + "\n" + ",".join("1" * 80) + "\n"
    many = {f"t{number}.csv": "a,b\n1,2\n" for number in range(40)}
    result = await asked(write(tmp_path / "root", {"wide.csv": wide, **many}), "the altitude of wide")
    head, others, first, *rest = result.text.split("\n")
    assert (head, first) == ("41 tables in 41 files", "wide.csv: wide, 1 rows")
    assert others.startswith("other tables: t")
    assert others.endswith("… 6 more")
    assert "  altitude INTEGER: 1" in rest
    (also,) = [line for line in rest if line.startswith("  also c")]
    assert result.omitted == 6 + int(also.rpartition("… ")[2].removesuffix(" more"))


async def test_tables_of_one_name_are_told_apart(tmp_path: Path) -> None:
    files = {f"y{year}/sales.csv": "a,b\n1,2\n" for year in range(2001, 2009)}
    shown = await schema(write(tmp_path / "root", files), "what did we sell?")
    assert shown[1].count("sales in y200") == 3


async def test_a_folder_without_tables_says_so(tmp_path: Path) -> None:
    assert await schema(write(tmp_path / "root", {"notes.txt": "nothing\n"}), "how many?") == ["no table in any file"]


async def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"orders.db": "SQLite format 3\0 but broken"})
    result = await asked(root, "how many orders?")
    assert result.text.startswith("no table in any file\n(Not seen: ")
    assert result.missed
