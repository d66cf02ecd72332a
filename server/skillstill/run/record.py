"""What has happened in a run so far. It is only ever appended to: trace, prompt and training sample are one text."""

import hashlib
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from skillstill.run.evidence import quoted_places
from skillstill.tools import Result
from skillstill.types import Event, Message, Receipt, Tally, Usage
from skillstill.util.text import shorten

EXCERPT = 200  # characters


class Record:
    def __init__(self, system: str, prompt: str) -> None:
        self.messages = [Message(role="system", content=system), Message(role="user", content=prompt)]
        self.receipts: list[Receipt] = []
        self.shown: list[str] = []  # what tools have shown, without the model's own words
        self._started = time.monotonic()

    def put_prompt_last(self) -> None:
        """Have the question stand behind what has been shown so far."""
        system, prompt, *shown = self.messages
        self.messages = [system, *shown, prompt]

    def say(self, turn: Message) -> None:
        """Append the model's turn."""
        self.messages.append(turn)

    def advise(self, text: str, event: Event) -> None:
        """Append what the model is told in place of a result."""
        self.messages.append(Message(role="tool", content=text, event=event))

    def show(self, receipt: str, result: Result) -> None:
        """Append a result under its receipt's id, and what it took to choose it."""
        self.messages.append(
            Message(
                role="tool",
                content=f"{receipt}: {result.text}",
                receipt=receipt,
                places=result.places,
                rows=result.rows,
                terms=result.terms,
                decisions=(result.decision,) if result.decision else (),
                usage=Usage(prompt=result.tokens) if result.tokens else None,
            )
        )

    def file(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        result: Result,
        *,
        refused: bool,
        seconds: float,
        calls: Sequence[Receipt] = (),
    ) -> Receipt:
        """Return the receipt of an executed call, whose result the model is told under the receipt's id."""
        receipt = receipt_of(self.next_id, tool, arguments, result, refused=refused, seconds=seconds, calls=calls)
        self.receipts.append(receipt)
        self.show(receipt.id, result)
        if not refused:
            self.shown.append(without_echo(result.text, arguments))
        return receipt

    @property
    def next_id(self) -> str:
        return f"r{len(self.receipts) + 1}"

    @property
    def steps(self) -> int:
        """Return how many calls were executed; a script counts as the calls that it made, and at least as one."""
        return sum(len(receipt.executed) for receipt in self.receipts)

    @property
    def turns(self) -> int:
        return sum(message.role == "assistant" for message in self.messages)

    @property
    def spent(self) -> int:
        """Return tokens that were read anew or written."""
        return sum(usage.prompt - usage.reused + usage.completion for usage in self._usages)

    def tally(self) -> Tally:
        return Tally(
            turns=self.turns,
            seconds=round(time.monotonic() - self._started, 3),
            prompt_tokens=sum(usage.prompt for usage in self._usages),
            reused_tokens=sum(usage.reused for usage in self._usages),
            completion_tokens=sum(usage.completion for usage in self._usages),
        )

    def confidence(self) -> float | None:
        """Return the geometric mean probability of the decision tokens, in 0..1; not calibrated."""
        logprobs = [one.logprob for message in self.messages for one in message.decisions]
        return round(math.exp(sum(logprobs) / len(logprobs)), 4) if logprobs else None

    @property
    def _usages(self) -> Sequence[Usage]:
        return [message.usage for message in self.messages if message.usage]


def receipt_of(
    name: str,
    tool: str,
    arguments: Mapping[str, Any],
    result: Result,
    *,
    refused: bool,
    seconds: float,
    calls: Sequence[Receipt] = (),
) -> Receipt:
    return Receipt(
        id=name,
        tool=tool,
        arguments=dict(arguments),
        refused=refused,
        sha256=hashlib.sha256(result.text.encode()).hexdigest(),
        excerpt=shorten(result.text, EXCERPT),
        spans=result.spans,
        missed=result.missed,
        overlooked=result.overlooked,
        empty=result.empty,
        overview=result.overview,
        omitted=result.omitted,
        guess=result.guess,
        seconds=round(seconds, 4),
        calls=tuple(calls),
    )


def without_echo(text: str, arguments: Mapping[str, Any]) -> str:
    """Return a result often repeats what was asked for, or a query makes it up; that must not bear out an answer."""
    for place in quoted_places(" ".join(map(str, arguments.values())))[0]:
        text = text.replace(f"{place.path}:{place.first}", " ")
    return text
