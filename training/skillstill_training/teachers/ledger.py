"""What a teacher behind an endpoint costs: counted as its server counts, held to a budget, kept in `ledger.jsonl`."""

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
    """USD for a million tokens. Cached tokens count in full: no server says what it takes off for them."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)

    @classmethod
    def parse(cls, text: str) -> Self:
        """That of `IN/OUT`. Raises UsageError."""
        try:
            prompt, completion = map(float, text.split("/"))
            return cls(prompt=prompt, completion=completion)
        except ValueError as error:
            raise UsageError(
                f"a price is IN/OUT, USD for a million tokens read and written, like 0.1/0.4; got {text!r}"
            ) from error

    def of(self, usage: Usage) -> float:
        return (usage.prompt * self.prompt + usage.completion * self.completion) / MILLION


class Budget(Frozen):
    """How much may be spent in this run folder, earlier runs included. None: no limit."""

    usd: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)

    @classmethod
    def given(cls, usd: float | None, tokens: int | None) -> Self:
        """As a person typed it. Raises UsageError."""
        try:
            return cls(usd=usd, tokens=tokens)
        except ValueError as error:
            raise UsageError("a budget is a number above 0") from error

    @property
    def limited(self) -> bool:
        return self.usd is not None or self.tokens is not None


class LedgerEntry(Frozen):
    """A line of the ledger: what one attempt at one goal took. `usd` is None where no price was given."""

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
    """Counts from the first line of its file on: a budget holds over several runs of one command.

    Use it as a context: it holds the file open. What is spent is known after each request, and written down after
    each attempt; a killed process loses the count of the attempts in flight.
    """

    file: Path
    price: Price | None = None
    budget: Budget = field(default_factory=Budget)
    spent: Usage = field(default_factory=Usage)
    usd: float = 0.0
    requests: int = 0
    _appender: Appender = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Raises UsageError."""
        if self.budget.usd is not None and self.price is None:
            raise UsageError("a budget in USD needs the endpoint's price: give --price or use --budget-tokens")
        self._appender = Appender(self.file)

    def __enter__(self) -> Self:
        """Raises StageError."""
        for entry in self._earlier():
            self._add(entry.usage, self._cost(entry.usage) if entry.usd is None else entry.usd)
            self.requests += entry.requests
        self._appender.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._appender.__exit__(*exception)

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.spent.prompt + self.spent.completion

    def check(self) -> None:
        """Raises BudgetSpent where nothing more may be spent."""
        used = f"{self.tokens:,} tokens" + (f", {self.usd:.4f} USD" if self.price else "")
        if self.budget.tokens is not None and self.tokens >= self.budget.tokens:
            raise BudgetSpent(f"the budget of {self.budget.tokens:,} tokens is used up ({used}): {GO_ON}")
        if self.budget.usd is not None and self.usd >= self.budget.usd:
            raise BudgetSpent(f"the budget of {self.budget.usd:g} USD is used up ({used}): {GO_ON}")

    def count(self, usage: Usage | None) -> None:
        """Note one request. Raises TeacherError where its server does not count and a budget has to be held."""
        self.requests += 1
        counted = usage or Usage()
        if self.budget.limited and not (counted.prompt or counted.completion):
            raise TeacherError("the endpoint does not say how many tokens it used: no budget can be held to")
        self._add(counted, self._cost(counted))

    def write(self, entry: LedgerEntry) -> None:
        """Put down what was counted already. Raises StageError."""
        self._appender.append([entry.model_copy(update={"usd": self._cost(entry.usage)})])

    def _cost(self, usage: Usage) -> float | None:
        return self.price.of(usage) if self.price else None

    def _add(self, usage: Usage, usd: float | None) -> None:
        self.spent = total([self.spent, usage])
        self.usd += usd or 0.0

    def _earlier(self) -> Iterable[LedgerEntry]:
        if not self.file.exists():
            return []
        entries = read_lines(self.file, LedgerEntry, torn=True)
        write_lines(self.file, entries)
        return entries


GO_ON = "what is done is kept, and the same command with a larger budget goes on"


def total(usages: Iterable[Usage]) -> Usage:
    prompt = reused = completion = 0
    for usage in usages:
        prompt, reused, completion = prompt + usage.prompt, reused + usage.reused, completion + usage.completion
    return Usage(prompt=prompt, reused=reused, completion=completion)
