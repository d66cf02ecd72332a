"""tally and entries, over the logs that programs really write, and over what only calls itself a log."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import from_thread
from skillstill.tools.logs import files
from skillstill.tools.logs.lines import template

from tests.scenes import SHOP, write
from tests.server.tools.calling import call, lines, refused

pytestmark = pytest.mark.anyio
INCIDENT = SHOP.parent / "incident"


async def counted(root: Path, by: str, **arguments: Any) -> dict[str, int]:
    """The groups of a tally by name."""
    rows = [row.split(" × ") for row in (await lines("tally", root, by=by, **arguments))[1:]]
    return {row[1].rpartition(", first")[0]: int(row[0]) for row in rows}


DAY = "2026-03-01 10:00:02"
JSON = '{"time": "2026-03-01T10:00:02Z", "level": "error", "logger": "cart", "msg": "timeout after 30 ms"}'
FORMATS = [
    ("2026-03-01 10:00:02,123 - shop.cart - ERROR - timeout after 30 ms", DAY, "ERROR", "shop.cart"),
    ("2026-03-01T10:00:02.123456Z ERROR shop_cart: timeout after 30 ms", DAY, "ERROR", "shop_cart"),
    ("2026-03-01T10:00:02+02:00 error timeout after 30 ms", DAY, "ERROR", "x"),
    ("2026-03-01 10:00:02,123 ERROR [main] com.x.Cart: timeout after 30 ms", DAY, "ERROR", "com.x.Cart"),
    ("2026-03-01 10:00:02.1  WARN 812 --- [  main] c.x.Cart   : timeout after 30 ms", DAY, "WARN", "c.x.Cart"),
    ("10:00:02.123 [main] INFO com.x.Cart - timeout after 30 ms", "10:00:02", "INFO", "com.x.Cart"),
    ("2026-03-01 10:00:02 | SEVERE   | cart.api:add:12 - timeout after 30 ms", DAY, "ERROR", "cart.api:add:12"),
    ("2026-03-01T10:00:02.123Z\tdebug\tcart/api.go:12\ttimeout after 30 ms", DAY, "DEBUG", "cart/api.go:12"),
    ("[2026-03-01T10:00:02Z WARN  cart::api] timeout after 30 ms", DAY, "WARN", "cart::api"),
    ("[2026-03-01 10:00:02] [error] [cart] timeout after 30 ms", DAY, "ERROR", "cart"),
    ("[Sun Mar 01 10:00:02.123 2026] [core:crit] [pid 1] timeout after 30 ms", DAY, "CRITICAL", "core"),
    ("2026-03-01 10:00:02.1 UTC [88] FATAL:  timeout after 30 ms", DAY, "CRITICAL", "x"),
    ("INFO  [2026-03-01 10:00:02,123] com.x.Cart: timeout after 30 ms", DAY, "INFO", "com.x.Cart"),
    ("[ERROR] 2026-03-01 10:00:02 timeout after 30 ms", DAY, "ERROR", "x"),
    ("ERROR 2026-03-01 10:00:02,123 [main] com.x.Cart - timeout after 30 ms", DAY, "ERROR", "com.x.Cart"),
    ("[2026-03-01T10:00:02,123][WARN ][o.e.n.Node] [node] timeout after 30 ms", DAY, "WARN", "o.e.n.Node"),
    ("[2026-03-01 10:00:02,123: ERROR/ForkPoolWorker-1] timeout after 30 ms", DAY, "ERROR", "x"),
    ("[2026-03-01T10:00:02.1+0000] {cart.py:12} INFO - timeout after 30 ms", DAY, "INFO", "cart.py:12"),
    ("2026-03-01 10:00:02, Warning   timeout after 30 ms", DAY, "WARN", "x"),
    ("\x1b[2m2026-03-01T10:00:02.0Z\x1b[0m \x1b[31mERROR\x1b[0m cart: timeout after 30 ms", DAY, "ERROR", "cart"),
    ("2026-03-01 10:00:02 AM ERROR cart: timeout after 30 ms", DAY, "ERROR", "cart"),
    ("2026-03-01 01:00:02 PM ERROR cart: timeout after 30 ms", "2026-03-01 13:00:02", "ERROR", "cart"),
    ("2026-03-01 12:00:02 AM ERROR cart: timeout after 30 ms", "2026-03-01 00:00:02", "ERROR", "cart"),
    ("03/01/26 10:00:02 ERROR cart: timeout after 30 ms", DAY, "ERROR", "cart"),
    ("2026/03/01 10:00:02 [emerg] 31#31: *1 timeout after 30 ms", DAY, "CRITICAL", "x"),
    ("26/03/01 10:00:02 INFO storage.Memory: timeout after 30 ms", DAY, "INFO", "storage.Memory"),
    ("Mar  1 10:00:02 host app[123]: timeout after 30 ms", "03-01 10:00:02", "no level", "app"),
    ("Mar  1 10:00:02 host app[123]: error: timeout after 30 ms", "03-01 10:00:02", "ERROR", "app"),
    ("<11>Mar  1 10:00:02 host app: timeout after 30 ms", "03-01 10:00:02", "ERROR", "app"),
    ("Mar  1 10:00:02 mac app[123] <Error>: timeout after 30 ms", "03-01 10:00:02", "ERROR", "app"),
    ("2026-03-01T10:00:02.007960-07:00 ERR kernel: timeout after 30 ms", "2026-03-01 10:00:02", "ERROR", "kernel"),
    ("2026-03-01T10:00:02.007960-07:00 INFO app[123]: timeout after 30 ms", "2026-03-01 10:00:02", "INFO", "app"),
    ("03-01 10:00:02.123  1234  1250 E Activity: timeout after 30 ms", "03-01 10:00:02", "ERROR", "Activity"),
    ("2026-03-01 10:00:02,123 - WARN  [Worker:18:Quorum$Send@679] - timeout after 30 ms", DAY, "WARN", "Quorum$Send"),
    (
        "2026-03-01T10:00:02.123Z ERROR 1 --- [shop] [ main] c.shop.Cart : timeout after 30 ms",
        DAY, "ERROR", "c.shop.Cart",
    ),
    ("01-Mar-2026 10:00:02.123 SEVERE [main] timeout after 30 ms", "2026-03-01 10:00:02", "ERROR", "main"),
    ("01.03.2026 10:00:02 ERROR timeout after 30 ms", "2026-03-01 10:00:02", "ERROR", "x"),
    ("01 Mar 2026 10:00:02,123 ERROR timeout after 30 ms", "2026-03-01 10:00:02", "ERROR", "x"),
    ("2026-03-01T10:00:02.1+00:00 host app[123]: timeout after 30 ms", DAY, "no level", "app"),
    ('<165>1 2026-03-01T10:00:02.003Z host app 8 ID47 [a@1 b="c"] timeout after 30 ms', DAY, "INFO", "app"),
    ("E0301 10:00:02.123456       1 cart.go:12] timeout after 30 ms", "03-01 10:00:02", "ERROR", "cart"),
    ("2026-03-01 10:00:02 status installed libc6:amd64 2.36-9", DAY, "no level", "x"),
    ("ERROR:shop.cart:timeout after 30 ms", "", "ERROR", "shop.cart"),
    ("fail: Shop.Cart[0]\n      timeout after 30 ms", "", "ERROR", "Shop.Cart"),
    ("[WARN] timeout after 30 ms", "", "WARN", "x"),
    ('time=2026-03-01T10:00:02Z level=error service=cart msg="timeout after 30 ms"', DAY, "ERROR", "cart"),
    (JSON, DAY, "ERROR", "cart"),
    ('{"@timestamp": "2026-03-01T10:00:02.5Z", "log.level": "WARN", "message": "timeout"}', DAY, "WARN", "x"),
    ('{"level": 50, "time": 1772359202000, "name": "cart", "msg": "timeout after 30 ms"}', DAY, "ERROR", "cart"),
    ('1.2.3.4 - - [01/Mar/2026:10:00:02 +0000] "GET /cart/7?a=b HTTP/1.1" 502 1 "-" "-"', DAY, "ERROR", "/cart"),
    ('::1 - bob [01/Mar/2026:10:00:02 +0000] "GET / HTTP/1.1" 404 1', DAY, "WARN", "/"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "time", "level", "component"), FORMATS, ids=[line[:40] for line, *_ in FORMATS])
async def test_a_line_tells_its_time_level_and_component(
    tmp_path: Path, line: str, time: str, level: str, component: str
) -> None:
    write(tmp_path, {"x.log": f"{line}\n"})
    head, row = await lines("tally", tmp_path, by="level")
    assert head == f"1 entries in 1 files{', ' if time else ''}{time}; 1 level:"
    assert row == f"1 × {level}, first x.log:1"
    assert await counted(tmp_path, "component") == {component: 1}


@pytest.mark.parametrize(
    ("message", "template"),
    [
        ("request 4711 took 3.5 ms", "request * took * ms"),
        ("order ORD-991 of user42 for 'Ann Lee' failed", "order ORD-* of * for * failed"),
        ("read /var/lib/x.db from 10.0.0.7:5432", "read * from *"),
        ("job 0f8fad5b-d9cb-469f-a165-70867728950e at 0x7f3a2c is done", "job * at * is done"),
        ("mail to ann@example.org: https://a.b/c?d=1", "mail to *: *"),
        ("ids [1, 2, 3] retry=4 it can't, won't", "ids [*] retry=* it can't, won't"),
        ("worker-3 stops", "worker-* stops"),
    ],
)
async def test_messages_that_differ_in_numbers_ids_paths_and_quotes_are_one(
    tmp_path: Path, message: str, template: str
) -> None:
    write(tmp_path, {"x.log": f"{DAY} INFO {message}\n" * 2})
    assert await counted(tmp_path, "message") == {f"INFO {template}": 2}


async def test_requests_are_one_message_by_method_path_and_status(tmp_path: Path) -> None:
    row = '1.2.3.4 - - [01/Mar/2026:10:00:02 +0000] "GET /cart/{}?q={} HTTP/1.1" {} 9\n'
    write(tmp_path, {"x.log": row.format(1, 1, 200) + row.format(22, 2, 200) + row.format(3, 3, 500)})
    assert await counted(tmp_path, "message") == {"INFO GET /cart/* 200": 2, "ERROR GET /cart/* 500": 1}


async def test_groups_stand_largest_first_with_their_first_place_and_the_rest_is_counted(tmp_path: Path) -> None:
    levels = [*"aaabbc", *"defgh"]
    write(tmp_path, {"x.log": "".join(f"{DAY} INFO [{name}] message\n" for name in levels)})
    result = await call("tally", tmp_path, by="component")
    assert result.text.split("\n") == [
        "11 entries in 1 files, 2026-03-01 10:00:02; 8 components:",
        "3 × a, first x.log:1",
        "2 × b, first x.log:4",
        "1 × c, first x.log:6",
        "1 × d, first x.log:7",
        "1 × e, first x.log:8",
        "1 × f, first x.log:9",
        "… 2 other components with 2 entries",
    ]
    assert [span.first for span in result.spans] == [1, 4, 6, 7, 8, 9]


async def test_time_groups_stand_in_time_order_and_the_largest_with_its_place(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"b.log": "2026-03-01 10:00:01 INFO x\n2026-03-01 10:02:01 INFO x\n" + f"{DAY[:-5]}05:00 INFO x\n" * 2},
    )
    assert await lines("tally", tmp_path, by="minute") == [
        "4 entries in 1 files, 2026-03-01 10:00:01 to 10:05:00; 3 minutes:",
        "10:00=1 10:02=1 10:05=2",
        "most in 10:05: 2, first b.log:3",
    ]
    assert (await lines("tally", tmp_path, by="hour"))[1] == "10:00=4"
    write(tmp_path, {"c.log": "2026-03-02 00:00:01 INFO x\n"})
    assert (await lines("tally", tmp_path, by="hour"))[1] == "03-01 10:00=4 03-02 00:00=1"


async def test_of_many_minutes_the_largest_are_told(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"x.log": "".join(f"2026-03-01 {n // 60:02}:{n % 60:02}:00 INFO x\n" * (1 + n % 2) for n in range(100))},
    )
    shown = await lines("tally", tmp_path, by="minute")
    assert shown[1].startswith("00:01=2 00:03=2")
    assert shown[-2:] == ["… 70 other minutes with at most 2, 90 entries", "most in 00:01: 2, first x.log:2"]


async def test_entries_of_several_files_are_merged_by_time_over_formats_and_zones(tmp_path: Path) -> None:
    write(tmp_path, {
        "a.log": "2026-03-01T10:00:01Z INFO one\n2026-03-01T10:00:04Z INFO four\n",
        "b.jsonl": '{"ts": "2026-03-01T12:00:02+02:00", "level": "info", "msg": "two"}\n',
        "logs/syslog": "Mar  1 10:00:03 host app[1]: three\n",
    })  # fmt: skip
    assert await lines("entries", tmp_path) == [
        "4 entries in 3 files, 2026-03-01 10:00:01 to 10:00:04:",
        "a.log:1: 2026-03-01T10:00:01Z INFO one",
        'b.jsonl:1: {"ts": "2026-03-01T12:00:02+02:00", "level": "info", "msg": "two"}',
        "logs/syslog:1: Mar 1 10:00:03 host app[1]: three",
        "a.log:2: 2026-03-01T10:00:04Z INFO four",
    ]


async def test_the_first_or_the_last_five_are_shown_and_the_rest_is_counted_by_file(tmp_path: Path) -> None:
    write(
        tmp_path, {f"{name}.log": "".join(f"2026-03-01 10:00:0{n} INFO {name}{n}\n" for n in range(4)) for name in "ab"}
    )
    first = await lines("entries", tmp_path)
    assert first[0] == "8 entries in 2 files, 2026-03-01 10:00:00 to 10:00:03; first 5:"
    assert [row.split()[-1] for row in first[1:6]] == ["a0", "b0", "a1", "b1", "a2"]
    assert first[6] == "… 3 more: b.log 2, a.log 1"
    last = await lines("entries", tmp_path, last=True)
    assert last[0].endswith("; last 5:")
    assert [row.split()[-1] for row in last[1:6]] == ["b1", "a2", "b2", "a3", "b3"]
    few = await lines("entries", tmp_path, pattern="a", last=True)
    assert few[0].endswith("; last 4:")


HOSTS = """2026-03-01 10:00:01 WARN a: connection to db-1 refused
2026-03-01 10:00:02 WARN b: name_lookup of db-1 failed
2026-03-01 10:00:03 WARN c: db-1 timed out, no answer
2026-03-01 10:00:04 WARN d: db-1 timed out
2026-03-01 10:00:05 WARN e: optimised db-1
"""


@pytest.mark.parametrize(
    ("arguments", "head", "services"),
    [
        ({"like": "time|timed|answer"}, "the likeliest by 'time|timed|answer':", "cd"),
        ({"like": "timed", "last": True}, "the last by 'timed':", "dc"),
        ({"like": "time|timed|answer", "last": True}, "the last by 'time|timed|answer':", "dc"),
        ({"like": "Lookup (resolv"}, "the likeliest by 'Lookup (resolv':", "b"),
        ({"like": "quota|limit"}, "none by 'quota|limit':", "abcde"),
        ({"like": "|||"}, "", "abcde"),
    ],
)
async def test_entries_like_some_words_come_alone_and_those_with_most_words_first(
    arguments: dict[str, Any], head: str, services: str, tmp_path: Path
) -> None:
    write(tmp_path, {"x.log": HOSTS})
    shown = await lines("entries", tmp_path, pattern="db-1", **arguments)
    assert shown[0].endswith(head)
    assert [row.partition("WARN ")[2][0] for row in shown[1:] if "WARN" in row] == [*services]


async def test_entries_without_any_time_keep_the_order_of_their_lines(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": "ERROR:a:one\nplain\nINFO:b:two\n", "y.log": "just\nwords\n"})
    assert (await lines("entries", tmp_path, path="x.log"))[1:] == [
        "x.log:1: ERROR:a:one … plain",
        "x.log:3: INFO:b:two",
    ]
    assert (await lines("entries", tmp_path, path="y.log"))[1:] == ["y.log:1: just", "y.log:2: words"]


TRACE = f"""{DAY} - cart - ERROR - cannot add
Traceback (most recent call last):
  File "cart.py", line 3, in add

    prices[name]
shop.errors.KeyError: 'x'

2026-03-01 10:00:03 - cart - INFO - goes on
"""


async def test_a_stack_trace_belongs_to_the_entry_before_it_and_its_exception_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": TRACE})
    result = await call("entries", tmp_path, pattern="prices")
    assert result.text.split("\n")[1] == f"x.log:1: {DAY} - cart - ERROR - cannot add … KeyError: 'x'"
    assert [(span.path, span.first, span.last) for span in result.spans] == [("x.log", 1, 6)]
    assert await counted(tmp_path, "level") == {"any level": 2, "ERROR": 1, "INFO": 1}


PYTHON = f"""{DAY} - cart - ERROR - cannot add
Traceback (most recent call last):
  File "cart.py", line 3, in add
    fill(name)
  File "cart.py", line 9, in fill
    prices[name]
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "cart.py", line 5, in give_up
    raise Lost
Lost
{DAY} - cart - INFO - goes on
"""
JAVA = f"""{DAY},100 ERROR [main] x.Cart: failed
x.Failed: see cause
\tat x.Cart.outer(Cart.java:3)
Caused by: java.io.IOException: disk full
\tat x.Cart$Disk.write(Cart.java:8)
\tat x.Cart.save(Cart.java:7)
\t... 2 more
"""
NODE = f"""{DAY} ERROR cart: TypeError: x is not a function
    at async Cart.add (/srv/cart.js:3:9)
    at main (/srv/app.js:7:1)
"""


DOTNET = f"""{DAY} ERROR cart: KeyNotFoundException
   at System.Collections.Generic.Dictionary`2.get_Item(TKey key)
   at Shop.Cart.Find[T](T key)
"""
BARE = """Traceback (most recent call last):
  File "cart.py", line 3, in first
    fill(name)
KeyError: 'x'
trying again

Traceback (most recent call last):
  File "cart.py", line 9, in second
    prices[name]
KeyError: 'y'
"""


@pytest.mark.parametrize(
    ("trace", "lines_read", "raised"),
    [
        (PYTHON, (1, 4, 14), "x.log:5: raised in fill"),
        (JAVA, (1, 7), "x.log:5: raised in write"),
        (NODE, (1, 2), "x.log:2: raised in add"),
        (DOTNET, (1,), "x.log:2: raised in get_Item"),
        (BARE, (1, 3), "x.log:2: raised in first"),
        (BARE, (7, 9), "x.log:8: raised in second"),
        (f"{DAY} INFO cart: started\n", (1,), "1: {DAY} INFO cart: started"),
        ("We meet\n    at noon (or later)\n", (1,), "2:     at noon (or later)"),
        (f"{DAY} ERROR cart: TypeError: x\n    at /srv/cart.js:3:9\n", (1,), "2:     at /srv/cart.js:3:9"),
    ],
)
async def test_reading_a_stack_trace_ends_with_the_function_that_raised(
    trace: str, lines_read: Sequence[int], raised: str, tmp_path: Path
) -> None:
    write(tmp_path, {"x.log": trace})
    for line in lines_read:
        assert (await lines("read", tmp_path, path="x.log", line=line))[-1] == raised.replace("{DAY}", DAY)


async def test_long_lines_leave_room_for_the_function_that_raised(tmp_path: Path) -> None:
    frames = "".join(f"\tat {'x.' * 90}Cart.f{at}(Cart.java:{at})\n" for at in range(12))
    write(tmp_path, {"x.log": f"{DAY} ERROR cart: {'x' * 190}\nx.Failed: {'y' * 190}\n{frames}"})
    assert (await lines("read", tmp_path, path="x.log", line=2))[-1] == "x.log:3: raised in f0"


DEPLOYED = f"""{DAY[:-2]}01 ERROR cart: disk 7 full
{DAY[:-2]}02 INFO cart: version 2 is up
{DAY[:-2]}03 ERROR cart: disk 9 full
{DAY[:-2]}04 ERROR cart: prices unknown
{DAY[:-2]}05 ERROR mail: nobody home
"""


async def test_tally_counts_what_there_was_not_before(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": DEPLOYED})
    asked = {"by": "message", "level": "error", "pattern": "cart", "since": "10:00:02", "new": True}
    head, *found = await lines("tally", tmp_path, **asked)
    assert head.endswith("; 1 new message:")
    assert found == ["1 × ERROR prices unknown, first x.log:4"]
    assert (await lines("tally", tmp_path, **{**asked, "since": "10:00:05"}))[0].startswith("no ")
    asked = {"by": "message", "level": "error"}
    assert (await lines("tally", tmp_path, **asked, new=True))[1:] == (await lines("tally", tmp_path, **asked))[1:]


async def test_all_kinds_of_messages_are_told_and_of_other_groups_the_largest(tmp_path: Path) -> None:
    words = [a + b for a in "abcde" for b in "vwxyz"]
    write(tmp_path, {"x.log": "".join(f"{DAY} WARN {word}: {word} is short\n" for word in words)})
    assert len(await lines("tally", tmp_path, by="message")) == 26
    assert (await lines("tally", tmp_path, by="component"))[-1] == "… 19 other components with 19 entries"


async def test_what_is_new_is_told_by_one_reading_of_the_pattern_over_all_days(tmp_path: Path) -> None:
    days = [
        "01 11:00:00 ERROR cart: disk full",
        "01 12:00:00 ERROR mail: Cart lost",
        "02 09:00:00 ERROR cart: disk full",
    ]
    days += ["02 11:00:00 ERROR cart: disk full", "02 12:00:00 ERROR cart: no heart"]
    write(tmp_path, {"x.log": "".join(f"2026-03-{line}\n" for line in days)})
    asked = {"by": "message", "level": "error", "new": True}
    late = await lines("tally", tmp_path, since="2026-03-02 10:00", pattern="cart", **asked)
    assert late[1:] == ["1 × ERROR no heart, first x.log:5"]
    assert (await lines("tally", tmp_path, since="10:00", **asked))[1:] == [
        "2 × ERROR disk full, first x.log:1",
        "1 × ERROR Cart lost, first x.log:2",
        "1 × ERROR no heart, first x.log:5",
    ]


async def test_of_a_java_trace_its_last_cause_is_told(tmp_path: Path) -> None:
    trace = (
        "java.lang.RuntimeException: a\n\tat x.Y.z(Y.java:3)\nCaused by: java.io.IOException: disk full\n\t... 2 more\n"
    )
    write(tmp_path, {"x.log": f"{DAY},100 ERROR [main] x.Y: failed\n{trace}"})
    assert (await lines("entries", tmp_path))[1].endswith("failed … Caused by: IOException: disk full")


async def test_a_long_line_is_told_by_its_message(tmp_path: Path) -> None:
    thread = "[very-long-thread-name-of-a-pool-with-many-threads-in-it]"
    write(tmp_path, {"x.log": f"{DAY},100 ERROR {thread} com.x.Cart: cannot add {'item ' * 30}\n"})
    row = (await lines("entries", tmp_path))[1]
    assert row.startswith("x.log:1: 10:00:02 ERROR com.x.Cart: cannot add item")
    assert len(row) < 110


async def test_a_long_line_of_a_log_over_several_days_tells_its_day(tmp_path: Path) -> None:
    long = "2026-03-0{} 10:00:02 ERROR com.x.Cart: cannot add " + "item " * 30 + "\n"
    write(tmp_path, {"x.log": long.format(1) + long.format(2)})
    assert (await lines("entries", tmp_path))[2].startswith("x.log:2: 2026-03-02 10:00:02 ERROR com.x.Cart:")


async def test_a_long_line_keeps_the_request_id_in_brackets_before_its_message(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": f"{DAY},100 - shop.cart - ERROR - [req-81f2] cannot add {'item ' * 30}\n"})
    assert "ERROR shop.cart: [req-81f2] cannot add item" in (await lines("entries", tmp_path))[1]


NAMES = ("FATAL", "CRIT", "ERROR", "SEVERE", "WARN", "WARNING", "INFO", "NOTICE", "DEBUG", "TRACE")
LEVELS = "".join(f"{DAY} {name} x\n" for name in NAMES)


@pytest.mark.parametrize(
    ("level", "counts"),
    [
        ("error", {"CRITICAL": 2, "ERROR": 2}),
        ("ERR", {"CRITICAL": 2, "ERROR": 2}),
        ("Fatal", {"CRITICAL": 2}),
        ("warning", {"WARN": 2}),
        ("info", {"INFO": 2}),
        ("trace", {"DEBUG": 2}),
    ],
)
async def test_a_level_is_its_family_and_errors_are_critical_ones_too(
    tmp_path: Path, level: str, counts: dict[str, int]
) -> None:
    write(tmp_path, {"x.log": LEVELS})
    assert await counted(tmp_path, "level", level=level) == counts
    shown = await lines("entries", tmp_path, level=level)
    assert shown[0].startswith(f"{sum(counts.values())} {' or '.join(sorted(counts, reverse=True))} entries match in")


async def test_an_unknown_level_or_group_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    assert "'critical', 'error', 'warn'" in await refused("entries", tmp_path, level="bad")
    assert "'level', 'component', 'message'" in await refused("tally", tmp_path, by="day")


@pytest.mark.parametrize(
    ("since", "until", "shown"),
    [
        ("10:02", "", [2, 3, 4, 5]),
        ("10:02", "10:02", [2, 4]),
        ("", "10:02:05", [1, 2, 4]),
        ("", "10:02:04", [1]),
        ("2026-03-01T10:03", "2026-03-01 10:03:30", [3]),
        ("2026-03-02", "", [4, 5]),
        ("", "2026-03-01", [1, 2, 3]),
        ("01/Mar/2026:10:03:00", "03-02 10:02:05", [3, 4]),
        ("10:03", "23:59", [3, 5]),
        ("x.log:2", "", [2, 3, 4, 5]),
        ("x.log:3", "x.log:4", [3, 4]),
        ("", "x.log:1", [1]),
    ],
)
async def test_a_window_takes_times_of_day_whole_times_days_and_entries_and_includes_its_end(
    tmp_path: Path, since: str, until: str, shown: list[int]
) -> None:
    times = ["03-01 10:01:00", "03-01 10:02:05.9", "03-01 10:03:00", "03-02 10:02:05", "03-02 10:03:59"]
    write(tmp_path, {"x.log": "".join(f"2026-{time} INFO x\n" for time in times)})
    result = await call("entries", tmp_path, since=since, until=until)
    assert [span.first for span in result.spans] == shown


async def test_a_bad_window_is_answered_with_a_time_of_these_logs(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": "2026-03-01T10:41:02Z INFO x\n"})
    for bad in ("noon", "99:99", "2026-13-01", "10:00 tomorrow", "x.log:2", "y.log:1"):
        sentence = f"since: {bad!r} is no time: give one like 10:41 or 2026-03-01 10:41:02"
        assert await refused("entries", tmp_path, since=bad) == sentence
    assert "exchange them" in await refused("tally", tmp_path, by="level", since="10:05", until="10:01")


async def test_a_pattern_is_tried_in_this_case_then_in_any_and_literally(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": f"{DAY} ERROR Timeout (a+b\n{DAY} INFO timeout=3\n{DAY} INFO end\n"})
    assert (await lines("entries", tmp_path, pattern="time.ut"))[0] == f"1 entries match 'time.ut' in 1 files, {DAY}:"
    assert (await lines("entries", tmp_path, pattern="TIMEOUT"))[0].endswith("(none in this case):")
    assert (await lines("entries", tmp_path, pattern="(a+b"))[0].endswith("(taken literally):")
    assert (await lines("entries", tmp_path, pattern="(A+B"))[0].endswith("(taken literally, none in this case):")


@pytest.mark.parametrize("said", ["seat-loader", "Seat loader"])
async def test_a_name_is_found_with_other_joints(tmp_path: Path, said: str) -> None:
    write(tmp_path, {"a.log": f"{DAY} ERROR seat_loader: late\n{DAY} ERROR SeatLoader: late\n{DAY} INFO seat: ok\n"})
    shown = await lines("entries", tmp_path, pattern=said)
    assert shown[0].endswith("(none in this spelling):")
    assert len(shown) == 3


@pytest.mark.parametrize("said", ["10.0.0.1", "r-12", "seat-ok", "_a" * 60])
async def test_numbers_and_parts_of_words_are_no_other_spelling(tmp_path: Path, said: str) -> None:
    write(tmp_path, {"a.log": f"{DAY} ERROR took 10001 ms\n{DAY} ERROR waits for 12 s\n{DAY} INFO seat okay\n"})
    assert (await lines("entries", tmp_path, pattern=said))[0].startswith("no entries match")


async def test_another_case_is_tried_where_none_of_this_case_has_the_level(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": f"{DAY} ERROR Timeout\n{DAY} INFO timeout=3\n"})
    shown = await lines("entries", tmp_path, pattern="timeout", level="error")
    assert shown[1] == f"x.log:1: {DAY} ERROR Timeout"
    assert shown[0].endswith("(none in this case):")


TIED = {
    "front.log": """2026-05-01 10:00:00,100 - front - INFO - [tx-4ca48f] POST /book from user 2568 on exec-1
2026-05-01 10:00:01,100 - front - INFO - [tx-7af69a] POST /book from user 5862 on exec-1
2026-05-01 10:00:05,100 - front - ERROR - [tx-4ca48f] 503 for /book after 3283 ms
""",
    "desk.log": """2026-05-01 10:00:02,100 - desk - INFO - [tx-4ca48f] booking 56068 written
2026-05-01 10:00:03,100 - desk - ERROR - [tx-4ca48f] seat lock lost
2026-05-01 10:00:04,100 - desk - INFO - 312 jobs done in 3283 ms on node-2 by release 12.40.1
2026-05-01 10:00:09,100 - desk - ERROR - job for booking 56068 failed
""",
}


@pytest.mark.parametrize(
    ("place", "level", "places"),
    [
        ("front.log:3", "", ["front.log:1", "desk.log:1", "desk.log:2", "front.log:3"]),
        ("front.log:3", "error", ["desk.log:2", "front.log:3"]),
        ("desk.log:4", "", ["desk.log:1", "desk.log:4"]),
        ("desk.log:1", "error", ["desk.log:2", "front.log:3", "desk.log:4"]),
    ],
)
async def test_entries_that_share_an_id_with_one_are_found_in_all_files(
    place: str, level: str, places: list[str], tmp_path: Path
) -> None:
    write(tmp_path, TIED)
    head, *found = await lines("entries", tmp_path, related=place, level=level)
    assert [":".join(one.split(":")[:2]) for one in found] == places
    assert f"related to {place}" in head


async def test_an_id_that_few_entries_have_ties_more_than_one_that_many_have(tmp_path: Path) -> None:
    many = "".join(f"2026-05-01 10:01:{at:02} INFO pool[worker-310]: item {at}\n" for at in range(60))
    write(tmp_path, {"pool.log": f"2026-05-01 10:00:00 ERROR pool[worker-310]: order 77120 lost\n{many}"})
    assert len(await lines("entries", tmp_path, related="pool.log:1")) == 2
    assert (await lines("entries", tmp_path, related="pool.log:2"))[0].startswith("61 entries related to pool.log:2")


async def test_a_short_number_ties_where_an_entry_has_nothing_more_telling() -> None:
    found = await lines("entries", INCIDENT, related="logs/orders.log:3", level="error")
    assert [one.split(": ")[0] for one in found[1:]] == ["logs/payments.jsonl:3", "logs/orders.log:3"]


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("desk.log:3", "related: that entry names nothing by an id: give a pattern from it"),
        ("desk.log:99", "related: 'desk.log:99' is no entry: give the path:line of one"),
        ("10:00:02", "related: '10:00:02' is no entry: give the path:line of one"),
    ],
)
async def test_times_measures_versions_and_numbered_names_are_no_ids(place: str, told: str, tmp_path: Path) -> None:
    write(tmp_path, TIED)
    assert await refused("entries", tmp_path, related=place) == told


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+b", "(x{1000}){1000}", "a" * 120, "--files", "[", "\\"])
async def test_an_evil_pattern_that_would_take_years_elsewhere_comes_to_an_end(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, {"x.log": f"{DAY} INFO {'a' * 50_000}!\n"})
    assert "among 1 entries" in (await lines("entries", tmp_path, pattern=pattern))[0] or len(pattern) == 120


async def test_a_pattern_with_a_line_break_or_nul_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": f"{DAY} INFO x\n"})
    assert "line break" in await refused("entries", tmp_path, pattern="a\nb")
    assert "NUL" in await refused("entries", tmp_path, pattern="a\0b")


async def test_nothing_found_says_what_was_looked_at(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": f"{DAY} INFO x\n" * 1203, "y.log": f"{DAY} INFO y\n"})
    result = await call("entries", tmp_path, pattern="zebra", level="error", since="09:00")
    none = "no ERROR or CRITICAL entries match 'zebra' since 09:00"
    assert result.text == f"{none} among 1,204 entries in 2 files, {DAY}"
    assert [span.path for span in result.spans] == ["x.log", "y.log"]
    assert (
        await call("tally", tmp_path, by="level", pattern="zebra", level="error", since="09:00")
    ).text == result.text


async def test_a_pattern_that_cannot_be_read_does_not_prove_that_there_is_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": f"{DAY} INFO x\n"})
    reason = "not read as a pattern: look-around, including look-ahead and look-behind, is not supported"
    for name, arguments in (("entries", {}), ("tally", {"by": "level"})):
        result = await call(name, tmp_path, pattern="INFO(?= x)", **arguments)
        assert result.text == f"no entries match 'INFO(?= x)' among 1 entries in 1 files, {DAY}; {reason}"
        assert result.missed == "its pattern could not be read"


async def test_a_folder_without_logs_says_so(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1\n", "empty.log": "", ".gitignore": "made.log\n", "made.log": f"{DAY} INFO x\n"})
    sentence = "no log entries in the workspace, ignored files left out: name a log file by its path"
    assert await lines("tally", tmp_path, by="level") == [sentence]
    assert await lines("entries", tmp_path) == [sentence]
    assert (await lines("entries", tmp_path, path="made.log"))[1] == f"made.log:1: {DAY} INFO x"
    assert "no such path" in await refused("entries", tmp_path, path="nope.log")


async def test_logs_are_known_by_name_else_by_their_lines(tmp_path: Path) -> None:
    row = f"{DAY} INFO x\n"
    write(tmp_path, {"run.txt": row * 3, "notes.txt": "some\nwords\n", "a.py": row})
    assert await lines("tally", tmp_path, by="file") == [
        f"3 entries in 1 files, {DAY}; 1 file:",
        "3 × run.txt, first run.txt:1",
    ]
    names = ["a.log", "a.log.1", "b.out", "c.jsonl", "logs/d.txt", "syslog.1", "messages", "e.log-20260301"]
    write(tmp_path, dict.fromkeys(names, row) | {"data.jsonl": '{"text": "no log"}\n', ".env.log/.env": row})
    shown = await lines("tally", tmp_path, by="file")
    assert shown[0] == f"8 entries in 8 files, {DAY}; 8 files:"


async def test_binary_and_large_files_are_left_out_of_a_folder_and_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_LOGS", 10_000)
    (tmp_path / "binary.log").write_bytes(b"a\0b\n" * 10)
    write(tmp_path, {"big.log": f"{DAY} INFO x\n" * 1_000, "x.log": f"{DAY} INFO x\n"})
    assert await lines("tally", tmp_path, by="level") == [
        f"1 entries in 1 files, {DAY}; 1 level:",
        "1 × INFO, first x.log:1",
        "2 not read (packed, too many, too large or no text): big.log, binary.log",
    ]
    assert "is binary" in await refused("entries", tmp_path, path="binary.log")
    assert "at most 10,000 are read" in await refused("entries", tmp_path, path="big.log")


async def test_odd_bytes_do_not_shift_lines(tmp_path: Path) -> None:
    crash = f"{DAY} ERROR after a crash\r\n".encode()
    rows = [f"{DAY} INFO caf\u00e9 \u2028 \x85 ü".encode(), f"{DAY} INFO bad ".encode() + b"\xff\xfe", b"\0" * 9_000]
    (tmp_path / "x.log").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([*rows[:2], *[rows[0]] * 300, rows[2] + crash]))
    assert (await lines("entries", tmp_path, level="error"))[1] == f"x.log:303: {DAY} ERROR after a crash"
    assert (await lines("entries", tmp_path, pattern="after a crash$"))[1] == f"x.log:303: {DAY} ERROR after a crash"
    assert (await lines("entries", tmp_path, pattern="bad"))[1] == f"x.log:2: {DAY} INFO bad ��"


@pytest.mark.parametrize(
    "start", [f"{DAY} ERROR ", '{"level": "error", "msg": "', "level=error msg=", "", "[" * 99, '"']
)
@pytest.mark.parametrize("filling", ["a", "1.", "[", "{", '"', "a:", "/a", "\\", "a@", " -"])
async def test_a_line_of_a_megabyte_is_read_to_its_end_and_shown_in_short(
    tmp_path: Path, start: str, filling: str
) -> None:
    write(tmp_path, {"x.log": start + filling * (1_000_000 // len(filling)) + "\n"})
    assert len((await call("entries", tmp_path)).text) < 300
    assert len((await call("tally", tmp_path, by="message")).text) < 300


@pytest.mark.parametrize(
    "line",
    [
        '{"time": 1e400, "level": "info"}', '{"time": NaN, "level": "info"}', '{"time": true, "level": "info"}',
        '{"time": {}, "level": "info", "msg": []}', "[" * 5_000, '{"a":' * 5_000, '{"level": 1' + "0" * 5_000 + "}",
        "2026-02-31 10:00:02 INFO x", "99:99:99 x", "Feb 29 10:00:02 h a[1]: x", "=", "level=", "<999>1 x", "E1399 x",
    ],
)  # fmt: skip
async def test_what_only_looks_like_a_log_line_is_an_entry_all_the_same(tmp_path: Path, line: str) -> None:
    write(tmp_path, {"x.log": f"{line}\n", "y.log": f"{DAY} INFO y\n"})
    for by in ("level", "component", "message", "minute", "hour", "file"):
        assert (await lines("tally", tmp_path, by=by))[0].startswith("2 entries in 2 files")
    assert len(await lines("entries", tmp_path)) == 3


async def test_a_cancelled_call_ends_its_thread_within_a_thousand_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"x.log": f"{DAY} INFO x\n" * 20_000})
    read: list[str] = []

    def counted(text: str) -> str:
        read.append(text)
        if len(read) == 5_000:
            from_thread.run_sync(scope.cancel)
        return template(text)

    monkeypatch.setattr("skillstill.tools.logs.tools.template", counted)
    with anyio.CancelScope() as scope:
        await call("tally", tmp_path, by="message")
    assert scope.cancelled_caught
    assert 5_000 <= len(read) <= 6_000


async def test_two_calls_give_the_same_result(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": TRACE, "y.jsonl": f"{JSON}\n"})
    for name, arguments in (("tally", {"by": "message"}), ("entries", {"level": "error"})):
        assert await call(name, tmp_path, **arguments) == await call(name, tmp_path, **arguments)
