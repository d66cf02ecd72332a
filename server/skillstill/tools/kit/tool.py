"""A tool: an async function over a workspace whose signature and docstring are its schema."""

import inspect
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from skillstill.errors import Refusal
from skillstill.tools.kit.redaction import redact
from skillstill.types import (
    Copied,
    Decision,
    Grammar,
    Grammars,
    Likelihoods,
    PlaceReference,
    Scorer,
    ShownPlace,
    Span,
    Terms,
    ToolCall,
    ToolSchema,
)
from skillstill.util.schemas import lean_schema
from skillstill.util.text import clean, one_line, shorten
from skillstill.workspace import Workspace

MAX_LINE = 400  # characters of one line of a result; a whole signature, if it is the only one
ROW = 160  # characters of one line among many
LIKELY = 5  # lines of a choice that are shown
# By how much a line must make a text more probable than the others do, as a logarithm, to be meant by it. Of texts that
# a line means eight in ten reach it, of others still six in ten (docs/experiments.md).
LEAST = 3.0
LIKELIEST = "likeliest"  # a choice among lines, as a decision of the run
MAX_RESULT = 1_800  # characters of a whole result: some 500 tokens, the window of `read` at its widest


Mark = TypeVar("Mark")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a result.

    spans    the places that it shows
    omits    how many more things it says that there are
    place    the one place that it begins with (`path:line: …`) or ends with: a model can refer to the line
    is_row   whether it is a row of a query
    cells    the values of a row, as a script gets them
    """

    text: str
    spans: tuple[Span, ...] = ()
    omits: int = 0
    place: Span | None = None
    is_row: bool = False
    cells: tuple[object, ...] = ()

    @classmethod
    def at(cls, path: str, line: int, text: str) -> "Line":
        """Return the line that shows a place, behind its name."""
        place = Span(path=path, first=line, last=line)
        return cls(f"{path}:{line}: {text}", (place,), place=place)


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answers. Lines beyond the cap are dropped together with their spans, and counted.

    empty      whether the tool looked for something and found nothing: then an answer may say that there is none
    overview   whether it names all that there is of a kind: what it does not name, an answer may say, is not there
    missed     why finding nothing proves nothing: where the tool could not look, or where the word stands; else empty
    overlooked why what was found may not be all, which an answer that rests on it has to say; else empty
    is_folded  whether a model reads a path once for lines of it that follow each other
    guess      whether it is a ranking of likely places, which proves nothing: it neither bears out that there is none
               nor speaks against it
    omitted    how many things, or lines, the result leaves out
    terms      names that it defines, each with those inside it, such as tables with their columns: all that there are.
               none if lines are dropped
    places     the lines that a model can refer to; rows: those of a query, none if one of them is dropped or blank
    shown      the lines that are not dropped
    decision   of the model that chose among lines: what it was in two minds about
    tokens     of that model: what it read
    room       characters of all lines together
    """

    lines: tuple[Line, ...]
    missed: str = ""
    decision: Decision | None = None
    tokens: int = 0
    empty: bool = False
    overview: bool = False
    guess: bool = False
    is_folded: bool = False
    terms: Terms = field(default_factory=dict)
    room: int = MAX_RESULT
    overlooked: str = ""
    omitted: int = field(init=False)
    spans: tuple[Span, ...] = field(init=False)
    places: tuple[ShownPlace, ...] = field(init=False)
    rows: tuple[str, ...] = field(init=False)
    shown: tuple[Line, ...] = field(init=False, repr=False)
    text: str = field(init=False)

    def __post_init__(self) -> None:
        kept = fitting(map(_fit_to_read, self.lines), self.room)
        if rest := len(self.lines) - len(kept):
            kept.append(Line(f"… {rest} more lines left out", omits=rest))
            object.__setattr__(self, "terms", {})
        object.__setattr__(self, "shown", tuple(kept))
        object.__setattr__(self, "text", "\n".join(line.text for line in kept))
        object.__setattr__(self, "spans", tuple(span for line in kept for span in line.spans))
        object.__setattr__(self, "omitted", sum(line.omits for line in kept))
        object.__setattr__(self, "places", tuple(_shown_places(kept, is_folded=self.is_folded)))
        rows = tuple(line.text for line in kept if line.is_row)
        is_whole = len(rows) == sum(line.is_row for line in self.lines) and all(map(str.strip, rows))
        object.__setattr__(self, "rows", rows if is_whole else ())

    @classmethod
    def of_text(cls, text: str) -> "Result":
        return cls((Line(text),))


@dataclass(frozen=True, slots=True)
class PendingRanking:
    """A result that is not settled yet: lines of which a text may mean one, and a model is to say which.

    lines      at least one; of each the model reads the one of `passages` at its index
    no_match   the result if the text means none of them, which is said only of more lines than are shown
    rest       what is said behind the lines
    """

    meaning: str
    head: str
    lines: tuple[Line, ...]
    passages: tuple[str, ...]
    no_match: Result
    rest: tuple[Line, ...] = ()

    async def resolve(self, scorer: Scorer | None) -> Result:
        """Return the likeliest lines; without a scorer all that have room, for whoever asked to choose."""
        if scorer is not None:
            distinct = tuple(dict.fromkeys(self.passages))
            return self._weighed(distinct, await scorer.likelihoods(self.meaning, distinct))
        whole = Result((Line(f"{self.head}:"), *self.lines, *self.rest), self.no_match.missed)
        is_cut = len(whole.spans) < len(self.lines)
        return replace(whole, missed=f"not all of {len(self.lines)} lines are shown") if is_cut else whole

    def _weighed(self, distinct: Sequence[str], found: Likelihoods) -> Result:
        after = dict(zip(distinct, found.after, strict=True))
        best, *others = sorted(found.after, reverse=True)
        none = fmean(others) + LEAST if len(others) >= LIKELY else -math.inf
        has_no_match = none > best
        chosen = max(best, none) - _log_sum_exp((*found.after, none))
        ranked = sorted(zip(self.passages, self.lines, strict=True), key=lambda one: -after[one[0]])
        result = self.no_match if has_no_match else self._likeliest([line for _, line in ranked[:LIKELY]])
        decision = Decision(token=LIKELIEST, logprob=round(chosen, 4)) if found.tokens else None
        return replace(result, decision=decision, tokens=found.tokens)

    def _likeliest(self, lines: Sequence[Line]) -> Result:
        return Result((Line(f"{self.head}, the likeliest first:"), *lines, *self.rest), self.no_match.missed)


def _shown_places(lines: Sequence[Line], *, is_folded: bool) -> Iterator[ShownPlace]:
    above = ""
    for index, line in enumerate(lines):
        path = line.place.path if line.place else ""
        if line.place:
            yield ShownPlace(index=index, path=path, line=line.place.first, again=is_folded and path == above)
        above = path


def fitting(lines: Iterable[Line], room: int) -> list[Line]:
    """Return the first of the lines, as many as stay within so many characters."""
    kept: list[Line] = []
    for line in lines:
        room -= len(line.text) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def _fit_to_read(line: Line) -> Line:
    """Return the line cleaned and of bearable length. If it had to be cut, nobody can say what it still shows.

    A path that a reader cannot see whole is no evidence: it would reach the caller as it is.
    """
    text = redact(clean(line.text).replace("\n", " "))
    spans = tuple(span for span in line.spans if _is_readable(span.path))
    place = line.place if line.place and _is_readable(line.place.path) else None
    return replace(line, text=shorten(text, MAX_LINE), spans=spans if len(text) <= MAX_LINE else (), place=place)


def _is_readable(path: str) -> bool:
    return clean(path) == path and "\n" not in path


def _log_sum_exp(values: Sequence[float]) -> float:
    return max(values) + math.log(sum(math.exp(value - max(values)) for value in values))


class Functions(Protocol):
    """The other tools of a run, for a tool that calls them: each call is executed and filed as one of the model's."""

    @property
    def schemas(self) -> Sequence[ToolSchema]: ...

    async def call(self, call: ToolCall) -> Result:
        """Return what the tool answers. Raise Refusal if it refuses, or no more calls may be made."""
        ...

    def shown_places(self, text: str) -> Sequence[Span]:
        """Return the places that a text names. Raise Refusal if it names one that none of the calls has shown."""
        ...


class NoFunctions:
    """What a tool that is called by itself has in place of other tools."""

    schemas: Sequence[ToolSchema] = ()

    async def call(self, call: ToolCall) -> Result:
        raise Refusal(f"no tool called {call.name!r}")

    def shown_places(self, text: str) -> Sequence[Span]:
        return ()


class PendingCalls(Protocol):
    """A result that is not settled yet: it is made of calls of other tools."""

    async def resolve(self, functions: Functions) -> Result: ...


ALONE = NoFunctions()
Function = Callable[..., Awaitable[Result | PendingRanking | PendingCalls]]


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Tool:
    """A function over a workspace, and what a model is told of it.

    executes        whether it needs `workspace.sandbox`: it is offered only where there is one
    is_offered      whether it can be used now: a run that begins when it cannot does not have it
    looks_outside   whether its results depend on more than the workspace: what rests on them is not remembered
    """

    schema: ToolSchema
    function: Function
    arguments: type[BaseModel]
    executes: bool = False
    is_offered: Callable[[], bool] = _always
    looks_outside: bool = False

    @property
    def name(self) -> str:
        return self.schema.name

    async def call(
        self,
        workspace: Workspace,
        arguments: Mapping[str, Any],
        scorer: Scorer | None = None,
        functions: Functions = ALONE,
    ) -> Result:
        """Run the tool; if it leaves a ranking or calls, settle those, too.

        Raise Refusal for wrong arguments, or its own.
        """
        try:
            checked = self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise Refusal(self._explain(error)) from error
        found = await self.function(workspace, **dict(checked))
        if isinstance(found, PendingRanking):
            return await found.resolve(scorer)
        return found if isinstance(found, Result) else await found.resolve(functions)

    def with_defaults(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments with omitted ones filled in, or unchanged if they are wrong."""
        try:
            return self.arguments.model_validate(arguments).model_dump()
        except ValidationError:
            return arguments

    def _explain(self, error: ValidationError) -> str:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "arguments"
        known = ", ".join(self.schema.parameters["properties"])
        return one_line(f"{self.name}: {where}: {first['msg']}; the arguments are {known}", 200)


def tool(
    function: Function,
    *,
    executes: bool = False,
    is_offered: Callable[[], bool] = _always,
    looks_outside: bool = False,
) -> Tool:
    """Return a tool made of `async def name(workspace, argument: Annotated[T, Field(...)] = default) -> Result`.

    Its name, its docstring and the types of its arguments are what a model is told. Raise TypeError if one is missing.
    """
    parameters = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    if problem := _problem(function, parameters):
        raise TypeError(f"{function.__name__}: {problem}")
    fields: dict[str, Any] = {p.name: (p.annotation, ... if p.default is p.empty else p.default) for p in parameters}
    model = create_model(
        f"{function.__name__}_arguments",
        __config__=ConfigDict(extra="forbid"),
        **fields,
    )
    schema = ToolSchema(
        name=function.__name__,
        description=" ".join((inspect.getdoc(function) or "").split()),
        parameters=lean_schema(model),
        copied=_marks(model, Copied),
        references=_marks(model, PlaceReference),
        grammars=Grammars(_marks(model, Grammar)),
    )
    return Tool(schema, function, model, executes, is_offered, looks_outside)


def _marks(model: type[BaseModel], kind: type[Mark]) -> dict[str, Mark]:
    """Return the arguments' marks of this kind by name."""
    return {name: mark for name, one in model.model_fields.items() for mark in one.metadata if isinstance(mark, kind)}


def _problem(function: Function, parameters: Sequence[inspect.Parameter]) -> str:
    """Return what keeps the function from being a tool; empty if nothing does."""
    if not inspect.iscoroutinefunction(function):
        return "expected `async def`: a run can be cancelled, and goes on while others wait"
    if not inspect.getdoc(function):
        return "expected a docstring: it tells a model what the tool is for"
    bare = next((one.name for one in parameters if one.annotation is one.empty), "")
    return f"expected a type for the argument {bare!r}, such as {bare}: str" if bare else ""
