"""`skillstill stats`: what the stored runs did, and what an orchestrator did not spend; on a terminal and as a page."""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from skillstill import cli
from skillstill.run import store
from skillstill.run.finish import UNSURE
from skillstill.types import Message, Report, Tally, Trace

Stats = Callable[..., str]
SHOWN = "r1: " + "x" * 3_996


def run(name: str, number: int, **report: Any) -> None:
    fields = {"answer": "a" * 40, "status": "answered"} | report
    store.store(
        Trace(
            run=f"{name.encode().hex()[:8]}{number:08x}",
            release=f"{name}@untrained",
            skill=name,
            model="",
            dialect="chatml-lines/2",
            created=datetime(2026, 3, 2 + number, 12, tzinfo=UTC),
            workspace="/project",
            prompt="p" * 80,
            tools=(),
            messages=(Message(role="user", content="p" * 80), Message(role="tool", content=SHOWN)),
            receipts=(),
            report=Report.model_validate(fields),
            tally=Tally(prompt_tokens=100, reused_tokens=30, completion_tokens=5),
        )
    )


@pytest.fixture
def stats(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Stats:
    """The command; what it prints on both streams."""

    def run(*arguments: str, code: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["skillstill", "stats", *arguments])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        assert exit.value.code == code
        printed = capsys.readouterr()
        return printed.out + printed.err

    return run


def test_an_answer_saves_what_its_tools_showed_less_the_call_and_the_report(stats: Stats) -> None:
    run("logs", 0)
    (row,) = json.loads(stats("--json"))
    assert row["saved"] == {"read": (4_000 - 40) // 4, "written": -20}
    assert row["local_tokens"] == 75


@pytest.mark.parametrize(
    ("report", "column"),
    [
        ({"notes": (UNSURE,)}, "unsure"),
        ({"status": "escalate"}, "handed_back"),
        ({"status": "failed"}, "failed"),
    ],
)
def test_what_has_to_be_done_again_saves_nothing_and_costs_its_call(
    stats: Stats, report: dict[str, Any], column: str
) -> None:
    run("logs", 0, **report)
    (row,) = json.loads(stats("--json"))
    assert (row["runs"], row["answered"], row[column]) == (1, 0, 1)
    assert row["saved"]["read"] < 0


def test_runs_are_counted_by_week_and_subagent_the_latest_week_first(stats: Stats) -> None:
    for name, number in (("logs", 0), ("logs", 2), ("explore", 1), ("logs", 8)):
        run(name, number)
    found = [(row["week"], row["subagent"], row["runs"]) for row in json.loads(stats("--json"))]
    assert found == [("2026-W11", "logs", 1), ("2026-W10", "explore", 1), ("2026-W10", "logs", 2)]


def test_money_is_told_for_a_price_that_was_given_alone(stats: Stats) -> None:
    run("logs", 0)
    assert "money" not in stats()
    (row,) = json.loads(stats("--price", "3,15", "--json"))
    assert row["money"] == pytest.approx((990 * 3 - 20 * 15) / 1e6)


@pytest.mark.parametrize("price", ["much", "1,2,3", "-1", "nan", ""])
def test_a_price_that_is_none_is_refused_in_a_sentence(stats: Stats, price: str) -> None:
    assert "--price is IN or IN,OUT" in stats(f"--price={price}", code=64)


def test_the_table_ends_with_the_sum(stats: Stats) -> None:
    run("logs", 0)
    run("explore", 1)
    lines = stats().splitlines()
    assert lines[0].split()[:3] == ["week", "subagent", "runs"]
    assert lines[-1].split()[:2] == ["all", "2"]


def test_the_page_stands_alone_and_shows_names_as_text(stats: Stats, tmp_path: Path) -> None:
    run("<b>logs</b>", 0)
    page = tmp_path / "stats.html"
    assert "wrote" in stats("--html", str(page), "--price", "3")
    text = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;logs&lt;/b&gt;" in text
    assert "<b>" not in text
    assert "http" not in text.replace("http-equiv", "")


def test_a_page_that_cannot_be_written_is_said_to_be_one(stats: Stats, tmp_path: Path) -> None:
    assert "cannot be written" in stats("--html", str(tmp_path), code=64)


def test_without_runs_it_says_what_makes_them(stats: Stats, tmp_path: Path) -> None:
    assert "no run is stored yet" in stats()
    stats("--html", str(page := tmp_path / "stats.html"))
    assert "no run is stored yet" in page.read_text(encoding="utf-8")
