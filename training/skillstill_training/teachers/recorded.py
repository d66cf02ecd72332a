"""The `recorded` teacher: what the user's own subagents were asked becomes goals; a model teacher answers them anew.

Only prompts are taken over. Answers of the past are not imitated, raw traces cost 12 to 26 points in published tests
(distil labs): wrong tools, drifted schemas, lies. There is no check, so a trace is kept when two attempts agree.

Nothing is looked for. The user names a folder of transcripts, and that is the consent; `~/.claude` is never opened by
itself. Their workspaces are live folders, opened through the same jail as any other, to read.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pydantic import Field
from skillstill.errors import UsageError, WorkspaceError
from skillstill.types import PROMPT_CHARACTERS, Frozen
from skillstill.util.text import shorten
from skillstill.workspace import Workspace

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.run.folder import RunFolder
from skillstill_training.teachers.agreement import agree
from skillstill_training.teachers.batch import OnProgress, TeachingProgress, lean, solve_all
from skillstill_training.teachers.endpoint import EndpointTeacher, handed_back, unfit
from skillstill_training.teachers.scrubbing import scrub
from skillstill_training.teachers.teacher import TraceRow
from skillstill_training.teachers.transcripts import Delegation, read_transcripts
from skillstill_training.util.jsonl import write_lines

ANSWER_CHARACTERS = 2_000  # of a recorded answer, which is there for a person to compare
ATTEMPTS = 2  # at least: one has nothing to agree with


class RecordedGoal(Frozen):
    """What a subagent was asked, its secrets removed, and the folder in which it worked. It has no check.

    `tools` and `answer` are the subagent's own, where its run is recorded too: to look at, never to learn from.
    """

    id: str = Field(pattern=r"^[0-9a-f]{16}$")
    prompt: str
    cwd: str
    session: str
    when: datetime | None = None
    tools: tuple[str, ...] = ()
    answer: str = ""


@dataclass
class Recorded:
    """The goals; how often the subagent was asked; why some are no goals; how many secrets of which kind were removed.

    `unread`: lines that could not be read, torn last ones among them. `others`: the other subagents, by their use.
    """

    goals: list[RecordedGoal] = field(default_factory=list)
    asked: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    secrets: Counter[str] = field(default_factory=Counter)
    files: int = 0
    unread: int = 0
    others: Counter[str] = field(default_factory=Counter)


def recorded_goals(folder: Path, agent: str, *, emails: bool = False) -> Recorded:
    """The goals of one subagent in a folder of Claude Code's transcripts; with `emails`, addresses are removed too.

    Raises UsageError where there is no such folder, or no work for such a subagent in it.
    """
    if not folder.is_dir():
        raise UsageError(f"no such folder: {folder}; name one with Claude Code's session files (*.jsonl)")
    transcripts = read_transcripts(folder)
    agents = Counter(one.agent for one in transcripts.delegations)
    recorded = Recorded(files=transcripts.files, unread=transcripts.unread + transcripts.long, others=agents)
    recorded.asked = agents.pop(agent, 0)
    if not recorded.asked:
        known = ", ".join(f"{name} ({count})" for name, count in agents.most_common(8)) or "none at all"
        raise UsageError(f"{transcripts.files} files in {folder}, but no work for a subagent {agent!r}; found: {known}")
    seen: set[str] = set()
    for one in transcripts.delegations:
        if one.agent == agent:
            _add(recorded, one, seen, emails)
    return recorded


def _add(recorded: Recorded, one: Delegation, seen: set[str], emails: bool) -> None:
    if reason := _unusable(one):
        recorded.dropped[reason] += 1
        return
    prompt, removed = scrub(_utf8(one.prompt).strip(), emails=emails)
    id = hashlib.sha256(json.dumps([one.cwd, " ".join(prompt.split())]).encode()).hexdigest()[:16]
    if id in seen:
        recorded.dropped["asked before"] += 1
        return
    seen.add(id)
    answer, also = scrub(_utf8(one.answer[: 10 * ANSWER_CHARACTERS]), emails=emails)
    recorded.secrets += removed + also
    recorded.goals.append(
        RecordedGoal(
            id=id,
            prompt=prompt,
            cwd=one.cwd,
            session=one.session,
            when=one.when,
            tools=tuple(dict.fromkeys(one.tools)),
            answer=shorten(answer, ANSWER_CHARACTERS),
        )
    )


def _unusable(one: Delegation) -> str:
    """Why nobody could be asked that again; empty where one can."""
    if not one.prompt.strip():
        return "its prompt is empty"
    if len(one.prompt) > PROMPT_CHARACTERS:
        return f"its prompt has over {PROMPT_CHARACTERS:,} characters"
    return _no_workspace(one.cwd)


def _no_workspace(cwd: str) -> str:
    if not Path(cwd).is_absolute() or not Path(cwd).is_dir():
        return "its folder is gone"
    try:
        Workspace(Path(cwd))
    except WorkspaceError:
        return "its folder is too wide for a workspace"
    return ""


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


async def solve_recorded(
    goals: Sequence[RecordedGoal],
    teacher: EndpointTeacher,
    folder: RunFolder,
    *,
    at_once: int = 2,
    on_progress: OnProgress = lambda progress: None,
) -> TeachingProgress:
    """Let a model answer the goals anew, each at least twice; its rows go to `2-recorded.jsonl`. Raises StageError.

    The endpoint is sent what the tools show of those folders: whose endpoint that is, is the caller's to ask about.
    """
    write_lines(folder.recorded_goals, goals)
    part = folder.path / f"2-recorded.{teacher.name}.part.jsonl"

    async def solve(goal: RecordedGoal) -> Sequence[TraceRow]:
        return [lean(row, goal.cwd) for row in await _attempts(goal, teacher)]

    return await solve_all(goals, solve, part, folder.recorded_traces, teacher.name, at_once, on_progress)


async def _attempts(goal: RecordedGoal, teacher: EndpointTeacher) -> Sequence[TraceRow]:
    if reason := _no_workspace(goal.cwd):
        return [TraceRow(goal=goal.id, teacher=teacher.name, kept=False, reason=reason)]
    rows: list[TraceRow] = []
    for sample in range(total := max(ATTEMPTS, teacher.samples)):
        rows.append(await teacher.run(goal, Path(goal.cwd), sample, "recorded"))
        if total == ATTEMPTS and not _answered(rows[0]):
            break  # nothing can agree with it
    return [_judged(row, rows) for row in rows]


def _answered(row: TraceRow) -> bool:
    return row.trace is not None and row.trace.report.status == "answered"


def _judged(row: TraceRow, rows: Sequence[TraceRow]) -> TraceRow:
    """The row, kept where another attempt at the same goal says the same."""
    if row.trace is None or row.transient:
        return row
    attempt = Attempt.of_trace(row.trace)
    others = [Attempt.of_trace(one.trace) for one in rows if one is not row and one.trace]
    judgements = [agree(attempt, other) for other in others]
    why = handed_back(row.trace, attempt) or unfit(row.trace)
    if not why and not any(judgement.passed for judgement in judgements):
        why = judgements[0].why
    return row.model_copy(update={"kept": not why, "reason": why, "verified": "none" if why else "agreement"})
