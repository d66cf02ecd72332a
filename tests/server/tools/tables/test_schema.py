"""tables, named and select: what a run about data begins with, and the queries of a model that knows SQL."""

from pathlib import Path

import llguidance
import pytest
from skillstill.chat import LINES
from skillstill.chat.grammar import turn_grammar
from skillstill.tools import TOOLS, Result
from skillstill.tools.tables import values
from skillstill.types import Message

from tests.scenes import write
from tests.server.chat.shown import turn_of
from tests.server.tools.calling import call, lines

pytestmark = pytest.mark.anyio
SHELF = Path(__file__).parents[3] / "fixtures" / "shelf"


async def test_tables_shows_all_columns_with_what_they_refer_to_and_some_values() -> None:
    told = await lines("tables", SHELF)
    book = told.index("book, 40 rows")
    assert told[book : book + 8] == [
        "book, 40 rows",
        " id 1..40",
        " title 'The Blue Engine' | 'The Blue Garden' (of 40)",
        " author_id -> author.id 5 | 2 | 3 | 1 | 4",
        " genre 'Crime' | 'Travel' | 'crime fiction' | 'Poetry'",
        " price 4.81..38.16",
        " printed '2010-02-27'..'2024-03-12'",
        ' "order" 10..400',
    ]


async def test_a_column_refers_to_a_key_of_its_name_in_another_file(tmp_path: Path) -> None:
    orders, customers = "order_id,customer_id\n1,7\n2,7\n3,8\n", "customer_id,name\n7,Ann\n8,Bob\n"
    write(tmp_path, {"orders.csv": orders, "customers.csv": customers})
    assert " customer_id -> customers.customer_id 7 | 8" in await lines("tables", tmp_path)


async def test_columns_that_there_was_no_time_to_read_are_told_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "COLUMNS", 0)
    write(tmp_path, {"orders.csv": "order_id,customer_id\n1,7\n", "customers.csv": "customer_id,name\n7,Ann\n"})
    assert " customer_id" in await lines("tables", tmp_path)


async def test_of_many_tables_the_names_are_told_and_the_likeliest_with_the_question(tmp_path: Path) -> None:
    columns, row = ",".join(f"measure_{column}" for column in range(40)), ",".join(["1"] * 40)
    write(tmp_path, {f"part{number}.csv": f"{columns}\n{row}\n" for number in range(30)})
    write(tmp_path, {"birds.csv": "ring,species\n1,Wren\n2,Robin\n"})
    whole, asked = await call("tables", tmp_path), await call("named", tmp_path, text="what ring has the wren")
    assert "birds, 2 rows" in whole.text
    assert "species" not in whole.text
    assert asked.text.startswith("birds.species: 'Wren'\nbirds, 2 rows\n ring 1 | 2\n species")


async def test_named_tells_where_values_stand_that_a_question_names() -> None:
    asked = await lines("named", SHELF, text="Who wrote The Silent Engine?")
    assert asked[0] == "book.title: 'The Silent Engine'"
    assert await lines("named", SHELF, text="How many are there?") == ["no value of a column is named"]


@pytest.mark.parametrize(
    "query",
    [
        "select b.title from book b join author a on a.id = b.author_id where a.name like '%brandt%'",
        "select country, group_concat(name) from author group by country having count(*) > 1",
        "select name from author where country not in ('Italy', 'Fr''ance') union select reader from loans",
        'select max("order") - min("order") from book',
    ],
)
async def test_a_model_that_knows_sql_may_write_any_query_over_what_was_shown(query: str) -> None:
    assert _accepts(await call("tables", SHELF), query)


@pytest.mark.parametrize("query", ["select salary from author", "select * from invoice", "delete from book"])
async def test_it_may_write_no_name_that_was_not_shown(query: str) -> None:
    assert not _accepts(await call("tables", SHELF), query)


def _accepts(shown: Result, query: str) -> bool:
    said = (turn_of("r1", shown), Message(role="user", content="anything"))
    grammar = turn_grammar([TOOLS["select"].schema], LINES, said)
    turn = [*f">select\nquery: {query}".encode()]
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar)
    return matcher.try_consume_tokens(turn) == len(turn) and matcher.is_accepting()
