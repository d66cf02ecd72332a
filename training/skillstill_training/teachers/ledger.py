"""The costs of a teacher behind an endpoint: counted by its server, limited by a budget, stored in `ledger.jsonl`."""

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
Purpose = Literal["probe", "traces", "recorded"]


class Price(Frozen):
    """USD for a million tokens. Cached tokens cost the full price, because no server reports its discount."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `IN/OUT`. Raises UsageError."""
        try:
            prompt, completion = map(float, text.split("/"))
            return cls(prompt=prompt, completion=completion)
        except ValueError as error:
            raise UsageError(
                f"a price is IN/OUT, USD for a million tokens read and written, like 0.1/0.4; got {text!r}"
            ) from error

    def cost(self, usage: Usage) -> float:
        return (usage.prompt * self.prompt + usage.completion * self.completion) / MILLION


class Budget(Frozen):
    """The limit of what is spent in a run folder, including earlier commands. None: no limit."""

    usd: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)

    @classmethod
    def parse(cls, usd: float | None, tokens: int | None) -> Self:
        """Build a budget from command-line options. Raises UsageError."""
        try:
            return cls(usd=usd, tokens=tokens)
        except ValueError as error:
            raise UsageError("a budget is a number above 0") from error

    @property
    def is_limited(self) -> bool:
        return self.usd is not None or self.tokens is not None


class LedgerEntry(Frozen):
    """A line of the ledger: the usage of one attempt at one goal. `usd` is None if no price was given."""

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
    attempt; if the process is killed, the usage of unfinished attempts is lost.
    """

    file: Path
    price: Price | None = None
    budget: Budget = field(default_factory=Budget)
    spent: Usage = field(default_factory=Usage)
    usd: float = 0.0
    requests: int = 0
    _appender: Appender = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Raise UsageError if there is a budget in USD and no price."""
        if self.budget.usd is not None and self.price is None:
            raise UsageError("a budget in USD needs the endpoint's price: give --price or use --budget-tokens")
        self._appender = Appender(self.file)

    def __enter__(self) -> Self:
        """Read the earlier entries and open the file. Raises StageError."""
        for entry in self._earlier_entries():
            self._add(entry.usage, self._cost(entry.usage) if entry.usd is None else entry.usd)
            self.requests += entry.requests
        self._appender.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._appender.__exit__(*exception)

    @property
    def tokens(self) -> int:
        """The number of tokens that were read or written."""
        return self.spent.prompt + self.spent.completion

    def check(self) -> None:
        """Raise BudgetSpent if nothing more may be spent."""
        used = f"{self.tokens:,} tokens" + (f", {self.usd:.4f} USD" if self.price else "")
        if self.budget.tokens is not None and self.tokens >= self.budget.tokens:
            raise BudgetSpent(f"the budget of {self.budget.tokens:,} tokens is used up ({used}): {CONTINUE}")
        if self.budget.usd is not None and self.usd >= self.budget.usd:
            raise BudgetSpent(f"the budget of {self.budget.usd:g} USD is used up ({used}): {CONTINUE}")

    def count(self, usage: Usage | None) -> None:
        """Count one request. Raises TeacherError if there is a budget and the server does not report usage."""
        self.requests += 1
        counted = usage or Usage()
        if self.budget.is_limited and not (counted.prompt or counted.completion):
            raise TeacherError("the endpoint does not say how many tokens it used: no budget can be held to")
        self._add(counted, self._cost(counted))

    def write(self, entry: LedgerEntry) -> None:
        """Append the entry of an attempt, which `count` has counted already. Raises StageError."""
        self._appender.append([entry.model_copy(update={"usd": self._cost(entry.usage)})])

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


def sum_usage(usages: Iterable[Usage]) -> Usage:
    prompt = reused = completion = 0
    for usage in usages:
        prompt, reused, completion = prompt + usage.prompt, reused + usage.reused, completion + usage.completion
    return Usage(prompt=prompt, reused=reused, completion=completion)
