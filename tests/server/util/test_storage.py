"""Writing: all or nothing, and never over what is no file."""

import os
from pathlib import Path

import pytest
from skillstill.util.storage import write_atomically


def test_a_device_or_pipe_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a regular file"):
        write_atomically(pipe, "text")
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe], "nothing half written is left"


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    write_atomically(tmp_path / "deep" / "file", "text")
    assert (tmp_path / "deep" / "file").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_stays_its_owners(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old", encoding="utf-8")
    os.chown(tmp_path / "file", 12345, 12345)
    write_atomically(tmp_path / "file", "new")
    assert (tmp_path / "file").stat().st_uid == 12345
