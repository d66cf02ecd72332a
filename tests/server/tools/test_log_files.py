"""Which files tally and entries take for logs, and on which clock and in which entries they read them."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenes import write
from tests.server.tools.calling import lines

pytestmark = pytest.mark.anyio
DAY = "2026-03-01 10:00:02"


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that stands there."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


BANNER = "".join(f"| {line} |\n" for line in range(30))
LATE = f"""{BANNER}2026-03-01T10:00:02Z ERROR cart: cannot add
Traceback (most recent call last):
  File "cart.py", line 3, in add
KeyError: 'x'
2026-03-01T12:00:03+02:00 INFO cart: goes on
"""


@pytest.mark.usefixtures("new_york")
async def test_times_behind_a_long_banner_are_those_of_the_log_and_not_of_the_machine(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": LATE})
    shown = await lines("entries", tmp_path, level="error")
    assert shown[0] == f"1 ERROR or CRITICAL entries match in 1 files, {DAY}:"
    assert (await lines("tally", tmp_path, by="hour", since="09:00"))[1] == "10:00=2"


async def test_a_stack_trace_behind_a_long_banner_belongs_to_its_entry(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": LATE})
    shown = await lines("entries", tmp_path, pattern="KeyError")
    assert shown[1] == "x.log:31: 2026-03-01T10:00:02Z ERROR cart: cannot add … KeyError: 'x'"
    assert (await lines("tally", tmp_path, by="level"))[0].startswith("32 entries")
