"""The stage that lets a teacher solve frozen goals: nothing is lost, and a failure is a row with a reason."""

import errno
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
import pytest
from skillstill.errors import GateError, StageError
from skillstill_training.authoring.goal import Goal
from skillstill_training.run.folder import RunFolder
from skillstill_training.stages.traces import make_traces
from skillstill_training.teachers import ConstructedTeacher, TraceRow
from skillstill_training.teachers.batch import TeachingProgress
from skillstill_training.util.jsonl import read_lines

from tests.training.runs import constructed

pytestmark = pytest.mark.anyio


class Stumbling:
    """A teacher of the same name that breaks down at its nth goal."""

    def __init__(self, teacher: ConstructedTeacher, nth: int) -> None:
        self.teacher, self.left, self.name = teacher, nth, teacher.name

    async def solve(self, goal: Goal, root: Path) -> Sequence[TraceRow]:
        self.left -= 1
        if self.left < 0:
            raise StageError("the teacher is gone")
        return await self.teacher.solve(goal, root)


class Stuck:
    """Solves so many goals and then none any more, however long one waits."""

    def __init__(self, teacher: ConstructedTeacher, solved: int, waiting: anyio.Event) -> None:
        self.teacher, self.left, self.waiting, self.name = teacher, solved, waiting, teacher.name

    async def solve(self, goal: Goal, root: Path) -> Sequence[TraceRow]:
        self.left -= 1
        if self.left < 0:
            self.waiting.set()
            await anyio.sleep_forever()
        return await self.teacher.solve(goal, root)


def rows(folder: RunFolder) -> Sequence[TraceRow]:
    return read_lines(folder.traces, TraceRow)


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def is_learned(goal: Goal, family: str) -> bool:
    return goal.split == "train" and goal.family == family


async def test_each_training_goal_becomes_a_kept_trace_of_real_calls(settings: Path, frozen: RunFolder) -> None:
    progress = await make_traces(settings, frozen, constructed(settings))
    assert (progress.done, progress.kept, progress.dropped.total()) == (48, 48, 0)
    traces = [row.trace for row in rows(frozen) if row.trace]
    assert {trace.workspace for trace in traces} == {"copper", "nickel"}
    assert all(trace.receipts for trace in traces if trace.report.status == "answered")


async def test_the_same_seed_gives_the_same_bytes_however_many_work_at_once(settings: Path, frozen: RunFolder) -> None:
    await make_traces(settings, frozen, constructed(settings, miss=0.3), at_once=1)
    first = frozen.traces.read_bytes()
    await make_traces(settings, frozen, constructed(settings, miss=0.3), at_once=7)
    assert frozen.traces.read_bytes() == first


async def test_detours_are_taken_at_the_declared_rate_and_counted(settings: Path, frozen: RunFolder) -> None:
    await make_traces(settings, frozen, constructed(settings, miss=0.5))
    assert 2 <= sum(row.detours.get("miss", 0) for row in rows(frozen)) <= 14  # of 16 goals whose plan asks
    assert all(len(row.trace.receipts) >= 2 for row in rows(frozen) if row.trace and row.detours.get("miss"))


async def test_a_skill_with_the_tool_script_learns_its_plans_in_scripts(settings: Path, frozen: RunFolder) -> None:
    change(settings / "subagent.toml", 'tools = ["search"]', 'tools = ["search", "read", "script"]')
    first = """    seen = yield call("search", pattern=f"{goal.words['key']} =")\n"""
    again = "    yield call('read', path=seen.places[0].path, line=seen.places[0].first)\n"
    change(settings / "goals.py", first, first + again)
    await make_traces(settings, frozen, constructed(settings, miss=1.0))
    calls = {
        row.goal: [call for message in row.trace.messages for call in message.calls]
        for row in rows(frozen)
        if row.kept and row.trace
    }
    assert len(calls) == 48
    linked = [[one.name for one in calls[goal.id]] for goal in frozen.frozen_goals() if is_learned(goal, "linked")]
    direct = [[one.name for one in calls[goal.id]] for goal in frozen.frozen_goals() if is_learned(goal, "direct")]
    assert linked == [["script", "search"]] * 16  # whose key the search is for can be read in the script's value alone
    assert ["search"] in direct  # no script of a single call, and no detour
    codes = [one.arguments["code"] for made in calls.values() for one in made if one.name == "script"]
    assert all("read(a.places[0])" in code for code in codes if "read" in code)


async def test_after_a_crash_the_same_command_goes_on_and_ends_with_the_same_bytes(
    settings: Path, frozen: RunFolder
) -> None:
    await make_traces(settings, frozen, constructed(settings))
    whole = frozen.traces.read_bytes()
    frozen.traces.unlink()
    with pytest.raises(StageError, match="gone"):
        await make_traces(settings, frozen, Stumbling(constructed(settings), 20), at_once=1)
    part = frozen.part("constructed")
    part.write_bytes(part.read_bytes() + b'{"goal": "half a li')  # as a killed process leaves it
    asked = Stumbling(constructed(settings), 28)
    await make_traces(settings, frozen, asked)
    assert (asked.left, frozen.traces.read_bytes() == whole, part.exists()) == (0, True, False)


async def test_what_was_done_before_a_cancellation_is_kept(settings: Path, frozen: RunFolder) -> None:
    waiting = anyio.Event()
    async with anyio.create_task_group() as group:
        stuck = Stuck(constructed(settings), 10, waiting)
        group.start_soon(partial(make_traces, settings, frozen, stuck, at_once=1))
        await waiting.wait()
        group.cancel_scope.cancel()
    assert len(read_lines(frozen.part("constructed"), TraceRow)) == 10


async def test_a_smaller_limit_takes_nothing_from_what_was_done(settings: Path, frozen: RunFolder) -> None:
    with pytest.raises(StageError, match="gone"):
        await make_traces(settings, frozen, Stumbling(constructed(settings), 20), at_once=1)
    few = await make_traces(settings, frozen, constructed(settings), limit=3)
    assert (few.goals, few.done, len(rows(frozen))) == (3, 3, 3)
    rest = Stumbling(constructed(settings), 28)
    await make_traces(settings, frozen, rest)
    whole = frozen.traces.read_bytes()
    assert (rest.left, len(rows(frozen)), frozen.part("constructed").exists()) == (0, 48, False)
    await make_traces(settings, frozen, constructed(settings), limit=3)
    assert frozen.traces.read_bytes() == whole


async def test_a_goal_of_a_family_that_is_gone_says_what_to_do(settings: Path, frozen: RunFolder) -> None:
    change(settings / "goals.py", 'Family("linked"', 'Family("chained"')
    with pytest.raises(StageError, match=r"goals\.py has no family 'linked' any more: make the goals again"):
        await make_traces(settings, frozen, constructed(settings))


async def test_a_goal_that_its_teacher_fails_is_a_row_with_a_reason(settings: Path, frozen: RunFolder) -> None:
    text = (settings / "goals.py").read_text(encoding="utf-8")
    (settings / "goals.py").write_text(text.replace("It is {value}, by way", "It is 0, by way"), encoding="utf-8")
    progress = await make_traces(settings, frozen, constructed(settings))
    assert (progress.kept, progress.dropped.total()) == (32, 16)
    dropped = [row for row in rows(frozen) if not row.kept]
    assert all(row.trace and "it does not state" in row.reason for row in dropped)


async def test_a_plan_that_breaks_off_is_a_row_too(settings: Path, frozen: RunFolder) -> None:
    text = (settings / "goals.py").read_text(encoding="utf-8")
    (settings / "goals.py").write_text(text.replace("seen.lines[-1].partition", "seen.lines[9].partition"), "utf-8")
    await make_traces(settings, frozen, constructed(settings))
    assert "the plan broke off: IndexError" in next(row.reason for row in rows(frozen) if not row.kept)


async def test_a_full_disk_ends_the_stage_with_what_to_do_and_keeps_what_is_done(
    settings: Path, frozen: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(range(12))
    sync = os.fsync

    def full(descriptor: int) -> None:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StageError, match="No space left on device; what is done so far is kept"):
        await make_traces(settings, frozen, constructed(settings), at_once=1)
    monkeypatch.setattr(os, "fsync", sync)
    progress: list[TeachingProgress] = []
    await make_traces(settings, frozen, constructed(settings), on_progress=progress.append)
    assert progress[0].done >= 12
    assert len(rows(frozen)) == 48


async def test_goals_that_are_not_frozen_are_not_solved(settings: Path, frozen: RunFolder) -> None:
    frozen.goals.write_text("", encoding="utf-8")
    with pytest.raises(GateError):
        await make_traces(settings, frozen, constructed(settings))
