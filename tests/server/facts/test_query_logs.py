"""What the tool `query` tells of logs."""

import gzip
from pathlib import Path

import pytest
from skillstill.facts.readers import BUNDLED
from skillstill.tools.facts.query import query_tool
from skillstill.workspace import Workspace

pytestmark = pytest.mark.anyio
LOG = b"17/06/09 20:10:40 INFO a.B: the disk is full\n17/06/09 20:10:41 INFO a.B: the disk has room\n"


@pytest.mark.parametrize(
    "data", [LOG, gzip.compress(LOG), LOG.decode().encode("utf-16")], ids=["plain", "gz", "utf-16"]
)
async def test_a_message_is_found_by_its_text_however_the_file_is_stored(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "app.log").write_bytes(data)
    ask = query_tool((BUNDLED["logs"],))
    result = await ask.call(Workspace(tmp_path), {"sql": "select message from entries where message like '%full%'"})
    assert result.text == "1 row: message\napp.log:1: the disk is full"
