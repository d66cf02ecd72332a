"""Files of one value a line."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skillstill.errors import StageError
from skillstill.types import Message
from skillstill_training.jsonl import Appender, read_lines, write_lines

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


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"nowhere\.jsonl cannot be read"):
        read_lines(tmp_path / "nowhere.jsonl", Message)
