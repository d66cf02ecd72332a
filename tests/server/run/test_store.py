"""Traces: private, whole or not there, found by a few characters, gone after a month."""

import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from skillstill.errors import TraceError, UnknownName
from skillstill.run import store
from skillstill.types import Decision, Message, Receipt, Report, Span, Tally, ToolCall, ToolSchema, Trace, Usage
from skillstill.util.storage import state_folder

BEGAN = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
DAY = 86_400
STORE = """
import resource, sys
from pathlib import Path
from skillstill.run import store
from skillstill.types import Trace
trace = Trace.model_validate_json(Path(sys.argv[1]).read_text())
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
store.store(trace)
"""


def trace(run: str = "abcdef0123456789", **others: Any) -> Trace:
    call = ToolCall(
        name="read", arguments={"path": "src/größe.py", "line": 3, "deep": [None, True, 1.5, {"a": "\u2028"}]}
    )
    usage = Usage(prompt=10, reused=2, completion=3)
    fields = {
        "run": run,
        "release": "explore@untrained",
        "skill": "explore",
        "model": "file:base.gguf",
        "dialect": "chatml-hermes/1",
        "created": BEGAN,
        "workspace": "/home/user/project",
        "prompt": "Where?\nIn a line of its own.",
        "tools": (ToolSchema(name="read", description="Reads.", parameters={"type": "object"}),),
        "messages": (
            Message(role="assistant", calls=(call,), usage=usage, decisions=(Decision(token="é", logprob=-0.1),)),
            Message(role="tool", content="r1: 🦎\u2028\u0085\n"),
        ),
        "receipts": (
            Receipt(
                id="r1",
                tool="read",
                arguments=call.arguments,
                sha256="0" * 64,
                excerpt="🦎",
                spans=(Span(path="src/größe.py", first=1, last=9),),
                seconds=0.1,
            ),
        ),
        "report": Report(answer="src/größe.py:3", status="answered", evidence=("src/größe.py:3",)),
        "confidence": 0.5,
        "tally": Tally(turns=1, seconds=0.2, prompt_tokens=10, reused_tokens=2, completion_tokens=3),
    }
    return Trace.model_validate(fields | others)


def later(run: str, days: int) -> Path:
    return store.store(trace(run, created=BEGAN + timedelta(days=days)))


def aged(file: Path, days: float) -> None:
    os.utime(file, (time.time() - days * DAY,) * 2)


def test_a_trace_is_one_line_and_is_read_back_equal() -> None:
    file = store.store(trace())
    assert store.read(file) == store.load("abcdef0123456789") == trace()
    assert file.read_bytes().count(b"\n") == 1
    assert file.read_bytes().endswith(b"}\n")
    assert Trace.model_validate_json(file.read_bytes()) == trace()


def test_only_the_owner_may_read_it() -> None:
    old = os.umask(0)
    try:
        file = store.store(trace())
    finally:
        os.umask(old)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_nothing_is_left_beside_it() -> None:
    assert [store.store(trace())] == list(store.trace_files()) == list(store.folder().iterdir())


def test_a_run_is_found_by_the_beginning_of_its_id() -> None:
    later("aaaa1111", days=0)
    later("aabb2222", days=1)
    assert store.load("aaa").run == store.load("aaaa1111").run == "aaaa1111"
    assert store.load("aab").run == "aabb2222"


def test_the_last_run_is_the_one_that_was_stored_last_anew_or_again() -> None:
    for ago, (run, began) in enumerate([("ffff3333", 0), ("aabb2222", 2), ("aaaa1111", 1)], 1):
        aged(later(run, days=began), days=ago)
    assert store.load("last").run == "ffff3333"
    later("aaaa1111", days=1)
    assert store.load("last").run == "aaaa1111"
    assert [store.read(file).run for file in store.trace_files()] == ["ffff3333", "aaaa1111", "aabb2222"]


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("aa", "2 runs begin with 'aa': `skillstill show --list` names them"),
        ("", "2 runs begin with '': `skillstill show --list` names them"),
        ("bb", "no run 'bb' is stored: `skillstill show --list` names them"),
        ("aaaa1111x", "no run 'aaaa1111x' is stored: `skillstill show --list` names them"),
        ("2026", "no run '2026' is stored: `skillstill show --list` names them"),
        ("../aaaa", "no run '../aaaa' is stored: `skillstill show --list` names them"),
        ("*", "no run '*' is stored: `skillstill show --list` names them"),
    ],
)
def test_another_beginning_is_one_sentence(run: str, expected: str) -> None:
    later("aaaa1111", days=0)
    later("aabb2222", days=1)
    with pytest.raises(UnknownName) as caught:
        store.load(run)
    assert str(caught.value) == expected


def test_there_is_no_last_run_before_the_first() -> None:
    with pytest.raises(UnknownName, match=r"^no run is stored yet: "):
        store.load("last")


def test_traces_are_dropped_after_thirty_days() -> None:
    old, young = later("aaaa1111", days=0), later("aabb2222", days=1)
    aged(old, 30.1)
    aged(young, 29.9)
    newest = later("cccc3333", days=2)
    assert list(store.trace_files()) == [young, newest]


def test_what_is_older_is_neither_listed_nor_found_though_no_run_came_since() -> None:
    old, young = later("aaaa1111", days=0), later("aabb2222", days=1)
    aged(old, 30.1)
    assert [trace.run for trace in store.readable()] == ["aabb2222"]
    aged(young, 30.1)
    with pytest.raises(UnknownName, match=r"^no run is stored yet: "):
        store.load("last")
    assert not old.exists()


def test_what_a_killed_process_left_is_dropped_too() -> None:
    part = store.folder() / "20260102T030405000006-aaaa1111.jsonlx1y2z3.part"
    later("aabb2222", days=0)
    part.write_text('{"run": "aaaa', encoding="utf-8")
    later("cccc3333", days=1)
    assert part.exists()
    aged(part, 31)
    later("dddd4444", days=2)
    assert not part.exists()


def test_what_cannot_be_dropped_is_told_and_the_new_trace_is_stored(caplog: pytest.LogCaptureFixture) -> None:
    stuck = store.folder() / "20260102T030405000006-aaaa1111.jsonl"
    stuck.mkdir(parents=True)
    aged(stuck, 31)
    assert store.read(later("aabb2222", days=1)).run == "aabb2222"
    assert f"{stuck} is older than 30 days and cannot be removed" in caplog.text


@pytest.mark.parametrize("content", [b"", b"{}", b"{", b"\xff\xfe", b"[" * 100_000, b"null\n"])
def test_an_unreadable_trace_is_one_sentence(content: bytes) -> None:
    file = store.store(trace())
    file.write_bytes(content)
    with pytest.raises(TraceError) as caught:
        store.load("last")
    assert str(caught.value) == f"{file} cannot be read as a trace"


def test_a_trace_that_is_gone_is_one_sentence() -> None:
    with pytest.raises(TraceError, match=r"gone\.jsonl cannot be read as a trace$"):
        store.read(store.folder() / "gone.jsonl")


def test_half_of_a_surrogate_pair_is_told_and_leaves_nothing() -> None:
    call = ToolCall(name="search", arguments={"pattern": "\ud83e"})
    with pytest.raises(TraceError, match=r"^the trace of run abcdef0123456789 cannot be written as UTF-8$"):
        store.store(trace(messages=(Message(role="assistant", calls=(call,)),)))
    assert not store.folder().exists()


@pytest.mark.parametrize("room", [0, 100, 1_000])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path: Path, room: int) -> None:
    other = later("aaaa1111", days=0)
    given = tmp_path / "trace.json"
    given.write_text(trace().model_dump_json(), encoding="utf-8")
    assert given.stat().st_size > room
    process = subprocess.run(
        [sys.executable, "-c", STORE, given, str(room)], capture_output=True, text=True, check=False
    )
    expected = f"TraceError: the trace of run abcdef0123456789 is not stored in {store.folder()}: File too large"
    assert process.stderr.splitlines()[-1].endswith(expected)
    assert list(store.folder().iterdir()) == [other]


def test_a_place_that_is_no_folder_is_one_sentence() -> None:
    state_folder().parent.mkdir(parents=True, exist_ok=True)
    state_folder().touch()
    with pytest.raises(TraceError) as caught:
        store.store(trace())
    start = f"the trace of run abcdef0123456789 is not stored in {store.folder()}: "
    assert str(caught.value) in {start + "Not a directory", start + "File exists"}
    assert store.trace_files() == []
    assert state_folder().read_bytes() == b""


STORING = """
import os, sys, threading, time
from pathlib import Path
from skillstill.run import store
from skillstill.types import Trace
trace = Trace.model_validate_json(Path(sys.argv[1]).read_text())
print("begun", flush=True)
for number in range(100_000):
    store.store(trace.model_copy(update={"run": f"{number:032x}"}))
"""


def test_a_process_that_is_killed_while_it_stores_leaves_only_whole_traces(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(trace().model_dump_json(), encoding="utf-8")
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", STORING, tmp_path / "trace.json"], stdout=subprocess.PIPE) as one:
            assert one.stdout
            one.stdout.readline()
            before = len(store.trace_files())
            while len(store.trace_files()) < before + 20:
                assert one.poll() is None
            one.kill()
    assert len([*store.readable()]) == len(store.trace_files()) >= 20
