"""Logs: what their entries and messages are, in every format that we say we read, and what is done with bad input."""

import bz2
import gzip
import io
import json
import lzma
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skillstill.facts.reader import Facts, Source, Unreadable
from skillstill.facts.readers.logs import LOGS, messages, stream
from skillstill.facts.table import Row, Value

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NAMES = [column.name for column in LOGS.tables[0].columns]


def read(data: bytes | str, name: str = "a.log") -> list[Facts]:
    raw = data if isinstance(data, bytes) else data.encode()
    return list(LOGS.read(Source(name, len(raw), io.BytesIO(raw))))


def rows(facts: Sequence[Facts], table: str) -> list[Row]:
    return [row for one in facts for row in one.rows.get(table, ())]


def gaps(facts: Sequence[Facts]) -> set[tuple[str, str]]:
    return {(gap.reason, gap.column) for one in facts for gap in one.gaps}


def entries(data: bytes | str, name: str = "a.log") -> list[dict[str, Value]]:
    """Return the entries by column; a message is told as its text, from wherever it is."""
    raw = data if isinstance(data, bytes) else data.encode()
    found = []
    for first, last, *values in rows(read(data, name), "entries"):
        row: dict[str, Value] = {"first": first, "last": last, **dict(zip(NAMES, values, strict=True))}
        if isinstance(place := row["message"], tuple):
            row["message"] = raw[place[0] : place[0] + place[1]].decode("utf-8", "replace")
        else:
            row["message"] = row["body"]
        found.append(row)
    return found


def fields(data: bytes | str) -> list[tuple[Value, ...]]:
    """Return kind, name, value and number of all that the messages hold."""
    return [row[2:] for row in rows(read(data), "fields")]


def summary(data: bytes | str, name: str = "a.log") -> tuple[Value, ...]:
    """Return format, entries, unread lines, first and last time, encoding."""
    (row,) = rows(read(data, name), "log_files")
    return row[2:]


@pytest.mark.parametrize(
    ("line", "time", "level", "component", "message"),
    [
        # Loghub
        ("03-17 16:13:38.811  1702  2395 D Win: a b", "03-17 16:13:38.811", "DEBUG", "Win", "a b"),
        ("[Sun Dec 04 04:47:44 2005] [notice] init ok", "2005-12-04 04:47:44", "INFO", None, "init ok"),
        (
            "- 1117838570 2005.06.03 R02 2005-06-03-15.42.50.675872 R02 RAS KERNEL INFO parity",
            "2005-06-03 15:42:50.675872", "INFO", "KERNEL", "parity",
        ),
        ("081109 203615 148 INFO dfs.Node: done", "2008-11-09 20:36:15", "INFO", "dfs.Node", "done"),
        ("1346 node-246 unix.hw state.x 1077804742 1 bad disk", "2004-02-26 14:12:22", None, "unix.hw", "bad disk"),
        ("2015-10-18 18:01:47,978 WARN [main] a.b.C: x", "2015-10-18 18:01:47.978", "WARNING", "a.b.C", "x"),
        ("20171223-22:15:9:606|Step_LSC|30002312|on 3579", "2017-12-23 22:15:09.606", None, "Step_LSC", "on 3579"),
        ("Jun  4 15:16:01 combo sshd(pam_unix)[19939]: no; x=", "06-04 15:16:01", None, "sshd(pam_unix)", "no; x="),
        (
            "n.log.1 2017-05-16 00:00:00.008 25746 INFO nova.wsgi [req-3810 a b - - -] up",
            "2017-05-16 00:00:00.008", "INFO", "nova.wsgi", "up",
        ),
        ("[10.30 16:49:06] chrome.exe *64 - a:80 open", "10-30 16:49:06", None, "chrome.exe *64", "a:80 open"),
        (
            "17/06/09 20:10:40 INFO executor.Backend: got it",
            "2017-06-09 20:10:40", "INFO", "executor.Backend", "got it",
        ),
        (
            "- 1131566461 2005.11.09 dn228 Nov 9 12:01:01 dn228/dn228 crond[2915]: closed",
            "2005-11-09 12:01:01", None, "crond", "closed",
        ),
        ("2016-09-28 04:30:30, Info                  CBS    Loaded", "2016-09-28 04:30:30", "INFO", "CBS", "Loaded"),
        ("2015-07-29 17:41:44,747 - INFO  [q:Fast@774] - out", "2015-07-29 17:41:44.747", "INFO", "Fast", "out"),
        # servers and systems
        ("<34>Oct 11 22:14:15 box su: failed", "10-11 22:14:15", "CRITICAL", "su", "failed"),
        ('<165>1 2024-03-01T10:00:00.003Z h app 7 ID [a b="c"] hi', "2024-03-01 10:00:00.003", "INFO", "app", "hi"),
        ("2024-03-01T10:00:00+01:00 box cron[7]: ran", "2024-03-01 10:00:00", None, "cron", "ran"),
        (
            "[Fri Sep 09 10:42:29.902022 2011] [core:error] [pid 3:tid 4] x",
            "2011-09-09 10:42:29.902022", "ERROR", "core", "x",
        ),
        (
            "2024/03/01 10:00:00 [error] 31#31: *1 open() failed",
            "2024-03-01 10:00:00", "ERROR", None, "*1 open() failed",
        ),
        ("2024-03-01 10:00:00.123 UTC [77] ann@shop FATAL:  no", "2024-03-01 10:00:00.123", "CRITICAL", None, "no"),
        (
            "2024-03-01T10:00:00.1Z 5 [Warning] [MY-010055] [Server] slow",
            "2024-03-01 10:00:00.1", "WARNING", "Server", "slow",
        ),
        ("240301  9:00:00 [ERROR] no port", "2024-03-01 09:00:00", "ERROR", None, "no port"),
        ("17:M 01 Mar 2024 10:00:00.123 # low memory", "2024-03-01 10:00:00.123", "WARNING", None, "low memory"),
        ("[   12.345678] usb 1-1: new device", None, None, "usb 1-1", "new device"),
        ("type=SYSCALL msg=audit(1709287200.123:45): pid=3", "2024-03-01 10:00:00.123", None, "SYSCALL", "pid=3"),
        ("I0301 10:00:00.123456    1 server.go:42] up", "03-01 10:00:00.123456", "INFO", "server.go", "up"),
        # programs
        ("2024-03-01 10:00:00.1  INFO 47 --- [  main] c.a.App  : Up", "2024-03-01 10:00:00.1", "INFO", "c.a.App", "Up"),
        ("10:00:00.123 [main] ERROR c.a.App - bad", "10:00:00.123", "ERROR", "c.a.App", "bad"),
        (
            "01-Mar-2024 10:00:00.123 SEVERE [main] o.a.B stopped",
            "2024-03-01 10:00:00.123", "ERROR", "o.a.B", "stopped",
        ),
        ("2024-03-01 10:00:00,123 - app.db - ERROR - no", "2024-03-01 10:00:00.123", "ERROR", "app.db", "no"),
        ("2024-03-01 10:00:00.123 | INFO     | a.b:f:3 - ok", "2024-03-01 10:00:00.123", "INFO", "a.b:f:3", "ok"),
        ("[2024-03-01 10:00:00 +0000] [17] [CRITICAL] TIMEOUT", "2024-03-01 10:00:00", "CRITICAL", None, "TIMEOUT"),
        ("INFO:     Started server", None, "INFO", None, "Started server"),
        ("ERROR:app.x:bad thing", None, "ERROR", "app.x", "bad thing"),
        ("W/dalvikvm(  585): freed", None, "WARNING", "dalvikvm", "freed"),
        ("[2024-03-01T10:00:00Z ERROR my::net] timed out", "2024-03-01 10:00:00", "ERROR", "my::net", "timed out"),
        ("[2024-03-01 10:00:00,1: WARNING/Pool-1] slow", "2024-03-01 10:00:00.1", "WARNING", "Pool-1", "slow"),
        ("E, [2024-03-01T10:00:00.12 #47] ERROR -- : boom", "2024-03-01 10:00:00.12", "ERROR", None, "boom"),
        ("2024-03-01 10:00:00.1 W | raft: late", "2024-03-01 10:00:00.1", "WARNING", "raft", "late"),
        ("2024/03/01 10:00:00 http: closed", "2024-03-01 10:00:00", None, "http", "closed"),
        # nobody's
        ("[01.03.2024 10:00:00.5] <ERROR> connection lost", "2024-03-01 10:00:00.5", "ERROR", None, "connection lost"),
        (
            "2024-03-01T10:00:00Z|WARN|billing| charge failed",
            "2024-03-01 10:00:00", "WARNING", "billing", "charge failed",
        ),
        ("1709287200.5 warn: fan is slow", "2024-03-01 10:00:00.5", "WARNING", None, "fan is slow"),
    ],
)  # fmt: skip
def test_a_line_is_told_by_time_level_component_and_message(
    line: str, time: str | None, level: str | None, component: str | None, message: str
) -> None:
    first, second = entries(f"{line}\n{line}\n")
    assert (first["first"], first["last"], second["first"]) == (1, 1, 2)
    for found in (first, second):
        assert (found["time"], found["level"], found["component"]) == (time, level, component)
        assert found["message"] == message


@pytest.mark.parametrize(
    ("keys", "time", "level", "component", "message"),
    [
        (
            {"level": "warn", "ts": 1709287200.5, "logger": "db", "msg": "m"},
            "2024-03-01 10:00:00.500000", "WARNING", "db", "m",
        ),
        ({"level": "fatal", "time": 1709287200123, "message": "m"}, "2024-03-01 10:00:00.123", "CRITICAL", None, "m"),
        ({"level": "info", "msg": "m", "time": "2024-03-01T10:00:00+01:00"}, "2024-03-01 10:00:00", "INFO", None, "m"),
        (
            {"level": 50, "time": 1709287200123, "pid": 7, "hostname": "h", "msg": "m"},
            "2024-03-01 10:00:00.123", "ERROR", None, "m",
        ),
        (
            {"event": "m", "level": "debug", "timestamp": "2024-03-01T10:00:00Z"},
            "2024-03-01 10:00:00", "DEBUG", None, "m",
        ),
        (
            {"@timestamp": "2024-03-01T10:00:00.1Z", "message": "m", "logger_name": "a.B", "level": "INFO"},
            "2024-03-01 10:00:00.1", "INFO", "a.B", "m",
        ),
        (
            {"instant": {"epochSecond": 1709287200, "nanoOfSecond": 5000000}, "level": "WARN",
             "loggerName": "a.B", "message": "m"},
            "2024-03-01 10:00:00.005000", "WARNING", "a.B", "m",
        ),
        (
            {"@t": "2024-03-01T10:00:00.1234567Z", "@mt": "m {X}", "X": 1},
            "2024-03-01 10:00:00.123456", "INFO", None, "m {X}",
        ),
        (
            {"@timestamp": "2024-03-01T10:00:00Z", "log": {"level": "error", "logger": "c"}, "message": "m"},
            "2024-03-01 10:00:00", "ERROR", "c", "m",
        ),
        (
            {"t": {"$date": "2024-03-01T10:00:00.1+00:00"}, "s": "E", "c": "NET", "msg": "m"},
            "2024-03-01 10:00:00.1", "ERROR", "NET", "m",
        ),
        (
            {"__REALTIME_TIMESTAMP": "1709287200000000", "PRIORITY": "4", "SYSLOG_IDENTIFIER": "cron", "MESSAGE": "m"},
            "2024-03-01 10:00:00", "WARNING", "cron", "m",
        ),
    ],
)  # fmt: skip
def test_json_lines_are_told_by_the_keys_of_common_loggers(
    keys: dict[str, object], time: str, level: str, component: str | None, message: str
) -> None:
    (found,) = entries(json.dumps(keys) + "\n")
    assert (found["time"], found["level"], found["component"], found["message"]) == (time, level, component, message)


def test_a_message_in_json_is_an_excerpt_unless_it_is_escaped() -> None:
    one, other = rows(read('{"level":"info","msg":"plain é"}\n{"level":"info","msg":"a \\"b\\""}\n'), "entries")
    assert (one[6], one[11]) == ((23, 8), None)
    assert (other[6], other[11]) == (None, 'a "b"')


def test_inner_keys_are_fields_with_dots_between() -> None:
    line = '{"level":"info","msg":"x","http":{"status":503,"url":"/a"},"took":"12ms","ok":true,"none":null}\n'
    assert fields(line) == [
        ("status", "http.status", "503", 503.0),
        ("url", "http.url", "/a", None),
        ("duration_ms", "took", "12ms", 12.0),
        ("value", "ok", "true", None),
    ]


def test_logfmt_is_told_by_its_keys() -> None:
    text = 'time=2024-03-01T10:00:00Z level=warning msg="cache miss" user=ann dur=3ms\n'
    assert [(row["time"], row["level"], row["message"]) for row in entries(text)] == [
        ("2024-03-01 10:00:00", "WARNING", "cache miss")
    ]
    assert fields(text) == [("user", None, "ann", None), ("duration_ms", "dur", "3ms", 3.0)]


def test_a_journal_export_is_read_block_by_block() -> None:
    block = "__CURSOR=s\n__REALTIME_TIMESTAMP=1709287200000000\nPRIORITY=3\n_PID=12\n_HOSTNAME=box\n"
    long = "MESSAGE\n\x05\0\0\0\0\0\0\0a\nb c\n"
    one, other = entries(f"{block}MESSAGE=no disk\n\n{block}{long}SYSLOG_IDENTIFIER=cron\n\n")
    assert (one["first"], one["last"], one["level"], one["message"], one["pid"], one["host"]) == (
        1,
        7,
        "ERROR",
        "no disk",
        12,
        "box",
    )
    assert (other["first"], other["component"], other["message"]) == (8, "cron", "a\nb c")


ENVELOPES = [
    '{{"log":"{}\\n","stream":"stderr","time":"2024-03-01T10:00:00.2Z"}}\n',
    "2024-03-01T10:00:00.2Z stderr F {}\n",
]


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_lines_of_containers_are_told_by_what_is_in_them(envelope: str) -> None:
    text = envelope.format("E0301 10:00:00.123456       1 a.go:42] failed") * 2
    row = entries(text)[0]
    assert (row["time"], row["level"], row["component"], row["message"]) == (
        "2024-03-01 10:00:00.2",
        "ERROR",
        "a.go",
        "failed",
    )


def test_compose_names_the_service_before_each_line() -> None:
    row = entries(
        "web-1  | 2024-03-01 10:00:00,5 ERROR [main] a.B: no\nweb-1  | 2024-03-01 10:00:01,5 INFO [main] a.B: up\n"
    )[0]
    assert (row["time"], row["level"], row["component"], row["message"]) == (
        "2024-03-01 10:00:00.5",
        "ERROR",
        "a.B",
        "no",
    )


ACCESS = '10.0.0.1 - ann [01/Mar/2024:10:00:00 +0100] "GET /a/17?x=1 HTTP/1.1" 404 512 "http://r/" "Mozilla/5.0 (X)"\n'


def test_an_access_log_tells_request_status_and_agent() -> None:
    (row,) = entries(ACCESS)
    assert (row["time"], row["zone"], row["level"]) == ("2024-03-01 10:00:00", "+01:00", None)
    assert row["template"] == "GET /a/<*> 404"
    assert fields(ACCESS) == [
        ("ip", None, "10.0.0.1", None),
        ("user", None, "ann", None),
        ("method", None, "GET", None),
        ("url", None, "/a/17?x=1", None),
        ("value", "protocol", "HTTP/1.1", None),
        ("status", None, "404", 404.0),
        ("bytes", None, "512", 512.0),
        ("url", "referrer", "http://r/", None),
        ("agent", None, "Mozilla/5.0 (X)", None),
    ]
    assert ("no level in this format", "level") in gaps(read(ACCESS))


def test_paths_and_names_of_other_alphabets_are_told_as_they_are() -> None:
    assert ("url", None, "/é?x=1", None) in fields(ACCESS.replace("/a/17", "/é"))
    assert entries("Jun  4 15:16:01 box dämon[1]: läuft\n")[0]["component"] == "dämon"


def test_columns_of_a_w3c_log_are_named_in_its_header() -> None:
    text = (
        "#Software: IIS\n#Fields: date time cs-method cs-uri-stem c-ip sc-status time-taken\n"
        "2024-03-01 10:00:00 GET /default.htm 10.0.0.1 200 15\n2024-03-01 10:00:01 POST /x.asp 10.0.0.2 500 1500\n"
    )
    assert [(row["first"], row["time"], row["template"]) for row in entries(text)] == [
        (3, "2024-03-01 10:00:00", "GET /default.htm 200"),
        (4, "2024-03-01 10:00:01", "POST /x.asp 500"),
    ]
    assert ("status", "sc-status", "500", 500.0) in fields(text)
    assert summary(text)[1:3] == (2, 0)


def test_haproxy_tells_its_backend_and_status() -> None:
    line = (
        "Feb  6 12:14:14 lb haproxy[14]: 10.0.1.2:33 [06/Feb/2009:12:14:14.655] web st/s1 10/0/30/69/109 503 275 - -\n"
    )
    assert {("status", None, "503", 503.0), ("value", "backend", "st", None)} <= set(fields(line))


def test_a_stack_trace_belongs_to_its_entry() -> None:
    text = (
        "2024-03-01 10:00:00,123 ERROR [main] a.B: failed\n"
        "java.lang.IllegalStateException: no bean\n\tat a.B.run(B.java:5)\n"
        "Caused by: java.io.IOException: closed\n\t... 3 more\n"
        "2024-03-01 10:00:01,123 INFO [main] a.B: next\n"
    )
    one, other = entries(text)
    assert (one["first"], one["last"], other["first"]) == (1, 5, 6)
    assert str(one["message"]).endswith("\t... 3 more")
    assert one["template"] == "failed"
    assert fields(text) == [
        ("exception", None, "java.lang.IllegalStateException", None),
        ("exception", None, "java.io.IOException", None),
    ]


def test_the_error_at_the_end_of_a_python_traceback_is_found() -> None:
    text = (
        "2024-03-01 10:00:00,1 - a - ERROR - no\nTraceback (most recent call last):\n"
        '  File "a", line 3\nsqlite3.OperationalError: locked\n'
    )
    assert ("exception", None, "sqlite3.OperationalError", None) in fields(text)
    assert entries(text)[0]["last"] == 4


def test_two_lines_of_java_util_logging_are_one_entry() -> None:
    text = "Mar 01, 2024 1:00:01 PM org.a.B stop\nSEVERE: failed\n" * 2
    one, other = entries(text)
    assert (one["last"], one["time"], one["level"], one["component"], one["message"]) == (
        2,
        "2024-03-01 13:00:01",
        "ERROR",
        "org.a.B",
        "failed",
    )
    assert other["first"] == 3


def test_a_slow_query_is_an_entry_with_its_statement() -> None:
    head = "# Time: 2024-03-01T10:00:00.5Z\n# User@Host: ann[ann] @ [10.0.0.1]\n"
    text = f"{head}# Query_time: 2.5  Rows_sent: 1\nselect *\nfrom t;\n"
    one, _ = entries(text * 2)
    assert (one["first"], one["last"], one["time"]) == (1, 5, "2024-03-01 10:00:00.5")


def test_syslog_lines_without_a_time_are_told_as_not_read() -> None:
    text = "Jun  4 15:16:01 box a[1]: x\nnot a line of a log\nJun  4 15:16:02 box a[1]: y\n"
    assert summary(text)[:3] == ("syslog", 2, 1)
    assert ("lines that no format fits", "") in gaps(read(text))


def test_a_file_of_two_formats_is_read_by_both() -> None:
    text = (
        '{"level":"info","time":"2024-03-01T10:00:00Z","msg":"a"}\n' * 3
        + "2024-03-01 10:00:00,1 ERROR [m] a.B: b\n" * 2
    )
    assert [row["message"] for row in entries(text)] == ["a", "a", "a", "b", "b"]
    assert summary(text)[2] == 0


def test_messages_give_addresses_users_durations_and_pairs() -> None:
    said = "Failed password for invalid user ann from 10.0.0.1 port 22 after 35ms uid=7 tty=ssh file=/a/b"
    assert sorted(fields(f"Jun  4 15:16:01 box a[1]: {said}\n"), key=str) == [
        ("duration_ms", None, "35ms", 35.0),
        ("ip", None, "10.0.0.1", None),
        ("number", "uid", "7", 7.0),
        ("path", "file", "/a/b", None),
        ("port", None, "22", 22.0),
        ("user", None, "ann", None),
        ("value", "tty", "ssh", None),
    ]


def test_what_varies_is_left_out_of_a_template() -> None:
    lines = [f"Jun  4 15:16:01 box a[1]: block blk_{n * 7919} of size {n} from /10.0.0.{n}:80\n" for n in range(1, 40)]
    assert {row["template"] for row in entries("".join(lines))} == {"block <*> of size <*> from /<*>"}
    assert {row[3:] for row in rows(read("".join(lines[:1])), "fields")} >= {("size", "1", 1.0)}


def test_messages_of_endless_variety_are_told_by_their_first_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_MINED", 10)
    words = [f"{a}{b}{c}" for a in "abcde" for b in "fghij" for c in "klmno"]
    text = "".join(f"Jun  4 15:16:01 box a[1]: {one} said {one}ing to {one}er of it\n" for one in words)
    assert entries(text)[-1]["template"] == "ejo said ejoing to <*>"
    assert ("thousands of templates: rare ones are first words", "template") in gaps(read(text))


def test_each_message_of_a_template_tells_its_own_values() -> None:
    lines = [f"Jun  4 15:16:01 box a[1]: took {n}.5 ms, job-{n} by 10.0.{n}.1\n" for n in (1, 22, 333)]
    found = fields("".join(lines))
    assert [number for kind, _, _, number in found if kind == "duration_ms"] == [1.5, 22.5, 333.5]
    assert [value for kind, _, value, _ in found if kind == "id"] == ["job-1", "job-22", "job-333"]


def test_a_year_is_taken_from_the_name_of_the_file() -> None:
    assert entries("Jun  4 15:16:01 box a[1]: x\n", "syslog-2021.log")[0]["time"] == "2021-06-04 15:16:01"
    assert (
        entries("10:00:00.123 [main] ERROR c.a.App - bad\n", "app-2024-03-01.log")[0]["time"]
        == "2024-03-01 10:00:00.123"
    )


def test_a_year_is_taken_from_a_line_that_tells_its_time_twice() -> None:
    text = "Dec 31 23:59:59 box a[1]: x\nJan  1 00:00:01 box a[1]: start at Thu Jan 1 00:00:01 2015\n"
    assert [row["time"] for row in entries(text)] == ["2014-12-31 23:59:59", "2015-01-01 00:00:01"]


def test_without_a_year_times_have_none_and_the_gap_is_told() -> None:
    text = "Jun  4 15:16:01 box a[1]: x\n"
    assert entries(text)[0]["time"] == "06-04 15:16:01"
    assert ("no year in times", "time") in gaps(read(text))


@pytest.mark.parametrize(
    "line",
    ["Jun 14 15:16:{:02} box a[1]: x", "2026/06/14 15:16:{:02} INFO x", "17000000{:02} box INFO x", "15:16:{} INFO x"],
)
def test_times_of_one_minute_are_told_apart(line: str) -> None:
    found = entries("".join(line.format(second) + "\n" for second in range(60)))
    seconds = [int(str(row["time"])[-2:]) for row in found]
    assert [(second - seconds[0]) % 60 for second in seconds] == [*range(60)]


def test_messages_that_come_again_tell_what_they_hold_each_time() -> None:
    told = fields("Jun  4 15:16:01 box a[1]: error: took 5 ms for 10.0.0.1\n" * 3)
    assert [kind for kind, *_ in told] == ["duration_ms", "ip"] * 3


def test_zones_are_told_beside_the_time_as_written() -> None:
    text = "2024-03-01T10:00:00+0100 ERROR a\n2024-03-01T10:00:00Z ERROR b\n"
    assert [(row["time"], row["zone"]) for row in entries(text)] == [
        ("2024-03-01 10:00:00", "+01:00"),
        ("2024-03-01 10:00:00", "+00:00"),
    ]
    assert ("times of several zones, as written", "time") in gaps(read(text))


SPARK = "17/06/09 20:10:40 INFO executor.Backend: got it\n17/06/09 20:10:41 WARN executor.Backend: lost é\n"


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, zstd.compress], ids=["gz", "bz2", "xz", "zst"]
)
def test_a_compressed_rotation_tells_messages_as_text(pack: object) -> None:
    assert callable(pack)
    found = rows(read(pack(SPARK.encode()), "app.log.1.gz"), "entries")
    assert [(row[2], row[6], row[11]) for row in found] == [
        ("2017-06-09 20:10:40", None, "got it"),
        ("2017-06-09 20:10:41", None, "lost é"),
    ]


def test_a_broken_archive_is_read_up_to_the_break() -> None:
    packed = gzip.compress("".join(f"17/06/09 20:10:40 INFO a.B: {n * 7919 % 1009}\n" for n in range(5_000)).encode())
    facts = read(packed[: len(packed) // 2], "app.log.gz")
    assert 500 < len(rows(facts, "entries")) < 5_000
    assert ("broken archive: read up to the break", "") in gaps(facts)
    with pytest.raises(Unreadable):
        read(b"\x1f\x8b\x08\0junk", "app.log.gz")


def test_an_archive_that_unpacks_to_too_much_is_read_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LEAST", 10_000)
    monkeypatch.setattr(stream, "RATIO", 10)
    facts = read(gzip.compress(SPARK.encode() * 10_000), "app.log.gz")
    assert 100 < len(rows(facts, "entries")) < 20_000
    assert ("unpacks to too much: read in part", "") in gaps(facts)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (SPARK.replace("\n", "\r\n").encode(), "utf-8"),
        (b"\xef\xbb\xbf" + SPARK.encode(), "utf-8"),
        (SPARK.encode("cp1252"), "cp1252"),
        (b"\xff\xfe" + SPARK.encode("utf-16-le"), "utf-16-le"),
        (b"\xfe\xff" + SPARK.encode("utf-16-be"), "utf-16-be"),
        (SPARK.encode()[:-1], "utf-8"),
    ],
    ids=["crlf", "bom", "cp1252", "utf-16-le", "utf-16-be", "no end"],
)
def test_encodings_and_line_ends_do_not_change_what_is_read(data: bytes, encoding: str) -> None:
    assert [row["message"] for row in entries(data)] == ["got it", "lost é"]
    assert summary(data) == ("log4j", 2, 0, "2017-06-09 20:10:40", "2017-06-09 20:10:41", encoding)


def test_colour_codes_are_taken_out() -> None:
    text = "\x1b[32m17/06/09 20:10:40\x1b[0m \x1b[1mINFO\x1b[0m executor.Backend: got it\n"
    assert [(row["level"], row["message"]) for row in entries(text)] == [("INFO", "got it")]


def test_junk_between_lines_is_not_read_and_breaks_nothing() -> None:
    data = SPARK.encode() + bytes(range(256)) + b"\n" + b"\0" * 3_000 + b"\n" + SPARK.encode()
    assert [row["message"] for row in entries(data)] == ["got it", "lost é", "got it", "lost é"]
    assert int(str(summary(data)[2])) >= 2


def test_lines_and_places_are_right_across_chunks() -> None:
    lines = [f"17/06/09 20:10:40 INFO a.B: number {n}\n" + ("  more\n" if n % 7 == 0 else "") for n in range(10_000)]
    data = "".join(lines).encode()
    found = rows(read(data), "entries")
    assert len(found) == 10_000
    first, last, place = found[-1][0], found[-1][1], found[-1][6]
    assert (first, last) == (11_429, 11_429)
    assert isinstance(place, tuple)
    assert data[place[0] : sum(place)] == b"number 9999"


def test_a_line_that_is_too_long_is_cut() -> None:
    data = SPARK.encode() + b"17/06/09 20:10:42 INFO a.B: " + b"x" * 3_000_000 + b"\n" + SPARK.encode()
    facts = read(data)
    assert [row[2] for row in rows(facts, "entries")][2:4] == ["2017-06-09 20:10:42", "2017-06-09 20:10:40"]
    assert ("lines longer than 1 MB are cut", "") in gaps(facts)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\0" * 5_000, b"{" * 50_000, b'{"a":' * 50_000, b"[" * 5_000 + b"\n"])
def test_what_is_no_log_gives_no_entries(data: bytes) -> None:
    assert rows(read(data), "entries") == []
    assert summary(data)[:2] == (None, 0)


def test_a_hostile_line_takes_no_more_than_linear_time() -> None:
    for part in ("a ", "[a] ", "a:", "1 ", "((", "a=", '"', "/a", "a.a", "::", "2024-03-01 "):
        assert len(entries(f"2024-03-01 10:00:00 {part * 20_000}\n" * 2)) <= 2


@pytest.mark.parametrize(
    "name", ["a.log", "a.log.3", "app.log.2024-03-01", "syslog", "auth.log.1.gz", "access_log", "catalina.out"]
)
def test_names_of_logs_are_taken(name: str) -> None:
    assert LOGS.takes(name, b"")


@pytest.mark.parametrize("name", ["messages", "data.txt", "noext", "x.out", "x.jsonl"])
def test_files_whose_lines_begin_like_entries_are_taken(name: str) -> None:
    assert LOGS.takes(name, SPARK.encode() * 2)
    assert LOGS.takes(name, b'{"level":"info","ts":1709287200,"msg":"x"}\n' * 4)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.txt", "Dear all,\nwe met on 2024-03-01 10:00:00 and talked.\nERROR: none\nBye\n"),
        ("days.txt", "2024-03-01 went out\n2024-03-02 stayed\n2024-03-03 rain\n"),
        ("prices", "2024-03-01 10:00:00,1.5,2\n2024-03-01 10:01:00,1.6,3\n2024-03-01 10:02:00,1.7,3\n"),
        ("a.csv", SPARK * 2),
        ("a.py", SPARK * 2),
        ("x.json", '{\n  "level": "info",\n  "time": 3\n}\n'),
        ("code", "INFO = 1\nWARNING = 2\nERROR = 3\nx = y\n"),
        ("data.jsonl", '{"text":"a","date":"2024-03-01T10:00:00Z"}\n' * 4),
        ("data.json", '{"question":"a","answer":"b"}\n' * 4),
        ("film.srt", "1\n00:00:01,000 --> 00:00:02,000\nINFO\n"),
        ("binary", "\0\1\2" * 500),
        ("empty", ""),
    ],
)
def test_texts_sources_and_tables_are_not_taken(name: str, text: str) -> None:
    assert not LOGS.takes(name, text.encode())


def test_a_row_of_every_table_has_a_value_for_each_column() -> None:
    for table in LOGS.tables:
        for row in rows(read(SPARK), table.name):
            assert len(row) == len(table.columns) + 2


def test_entries_of_several_lines_are_whole_across_chunks() -> None:
    text = "".join(f"Mar 01, 2024 1:00:01 PM org.a.B stop\nSEVERE: failed {n}\n" for n in range(5_000))
    found = rows(read(text), "entries")
    assert [(row[0], row[1]) for row in found] == [(2 * n + 1, 2 * n + 2) for n in range(5_000)]
    assert summary(text)[2] == 0


PIECES = st.sampled_from(
    [
        b"2024-03-01 10:00:00,123 ERROR [main] a.B: x\n",
        b"Jun  4 15:16:01 box a[1]: x=1\n",
        b'{"level":"info","ts":1709287200,"msg":"\\ud800"}\n',
        b'{"time":1e400,"level":NaN,"msg":[1,300]}\n',
        b'{"level":' + b"9" * 5_000 + b"}\n",
        b"time=99999999999999 level=" + b"1" * 5_000 + b" msg=\n",
        b"__CURSOR=a\n__REALTIME_TIMESTAMP=17092872000000000000\nPRIORITY=99\nMESSAGE\n",
        b"#Fields: date time x\n",
        b"\x1b[1m\x1b",
        b"\r\n",
        b"\xff\xfe",
        b"\x1f\x8b\x08",
        b"\tat a.b\n",
        b"\n\n",
    ]
)


@given(st.lists(PIECES | st.binary(max_size=30), max_size=8))
@settings(max_examples=150, deadline=None)
def test_no_bytes_make_it_fail_or_point_outside_of_the_file(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    try:
        facts = read(data)
    except Unreadable:
        return
    for row in rows(facts, "entries"):
        assert 1 <= int(str(row[0])) <= int(str(row[1])) <= data.count(b"\n") + 1
        assert not isinstance(row[6], tuple) or 0 <= row[6][0] <= sum(row[6]) <= len(data)
    for row in (row for one in facts for table in one.rows.values() for row in table):
        "".join(value for value in row if isinstance(value, str)).encode()
