"""What an orchestrator does with a task in an arm, as values that are stored."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal, Protocol

from pydantic import Field
from skillstill.types import Frozen, Message, ToolCall, Trace, Usage

from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.teachers.ledger import sum_usage
from skillstill_training.util.hashes import hash_parts

ArmName = Literal["alone", "script", "self", "stock", "ours", "router"]
INSTRUCTIONS = (
    "Answer the question about the files in the folder. Look with the tools before you answer, and name what shows it "
    "as path:line. Answer in one or two sentences. If looking at the files cannot answer it, write `escalate:` and why."
)
HAND_OVER = (
    " Subagents read for you: hand a whole question to the one that it fits. An answer without a warning needs no "
    "second look. If it is handed back, go on yourself."
)


class Step(Frozen):
    """One line of a transcript. `inside`: a subagent did it."""

    kind: Literal["said", "called", "read"]
    text: str
    inside: bool = False


class Work(Frozen):
    """What a task takes an ideal orchestrator with subagents, in tokens. Each is written or read once.

    inline       the calls of the plan, and what they return
    handed       its call of a subagent, and the report
    fixed        the definitions of the subagents' tools, and what is said about them: a session reads that once
    is_believed  the report is an answer without a warning, so that nothing is done inline
    """

    inline: int
    handed: int
    fixed: int
    is_believed: bool

    @property
    def saved(self) -> int:
        return self.inline - self.handed


class Outcome(Frozen):
    """How an orchestrator ended a task.

    answer        empty if it gave none
    usage         of the orchestrator itself: `prompt` counts what each of its turns read, `reused` what of that came
                  from a cache
    delegated     of subagents on the orchestrator's own model
    local_tokens  read anew or written by subagents on this machine
    usd           what the program told; None if it does not
    error         why the attempt tells nothing: the model or the program failed
    work          of an ideal orchestrator that may ask subagents; of others nobody knows what is work
    steps         kept in a file of their own
    """

    answer: str
    usage: Usage = Usage()
    delegated: Usage = Usage()
    local_tokens: int = 0
    seconds: float = 0.0
    usd: float | None = None
    error: str = ""
    work: Work | None = None
    steps: Annotated[tuple[Step, ...], Field(exclude=True)] = ()

    @property
    def paid(self) -> Usage:
        """Return the usage of the orchestrator's model, whoever asked it."""
        return sum_usage([self.usage, self.delegated])


class Row(Frozen):
    """One task in one arm. `settings` is a hash of all that the outcome depends on beside them.

    usd   by the price file, else as the program told it; None if nobody knows
    """

    task: str
    arm: ArmName
    orchestrator: str
    settings: str
    score: float
    usd: float | None
    outcome: Outcome

    @property
    def key(self) -> tuple[str, ArmName, str, str]:
        return self.task, self.arm, self.orchestrator, self.settings

    @property
    def transcript(self) -> str:
        """Return the file of its steps, in the folder of transcripts."""
        return f"{hash_parts(*self.key)}.jsonl"


class Orchestrator(Protocol):
    """Who gets a task and decides whom to ask.

    name    fits into a file name
    model   what the price file calls it
    arms    those that it can be in
    key     a hash of all that its outcomes depend on, but for task and arm
    """

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def arms(self) -> Sequence[ArmName]: ...

    @property
    def key(self) -> str: ...

    @property
    def receiver(self) -> str:
        """Return who is sent what stands in the folders; empty if it stays on this machine."""
        ...

    async def solve(self, task: Task, arm: ArmName, usd: float | None) -> Outcome:
        """Return the outcome, which may cost so many USD if the orchestrator can be held to that.

        A model that fails is an outcome with an error. Raise SkillstillError if nothing can be run at all.
        """
        ...


def trace_steps(trace: Trace, *, inside: bool = False) -> Iterator[Step]:
    """Yield what happened in a run of our loop, after its question."""
    for message in trace.messages[2:]:
        yield from message_steps(message, inside=inside)


def message_steps(message: Message, *, inside: bool = False) -> Iterator[Step]:
    if message.role == "tool":
        yield Step(kind="read", text=message.content, inside=inside)
    elif message.content.strip():
        yield Step(kind="said", text=message.content, inside=inside)
    yield from (Step(kind="called", text=call_text(call), inside=inside) for call in message.calls)


def call_text(call: ToolCall) -> str:
    return f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}"


def inside_steps(traces: Iterable[Trace]) -> tuple[Step, ...]:
    """Return what subagents did, one after the other."""
    return tuple(step for trace in traces for step in trace_steps(trace, inside=True))
