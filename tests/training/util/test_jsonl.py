"""Files of one value a line."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skillstill.errors import StageError
from skillstill.types import Message
from skillstill_training.util.jsonl import Appender, read_lines, write_lines

TEXTS = st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20), max_size=4)


@given(TEXTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_again_whatever_characters_it_holds(tmp_path: Path, texts: list[str]) -> None:
    values = [Message(role="user", content=text) for text in [*texts, "a\u2028b\u0085c"]]
    write_lines(tmp_path / "a.jsonl", values)
    assert read_lines(tmp_path / "a.jsonl", Message) == values


def test_a_torn_last_line_is_passed_over_only_where_a_process_may_have_died(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    with Appender(file) as appender:
        appender.append([Message(role="user", content="one"), Message(role="user", content="two")])
    file.write_bytes(file.read_bytes() + b'{"role": "us')
    assert [value.content for value in read_lines(file, Message, torn=True)] == ["one", "two"]
    with pytest.raises(StageError, match=r"a\.jsonl:3 is no Message"):
        read_lines(file, Message)


def test_a_disk_that_fills_up_in_the_middle_of_a_line_leaves_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, write = tmp_path / "a.jsonl", os.write

    def half(descriptor: int, data: bytes) -> int:
        if len(data) < 9:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[: len(data) // 2])

    with Appender(file) as appender:
        appender.append([Message(role="user", content="one")])
        monkeypatch.setattr(os, "write", half)
        with pytest.raises(StageError, match="No space left on device; what is done so far is kept"):
            appender.append([Message(role="user", content="two"), Message(role="user", content="three")])
        monkeypatch.setattr(os, "write", write)
        appender.append([Message(role="user", content="four")])
    assert [value.content for value in read_lines(file, Message)] == ["one", "four"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"nowhere\.jsonl cannot be read"):
        read_lines(tmp_path / "nowhere.jsonl", Message)
