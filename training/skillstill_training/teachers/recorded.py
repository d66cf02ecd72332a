"""The `recorded` teacher: the prompts of the user's own subagents become goals, and a model teacher answers them anew.

Only prompts are used. Recorded answers are not imitated: in published tests (distil labs) raw traces cost 12 to 26
points, because of wrong tools, changed schemas and false answers. There is no check, so a trace is kept if two attempts
agree.

Only the folder of transcripts that the user names is read, and naming it is the consent. `~/.claude` is never opened
unasked. The workspaces are live folders, opened read-only through the same jail as any other.
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
from skillstill_training.teachers.batch import OnProgress, TeachingProgress, solve_all, strip_timing
from skillstill_training.teachers.model_teacher import ModelTeacher, escalation_reason, unfit_reason
from skillstill_training.teachers.redaction import redact
from skillstill_training.teachers.teacher import TraceRow
from skillstill_training.teachers.transcripts import Delegation, read_transcripts
from skillstill_training.util.jsonl import write_lines

ANSWER_CHARACTERS = 2_000  # of a recorded answer, which is stored for a person to compare
ATTEMPTS = 2  # at least: agreement needs two


class RecordedGoal(Frozen):
    """The prompt of a recorded subagent, without secrets, and the folder in which it worked. It has no check.

    `tools` and `answer` are the subagent's own, if its run was recorded: for people to read, never to learn from.
    """

    id: str = Field(pattern=r"^[0-9a-f]{16}$")
    prompt: str
    cwd: str
    session: str
    when: datetime | None = None
    tools: tuple[str, ...] = ()
    answer: str = ""


@dataclass
class RecordedGoals:
    """The goals of one subagent, and counts of what was read.

    asked     how often the subagent was called
    dropped   calls that became no goal, by reason
    secrets   secrets that were removed, by kind
    unread    lines that could not be read, including torn last lines
    others    the calls of the other subagents, by name
    """

    goals: list[RecordedGoal] = field(default_factory=list)
    asked: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    secrets: Counter[str] = field(default_factory=Counter)
    files: int = 0
    unread: int = 0
    others: Counter[str] = field(default_factory=Counter)


def read_recorded_goals(folder: Path, agent: str, *, emails: bool = False) -> RecordedGoals:
    """Read the goals of one subagent from a folder of Claude Code's transcripts. `emails`: remove addresses as well.

    Raises UsageError if there is no such folder, or no call of this subagent in it.
    """
    if not folder.is_dir():
        raise UsageError(f"no such folder: {folder}; name one with Claude Code's session files (*.jsonl)")
    transcripts = read_transcripts(folder)
    agents = Counter(one.agent for one in transcripts.delegations)
    recorded = RecordedGoals(files=transcripts.files, unread=transcripts.unread + transcripts.long, others=agents)
    recorded.asked = agents.pop(agent, 0)
    if not recorded.asked:
        known = ", ".join(f"{name} ({count})" for name, count in agents.most_common(8)) or "none at all"
        raise UsageError(f"{transcripts.files} files in {folder}, but no work for a subagent {agent!r}; found: {known}")
    seen: set[str] = set()
    for delegation in transcripts.delegations:
        if delegation.agent == agent:
            _add_goal(recorded, delegation, seen, emails)
    return recorded


def _add_goal(recorded: RecordedGoals, delegation: Delegation, seen: set[str], emails: bool) -> None:
    if reason := _unusable_reason(delegation):
        recorded.dropped[reason] += 1
        return
    prompt, removed = redact(_utf8(delegation.prompt).strip(), emails=emails)
    id = hashlib.sha256(json.dumps([delegation.cwd, " ".join(prompt.split())]).encode()).hexdigest()[:16]
    if id in seen:
        recorded.dropped["asked before"] += 1
        return
    seen.add(id)
    answer, removed_too = redact(_utf8(delegation.answer[: 10 * ANSWER_CHARACTERS]), emails=emails)
    recorded.secrets += removed + removed_too
    recorded.goals.append(
        RecordedGoal(
            id=id,
            prompt=prompt,
            cwd=delegation.cwd,
            session=delegation.session,
            when=delegation.when,
            tools=tuple(dict.fromkeys(delegation.tools)),
            answer=shorten(answer, ANSWER_CHARACTERS),
        )
    )


def _unusable_reason(delegation: Delegation) -> str:
    """Return why a delegation cannot become a goal, or an empty string if it can."""
    if not delegation.prompt.strip():
        return "its prompt is empty"
    if len(delegation.prompt) > PROMPT_CHARACTERS:
        return f"its prompt has over {PROMPT_CHARACTERS:,} characters"
    return _workspace_problem(delegation.cwd)


def _workspace_problem(cwd: str) -> str:
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
    teacher: ModelTeacher,
    run: RunFolder,
    *,
    at_once: int = 2,
    on_progress: OnProgress = lambda progress: None,
) -> TeachingProgress:
    """Let a model teacher answer each goal at least twice, and write the rows to `2-recorded.jsonl`. Raises StageError.

    What the tools show of the folders is sent to the model. The caller has to ask the user whether it may.
    """
    write_lines(run.recorded_goals, goals)
    part = recorded_part(run, teacher)

    async def solve(goal: RecordedGoal) -> Sequence[TraceRow]:
        return [strip_timing(row, goal.cwd) for row in await _attempts(goal, teacher)]

    return await solve_all(goals, solve, part, run.recorded_traces, teacher.name, at_once, on_progress)


def recorded_part(run: RunFolder, teacher: ModelTeacher) -> Path:
    """Return where the rows of the goals stand until all are answered."""
    return run.path / f"2-recorded.{teacher.name}.part.jsonl"


async def _attempts(goal: RecordedGoal, teacher: ModelTeacher) -> Sequence[TraceRow]:
    if reason := _workspace_problem(goal.cwd):
        return [TraceRow(goal=goal.id, teacher=teacher.name, kept=False, reason=reason)]
    rows: list[TraceRow] = []
    for sample in range(total := max(ATTEMPTS, teacher.samples)):
        rows.append(await teacher.run(goal, Path(goal.cwd), sample, "recorded"))
        if total == ATTEMPTS and not _is_answered(rows[0]):
            break  # nothing can agree with it
    return [_judge_row(row, rows) for row in rows]


def _is_answered(row: TraceRow) -> bool:
    return row.trace is not None and row.trace.report.status == "answered"


def _judge_row(row: TraceRow, rows: Sequence[TraceRow]) -> TraceRow:
    """Return the row, kept if another attempt at the same goal agrees with it."""
    if row.trace is None or row.transient:
        return row
    attempt = Attempt.of_trace(row.trace)
    others = [Attempt.of_trace(one.trace) for one in rows if one is not row and one.trace]
    judgements = [agree(attempt, other) for other in others]
    why = escalation_reason(row.trace, attempt) or unfit_reason(row.trace)
    if not why and not any(judgement.passed for judgement in judgements):
        why = judgements[0].why
    return row.model_copy(update={"kept": not why, "reason": why, "verified": "none" if why else "agreement"})
