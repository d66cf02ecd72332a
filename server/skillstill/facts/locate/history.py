"""What the history of a code base tells of a text: which files were changed for words like it, and lately."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skillstill.facts.locate.postings import Array
from skillstill.facts.locate.question import stop_words
from skillstill.facts.locate.stems import stems_in

COMMITS = 2_000  # the newest that are read, without merges
SWEEPING = 30  # changed files: a commit with more of them tells of none
DAMPING, LENGTH, RARITY = 1.2, 0.6, 1.5  # BM25 of messages
LATELY = 150  # commits after which a change counts a third


@dataclass(frozen=True, slots=True)
class Commit:
    """A message, the positions of the files that it changed and are still there, and how many it changed at all."""

    subject: str
    body: str
    files: Sequence[int]
    changed: int


class History:
    """The commits of a code base, the newest first, by the words of their messages."""

    def __init__(self, commits: Sequence[Commit], files: int) -> None:
        self._files = files
        telling = [(age, each) for age, each in enumerate(commits) if each.files and each.changed <= SWEEPING]
        lengths = [len(each.files) for _, each in telling]
        self._commits = np.repeat(np.arange(len(telling)), lengths)
        self._changed = np.array([file for _, each in telling for file in each.files], dtype=np.int64)
        self._shares = 1 / np.sqrt(np.array(lengths, dtype=float))
        self._messages = _Words([_counted(f"{each.subject} {each.body}") for _, each in telling])
        self._subjects = _Words([dict.fromkeys(_counted(each.subject), 1) for _, each in telling])
        lately = np.array([math.exp(-age / LATELY) / math.sqrt(each.changed) for age, each in telling])
        self.recency = np.log1p(self._sums(lately))

    def by_messages(self, words: Mapping[str, float]) -> Array:
        return self._alike(self._messages.scores(words, LENGTH))

    def by_subjects(self, words: Mapping[str, float]) -> Array:
        return self._alike(self._subjects.scores(words, 0))

    def _alike(self, scores: Array) -> Array:
        """Return the value of each file: one commit that is much alike counts more than several that are little."""
        return np.sqrt(self._sums((scores * self._shares) ** 2))

    def _sums(self, values: Array) -> Array:
        return np.bincount(self._changed, weights=values[self._commits], minlength=self._files)


def _counted(text: str) -> Mapping[str, int]:
    return Counter(word for word in stems_in(text) if word not in stop_words())


class _Words:
    """Texts by their words."""

    def __init__(self, texts: Sequence[Mapping[str, int]]) -> None:
        self._count = len(texts)
        lengths = np.array([sum(text.values()) for text in texts], dtype=float)
        self._lengths = lengths / max(1.0, lengths.mean()) if len(texts) else lengths
        holders: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, text in enumerate(texts):
            for word, count in text.items():
                holders[word].append((at, count))
        self._holders = holders

    def scores(self, words: Mapping[str, float], length: float) -> Array:
        scores = np.zeros(self._count)
        room = DAMPING * (1 - length + length * self._lengths)
        for word, weight in words.items():
            if held := self._holders.get(word):
                at, counts = np.array(held).T
                rarity = math.log(1 + (self._count - len(held) + 0.5) / (len(held) + 0.5))
                scores[at] += weight * rarity**RARITY * counts / (counts + room[at])
        return scores
