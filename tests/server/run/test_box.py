"""Runs whose tools execute: the real loop, tools and sandbox; only the model is scripted."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import loop
from skillstill.sandbox.choice import ENVIRONMENT
from skillstill.sandbox.sandbox import Driver
from skillstill.skills.registry import Registry
from skillstill.skills.skill import Mode, Skill, WorkspaceUse
from skillstill.types import ReasonKind, Trace
from skillstill.workspace import Workspace

from tests.scenes import write
from tests.server.sandbox.conftest import driver

__all__ = ["driver"]
pytestmark = pytest.mark.anyio
EDIT = call("edit", path="a.py", old="one", new="two")
PATCH = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,1 @@\n-name = 'one'\n+name = 'two'\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "work", {"a.py": "name = 'one'\n", ".env": "KEY=hunter2\n"})


def skill(mode: Mode, *tools: str) -> Skill:
    explore = Registry().entry("explore").skill()
    names = tools or ("shell", "edit", "read")
    subagent = explore.subagent.model_copy(
        update={"tools": names, "opening": None, "workspace": WorkspaceUse(mode=mode), "readers": ()}
    )
    return explore.model_copy(update={"subagent": subagent, "readers": ()})


async def solve(skill: Skill, folder: Path, *turns: Any, **options: Any) -> Trace:
    brief = loop.Brief(skill, "Call it two.", skill.instructions)
    return await loop.run(brief, nullcontext(ScriptedModel(turns)), Workspace(folder), **options)


@pytest.fixture
def works(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, driver.name)


@pytest.mark.usefixtures("works")
async def test_what_a_run_changes_in_its_copy_comes_back_as_a_patch(folder: Path) -> None:
    turns = EDIT, call("shell", command="cat a.py .env"), "It is two now (r2)."
    trace = await solve(skill("scratch"), folder, *turns)
    assert trace.report.status == "answered"
    assert trace.patch == PATCH
    assert (folder / "a.py").read_text(encoding="utf-8") == "name = 'one'\n"
    shown = trace.messages[-2].content
    assert "name = 'two'" in shown
    assert "hunter2" not in shown, "secrets are not in the copy"
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


@pytest.mark.usefixtures("works")
async def test_tools_that_only_read_see_what_was_changed(folder: Path) -> None:
    trace = await solve(
        skill("scratch"), folder, call("read", path="a.py"), EDIT, call("read", path="./a.py"), "Done (r3)."
    )
    before, _, after = (message.content for message in trace.messages if message.role == "tool")
    assert "'one'" in before
    assert "'two'" in after


@pytest.mark.usefixtures("works")
async def test_in_the_mode_read_nothing_can_be_changed(folder: Path) -> None:
    trace = await solve(skill("read"), folder, EDIT, call("shell", command="cat .env; cat a.py"), "It is one (r2).")
    assert trace.receipts[0].refused
    assert "'a.py' cannot be written" in trace.receipts[0].excerpt
    assert "hunter2" not in trace.messages[-2].content
    assert (trace.patch, (folder / "a.py").read_text(encoding="utf-8")) == ("", "name = 'one'\n")


@pytest.mark.usefixtures("works")
async def test_the_folder_itself_is_changed_only_if_the_user_allows_it(folder: Path) -> None:
    trace = await solve(skill("write"), folder, EDIT, "Done (r1).")
    assert (trace.patch, (folder / "a.py").read_text(encoding="utf-8")) == (PATCH, "name = 'one'\n")
    trace = await solve(skill("write"), folder, EDIT, "Done (r1).", may_write=True)
    assert (trace.patch, (folder / "a.py").read_text(encoding="utf-8")) == ("", "name = 'two'\n")
    assert (folder / "a.py").stat().st_uid == folder.stat().st_uid


@pytest.mark.usefixtures("works")
async def test_a_run_out_of_time_leaves_its_patch(folder: Path) -> None:
    limits = skill("scratch").subagent.limits.model_copy(update={"seconds": 5})
    hurried = skill("scratch").subagent.model_copy(update={"limits": limits})
    trace = await solve(
        skill("scratch").model_copy(update={"subagent": hurried}), folder, EDIT, call("shell", command="sleep 60"), "x"
    )
    assert trace.report.reason
    assert trace.report.reason.kind is ReasonKind.TIME
    assert trace.patch == PATCH


async def test_without_a_sandbox_tools_that_execute_are_not_offered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT, "none")
    trace = await solve(skill("scratch"), folder, EDIT, call("read", path="a.py"), "It is one: a.py:1")
    assert [tool.name for tool in trace.tools] == ["read"]
    assert trace.receipts[0].excerpt == "no tool called 'edit'; the tools are read"
    assert trace.report.notes == ("Without a sandbox shell, edit cannot run: sandboxes are switched off",)
    assert trace.report.evidence == ("a.py:1",)


async def test_a_skill_with_no_other_tools_fails_and_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, "none")
    trace = await solve(skill("scratch", "shell"), folder, EDIT, "x")
    assert trace.report.status == "failed"
    assert trace.report.reason
    assert trace.report.reason.kind is ReasonKind.SANDBOX
    assert "sandboxes are switched off" in trace.report.answer
    assert trace.report.notes == (), "once is enough"


async def test_a_skill_whose_tools_execute_nothing_needs_no_sandbox(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT, "none")
    trace = await solve(skill("read", "read"), folder, call("read", path="a.py"), "It is one: a.py:1")
    assert (trace.report.status, trace.report.notes) == ("answered", ())
