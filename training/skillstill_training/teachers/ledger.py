"""The costs of a large model as teacher: counted by its server, limited by a budget, stored in `ledger.jsonl`."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Self

from pydantic import Field
from skillstill.errors import BudgetSpent, TeacherError, UsageError
from skillstill.types import Frozen, Usage

from skillstill_training.util.jsonl import Appender, read_lines, write_lines

MILLION = 1_000_000
Purpose = Literal["probe", "traces", "recorded", "judge", "figures", "workspaces"]


class Price(Frozen):
    """USD for a million tokens that are read anew, read from the server's cache, or written."""

    prompt: float = Field(ge=0)
    cached: float = Field(ge=0)
    completion: float = Field(ge=0)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `IN,CACHED,OUT`. Raises UsageError."""
        try:
            prompt, cached, completion = map(float, text.split(","))
            return cls(prompt=prompt, cached=cached, completion=completion)
        except ValueError as error:
            raise UsageError(
                "a price is IN,CACHED,OUT, USD for a million tokens read anew, read from a cache and written, "
                f"like 0.3,0.03,1.2; got {text!r}"
            ) from error

    def cost(self, usage: Usage) -> float:
        read = (usage.prompt - usage.reused) * self.prompt + usage.reused * self.cached
        return (read + usage.completion * self.completion) / MILLION


class Budget(Frozen):
    """The limit of what is spent in a run folder, including earlier commands. None: no limit."""

    usd: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `5usd`, `300000` tokens, or both with a comma in between; no text is no limit. Raises UsageError."""
        try:
            return cls(**dict(map(_limit, text.split(",") if text else ())))
        except ValueError as error:
            raise UsageError(f"a budget is money or tokens above 0, like 5usd or 300000; got {text!r}") from error

    @property
    def is_limited(self) -> bool:
        return self.usd is not None or self.tokens is not None


class LedgerEntry(Frozen):
    """A line of the ledger: the usage of one attempt at one goal.

    `usd` is what the model told or the price says; None if neither is known.
    """

    when: datetime
    teacher: str
    purpose: Purpose
    goal: str
    sample: int
    requests: int
    prompt: int
    cached: int
    completion: int
    usd: float | None = None

    @property
    def usage(self) -> Usage:
        return Usage(prompt=self.prompt, reused=self.cached, completion=self.completion)


@dataclass
class Ledger:
    """Counts usage and costs, including the entries that are in its file already: a budget covers all of them.

    Use it as a context manager, which keeps the file open. Usage is counted after each request and written after each
    attempt; if the process is killed, the usage of unfinished attempts is lost. A model that tells its cost itself
    needs no price, and tells it after each attempt.
    """

    file: Path
    price: Price | None = None
    budget: Budget = field(default_factory=Budget)
    tells_cost: bool = False
    entries: list[LedgerEntry] = field(default_factory=list)
    spent: Usage = field(default_factory=Usage)
    usd: float = 0.0
    requests: int = 0
    _appender: Appender = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Raise UsageError if there is a budget in USD and nobody tells the price, or if two would."""
        if self.tells_cost and self.price:
            raise UsageError("this teacher tells its cost itself: leave --price out")
        if self.budget.usd is not None and not self.knows_cost:
            raise UsageError("a budget in USD needs the price of its model: give --price, or a budget in tokens")
        self._appender = Appender(self.file)

    def __enter__(self) -> Self:
        """Read the earlier entries and open the file. Raises StageError."""
        for entry in self._earlier_entries():
            self._add(entry.usage, self._cost(entry.usage) if entry.usd is None else entry.usd)
            self.requests += entry.requests
            self.entries.append(entry)
        self._appender.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._appender.__exit__(*exception)

    @property
    def tokens(self) -> int:
        """The number of tokens that were read or written."""
        return self.spent.prompt + self.spent.completion

    @property
    def knows_cost(self) -> bool:
        return self.price is not None or self.tells_cost

    @property
    def usd_left(self) -> float | None:
        """USD that may still be spent; None if there is no limit."""
        return None if self.budget.usd is None else max(0.0, self.budget.usd - self.usd)

    def check(self) -> None:
        """Raise BudgetSpent if nothing more may be spent."""
        used = f"{self.tokens:,} tokens" + (f", {self.usd:.4f} USD" if self.knows_cost else "")
        if self.budget.tokens is not None and self.tokens >= self.budget.tokens:
            raise BudgetSpent(f"the budget of {self.budget.tokens:,} tokens is used up ({used}): {CONTINUE}")
        if self.budget.usd is not None and self.usd >= self.budget.usd:
            raise BudgetSpent(f"the budget of {self.budget.usd:g} USD is used up ({used}): {CONTINUE}")

    def count(self, usage: Usage | None) -> None:
        """Count one request. Raises TeacherError if there is a budget and the server does not report usage."""
        self.requests += 1
        counted = usage or Usage()
        if self.budget.is_limited and not (counted.prompt or counted.completion):
            raise TeacherError("the teacher does not say how many tokens it used: no budget can be held to")
        self._add(counted, self._cost(counted))

    def write(self, entry: LedgerEntry) -> None:
        """Append the entry of an attempt, whose usage `count` has counted already. Raises StageError."""
        if entry.usd is None:
            entry = entry.model_copy(update={"usd": self._cost(entry.usage)})
        else:
            self.usd += entry.usd
        self.entries.append(entry)
        self._appender.append([entry])

    def _cost(self, usage: Usage) -> float | None:
        return self.price.cost(usage) if self.price else None

    def _add(self, usage: Usage, usd: float | None) -> None:
        self.spent = sum_usage([self.spent, usage])
        self.usd += usd or 0.0

    def _earlier_entries(self) -> Iterable[LedgerEntry]:
        if not self.file.exists():
            return []
        entries = read_lines(self.file, LedgerEntry, torn=True)
        write_lines(self.file, entries)
        return entries


CONTINUE = "what is done is kept, and the same command with a larger budget goes on"


def _limit(text: str) -> tuple[str, float | int]:
    """Return a limit by the name of its field. Raises ValueError."""
    number = text.strip().lower()
    return ("usd", float(number.removesuffix("usd"))) if number.endswith("usd") else ("tokens", int(number))


def sum_costs(entries: Iterable[LedgerEntry]) -> tuple[int, float | None]:
    """Return the tokens read and written, and the USD; None if nobody knows a price."""
    known = list(entries)
    costs = [entry.usd for entry in known if entry.usd is not None]
    return sum(entry.prompt + entry.completion for entry in known), sum(costs) if costs else None


def sum_usage(usages: Iterable[Usage]) -> Usage:
    prompt = reused = completion = 0
    for usage in usages:
        prompt, reused, completion = prompt + usage.prompt, reused + usage.reused, completion + usage.completion
    return Usage(prompt=prompt, reused=reused, completion=completion)
