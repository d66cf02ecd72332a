"""What Claude Code writes down of its subagents: which subagent was asked what, where, and what it did.

Read from 2.1.329, checked by running it; older forms are as public tools read them. Below `projects/<folder>/` lie

    <session>.jsonl                               the main thread
    <session>/subagents/agent-<id>.jsonl          one subagent's run; `isSidechain` and `agentId` in each of its rows
    <session>/subagents/agent-<id>.meta.json      its `agentType`, and the `toolUseId` of the call that began it

A subagent is begun by a call of the tool `Agent` (once `Task`) with `subagent_type` and `prompt`, and its run begins
with a user's turn of the same text: session and prompt tie the two together. Formerly runs lay beside the session's
file, and before that inside it, as side chains. Rows of other types (attachments, requests, titles) are passed over.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

LONGEST = 20_000_000  # bytes of a line: a file that was read whole has a few million, and memory must be bounded
CALLS = frozenset({"Agent", "Task"})
TURNS = frozenset({"user", "assistant"})


class _Lenient(BaseModel):
    """Another program's value: what we do not know is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Block(_Lenient):
    type: str = ""
    text: str = ""
    name: str = ""
    input: dict[str, Any] = {}


class TranscriptTurn(_Lenient):
    content: str | list[Block] = ""

    @property
    def blocks(self) -> list[Block]:
        return self.content if isinstance(self.content, list) else [Block(type="text", text=self.content)]

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks if block.type == "text")

    @property
    def calls(self) -> list[Block]:
        return [block for block in self.blocks if block.type == "tool_use"]


class Meta(_Lenient):
    agentType: str = ""  # noqa: N815 - these names are Claude Code's


class TranscriptRow(_Lenient):
    type: str
    message: Annotated[TranscriptTurn, BeforeValidator(lambda value: value or {})] = TranscriptTurn()
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    isSidechain: bool = False  # noqa: N815
    agentId: str | None = None  # noqa: N815
    attributionAgent: str | None = None  # noqa: N815
    sessionId: str = ""  # noqa: N815
    cwd: str = ""
    timestamp: datetime | None = None


@dataclass
class Delegation:
    """One piece of work that a subagent was given. Without its run, `tools` and `answer` are empty."""

    agent: str
    prompt: str
    cwd: str
    session: str
    when: datetime | None
    tools: list[str] = field(default_factory=list)
    answer: str = ""


@dataclass
class Transcripts:
    """All of the delegations below a folder. `unread`: lines that are no rows; `long`: those above LONGEST."""

    files: int = 0
    unread: int = 0
    long: int = 0
    _asked: dict[tuple[str, str], Delegation] = field(default_factory=dict)
    _runs: dict[str, Delegation] = field(default_factory=dict)

    @property
    def delegations(self) -> list[Delegation]:
        """In the order of time, calls and runs put together; runs of which nobody knows whose they are left out."""
        found = dict(self._asked)
        for run in self._runs.values():
            known = found.setdefault((run.session, run.prompt), run)
            known.agent, known.tools, known.answer = known.agent or run.agent, run.tools, run.answer
        return sorted((one for one in found.values() if one.agent), key=lambda one: (str(one.when), one.session))

    def read(self, file: Path) -> None:
        self.files += 1
        chains: dict[str, str] = {}  # rows of side chains without an id, by the row that their run begins with
        agent = _agent_type(file)
        for row in self._rows(file):
            for call in row.message.calls if row.type == "assistant" else ():
                self._add_call(row, call)
            if row.isSidechain:
                chain = row.agentId or chains.get(row.parentUuid or "", row.uuid or "")
                chains[row.uuid or ""] = chain
                self._add_to_run(f"{row.sessionId}/{chain}", row, agent)

    def _add_call(self, row: TranscriptRow, call: Block) -> None:
        agent, prompt = call.input.get("subagent_type"), call.input.get("prompt")
        if call.name in CALLS and isinstance(agent, str) and isinstance(prompt, str):
            delegation = Delegation(agent, prompt, row.cwd, row.sessionId, row.timestamp)
            self._asked.setdefault((row.sessionId, prompt), delegation)

    def _add_to_run(self, key: str, row: TranscriptRow, agent: str) -> None:
        if key not in self._runs:
            if row.type == "user":
                self._runs[key] = Delegation(agent, row.message.text, row.cwd, row.sessionId, row.timestamp)
        elif row.type == "assistant":
            run = self._runs[key]
            run.agent = run.agent or row.attributionAgent or ""
            run.tools += [call.name for call in row.message.calls]
            run.answer = row.message.text or run.answer

    def _rows(self, file: Path) -> Iterator[TranscriptRow]:
        for line in self._lines(file):
            try:
                value = json.loads(line)
                if value["type"] in TURNS or value.get("isSidechain"):
                    yield TranscriptRow.model_validate(value)
            except (ValueError, LookupError, TypeError, RecursionError):  # a pydantic error is a ValueError
                self.unread += 1

    def _lines(self, file: Path) -> Iterator[bytes]:
        with file.open("rb") as lines:
            while line := lines.readline(LONGEST):
                if len(line) < LONGEST or line.endswith(b"\n"):
                    yield line
                    continue
                self.long += 1
                while line and not line.endswith(b"\n"):
                    line = lines.readline(LONGEST)


def read_transcripts(folder: Path) -> Transcripts:
    """Of every `*.jsonl` below the folder; a file that cannot be opened counts as one unread line."""
    found = Transcripts()
    for file in sorted(folder.rglob("*.jsonl")):
        try:
            found.read(file)
        except OSError:
            found.unread += 1
    return found


def _agent_type(file: Path) -> str:
    """What the file beside a subagent's run says that it was; empty where there is none."""
    try:
        text = file.with_name(f"{file.stem}.meta.json").read_text(encoding="utf-8")
        return Meta.model_validate_json(text).agentType
    except (OSError, ValueError):
        return ""
