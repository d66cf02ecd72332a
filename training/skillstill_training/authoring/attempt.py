"""What is judged: the answer of a run, or of anything else that answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from skillstill.run.evidence import RECEIPT, quoted_places
from skillstill.run.loop import GIVES_UP
from skillstill.types import Span, Status, Trace

from skillstill_training.authoring.numbers import numbers_in


@dataclass(frozen=True)
class Attempt:
    """An answer and what stands behind it. `shown`: the texts of its tools' results. `gave_up`: in its own words."""

    prompt: str
    status: Status
    answer: str
    evidence: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    gave_up: bool = False

    @classmethod
    def of_trace(cls, trace: Trace) -> "Attempt":
        last = trace.messages[-1]
        return cls(
            prompt=trace.prompt,
            status=trace.report.status,
            answer=trace.report.answer,
            evidence=trace.report.evidence,
            shown=tuple(message.content for message in trace.messages if message.role == "tool"),
            gave_up=last.role == "assistant" and GIVES_UP.match(last.content.strip()) is not None,
        )

    @classmethod
    def of_text(cls, prompt: str, answer: str, shown: Sequence[str] = ()) -> "Attempt":
        """Return the attempt of a program, which vouches for its own answer: a baseline, a test."""
        gave_up = GIVES_UP.match(answer.strip()) is not None
        named = tuple(RECEIPT.findall(answer)) or ("r1",)
        return cls(prompt, "escalate" if gave_up else "answered", answer, named, tuple(shown), gave_up)

    @cached_property
    def places(self) -> tuple[Span, ...]:
        return self._read[0]

    @cached_property
    def rest(self) -> str:
        """Return the answer without the places and receipts that it names."""
        return RECEIPT.sub(" ", self._read[1])

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        return numbers_in(self.rest)

    @cached_property
    def _read(self) -> tuple[tuple[Span, ...], str]:
        found, rest = quoted_places(self.answer)
        plain = (span.model_copy(update={"path": span.path.removeprefix("./")}) for span in found)
        return tuple(dict.fromkeys(plain)), rest
