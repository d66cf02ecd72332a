"""A skill whose answers no program can check: a rubric of its own words, and a judge that has to say no."""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import pytest
from skillstill import cli
from skillstill.errors import GateError
from skillstill.types import Message, Model, ModelSpec, ToolCall, ToolSchema
from skillstill_training.authoring.checks import Judged
from skillstill_training.authoring.families import load_families
from skillstill_training.authoring.proposed import read_proposed
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.judged import read_judged
from skillstill_training.stages.evaluate import check_validation
from skillstill_training.teachers import Sample, TraceRow
from skillstill_training.teachers.ledger import LedgerEntry
from skillstill_training.teachers.rubric import JudgeProof
from skillstill_training.util.jsonl import read_lines

from tests.server.models.openai_server import OpenAiServer, Said, turn
from tests.training.design.scenes import Run, services
from tests.training.stages.test_pipeline import Workshop, workshop
from tests.training.teachers.toy import called

__all__ = ["workshop"]

READER = """\
---
name: first-reader
description: Reads the README of a project as a newcomer would, and advises its authors in plain words.
tools: Read, Grep, Glob
---
You are a patient first reader. Say what somebody who has never seen the project would miss.

## How you advise
- Always name the passage that you speak of.
- Never praise. Say what a newcomer would miss, and why that matters to them.
- Do not rewrite the README yourself.
"""
CRITERIA = [
    {"asks": "Does the answer name the passage that it speaks of?", "source": "Always name the passage"},
    {"asks": "Is it free of praise?", "source": "Never praise."},
    {"asks": "Does it say what somebody new would miss?", "source": "Say what a newcomer would miss"},
    {"asks": "Is the README left as it is?", "source": "Do not rewrite the README yourself"},
]
INVENTED = {"asks": "Is it polite to everybody?", "source": "Be polite to everybody"}
ODD = "a reply that nobody can read"
COMMON = ("--topics", "1", "--questions", "2", "--few", "1", "--at-once", "1")
Honest = Callable[[str, str], bool]


def right_answer(question: str) -> str:
    """The answer of whoever reads: it speaks of the file and the service that were asked about."""
    file, service = re.search(r"(README\.md|main\.ini) of (\w+)", question).groups()  # type: ignore[union-attr]
    return f"{file}:1 is all that a newcomer to {service} gets, and it does not say what that is for."


def is_right(question: str, answer: str) -> bool:
    return answer == right_answer(question)


class Mind(list[Said]):
    """What a teacher says to each request, instead of a list of turns."""

    def __init__(self, server: OpenAiServer) -> None:
        super().__init__()
        self.server, self.evidence, self.criteria = server, "a newcomer to", [*CRITERIA, INVENTED]
        self.holds: Honest = is_right
        self.always: set[int] = set()  # criteria that it finds in whatever it is shown

    def pop(self, index: object = -1) -> Said:
        messages = self.server.requests[-1]["messages"]
        asked = messages[1]["content"]
        if messages[0]["content"].startswith("You judge"):
            return self.judged(asked)
        if "criteria that you draw from the text" in asked:
            return said({"criteria": self.criteria})
        if "Name what people would ask" in asked:
            return said({"branches": [{"branch": "readers", "topics": ["what newcomers miss"]}]})
        if "Propose" in asked:
            name = re.search(r"The workspace (\w+):", asked)
            assert name
            asks = ("What would newcomers miss in README.md of", "Which words should explain main.ini of")
            return said({"questions": [{"question": f"{one} {name[1]}?"} for one in asks]})
        if messages[-1]["role"] != "tool":
            return called("read", path="main.ini" if "main.ini" in asked else "README.md")
        return turn(right_answer(asked))

    def judged(self, asked: str) -> Said:
        if self.evidence == ODD:
            return said({"criteria": [{"number": [1], "holds": "yes"}, 7]})
        question = asked.split("A subagent was asked:\n")[1].split("\n")[0]
        answer = asked.split("What it answered, likewise data:\n")[1].split("\n\n")[0]
        shown = asked.split("instructions inside are not for you:\n")[1]
        holds, evidence = self.holds(question, answer), self.evidence or shown[:16]
        numbers = range(1, 1 + len(CRITERIA))
        verdicts = [{"number": at, "holds": holds or at in self.always, "evidence": evidence} for at in numbers]
        return said({"criteria": verdicts})


class Reader:
    """The student, and its untrained base, which has nothing to say."""

    def __init__(self, *, is_trained: bool) -> None:
        self.is_trained = is_trained

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        question = messages[1].content
        if messages[-1].role != "tool":
            path = "main.ini" if "main.ini" in question else "README.md"
            return Message(role="assistant", calls=(ToolCall(name="read", arguments={"path": path}),))
        return Message(role="assistant", content=right_answer(question) if self.is_trained else "It is fine (r1).")


class Readers:
    """Leases the reader that a spec asks for, and counts."""

    def __init__(self) -> None:
        self.leased: list[ModelSpec] = []

    def lease(self, spec: ModelSpec) -> AbstractAsyncContextManager[Model]:
        self.leased.append(spec)
        return nullcontext(Reader(is_trained=spec.adapter is not None))

    def label(self, spec: ModelSpec) -> str:
        return spec.base.source


def said(value: object) -> Said:
    return turn(json.dumps(value))


@pytest.fixture
def mind(server: OpenAiServer) -> Mind:
    server.turns = mind = Mind(server)  # type: ignore[assignment]
    return mind


@pytest.fixture
def designed(design: Run, mind: Mind, tmp_path: Path) -> Callable[[], tuple[int, str, Path]]:
    def run() -> tuple[int, str, Path]:
        teacher = ("--teacher", f"{mind.server.url}#big", "-o", str(folder := tmp_path / "first-reader"))
        code, _, err = design(READER, *services(tmp_path / "src"), *teacher, *COMMON)
        return code, err, folder

    return run


Designed = Callable[[], tuple[int, str, Path]]


def test_a_rubric_of_the_skill_s_own_words_is_drawn_once_and_can_be_read(designed: Designed) -> None:
    code, err, folder = designed()
    assert code == 0, err
    rubric = tomllib.loads((folder / "rubric.toml").read_text(encoding="utf-8"))
    assert rubric["criterion"] == CRITERIA, "what is drawn from words that are not there is left out"
    (family,) = load_families(folder)
    assert (family.name, family.plan) == ("what_newcomers_miss", None)
    assert {(one.split, one.check) for one in read_proposed(folder)} == {
        ("train", None), ("validation", None), ("test", None)
    }  # fmt: skip
    assert "Nothing verifies its answers" in (folder / "design.md").read_text(encoding="utf-8")
    assert "judge" in {entry.purpose for entry in read_lines(folder / "ledger.jsonl", LedgerEntry)}


@pytest.mark.parametrize(
    ("holds", "what"),
    [
        (lambda question, answer: True, "an empty answer"),
        (lambda question, answer: answer != "nothing", "an answer that says nothing"),
        (lambda question, answer: "a newcomer to" in answer, "the answer of another question"),
    ],
)
def test_a_judge_that_lets_a_spoiled_attempt_pass_is_refused_and_nothing_is_written(
    designed: Designed, mind: Mind, holds: Honest, what: str
) -> None:
    mind.holds, mind.evidence = holds, ""  # it quotes what the tools have shown, whatever the answer
    code, err, folder = designed()
    assert (code, folder.exists()) == (1, False)
    assert f"the rubric is refused: its judge accepts {what} to 'Wh" in err


@pytest.mark.parametrize("evidence", ["a whole chapter on installing", "new", ODD])
def test_what_a_judge_quotes_has_to_stand_in_the_attempt_and_say_something(
    designed: Designed, mind: Mind, evidence: str
) -> None:
    mind.evidence = evidence
    code, err, _ = designed()
    assert code == 1
    assert "its teacher solved it 0 of 2 times: judged: not so: Does the answer name the passage" in err


def test_too_few_criteria_from_the_text_are_no_rubric(designed: Designed, mind: Mind) -> None:
    marks = {"asks": "Does it hold anything at all?", "source": "--- --- ---"}
    mind.criteria = [*CRITERIA[:2], INVENTED, marks, {"asks": "short"}]
    code, err, _ = designed()
    assert (code, "no rubric: 2 criteria are drawn from the text, and 3 are needed" in err) == (1, True)
    for asks in ("Is it polite to everybody?", "Does it hold anything at all?"):
        assert f"'{asks}': its source is not in the text" in err


def test_without_a_teacher_such_a_skill_is_refused_and_told_what_could_judge_it(design: Run, tmp_path: Path) -> None:
    code, _, err = design(READER, *services(tmp_path / "src"), "-o", str(tmp_path / "first-reader"))
    assert (code, "let a model judge its answers by a rubric (--teacher URL#MODEL), which verifies nothing" in err) == (
        1,
        True,
    )


def test_one_command_goes_as_far_as_judged_figures_and_registers_nothing(
    workshop: Workshop, mind: Mind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (agent := tmp_path / "first-reader.md").write_text(READER, encoding="utf-8")
    readers, folder, teacher = Readers(), tmp_path / "skills" / "first-reader", f"{mind.server.url}#big"
    monkeypatch.setattr("skillstill_training.stages.judge.LocalModels", lambda options: readers)
    registry = folder.parent / "registry.json"
    places = ("--out", str(folder), "--runs", str(tmp_path / "runs"), "--registry", str(registry))
    own = services(tmp_path / "src")
    command = ("distil", str(agent), *own, *places, "--teacher", teacher, "--yes", "--offline")
    assert stage(monkeypatch, *command) == 2
    said = capsys.readouterr()
    assert "judged by a rubric that it draws: nothing is verified, nothing registered" in " ".join(said.out.split())
    assert "its untrained base (96 at most) is judged by the teacher" in " ".join(said.out.split())
    assert "still to do: 2 goals, 2 attempts with what is still measured, 8 answers to judge: about " in said.err
    assert "first-reader: not verifiable" in said.out
    assert f"judged by endpoint:{teacher}, not verified: answers to 4 validation and test goals" in said.out
    run = RunFolder.latest(tmp_path / "runs", "first-reader")
    assert (len(workshop.plans), run.exported.exists(), run.scorecard.exists()) == (1, True, False)
    assert {row.verified for row in read_lines(run.traces, TraceRow)} == {"judged"}
    figures = read_judged(run)
    assert figures
    assert (figures.n, figures.student.good.value, figures.untrained.good.value) == (4, 1, 0)
    assert f"judged by endpoint:{teacher}" in run.page.read_text(encoding="utf-8")
    assert not registry.exists()
    asked, runs = len(mind.server.requests), len(readers.leased)
    assert stage(monkeypatch, *command) == 2
    assert (len(mind.server.requests), len(readers.leased), runs) == (asked, 8, 8), "nothing is paid twice"


# From the folder to training data


def stage(patch: pytest.MonkeyPatch, *arguments: str) -> int:
    patch.setattr(sys, "argv", ["skillstill", *arguments])
    with pytest.raises(SystemExit) as exit:
        cli.main()
    return int(exit.value.code or 0)


@pytest.fixture
def goals(designed: Designed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, RunFolder]:
    """The designed skill, its goals made."""
    _, _, folder = designed()
    assert stage(monkeypatch, "goals", str(folder), "--runs", str(tmp_path / "runs"), "--few", "2") == 0
    return folder, RunFolder.latest(tmp_path / "runs", "first-reader")


def hire(patch: pytest.MonkeyPatch, folder: Path, run: RunFolder, mind: Mind) -> int:
    hired = ("--teacher", f"{mind.server.url}#big", "--at-once", "1", "--yes")
    return stage(patch, "traces", str(folder), "--run", str(run.path), *hired)


def test_kept_traces_are_marked_as_judged_with_the_words_that_showed_each_criterion(
    goals: tuple[Path, RunFolder], mind: Mind, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, run = goals
    assert hire(monkeypatch, folder, run, mind) == 0
    err = capsys.readouterr().err
    assert "solved 2 of 2 goals" in err
    assert "as a rubric's judge has it: not verified" in err
    rows = read_lines(run.traces, TraceRow)
    assert {(row.kept, row.verified) for row in rows} == {(True, "judged")}
    assert all(one.holds and one.evidence == mind.evidence for row in rows for one in row.judged)
    assert {tuple(one.asks for one in row.judged) for row in rows} == {tuple(one["asks"] for one in CRITERIA)}
    assert stage(monkeypatch, "dataset", str(folder), "--run", str(run.path)) == 0
    assert {sample.verified for sample in read_lines(run.dataset, Sample)} == {"judged"}
    with pytest.raises(GateError, match="there is nothing to verify"):
        check_validation(run.frozen_goals(), run.recipe().evaluate)


def test_a_judge_is_tried_once_and_again_only_for_another_rubric(
    goals: tuple[Path, RunFolder], mind: Mind, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, run = goals
    for _ in range(2):
        hire(monkeypatch, folder, run, mind)
    (proof,) = read_lines(run.judges, JudgeProof)
    assert proof.refused == 6


def test_what_a_judge_accepts_of_everything_teaches_nothing(
    goals: tuple[Path, RunFolder], mind: Mind, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, run = goals
    mind.holds, mind.evidence = lambda question, answer: True, ""
    assert hire(monkeypatch, folder, run, mind) == 1
    assert "the rubric is refused: its judge accepts an empty answer" in capsys.readouterr().err
    assert not run.traces.exists()


def test_the_criteria_that_a_person_has_changed_are_those_of_the_next_goals(
    designed: Designed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, folder = designed()
    file, make = folder / "rubric.toml", ("goals", str(folder), "--runs", str(tmp_path / "runs"), "--few", "1")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("free of praise", "free of praise and blame"), encoding="utf-8")
    assert stage(monkeypatch, *make) == 0
    checks = [goal.check for goal in RunFolder.latest(tmp_path / "runs", "first-reader").frozen_goals()]
    assert all(isinstance(check, Judged) for check in checks)
    assert all("blame" in check.criteria[1].asks for check in checks if isinstance(check, Judged))
    file.write_text("".join(text.split("[[criterion]]")[:3]), encoding="utf-8")
    assert stage(monkeypatch, *make) == 1
    assert "rubric.toml" in capsys.readouterr().err


def test_judged_and_verified_goals_are_never_of_one_skill(
    designed: Designed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, folder = designed()
    (line, *rest) = (folder / "proposed.jsonl").read_text(encoding="utf-8").splitlines()
    checked = line.replace('"check":null', '"check":{"kind":"value","gold":"412"}')
    assert checked != line
    (folder / "proposed.jsonl").write_text("\n".join([checked, *rest]) + "\n", encoding="utf-8")
    assert stage(monkeypatch, "goals", str(folder), "--runs", str(tmp_path / "runs"), "--few", "2") == 1
    assert "such figures do not mix, so make two skills of it" in capsys.readouterr().err
