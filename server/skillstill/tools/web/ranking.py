"""The passages of documents that are likeliest to answer a question.

The documents with most of the words are split into passages, and these are ranked by BM25 over their words, their
titles and what stands next to them. A document that no question has led to is never split.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from skillstill.facts.locate.question import Question
from skillstill.facts.locate.stems import stems_in
from skillstill.tools.web.passages import Passage, Section, passages_of

SPLIT = 60  # documents whose passages are compared
DAMPING = 1.2  # k1: passages are short, and a word that is said twice tells little more
TITLE, NEAR = 0.9, 0.35  # what a word counts that stands in the titles, or in the passage before or after
SPELLED = 2.5  # what a name counts that stands there as the question spells it
COVERED = 1.0  # how much more a passage counts that has all words of the question
ASIDE = 0.6  # what a passage of a changelog keeps, unless the question is about versions, and one of a translation
_NAME = re.compile(r"--?[A-Za-z][\w-]*|[A-Za-z_]\w*(?:[._:/-]\w+)+|[a-z]+[A-Z]\w*|\w*_\w+|`[^`\n]{2,60}`")
_NEWS = re.compile(r"(?:^|/)(?:change(?:s|log)|history|news|blog|release|whatsnew|upgrad|migrat)[^/]*", re.IGNORECASE)
_TRANSLATION = re.compile(r"(?:^|/)[a-z]{2,3}[-_][A-Z]{2}/")
_ABOUT_VERSIONS = re.compile(
    r"\b(?:versions?|since|releases?d?|changed|new in|added|introduced|removed|deprecated|upgrad\w+|migrat\w+)\b"
    r"|\d+\.\d+|changelog",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CountedPassage:
    """A passage with its words, and with those of its titles and its path."""

    passage: Passage
    lowered: str
    words: Counter[str]
    titles: frozenset[str]


@dataclass(frozen=True)
class Document:
    """A text with its sections; `code` are the first and the last lines of its blocks of code."""

    path: str
    text: str
    sections: Sequence[Section]
    code: Sequence[tuple[int, int]]

    @cached_property
    def lowered(self) -> str:
        return f"{self.path}\n{self.text}".lower()

    @cached_property
    def passages(self) -> Sequence[CountedPassage]:
        found = passages_of(self.path, self.text.split("\n"), self.sections, self.code)
        return [
            CountedPassage(
                one,
                one.text.lower(),
                Counter(stems_in(one.text)),
                frozenset(stems_in(f"{one.titles} {one.path}")),
            )
            for one in found
        ]


def best_passages(text: str, documents: Sequence[Document], count: int) -> Sequence[Passage]:
    """Return the likeliest passages for a question, the likeliest first and none of the same text twice."""
    words = Question.of(text).words
    counted = [one for document in _likely_documents(words, documents) for one in document.passages]
    scores = _scores(words, counted)
    for name in sorted({name.strip("`").lower() for name in _NAME.findall(text)}):
        spelled = [at for at, one in enumerate(counted) if _has_name(one.lowered, name)]
        for at in spelled:
            scores[at] = scores.get(at, 0.0) + SPELLED * _rarity(len(spelled), len(counted))
    about_versions = _ABOUT_VERSIONS.search(text) is not None
    for at in scores:
        path = counted[at].passage.path
        if _TRANSLATION.search(path) or (not about_versions and _NEWS.search(path)):
            scores[at] *= ASIDE
    ranked = sorted(scores, key=lambda at: (-scores[at], at))
    return _distinct((counted[at].passage for at in ranked), count)


def _likely_documents(words: Mapping[str, float], documents: Sequence[Document]) -> Sequence[Document]:
    """Return the documents with most of the words, in the order in which they were given."""
    if len(documents) <= SPLIT:
        return documents
    holders = {word: [word in document.lowered for document in documents] for word in words}
    values = {word: weight * _rarity(sum(holders[word]), len(documents)) for word, weight in words.items()}
    worth = [
        sum(value for word, value in values.items() if holders[word][at])
        * (ASIDE if _TRANSLATION.search(document.path) else 1.0)
        for at, document in enumerate(documents)
    ]
    best = sorted(range(len(documents)), key=lambda at: -worth[at])[:SPLIT]
    return [documents[at] for at in sorted(best)]


def _scores(words: Mapping[str, float], counted: Sequence[CountedPassage]) -> dict[int, float]:
    """Return the score of each passage that has, or stands next to, one of the words."""
    found = {word: _holders(word, counted) for word in words}
    values = {word: weight * _rarity(len(found[word]), len(counted)) for word, weight in words.items() if found[word]}
    whole = sum(values.values())
    scores: defaultdict[int, float] = defaultdict(float)
    covered: defaultdict[int, float] = defaultdict(float)
    for word, value in values.items():
        for at, times in found[word].items():
            scores[at] += value * times / (times + DAMPING)
            covered[at] += value * min(1.0, times)
    return {at: score * (1 + COVERED * covered[at] / whole) for at, score in scores.items()}


def _holders(word: str, counted: Sequence[CountedPassage]) -> Mapping[int, float]:
    """Return what a word counts in each passage that has it, in its titles too, or stands next to one that has it."""
    holders: dict[int, float] = {}
    for at, one in enumerate(counted):
        if times := one.words.get(word, 0) + (TITLE if word in one.titles else 0.0):
            holders[at] = times
    for at in [at for at in holders if word in counted[at].words]:
        for other in (at - 1, at + 1):
            if 0 <= other < len(counted) and counted[other].passage.is_beside(counted[at].passage):
                holders.setdefault(other, NEAR)
    return holders


def _has_name(lowered: str, name: str) -> bool:
    return name in lowered and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", lowered) is not None


def _rarity(holders: int, every: int) -> float:
    return math.log(1 + (every - holders + 0.5) / (holders + 0.5))


def _distinct(passages: Iterable[Passage], count: int) -> Sequence[Passage]:
    different: dict[str, Passage] = {}
    for passage in passages:
        different.setdefault(passage.text, passage)
        if len(different) == count:
            break
    return [*different.values()]
