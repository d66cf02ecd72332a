"""Which files tally and entries take for logs, and on which clock and in which entries they read them."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from skillstill.tools.logs import files

from tests.scenes import write
from tests.server.tools.calling import call, lines

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


async def test_packed_logs_are_named_and_nothing_is_believed_to_be_in_none_of_them(tmp_path: Path) -> None:
    write(tmp_path, {"app.log": f"{DAY} ERROR cart: full\n"})
    (tmp_path / "app.log.1.gz").write_bytes(b"\x1f\x8b")
    (tmp_path / "site.tar.gz").write_bytes(b"\x1f\x8b")
    told = "1 not read (packed, too many, too large or no text): app.log.1.gz"
    assert (await lines("tally", tmp_path, by="level"))[-1] == told
    nothing = await call("entries", tmp_path, pattern="zebra")
    assert nothing.text.endswith(told)
    assert nothing.missed == "1 logs, app.log.1.gz first, were not read"
    (tmp_path / "app.log").unlink()
    assert (await lines("tally", tmp_path, by="level"))[1] == told


async def test_what_only_lies_where_logs_do_keeps_no_absence_from_being_believed(tmp_path: Path) -> None:
    write(tmp_path, {"logs/app.log": f"{DAY} ERROR cart: full\n"})
    for name in ("a.out", "logs/backup.tar.gz", "logs/tool"):
        (tmp_path / name).write_bytes(b"\x7fELF\0\0")
    nothing = await call("entries", tmp_path, pattern="zebra")
    assert "3 not read" in nothing.text
    assert nothing.missed == ""


async def test_of_too_many_logs_those_that_were_not_read_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_FILES", 3)
    write(tmp_path, {f"{name}.log": f"{DAY} INFO {name}\n" for name in "abcde"})
    head, *_, left = await lines("entries", tmp_path)
    assert head.startswith("3 entries in 3 files")
    assert left == "2 not read (packed, too many, too large or no text): d.log, e.log"


async def test_what_lies_beside_logs_is_one_only_where_it_reads_like_one(tmp_path: Path) -> None:
    row = f"{DAY} ERROR cart: full\n"
    write(tmp_path, {"logs/app.txt": row, "logs/README.md": "# Logs\nError: see below\nfatal: hm\nwhere logs go\n"})
    write(tmp_path, {"logs/rotate.py": "def rotate(): ...\n", "logs/data.csv": "a,b\n1,2\n"})
    assert (await lines("tally", tmp_path, by="file"))[1:] == ["1 × app.txt, first logs/app.txt:1"]


async def test_a_folder_of_sources_called_log_hides_no_log_elsewhere(tmp_path: Path) -> None:
    write(tmp_path, {"app/log/views.py": "import os\n", "server.txt": f"{DAY} ERROR cart: full\n"})
    assert (await lines("tally", tmp_path, by="file"))[1:] == ["1 × server.txt, first server.txt:1"]


async def test_that_a_log_whose_lines_tell_no_level_or_time_has_no_such_entry_is_not_believed(tmp_path: Path) -> None:
    write(tmp_path, {"app.log": f"{DAY} ERROR cart: full\n", "old.log": "disk is full\ncannot go on\n"})
    level = await call("entries", tmp_path, level="critical")
    assert level.missed == "no level was recognised in 1 logs, old.log first"
    for window in ({"since": "11:00"}, {"until": "09:00"}):
        assert (await call("tally", tmp_path, by="level", **window)).missed == (
            "no time was recognised in 1 logs, old.log first"
        )
    assert (await call("entries", tmp_path, pattern="zebra")).missed == ""
    assert (await call("entries", tmp_path, path="app.log", level="critical")).missed == ""


async def test_that_a_log_tells_no_levels_is_no_matter_to_what_was_found(tmp_path: Path) -> None:
    write(tmp_path, {"app.log": f"{DAY} ERROR cart: full\n", "old.log": "disk is full\n"})
    assert (await call("entries", tmp_path, level="error")).missed == ""


async def test_what_a_program_printed_and_was_passed_over_keeps_an_absence_from_being_believed(tmp_path: Path) -> None:
    write(tmp_path, {"app.log": f"{DAY} ERROR cart: full\n", "worker.err": "no such host\nzebra\n"})
    write(tmp_path, {"rows.jsonl": '{"zebra": 1}\n', "logs/README.md": "zebra\n"})
    nothing = await call("entries", tmp_path, pattern="zebra")
    assert nothing.missed == "1 files, worker.err first, do not read like logs and were passed over"
    assert (await call("entries", tmp_path, pattern="full")).missed == ""


async def test_of_many_files_that_may_be_logs_those_that_nobody_looked_into_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "TASTED", 2)
    write(tmp_path, {f"{name}.txt": "words and more words\n" for name in "abc"})
    nothing = await call("entries", tmp_path)
    assert nothing.text == "no log entries in the workspace, ignored files left out: name a log file by its path"
    assert nothing.missed == "1 files, c.txt first, do not read like logs and were passed over"


async def test_that_no_entry_has_a_level_is_not_believed_if_no_log_tells_any(tmp_path: Path) -> None:
    write(tmp_path, {"syslog": "Mar  1 10:00:02 web01 cron[7]: ready\n"})
    silent = "no level was recognised in 1 logs, syslog first"
    assert (await call("entries", tmp_path, level="critical")).missed == silent
    write(tmp_path, {"app.log": f"{DAY} ERROR cart: full\n"})
    assert (await call("entries", tmp_path, level="critical")).missed == ""
    assert (await call("entries", tmp_path, path="syslog", level="critical")).missed == silent
    write(tmp_path, {"other.log": f"{DAY} |17| full\n{DAY} |11| full\n{DAY} WARN full\n"})  # levels that nobody knows
    told = (await call("entries", tmp_path, level="critical")).missed
    assert told == "no level was recognised in 1 logs, other.log first"


async def test_a_log_without_years_that_runs_over_new_years_eve_is_in_order(tmp_path: Path) -> None:
    old, new = "Dec 31 23:59:59 web01 nginx[7]: error: full\n", "Jan  1 00:00:05 web01 nginx[7]: error: full again\n"
    write(tmp_path, {"syslog": old + new, "syslog.1": "Nov 30 10:00:00 web01 cron[7]: ready\n"})
    shown = await lines("entries", tmp_path, level="error")
    assert shown[0] == "2 ERROR or CRITICAL entries match in 1 files, 12-31 23:59:59 to 01-01 00:00:05:"
    assert [line.split()[1] for line in shown[1:]] == ["Dec", "Jan"]
    assert len(await lines("entries", tmp_path, since="01-01 00:00")) == 2
    write(tmp_path, {"app.log": "2026-12-31 12:00:00 INFO cart: ready\n"})
    shown = await lines("entries", tmp_path, level="error")
    assert shown[0].endswith("2026-12-31 23:59:59 to 2027-01-01 00:00:05:")


async def test_a_log_without_years_that_is_written_newest_first_is_of_one_year(tmp_path: Path) -> None:
    newest = "".join(f"{day} 10:00:00 web01 cron[7]: error: full\n" for day in ("Mar  1", "Feb 20"))
    write(tmp_path, {"syslog": newest, "other.log": "May  2 10:00:00 web01 cron[7]: error: late\n"})
    shown = await lines("entries", tmp_path)
    assert shown[0].endswith("02-20 10:00:00 to 05-02 10:00:00:")


async def test_that_nothing_is_new_is_not_believed_if_a_log_was_not_read_or_tells_no_time(tmp_path: Path) -> None:
    again = "2026-03-01 11:00:02 ERROR cart: full\n"
    write(tmp_path, {"app.log": f"{DAY} ERROR cart: full\n{again}"})
    new = {"by": "message", "since": "11:00", "new": True}
    assert (await call("tally", tmp_path, **new)).missed == ""
    write(tmp_path, {"old.log": "disk is full\n"})
    assert (await call("tally", tmp_path, **new)).missed == "no time was recognised in 1 logs, old.log first"
    (tmp_path / "app.log.1.gz").write_bytes(b"\x1f\x8b")
    assert (await call("tally", tmp_path, **new)).missed == "1 logs, app.log.1.gz first, were not read"
