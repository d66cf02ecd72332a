"""Samples as rows of tokens: what is read, and what of it is learned."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from skillstill import chat
from skillstill.errors import GateError
from skillstill.types import Message

from skillstill_training.teachers import FIELD, Sample

IGNORED = -100  # the label that torch's cross-entropy leaves out


@dataclass(frozen=True, slots=True)
class TrainingRow:
    """`tokens` and `labels` of one conversation, equally long; a label is its token, or IGNORED.

    `also` are other tokens that it may begin with, up to the first that is learned: its question in other words.
    An opening is not `whole`. The first `shared` tokens are those of every question about the same folder.
    """

    family: str
    tokens: tuple[int, ...]
    labels: tuple[int, ...]
    also: tuple[tuple[int, ...], ...] = ()
    whole: bool = True
    shared: int = 0

    @property
    def learned(self) -> int:
        return sum(label != IGNORED for label in self.labels)

    @property
    def own(self) -> int:
        """Return how many tokens it has beside those that it shares."""
        return len(self.tokens) - self.shared

    @property
    def opening(self) -> "TrainingRow":
        """Return the conversation up to the end of its first turn.

        What was asked, what is taken for its intent, a call.
        """
        end = next((at for at in range(self._first, len(self.labels)) if self.labels[at] == IGNORED), len(self.labels))
        return replace(self, tokens=self.tokens[:end], labels=self.labels[:end], whole=False)

    def asked(self, chance: Random) -> "TrainingRow":
        """Return the same with its question in any of its wordings."""
        first = self._first
        start = chance.choice((self.tokens[:first], *self.also))
        tokens, labels = start + self.tokens[first:], (IGNORED,) * len(start) + self.labels[first:]
        return replace(self, tokens=tokens, labels=labels, also=())

    @property
    def _first(self) -> int:
        return next(at for at, label in enumerate(self.labels) if label != IGNORED)


class RowTokenizer:
    """The tokenizer of the base's own GGUF file: the one that serving uses, so no other one can differ from it."""

    def __init__(self, tokenize: Callable[[str], Sequence[int]], piece: Callable[[int], bytes]) -> None:
        self.tokenize, self.piece = tokenize, piece

    def row(self, sample: Sample) -> TrainingRow:
        """Raise GateError if the mask lets through anything but what the model itself writes."""
        segments = chat.render(sample.messages, chat.LINES, sample.tools)
        parts = [(tuple(self.tokenize(segment.text)), segment.learned) for segment in segments]
        tokens = tuple(token for part, _ in parts for token in part)
        labels = tuple(token if learned else IGNORED for part, learned in parts for token in part)
        self._assert_masked(sample, labels, [segment.text for segment in segments if segment.learned])
        shared = sum(len(part) for (part, _), segment in zip(parts, segments, strict=True) if segment.shared)
        also = tuple(self._start(sample, words) for words in sample.also)
        return TrainingRow(sample.family, tokens, labels, also, shared=shared)

    def _start(self, sample: Sample, words: str) -> tuple[int, ...]:
        """Return what a conversation begins with that asks in these words; what its run begins with shows the same."""
        first = next(at for at, one in enumerate(sample.messages) if one.role == "assistant" and not one.mistaken)
        begun = sample.messages[:first]
        asked = [Message(role="user", content=words) if one.role == "user" else one for one in begun]
        return tuple(
            token for segment in chat.render(asked, chat.LINES, sample.tools) for token in self.tokenize(segment.text)
        )

    def _assert_masked(self, sample: Sample, labels: Sequence[int], learned: Sequence[str]) -> None:
        text = b"".join(self.piece(label) for label in labels if label != IGNORED).decode("utf-8", "replace")
        if not text or text != "".join(learned):
            raise GateError(f"the mask of {sample.goal} is wrong: it lets through {text[:80]!r}")


def fit_rows(rows: Iterable[TrainingRow], longest: int, own: int, dropped: Counter[str]) -> Iterator[TrainingRow]:
    """Yield the rows of at most `longest` tokens, `own` of them not shared; count the others by family."""
    for row in rows:
        if len(row.tokens) > longest or row.own > own:
            dropped[row.family] += 1
        else:
            yield row


def draw_rows(
    rows: Sequence[TrainingRow],
    budget: int,
    seed: int,
    most: int | None = None,
    openings: float = 0.0,
    field: float = 0.0,
) -> Sequence[TrainingRow]:
    """Return whole conversations, and openings of others for that share of the tokens, shuffled.

    An opening costs a sixth of a conversation, and most of what a small model gets wrong is what it was asked. Of
    field questions, which get the share `field`, whole conversations are drawn: no two of them are alike.
    """
    asked = [row for row in rows if row.family == FIELD]
    made = [row for row in rows if row.family != FIELD]
    share = field if made and asked else float(bool(asked))
    drawn = [
        *_in_turn(asked, budget * share, seed, most),
        *_draw_made(made, budget * (1 - share), seed, most, openings),
    ]
    return Random(seed).sample(drawn, len(drawn))  # noqa: S311 - no secret


def _draw_made(
    rows: Sequence[TrainingRow], budget: float, seed: int, most: int | None, openings: float
) -> Sequence[TrainingRow]:
    whole = _in_turn(rows, budget * (1 - openings), seed, most)
    spent = sum(row.own for row in whole)
    cut = _in_turn([row.opening for row in rows], spent * openings / (1 - openings), seed + 1)
    return [*whole, *cut]


def _in_turn(rows: Sequence[TrainingRow], budget: float, seed: int, most: int | None = None) -> Sequence[TrainingRow]:
    """Return a row of each family in turn, until the tokens of the budget are used or `most` rows are drawn.

    Tokens that questions about a folder share are not counted: a bundle reads them once.

    Success is the mean over families, so each gets as many. One that is used up begins anew in another order.
    """
    chance = Random(seed)  # noqa: S311 - no secret
    by_family: Mapping[str, list[TrainingRow]] = defaultdict(list)
    for row in rows:
        by_family[row.family].append(row)
    chosen: list[TrainingRow] = []
    used, queues = 0, {family: list[TrainingRow]() for family in sorted(by_family)}
    while queues:
        for family, queue in queues.items():
            if not queue:
                queue += chance.sample(by_family[family], len(by_family[family]))
            row = queue.pop().asked(chance)
            used += row.own
            if used > budget or len(chosen) == most:
                return chosen
            chosen.append(row)
    return chosen
