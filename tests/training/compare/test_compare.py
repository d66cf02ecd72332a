"""`skillstill compare`: the same tasks and orchestrator, other subagents; scripted models, real tools and loops."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from skillstill import cli
from skillstill.models.scripted import ScriptedModel, call
from skillstill.types import Message, ToolCall
from skillstill_training.benchmarks import BENCHMARKS
from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.cli.compare_output import print_summary
from skillstill_training.compare.arms import Staff
from skillstill_training.compare.direct import NoOrchestrator
from skillstill_training.compare.ideal import IdealOrchestrator
from skillstill_training.compare.outcome import Row
from skillstill_training.compare.results import write_results
from skillstill_training.compare.running import OUTCOMES, Comparison, stored_rows
from skillstill_training.compare.summary import Summary, summarize
from skillstill_training.compare.tasks import OwnTasks, draw
from skillstill_training.evaluation.baseline import freeze_baseline
from skillstill_training.field.plans import Plan

from tests.scenes import ROOT, SHOP, UNTRAINED, ScriptedModels, write
from tests.server.models.openai_server import OpenAiServer, turn
from tests.training.benchmarks.test_benchmarks import loghub
from tests.training.teachers.toy import called

QUESTION = "In which file is the class Cart defined?"
RIGHT, WRONG = turn("It is in shop/cart.py."), turn("It is in shop/stock.py.")
SEARCH = called("search", pattern="class Cart")
PRICES = '["big"]\nprompt = 1000000\ncached = 0\ncompletion = 0\n'
Compare = Callable[..., tuple[int, str, str]]


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Compare:
    """The command with two tasks of one's own."""
    lines = [{"prompt": QUESTION, "folder": str(SHOP), "gold": "cart.py"}] * 2
    write(tmp_path, {"mine.jsonl": "".join(json.dumps(one) + "\n" for one in lines), "prices.toml": PRICES})

    def run(*arguments: str) -> tuple[int, str, str]:
        common = ["skillstill", "compare", str(tmp_path / "mine.jsonl"), "--out", str(tmp_path), "--json"]
        monkeypatch.setattr(sys, "argv", [*common, *arguments])
        with pytest.raises(SystemExit) as exit:
            cli.main()
        captured = capsys.readouterr()
        return int(exit.value.code or 0), captured.out, captured.err

    return run


def rows(tmp_path: Path) -> list[Row]:
    return list(stored_rows(tmp_path / "mine"))


def test_an_orchestrator_with_its_own_tools_is_compared_with_itself_that_hands_over(
    compare: Compare, server: OpenAiServer, tmp_path: Path
) -> None:
    inside = [SEARCH, turn("class Cart is defined at shop/cart.py:18.")]
    server.says(SEARCH, RIGHT, called("explore", prompt=QUESTION), *inside, RIGHT)
    code, out, err = compare("--orchestrator", f"{server.url}#big", "--arms", "alone,self", "--limit", "1")
    assert code == 0, err
    alone, own = rows(tmp_path)
    assert (alone.arm, alone.score, own.arm, own.score) == ("alone", 1, "self", 1)
    assert (alone.outcome.usage.prompt, alone.outcome.usage.reused, alone.outcome.usage.completion) == (38, 8, 12)
    assert alone.outcome.delegated.prompt == 0
    assert (own.outcome.usage.prompt, own.outcome.delegated.prompt, own.outcome.local_tokens) == (38, 38, 0)
    figures = {arm.arm: arm for arm in Summary.model_validate_json(out).arms}
    assert figures["self"].gains["tokens"].value == -42  # twice the turns
    offered = [[tool["function"]["name"] for tool in request["tools"]] for request in server.requests]
    assert offered[0] == ["list", "read", "search"]
    assert offered[2] == ["list", "read", "search", "explore", "logs", "tables"]


def test_a_benchmark_brings_its_own_tasks_and_its_own_scorer(
    server: OpenAiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(BENCHMARKS, "loghub", loghub(tmp_path))
    asked = ["--orchestrator", f"{server.url}#big", "--arms", "alone,self", "--out", str(tmp_path), "--json"]
    monkeypatch.setattr(sys, "argv", ["skillstill", "compare", "loghub", *asked])
    answers = {"took": ("There are 7.", "There are 8."), "disk": ("Lines 8 and 9.", "escalate: too many lines.")}
    drawn = sorted(answers, key=lambda word: word not in draw(BENCHMARKS["loghub"])[0].prompt)
    server.says(*(turn(answer) for word in drawn for answer in answers[word]))
    with pytest.raises(SystemExit):
        cli.main()
    figures = {arm.arm: arm for arm in Summary.model_validate_json(capsys.readouterr().out).arms}
    assert (figures["alone"].means["score"].value, figures["self"].means["score"].value) == (1, 0)
    assert figures["self"].lost == 2


def test_the_page_shows_what_each_arm_did_side_by_side_and_runs_no_script(
    compare: Compare, server: OpenAiServer, tmp_path: Path
) -> None:
    server.says(SEARCH, turn("<script>It is in shop/cart.py.</script>"))
    compare("--orchestrator", f"{server.url}#big", "--arms", "alone", "--limit", "1")
    (page,) = (tmp_path / "mine").glob("*.html")
    written = page.read_text(encoding="utf-8")
    assert "<script" not in written
    assert QUESTION in written
    assert "search {&quot;pattern&quot;: &quot;class Cart&quot;}" in written


def test_what_is_done_is_not_paid_for_again(compare: Compare, server: OpenAiServer, tmp_path: Path) -> None:
    asked = ("--orchestrator", f"{server.url}#big", "--arms", "alone")
    server.says(RIGHT)
    compare(*asked, "--limit", "1")
    file = tmp_path / "mine" / OUTCOMES
    file.write_text(file.read_text(encoding="utf-8") + '{"task": "mine/2", "arm', encoding="utf-8")  # killed there
    server.says(WRONG)
    compare(*asked)
    compare(*asked)
    assert len(server.requests) == 2
    assert [row.score for row in rows(tmp_path)] == [1, 0]


def test_an_attempt_that_the_model_failed_is_told_apart_and_made_again(
    compare: Compare, server: OpenAiServer, tmp_path: Path
) -> None:
    asked = ("--orchestrator", f"{server.url}#big", "--arms", "alone", "--limit", "1")
    _, out, err = compare(*asked)
    assert "failed: " in err
    assert Summary.model_validate_json(out).arms == ()
    server.says(RIGHT)
    _, out, _ = compare(*asked)
    assert [(row.score, bool(row.outcome.error)) for row in rows(tmp_path)] == [(0, True), (1, False)]
    assert Summary.model_validate_json(out).arms[0].tasks == 1


def test_it_costs_what_the_price_file_says_and_no_more_than_the_budget(
    compare: Compare, server: OpenAiServer, tmp_path: Path
) -> None:
    asked = ("--orchestrator", f"{server.url}#big", "--arms", "alone", "--prices", str(tmp_path / "prices.toml"))
    server.says(RIGHT, RIGHT)
    code, _, err = compare(*asked, "--budget", "10usd")
    assert (code, len(rows(tmp_path))) == (1, 1)
    assert "the budget is used up (25 tokens, 15.0000 USD)" in err
    code, _, _ = compare(*asked, "--budget", "20usd")
    assert (code, [row.usd for row in rows(tmp_path)]) == (0, [15, 15])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--orchestrator", "https://models.example#big"), "models.example would be sent what is in the folders"),
        (("--orchestrator", "claude-code", "--send"), "what it costs is asked at a terminal"),
        (("--arms", "ours,alone"), "--arms: the orchestrator 'none' knows script, stock, ours, router; not 'alone'"),
        (("--orchestrator", "ideal"), "nobody wrote plans for these tasks"),
        (("--orchestrator", "http://127.0.0.1:1#small", "--prices", "PRICES"), "the price file does not name small"),
        (("--orchestrator", "none", "--prices", "/none.toml", "--budget", "few"), "a budget is money or tokens"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_spent(
    compare: Compare, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    code, _, err = compare(*(str(tmp_path / "prices.toml") if one == "PRICES" else one for one in arguments))
    assert (code, told in err) == (64, True), err
    assert rows(tmp_path) == []


def test_a_skill_without_field_questions_is_told_with_those_that_have_some(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["skillstill", "compare", "field:exlpore", "--orchestrator", "ideal"])
    with pytest.raises(SystemExit, match="64"):
        cli.main()
    told = "no skill called 'exlpore' has field questions; there are: config, explore, history, logs, research, tables"
    assert told in capsys.readouterr().err


def test_a_file_that_is_asked_for_is_stated_by_a_place_in_it(
    compare: Compare, server: OpenAiServer, tmp_path: Path
) -> None:
    server.says(turn("It is defined at shop/cart.py:18."), turn("It is defined at shop/stock.py:18."))
    compare("--orchestrator", f"{server.url}#big", "--arms", "alone")
    assert [row.score for row in rows(tmp_path)] == [1, 0]


def test_a_line_without_a_folder_is_refused_by_its_number(compare: Compare, tmp_path: Path) -> None:
    line = json.dumps({"prompt": QUESTION, "folder": "gone", "gold": "cart.py"})
    write(tmp_path, {"mine.jsonl": line + "\n"})
    code, _, err = compare()
    assert (code, "mine.jsonl:1: there is no folder" in err) == (1, True), err


PLAN = Plan(
    question="1", calls=(ToolCall(name="search", arguments={"pattern": "class Cart"}),), answer="shop/cart.py:18"
)
TASK = Task(id="field/1", prompt=QUESTION, folder=str(SHOP), skill="explore", gold=None)


def ideal(tmp_path: Path, *turns: Message | str) -> IdealOrchestrator:
    staff = Staff(tmp_path, ScriptedModels(ScriptedModel(turns)), UNTRAINED)
    return IdealOrchestrator(ROOT / "skills" / "explore", {"field/1": PLAN}, staff)


@pytest.mark.anyio
async def test_an_ideal_orchestrator_reads_a_report_in_place_of_what_a_plan_would_have_read(tmp_path: Path) -> None:
    alone = await ideal(tmp_path).solve(TASK, "alone", None)
    assert alone.answer == PLAN.answer
    assert [step.kind for step in alone.steps] == ["called", "read", "said"]
    said = "class Cart is defined at shop/cart.py:18."
    ours = await ideal(tmp_path, call("search", pattern="class Cart"), said).solve(TASK, "ours", None)
    assert ours.answer == said
    assert [(step.kind, step.inside) for step in ours.steps[:3]] == [
        ("called", False),
        ("read", False),
        ("said", False),
    ]
    assert ours.steps[3].inside
    assert alone.usage.prompt > alone.usage.reused > 0


@pytest.mark.anyio
async def test_an_ideal_orchestrator_does_itself_what_is_handed_back(tmp_path: Path) -> None:
    alone = await ideal(tmp_path).solve(TASK, "alone", None)
    ours = await ideal(tmp_path, "escalate: too hard").solve(TASK, "ours", None)
    assert ours.answer == PLAN.answer
    assert [step.kind for step in ours.steps[:5]] == ["called", "read", "called", "read", "said"]
    assert ours.usage.prompt - ours.usage.reused > alone.usage.prompt - alone.usage.reused


@pytest.mark.anyio
async def test_what_an_ideal_orchestrator_saves_is_told_of_the_work_and_of_what_a_session_reads_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"prompt": QUESTION, "folder": str(SHOP), "gold": "cart.py"}] * 3
    write(tmp_path, {"mine.jsonl": "".join(json.dumps(one) + "\n" for one in lines)})
    said = "class Cart is defined at shop/cart.py:18.", "class Cart is defined at shop/pricing.py:33."
    turns: list[Message | str] = [
        call("search", pattern="class Cart"),
        said[0],
        call("search", pattern="Cart"),
        said[1],
        "escalate: too hard",
    ]
    who = replace(ideal(tmp_path, *turns), plans={f"mine/{at}": PLAN for at in (1, 2, 3)})
    mine = OwnTasks.of(tmp_path / "mine.jsonl")
    comparison = Comparison(mine, list(mine.tasks()), who, ("alone", "ours"), tmp_path, "")
    await comparison.run()
    summary, page = write_results(comparison)
    works = [row.outcome.work for row in comparison.finished() if row.outcome.work]
    (right, wrong_one, handed_back) = works
    assert [work.is_believed for work in works] == [True, True, False]
    assert len({work.inline for work in works}) == 1
    alone, ours = summary.arms
    assert alone.savings is None
    assert ours.savings
    saved = ours.savings.bases
    assert {basis: one.tasks for basis, one in saved.items()} == {"all": 3, "right": 1, "net": 3}
    assert saved["right"].work.tokens.value == right.inline - right.handed
    assert saved["right"].work.share.value == pytest.approx(1 - right.handed / right.inline, abs=1e-4)
    paid = wrong_one.handed + handed_back.handed
    assert saved["net"].work.tokens.value == pytest.approx((right.saved - paid) / 3, abs=1e-4)
    for tasks, one in saved["all"].sessions.items():
        each = saved["all"].work.tokens.value - ours.savings.fixed / tasks
        assert one.tokens.value == pytest.approx(each, abs=1e-3)
    print_summary(summary, page, as_json=False)
    assert "saved by our subagents" in " ".join(capsys.readouterr().out.split())
    assert "What is saved: our subagents" in page.read_text(encoding="utf-8")


@pytest.mark.anyio
async def test_without_an_orchestrator_a_task_goes_to_the_subagent_or_the_script_as_it_stands(tmp_path: Path) -> None:
    skill = write(
        tmp_path / "explore", {"baseline.py": "def answer(prompt, root):\n    return f'{prompt} {root.name}'\n"}
    )
    freeze_baseline(skill)
    turns: list[Message | str | Exception] = [
        call("search", pattern="class Cart"),
        "class Cart is defined at shop/cart.py:18.",
    ]
    staff = Staff(tmp_path / "staff", ScriptedModels(ScriptedModel(turns)), UNTRAINED)
    alone = NoOrchestrator(tmp_path, staff)
    script = await alone.solve(TASK, "script", None)
    assert script.answer == f"{QUESTION} {SHOP.name}"
    ours = await alone.solve(TASK, "stock", None)
    assert ours.answer == "class Cart is defined at shop/cart.py:18."
    assert ours.paid.prompt == 0
    assert [step.kind for step in ours.steps] == ["called", "read", "said"]


def test_a_lost_task_is_charged_with_the_work_that_has_to_be_done_again() -> None:
    def row(arm: str, score: float, prompt: int) -> Row:
        outcome = {"answer": "x", "usage": {"prompt": prompt}}
        fields = {"task": "t/1", "arm": arm, "orchestrator": "o", "settings": "s", "score": score, "usd": None}
        return Row.model_validate({**fields, "outcome": outcome})

    summary = summarize("b", "1", "o", [row("alone", 1, 1_000), row("ours", 0, 100), row("router", 1, 100)])
    lost, kept = summary.arms[1], summary.arms[2]
    assert (lost.gains["tokens"].value, lost.gains["net"].value, lost.lost) == (900, -100, 1)
    assert (kept.gains["tokens"].value, kept.gains["net"].value, kept.lost) == (900, 900, 0)
