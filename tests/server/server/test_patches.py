"""What a run changed, as its callers get it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from skillstill.console import show
from skillstill.server import wire
from skillstill.types import Report, Trace

PATCH = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-one\n+\x1b[31mtwo\n"


def trace(patch: str) -> Trace:
    texts = dict.fromkeys(("release", "skill", "model", "dialect", "workspace", "prompt"), "x")
    return Trace(
        run="r" * 32,
        created=datetime.now(UTC),
        tools=(),
        messages=(),
        receipts=(),
        report=Report(answer="done", status="answered"),
        patch=patch,
        **texts,
    )


@pytest.mark.parametrize(
    ("patch", "told"), [(PATCH, PATCH), ("x" * 20_001, f"20,001 characters: see run://{'r' * 32}")]
)
def test_a_client_gets_a_patch_of_bearable_length(patch: str, told: str) -> None:
    result = wire.tool_result(trace(patch))
    assert result.structured_content
    assert result.structured_content["patch"] == told


def test_a_run_that_changed_nothing_costs_its_caller_nothing() -> None:
    assert "patch" not in (wire.tool_result(trace("")).structured_content or {})


def test_a_person_reads_the_patch_without_what_a_terminal_would_obey(capsys: pytest.CaptureFixture[str]) -> None:
    show.print_report(trace(PATCH), as_json=False)
    assert capsys.readouterr().out == "done\n" + PATCH.replace("\x1b[31m", "")


def test_a_file_gets_it_byte_by_byte(tmp_path: Path) -> None:
    show.write_patch(trace(PATCH), tmp_path / "a.patch")
    assert (tmp_path / "a.patch").read_bytes() == PATCH.encode()
