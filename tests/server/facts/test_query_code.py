"""What the tool `query` tells of code: columns and tables that are made of others, and gaps that touch a result."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from skillstill.facts import unseen
from skillstill.facts.index import FactIndex
from skillstill.facts.opened import OPENED
from skillstill.facts.readers import BUNDLED
from skillstill.facts.worker import load_readers
from skillstill.tools import Result
from skillstill.tools.facts.query import query_tool
from skillstill.workspace import Workspace

from tests.scenes import SHOP, write

pytestmark = pytest.mark.anyio
FIXTURES = SHOP.parent
Ask = Callable[[str], Awaitable[Result]]
CLIENT = """\
class Client:
    def listdir(self, path, timeout=3):
        if not path:
            raise ValueError(path)
        return self.send(path, LIMIT)

LIMIT = 9

@retry(times=2)
def test_listdir(client):
    client.listdir("/")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "root", {"client.py": CLIENT})


@pytest.fixture
def ask(root: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setattr(OPENED, "home", lambda: None)
    tool = query_tool((BUNDLED["code"],))

    async def asked(sql: str) -> Result:
        return await tool.call(Workspace(root), {"sql": sql})

    return asked


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("select name, default_value from parameters where function_name = 'listdir' order by position", 2),
        ("select exception from raises where function_name = 'listdir'", 1),
        ("select name from calls where caller_name = 'listdir'", 2),
        ("select c.name from calls c join definitions d on c.caller_name = d.name where d.name = 'listdir'", 2),
        ("select name from calls where caller_name = 'Client.listdir'", 0),
    ],
)
async def test_a_function_is_found_by_its_plain_name_alone(ask: Ask, sql: str, rows: int) -> None:
    assert (await ask(sql)).text.startswith(f"{rows} row")


LONG = "def send(" + ", ".join(f"parameter_{number}: int = {number}" for number in range(11)) + ") -> None"


async def test_a_signature_that_is_asked_alone_is_shown_whole(root: Path, ask: Ask) -> None:
    write(root, {"long.py": LONG + ": ...\n"})
    found = await ask("select name, signature from definitions where name = 'send'")
    assert found.rows == (f"long.py:1: send | {LONG}",)
    assert found.spans


async def test_long_signatures_share_the_room_of_a_result(root: Path, ask: Ask) -> None:
    write(root, {f"long{number}.py": LONG + ": ...\n" for number in range(12)})
    found = await ask("select signature from definitions where name = 'send'")
    assert len(found.rows) == 12
    assert all(row.endswith("…") and len(row) > 120 for row in found.rows)


CLASSES = "class A(Loop): ...\nclass B(A): ...\nclass C(B, Mixin): ...\nclass Loop(A): ...\n"


async def test_ancestors_are_all_types_above_each_with_the_line_of_its_last_step(root: Path, ask: Ask) -> None:
    write(root, {"classes.py": CLASSES})
    found = await ask("select base from ancestors where class = 'C' order by first, base")
    assert found.rows == (
        "classes.py:1: Loop",
        "classes.py:2: A",
        "classes.py:3: B",
        "classes.py:3: Mixin",
        "classes.py:4: A",
    )


async def test_what_a_function_reads_is_told_by_the_names_that_its_lines_mention(ask: Ask) -> None:
    found = await ask(
        "select v.name, v.value from mentions m join variables v on v.name = m.name where m.function_name = 'listdir'"
    )
    assert found.rows == ("client.py:5: LIMIT | 9",)
    assert (await ask("select function from mentions where name = 'LIMIT'")).rows == (
        "client.py:5: Client",
        "client.py:5: Client.listdir",
    )


async def test_a_call_in_a_decorator_is_one_of_what_it_decorates(ask: Ask) -> None:
    assert (await ask("select caller from calls where name = 'retry'")).rows == ("client.py:9: test_listdir",)


async def test_a_query_may_follow_a_chain_and_one_without_an_end_is_counted_no_further(root: Path, ask: Ask) -> None:
    write(root, {"classes.py": CLASSES})
    above = "select base from bases where class = 'C' union select base from bases join a on class = b"
    assert (await ask(f"with a(b) as ({above}) select b from a order by b")).rows == ("A", "B", "Loop", "Mixin")
    endless = await ask("with recursive a(b) as (select 1 union all select b + 1 from a) select b from a")
    assert endless.text.startswith("more than 100,000 rows")


SHELL = "#!/bin/sh\nsend() { curl -X POST; }\n"
UNREAD = "Shell is not read"


@pytest.mark.parametrize(
    "sql",
    [
        "select path from definitions where name = 'backoff'",
        "select count(*) from definitions where qualified = 'Client.backoff' and kind = 'method'",
        "select d.path from definitions d where d.name like '%BACKOFF' union select base from bases where class = 'Z'",
        "select c.path from calls c join definitions d on c.name = d.name where c.caller = 'more' and d.name = 'more'",
        "select path from definitions where name in ('backoff', 'again') order by first",
        "select name from definitions where parent = 'A' and name in (select name from calls where caller_name = 'z')",
        "select name from definitions where path = 'client.py'",
        "select function from mentions where name = 'backoff'",
    ],
)
async def test_a_file_that_lacks_what_is_asked_for_is_no_reason_to_doubt_that_there_is_none(
    root: Path, ask: Ask, sql: str
) -> None:
    write(root, {"deploy.sh": SHELL})
    assert (await ask(sql)).missed == ""


@pytest.mark.parametrize(
    "sql",
    [
        "select path from definitions where name = 'send' and kind = 'macro'",
        "select path from definitions where name like '%en%' and kind = 'macro'",
        "select path from definitions where name in ('backoff', 'send')",
        "select path from definitions where name <> 'backoff'",
        "select path from definitions where not name = 'backoff'",
        "select path from definitions where name not like 'backoff'",
        "select path from definitions where name = 'backoff' or first = 2",
        "select path from definitions where case when name = 'backoff' and first = 2 then 0 else 1 end",
        "select path from definitions where first between 'a' and name = 'backoff'",
        "select path from definitions where name = 'back' || 'off'",
        "select path from definitions where (name = 'backoff') + 1",
        "select max(name = 'backoff') from definitions",
        "select path from definitions where kind = 'class'",
        "select path from definitions where name = '%'",
        "select path from definitions where name = (select 'backoff')",
        "select path from definitions group by name having name = 'backoff'",
        "select path from definitions union select path from definitions where name = 'backoff'",
        "select d.name from definitions d join bases b on b.class = d.name where b.base = 'backoff'",
        "select d.name from bases b left join definitions d on d.name = 'backoff' where b.base = 'backoff'",
        "select name from definitions where name in (select name from calls) and name = 'backoff'",
        "with definitions as (select name from calls) select name from definitions where name = 'backoff'",
        "select class from ancestors where base = 'backoff'",
        "select name is distinct from 'calls' from definitions where name = 'backoff'",
        "select name from (select * from definitions) where name = 'backoff'",
        "select path from definitions where path like 'deploy%'",
    ],
)
async def test_a_file_that_may_hold_what_is_asked_for_is_told(root: Path, ask: Ask, sql: str) -> None:
    write(root, {"deploy.sh": SHELL})
    assert (await ask(sql)).missed == UNREAD


async def test_a_file_that_cannot_be_looked_into_is_told(root: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "wide.sh").write_bytes("back() { }".encode("utf-16"))
    assert (await ask("select path from definitions where name = 'backoff'")).missed == UNREAD
    monkeypatch.setattr(unseen, "MOST_BYTES", 5)
    write(root, {"wide.sh": SHELL})
    assert (await ask("select path from definitions where name = 'backoff'")).missed == UNREAD


def tables() -> list[tuple[str, str, tuple[str, ...]]]:
    """The columns that have few values, with their tables."""
    found = [table for reader in load_readers([*BUNDLED.values()]) for table in reader.tables]
    return [(table.name, column.name, column.values) for table in found for column in table.columns if column.values]


@pytest.mark.parametrize("workspace", sorted(FIXTURES.iterdir()), ids=lambda folder: folder.name)
def test_a_column_of_few_values_has_no_others(workspace: Path) -> None:
    index = FactIndex(workspace, [*BUNDLED.values()], processes=1)
    index.refresh(str(file.relative_to(workspace)) for file in workspace.rglob("*") if file.is_file())
    for table, column, values in tables():
        found = {value for (value,) in index.ask(f"select distinct {column} from {table}").rows}
        assert found <= {None, *values}, (table, column)
    index.close()
