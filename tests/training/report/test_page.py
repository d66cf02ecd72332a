"""The page of a run: what a person reads there, with and without a script, and what it never runs."""

import html
import json
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from skillstill.types import Message, Receipt, Report, Span, Tally, ToolCall, Trace
from skillstill_training.authoring.checks import Absent, Check, Declined, Locations, Members, Quoted, Rows, Value
from skillstill_training.authoring.goal import Goal, Split
from skillstill_training.report.page.gold import describe_gold
from skillstill_training.report.page.page import write_page
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import Recipe
from skillstill_training.teachers import TraceRow
from skillstill_training.util.jsonl import write_lines

HOSTILE = "</script><img src=x onerror=\"document.title='stung'\"><!-- &amp; \u202e"
PLACE = Span(path="src/a.py", first=10, last=20)


def goal(number: int, family: str, check: Check, **more: Any) -> Goal:
    split: Split = more.pop("split", "train")
    known = {
        "workspace": "shelf",
        "prompt": f"Where is thing {number}?",
        "calls": 1,
        "hits": 1,
        "answer": f"It is here: r{number}.",
    }
    return Goal(
        id=f"{number:016x}", skill="explore", family=family, split=split, wording="train/3",
        check=check, **{**known, **more},
    )  # fmt: skip


def row(
    of: Goal, kept: bool = True, reason: str = "", result: str = "src/a.py:12: def thing():", **more: Any
) -> TraceRow:
    call = ToolCall(name="search", arguments={"pattern": "thing", "limit": 5})
    trace = Trace(
        run=of.id, release="", skill="explore", model="planned", dialect="d", created=datetime(2000, 1, 1, tzinfo=UTC),
        workspace="shelf", prompt=of.prompt, tools=(),
        messages=(
            Message(role="system", content="the system line"),
            Message(role="user", content=of.prompt),
            Message(role="assistant", calls=(call,)),
            Message(role="tool", content=f"r1: {result}", receipt="r1"),
            Message(role="assistant", content="It is at src/a.py:12."),
        ),
        receipts=(Receipt(id="r1", tool="search", arguments=call.arguments, sha256="0", excerpt="", seconds=0),),
        report=Report(answer="It is at src/a.py:12.", status="answered", evidence=("src/a.py:12",)),
        tally=Tally(prompt_tokens=900, completion_tokens=100),
    )  # fmt: skip
    settled = {"teacher": "constructed", "verified": "check" if kept else "none", "trace": trace, **more}
    return TraceRow(goal=of.id, kept=kept, reason=reason, **settled)


DEFINED = goal(1, "definition", Locations(gold=(PLACE,)), calls=3)
ABSENT = goal(2, "definition", Absent(), split="test", hits=3)
COUNTED = goal(3, "count", Value(gold="30", wrong=("60",)), prompt=HOSTILE, workspace=HOSTILE, answer=HOSTILE)
GOALS = (DEFINED, ABSENT, COUNTED)
ROWS = (
    row(DEFINED, detours={"miss": 2}),
    row(DEFINED, kept=False, reason="it names 1 of 3 right places", teacher="qwen"),
    row(COUNTED, kept=False, reason=f"it does not state {HOSTILE!r}", result=HOSTILE),
)


def written(folder: RunFolder, *rows: TraceRow) -> str:
    write_lines(folder.goals, GOALS)
    if rows:
        write_lines(folder.traces, rows)
    return write_page(folder).read_text(encoding="utf-8")


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def table(page: str, id: str) -> list[list[str]]:
    """The rows of a table as a reader sees them."""
    found = re.search(rf"<table id={id}>(.*?)</table>", page, re.DOTALL)
    assert found
    rows = re.findall(r"<tr.*?</tr>", found[1], re.DOTALL)
    return [
        [html.unescape(re.sub(r"<.*?>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", line)] for line in rows
    ]


def test_goals_alone_are_counted_by_family_and_split(folder: RunFolder) -> None:
    page = written(folder)
    assert folder.page == folder.path / "index.html"
    assert "3 goals of 2 families, in 2 workspaces. Nobody has tried to solve them yet." in page
    # family | train: goals, deep, several, absent | validation | test | all: goals, mean calls
    definition = ["1", "100%", "0%", "0%", "–", "", "", "", "1", "0%", "100%", "100%", "2", "2.0"]
    assert table(page, "asked")[2] == ["definition", *definition]
    assert table(page, "asked")[-1][:2] == ["all families", "2"]
    assert "How it was solved" not in page


def test_shares_that_the_recipe_does_not_want_stand_out(folder: RunFolder) -> None:
    folder.save_recipe(Recipe())
    page = written(folder)
    assert table(page, "asked")[-1][:5] == ["the recipe wants", "", "≥\u00a030%", "15–25%", "10–40%"]
    assert '<td class="none off">0%</td>' in page


def test_what_became_of_the_goals_is_told_by_teacher_and_reason(folder: RunFolder) -> None:
    lines = {line[0]: line[1:] for line in table(written(folder, *ROWS), "solved")}
    assert lines[""] == ["constructed", "qwen", "all teachers"]
    assert lines["kept"] == ["1 50%", "–", "1 33%"]
    assert lines["it names … of … right places"] == ["–", "1", "1"]
    assert lines["miss"] == ["2", "–", "2"]
    assert lines["tokens read and written"] == ["2,000", "1,000", "3,000"]


def test_a_trace_lies_beside_its_goal_without_what_every_trace_has(folder: RunFolder) -> None:
    page = written(folder, *ROWS)
    kept, dropped = data_of(page)[0]["traces"]
    assert kept["steps"][0] == {"call": 'search(pattern="thing", limit=5)'}
    assert kept["steps"][1] == {"id": "r1", "got": "src/a.py:12: def thing():", "left": 0, "refused": False}
    assert len(kept["steps"]) == 2
    assert dropped["reason"] == "it names 1 of 3 right places"
    assert "the system line" not in page


def test_text_from_a_workspace_cannot_leave_its_place(folder: RunFolder) -> None:
    page = written(folder, *ROWS)
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert "\u202e" not in page
    assert data_of(page)[2]["prompt"] == HOSTILE.removesuffix("\u202e")


def test_the_page_needs_nothing_from_anywhere(folder: RunFolder) -> None:
    page = written(folder, *ROWS)
    assert "default-src 'none'" in page
    assert not re.search(r"https?://|@import|url\(", page)


def test_a_long_result_is_cut_and_says_so(folder: RunFolder) -> None:
    page = written(folder, row(DEFINED, result="x" * 5_000))
    cut = data_of(page)[0]["traces"][0]["steps"][1]
    assert (len(cut["got"]), cut["left"]) == (4_000, 1_000)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (Locations(gold=(PLACE,)), "a line of src/a.py:10-20"),
        (Locations(gold=(Span(path="src/a.py"),)), "the file src/a.py"),
        (Locations(gold=(PLACE, Span(path="b.py", first=3, last=3)), recall=0.5), "one of src/a.py:10-20 b.py:3"),
        (Value(gold="30", wrong=("60",)), "the value 30 not 60"),
        (Value(gold="30", also=("thirty",)), "one of the values 30 thirty"),
        (Members(gold=("A", "B"), others=("C",)), "all of A B not C"),
        (Members(gold=tuple("ABCD"), recall=0.7, precision=0.8), "at least 3 of A B C D up to 20% others may be named"),
        (Rows(gold=(("a", "1"), ("b", "2")), ordered=True), "2 rows, in this order a|1 b|2"),
        (Quoted(gold="no such file", place=PLACE), "the words no such file from src/a.py:10-20"),
        (Absent(), "it is not there and the answer cites the searches that found nothing"),
        (Declined(), "handed back the tools cannot do this"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_check_is_told_describe_gold(check: Check, words: str) -> None:
    gold = describe_gold(check)
    rows = ["|".join(cells) for cells in gold.rows]
    assert " ".join(filter(None, [gold.lead, *gold.items, *rows, gold.note])) == words


def test_a_long_list_is_told_in_part() -> None:
    items = describe_gold(Members(gold=tuple(f"name{at}" for at in range(30)))).items
    assert items[-2:] == ("name23", "and 6 more")


@pytest.fixture
def browser() -> str:
    found = shutil.which("chromium")
    if not found and not os.environ.get("SKILLSTILL_REQUIRE_CLIENTS"):
        pytest.skip("chromium is not installed: `apt-get install chromium`")
    return found or "chromium"


def drawn(browser: str, page: Path, address: str, profile: Path) -> str:
    """The document as the browser has it after the page's script ran."""
    quiet = ("gpu", "quic", "background-networking", "component-update", "sync")
    options = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in quiet)]
    command = [browser, *options, f"--user-data-dir={profile}", "--dump-dom", f"{page.as_uri()}#{address}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, stdin=subprocess.DEVNULL)
    return done.stdout.partition('<div id="families">')[2].partition("<script")[0]


def cards_in(dom: str) -> list[str]:
    return re.findall(r'<article class="card[^"]*" id="(\w+)"', dom)


def test_a_browser_shows_the_goals_and_nothing_that_they_smuggle_in(
    browser: str, folder: RunFolder, tmp_path: Path
) -> None:
    written(folder, *ROWS)
    dom = drawn(browser, folder.page, "", tmp_path / "profile")
    assert cards_in(dom) == [one.id for one in GOALS]
    assert "Where is thing 1?" in dom
    assert "<img" not in dom
    assert html.escape(HOSTILE.removesuffix("\u202e"), quote=False) in dom
    assert "search(" not in dom  # a trace is drawn when it is opened


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("family=count", [COUNTED]),
        ("split=test", [ABSENT]),
        ("outcome=kept", [DEFINED]),
        ("outcome=dropped", [DEFINED, COUNTED]),
        ("outcome=none", [ABSENT]),
        ("q=THING+2", [ABSENT]),
        ("family=definition&q=detour%3A+miss", [DEFINED]),
        ("q=nowhere", []),
    ],
)
def test_a_browser_shows_what_the_address_filters(
    browser: str, folder: RunFolder, tmp_path: Path, address: str, shown: list[Goal]
) -> None:
    written(folder, *ROWS)
    assert cards_in(drawn(browser, folder.page, address, tmp_path / "profile")) == [one.id for one in shown]


def test_a_link_to_a_goal_opens_its_traces(browser: str, folder: RunFolder, tmp_path: Path) -> None:
    written(folder, *ROWS)
    dom = drawn(browser, folder.page, DEFINED.id, tmp_path / "profile")
    assert f'<article class="card linked" id="{DEFINED.id}"' in dom
    assert 'search(pattern="thing", limit=5)' in dom
    assert "it names 1 of 3 right places" in dom
