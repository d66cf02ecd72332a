"""Plans: how somebody who knows the answer would find it with the tools, executed by the same loop as any model.

A plan is a generator. It yields calls, is sent what each call showed, and returns the answer:

    def plan(goal, context):
        seen = yield call("outline", target=goal.words["name"])
        return f"`{goal.words['name']}` is defined at {seen.places[0]}."

It may steer by the gold, but must say nothing that no tool has shown: the loop withholds such an answer.
"""

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import TypeVar

from skillstill.errors import OracleError
from skillstill.run.evidence import quoted_places
from skillstill.types import Likelihoods, Message, Span, ToolCall, ToolSchema

from skillstill_training.authoring.goal import Goal
from skillstill_training.authoring.translation import translated

Value = TypeVar("Value")
ORACLE_VERSION = "1"  # to be raised if oracles are driven otherwise: what was proven with them is then proven anew
FAR = 100.0  # between what is meant and what is not, as a logarithm of probabilities


@dataclass(frozen=True)
class SeenResult:
    """What a call showed: the text, and the receipt's id under which an answer may name it."""

    id: str
    text: str

    @classmethod
    def of(cls, message: Message) -> "SeenResult":
        prefix = f"{message.receipt}: " if message.receipt else ""
        return cls(message.receipt, message.content.removeprefix(prefix))

    @cached_property
    def lines(self) -> Sequence[str]:
        return self.text.split("\n")

    @cached_property
    def places(self) -> Sequence[Span]:
        """Return the places at the beginning of its lines, `path:line`, in order."""
        heads = (quoted_places(line.split(": ", 1)[0])[0] for line in self.lines)
        return [found[0] for found in heads if found]

    def line_of(self, path: str, line: int) -> str:
        """Return its line about that place; empty if there is none."""
        return next((one for one in self.lines if one.startswith(f"{path}:{line}:")), "")


@dataclass
class OracleContext:
    """What a plan may use beside its goal: chance, and a count of what happened.

    rates   how often a plan takes a detour of a kind on purpose, 0..1; none of them: the shortest way
    taken   the detours that it took
    hits    how many candidates its most crowded result left
    opening what the call showed that the skill's runs begin with
    meant   what the one line says that its calls mean; empty if there is none
    """

    rng: Random
    rates: Mapping[str, float] = field(default_factory=dict)
    taken: Counter[str] = field(default_factory=Counter)
    hits: int = 0
    opening: SeenResult = SeenResult("", "")
    meant: str = ""

    def detour(self, kind: str) -> bool:
        """Return whether to take a detour of this kind here, as often as the recipe says."""
        takes = self.rng.random() < self.rates.get(kind, 0.0)
        self.taken[kind] += takes
        return takes

    def met(self, hits: int) -> None:
        """Note that a result left so many candidates to choose from."""
        self.hits = max(self.hits, hits)


Plan = Generator[ToolCall, SeenResult, str]
Planner = Callable[[Goal, OracleContext], Plan]


def call(tool: str, **arguments: object) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments)


class OracleModel:
    """A model whose turns come from a plan. Raises OracleError if the plan does not find what it looks for."""

    def __init__(self, plan: Plan, context: OracleContext) -> None:
        self.plan, self.context = plan, context
        self.begun = False

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, max_tokens: int) -> Message:
        try:
            following = self._following(messages, tools)
        except StopIteration as end:
            return Message(role="assistant", content=_check_type(end.value, str, "the plan returned"))
        except Exception as error:
            raise OracleError(f"the plan broke off: {type(error).__name__} {error}") from error
        return Message(role="assistant", calls=(_check_type(following, ToolCall, "the plan yielded"),))

    async def likelihoods(self, text: str, passages: Sequence[str]) -> Likelihoods:
        """Return what somebody who knows the line that is meant would be sure of."""
        meant = self.context.meant
        return Likelihoods(tuple(0.0 if meant and meant in one else -FAR for one in passages))

    def _following(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> object:
        """Return what the plan yields next. Raise StopIteration with what it returns.

        A look that the tools cannot take is answered by what the run began with.
        """
        following = self._next(messages)
        while isinstance(following, ToolCall) and not (made := translated(following, tools)):
            following = self.plan.send(self.context.opening)
        return made if isinstance(following, ToolCall) else following

    def _next(self, messages: Sequence[Message]) -> ToolCall:
        if self.begun:
            return self.plan.send(SeenResult.of(messages[-1]))
        self.begun = True
        if opening := next((one for one in messages if one.role == "tool"), None):
            self.context.opening = SeenResult.of(opening)
        return next(self.plan)


def _check_type(value: object, kind: type[Value], what: str) -> Value:
    if not isinstance(value, kind):
        raise OracleError(f"{what} {value!r}: expected a {kind.__name__}")
    return value
