"""Which line a text means: tools leave the choice, the model that leads the run makes it."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import loop
from skillstill.skills.calibration import FEATURES, features
from skillstill.skills.skill import Skill, load_skill
from skillstill.types import Likelihoods, Trace
from skillstill.workspace import Workspace

from tests.scenes import ROOT, write

pytestmark = pytest.mark.anyio
WARNED = (
    "10:00:01 WARN api: 3 jobs wait for a runner",
    "10:00:02 WARN api: 9 jobs wait for a runner",
    "10:00:03 WARN store: volume /data has 12 MB free",
    "10:00:04 INFO store: ready",
    "10:00:05 WARN mail: relay refused the login",
)
OTHERS = tuple(f"10:00:06 WARN api: {name} is late" for name in ("import", "export", "backup"))
ASKED = call("entries", level="warn", meaning="there is hardly any room left")


class Reading(ScriptedModel):
    """Holds the text for so probable after a passage as what `likely` says of a word of it, else for unlikely."""

    def __init__(self, turns: Sequence[Any], **likely: float) -> None:
        super().__init__(turns)
        self.likely, self.passages = likely, list[str]()

    async def likelihoods(self, text: str, passages: Sequence[str]) -> Likelihoods:
        self.passages += passages
        found = (max([-90.0, *(value for word, value in self.likely.items() if word in one)]) for one in passages)
        return Likelihoods(tuple(found), tokens=77)


@pytest.fixture
def logs() -> Skill:
    return load_skill(ROOT / "skills" / "logs")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    write(tmp_path, {"app.log": "\n".join(WARNED) + "\n"})
    return Workspace(tmp_path)


def many_kinds(count: int) -> str:
    return "".join(f"10:00:01 WARN api: {'x' * at} broke in the middle of its work\n" for at in range(1, count + 1))


async def solve(skill: Skill, workspace: Workspace, model: ScriptedModel) -> Trace:
    return await loop.run(loop.Brief(skill, "What is wrong?", "logs"), nullcontext(model), workspace)


async def test_of_each_kind_of_entry_the_model_reads_one_and_the_likeliest_is_shown_first(
    logs: Skill, workspace: Workspace
) -> None:
    model = Reading([ASKED, "It is at app.log:3."], MB=-9.0, login=-12.0)
    trace = await solve(logs, workspace, model)
    assert model.passages == [
        "3 jobs wait for a runner",
        "volume /data has 12 MB free",
        "relay refused the login",
    ]
    assert trace.messages[3].content.split("\n") == [
        "r1: of 3 kinds of 4 WARN entries match, the likeliest first:",
        "app.log:3: store: volume /data has 12 MB free",
        "app.log:5: mail: relay refused the login",
        "app.log:1: api: 3 jobs wait for a runner",
    ]
    assert trace.report.evidence == ("app.log:3",)


async def test_what_no_line_makes_much_likelier_than_the_others_do_is_not_there(
    logs: Skill, workspace: Workspace
) -> None:
    write(workspace.root, {"app.log": "\n".join((*WARNED, *OTHERS)) + "\n"})
    trace = await solve(logs, workspace, Reading([ASKED, "There is none (r1)."], MB=-88.0))
    assert trace.messages[3].content == (
        "r1: no entry means 'there is hardly any room left', of 6 kinds of 7 WARN entries match"
    )
    assert (trace.report.status, trace.report.evidence) == ("answered", ("r1",))


async def test_what_one_line_makes_much_likelier_than_the_others_do_is_meant_by_it(
    logs: Skill, workspace: Workspace
) -> None:
    write(workspace.root, {"app.log": "\n".join((*WARNED, *OTHERS)) + "\n"})
    model = Reading([ASKED, "It is at app.log:3."], MB=-86.0)
    assert (await solve(logs, workspace, model)).messages[3].content.split("\n")[1].startswith("app.log:3: store")


async def test_a_message_of_two_levels_is_read_once_and_shown_twice(logs: Skill, workspace: Workspace) -> None:
    twins = [line.replace("WARN", "ERROR") for line in WARNED[2:3]]
    write(workspace.root, {"app.log": "\n".join((*WARNED, *OTHERS, *twins)) + "\n"})
    model = Reading([call("entries", meaning="it is full"), "It is at app.log:3."], MB=-86.0)
    shown = (await solve(logs, workspace, model)).messages[3].content.split("\n")
    assert len(model.passages) == len(set(model.passages)) == 7
    assert [line.partition(": ")[0] for line in shown[1:3]] == ["app.log:3", "app.log:9"]


async def test_of_as_few_lines_as_can_be_shown_none_is_held_back(logs: Skill, workspace: Workspace) -> None:
    trace = await solve(logs, workspace, Reading([ASKED, "It is at app.log:3."], MB=-89.0))
    assert trace.messages[3].content.split("\n")[1].startswith("app.log:3: store")


async def test_a_model_that_cannot_tell_likelihoods_sees_every_kind(logs: Skill, workspace: Workspace) -> None:
    trace = await solve(logs, workspace, ScriptedModel([ASKED, "It is at app.log:3."]))
    assert [line.partition(": ")[0] for line in trace.messages[3].content.split("\n")] == [
        "r1", "app.log:1", "app.log:3", "app.log:5",
    ]  # fmt: skip


async def test_where_there_is_nothing_to_choose_from_the_model_is_not_asked(logs: Skill, workspace: Workspace) -> None:
    model = Reading([call("entries", level="error", meaning="it is full"), "There is none (r1)."])
    trace = await solve(logs, workspace, model)
    assert trace.messages[3].content.startswith("r1: no ERROR or CRITICAL entries match among 5 entries")
    assert model.passages == []


@pytest.mark.parametrize("likely", [-90.0, -9.0], ids=["no match", "match"])
async def test_of_more_kinds_than_can_be_read_what_is_not_found_is_not_believed_absent(
    logs: Skill, workspace: Workspace, likely: float
) -> None:
    write(workspace.root, {"app.log": many_kinds(51)})
    trace = await solve(logs, workspace, Reading([ASKED, "There is none (r1)."], **{"x" * 40: likely}))
    assert ("no entry means" in trace.messages[3].content) is (likely < -80)
    assert trace.receipts[0].missed == "only 40 of 51 kinds were read"
    assert trace.report.status == "escalate"


async def test_a_log_that_could_not_be_read_is_told_beside_what_was_found(logs: Skill, workspace: Workspace) -> None:
    write(workspace.root, {"app.log.1.gz": "packed"})
    trace = await solve(logs, workspace, Reading([ASKED, "There is none (r1)."], MB=-9.0))
    assert trace.messages[3].content.endswith("no text): app.log.1.gz")
    assert trace.report.status == "escalate"


async def test_of_lines_that_are_not_all_shown_none_is_believed_absent(logs: Skill, workspace: Workspace) -> None:
    write(workspace.root, {"app.log": many_kinds(40)})
    trace = await solve(logs, workspace, ScriptedModel([ASKED, "There is none (r1)."]))
    assert trace.receipts[0].missed == "not all of 40 lines are shown"
    assert trace.report.status == "escalate"


async def test_the_latest_or_certain_words_cannot_be_asked_for_by_a_meaning(logs: Skill, workspace: Workspace) -> None:
    turns = [call("entries", meaning="it is full", last=True), "escalate: no"]
    trace = await solve(logs, workspace, Reading(turns))
    assert trace.messages[3].content == (
        "r1: entries by their meaning come with the likeliest first: leave out last and like"
    )


async def test_a_meaning_that_nobody_can_see_is_none(logs: Skill, workspace: Workspace) -> None:
    trace = await solve(logs, workspace, Reading([call("entries", meaning="\u200b"), "It is at app.log:1."]))
    assert trace.messages[3].content.startswith("r1: 5 entries in 1 files")


async def test_what_was_read_to_choose_is_counted_and_how_sure_the_choice_was(
    logs: Skill, workspace: Workspace
) -> None:
    close, clear = [
        await solve(logs, workspace, Reading([ASKED, "It is at app.log:3."], MB=-9.0, login=other))
        for other in (-9.5, -30.0)
    ]
    assert close.tally.read_tokens == 77
    least = FEATURES.index("least")
    assert features(close)[least] < -0.4 < features(clear)[least]
