"""What the tool `query` tells of code: columns and tables that are made of others, and gaps that touch a result."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from skillstill.facts.opened import OPENED
from skillstill.facts.readers import BUNDLED
from skillstill.tools import Result
from skillstill.tools.facts.query import query_tool
from skillstill.workspace import Workspace

from tests.scenes import write

pytestmark = pytest.mark.anyio
Ask = Callable[[str], Awaitable[Result]]
CLIENT = """\
class Client:
    def listdir(self, path, timeout=3):
        if not path:
            raise ValueError(path)
        return self.send(path)

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
