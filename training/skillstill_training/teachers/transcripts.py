"""Read Claude Code's transcripts of its subagents: the prompt of each call, its folder, and the subagent's run.

The format is that of version 2.1.329, checked by running it; older formats follow public tools. The files are, below
`projects/<folder>/`:

    <session>.jsonl                               the main thread
    <session>/subagents/agent-<id>.jsonl          one subagent's run; `isSidechain` and `agentId` in each of its rows
    <session>/subagents/agent-<id>.meta.json      its `agentType`, and the `toolUseId` of the call that started it

A subagent is started by a call of the tool `Agent` (in older versions `Task`) with `subagent_type` and `prompt`. Its
run starts with a user turn of the same text, so session and prompt identify the run of a call. Older versions write
runs beside the session's file, or inside it as side chains. Rows of other types (attachments, requests, titles) are
ignored.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

LONGEST = 20_000_000  # bytes of a line, to limit memory: a line with a whole file has a few million
CALLS = frozenset({"Agent", "Task"})
TURNS = frozenset({"user", "assistant"})


class _Lenient(BaseModel):
    """A value of another program. Unknown fields are ignored."""

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
    """One call of a subagent. If its run was not recorded, `tools` and `answer` are empty."""

    agent: str
    prompt: str
    cwd: str
    session: str
    when: datetime | None
    tools: list[str] = field(default_factory=list)
    answer: str = ""


@dataclass
class Transcripts:
    """The delegations in the files that were read. `unread` counts invalid lines, `long` those above LONGEST bytes."""

    files: int = 0
    unread: int = 0
    long: int = 0
    _calls: dict[tuple[str, str], Delegation] = field(default_factory=dict)
    _runs: dict[str, Delegation] = field(default_factory=dict)

    @property
    def delegations(self) -> list[Delegation]:
        """The calls, merged with their runs, in the order of time. Runs of an unknown subagent are left out."""
        merged = dict(self._calls)
        for run in self._runs.values():
            delegation = merged.setdefault((run.session, run.prompt), run)
            delegation.agent, delegation.tools, delegation.answer = delegation.agent or run.agent, run.tools, run.answer
        return sorted((one for one in merged.values() if one.agent), key=lambda one: (str(one.when), one.session))

    def read(self, file: Path) -> None:
        self.files += 1
        chains: dict[str, str] = {}  # by row of a side chain: its agent id, or the first row of its run
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
            self._calls.setdefault((row.sessionId, prompt), delegation)

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
    """Read every `*.jsonl` below the folder. A file that cannot be opened counts as one unread line."""
    transcripts = Transcripts()
    for file in sorted(folder.rglob("*.jsonl")):
        try:
            transcripts.read(file)
        except OSError:
            transcripts.unread += 1
    return transcripts


def _agent_type(file: Path) -> str:
    """Return the `agentType` from the file beside a subagent's run, or an empty string if there is none."""
    try:
        text = file.with_name(f"{file.stem}.meta.json").read_text(encoding="utf-8")
        return Meta.model_validate_json(text).agentType
    except (OSError, ValueError):
        return ""
