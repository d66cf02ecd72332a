"""The passages of the best files by what they are worth for a text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skillstill.facts.locate.candidates import Candidate
from skillstill.facts.locate.excerpt import excerpt
from skillstill.facts.locate.expected import promise
from skillstill.facts.locate.lines import LineWords, count_words, near_words, positions, telling_line
from skillstill.facts.locate.moments import Moments
from skillstill.facts.locate.passages import Passage, passages_of
from skillstill.facts.locate.postings import Array
from skillstill.facts.locate.signals import Search, files_of

# BM25 of passages: what a word counts in a definition's name, and in all names around it; k1, b, and usual lines.
NAME, OWNER, DAMPING, LENGTH, TYPICAL, LONG = 4.0, 1.5, 1.5, 0.4, 20.0, 4.0
AROUND, PATH = 0.6, 0.4  # what a word is there for a passage that stands in the names around it, or in the path
NAMED = 99.0  # what a line promises that the text names
HEAD = 3.0  # ... and the head of a definition that it names
LITERAL = 4.0  # what an address, a time or an id counts that the text says
_LAST = re.compile(r"\b(?:last|latest|final|finally|newest|most recent|end|ends|ended)\b", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:first|earliest|oldest|begin\w*|begun|start of)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign counts for a place.

    file       what the file is worth beside others
    words      how much of the words the lines have, beside the best
    share      the share of the words that is in the lines, their names or their path
    fact       a row of facts has one of the words in its name
    named      the text names the definition
    framed     ... or a line of it
    literal    an address, a time or an id of the text stands there
    moment     the share of the day and the time that the text names, in an entry of a log
    begin      these are the first lines of a log; later ones have a share of it, as what is there again is the same
    end        the text asks for what comes first or last, and these are the first or the last lines of a log
    aside      the file is a test, an example or generated, and the text asks for none
    document   ... or a document
    column     how much of the words a column has, beside the best
    again      what a second place of a file keeps
    """

    file: float
    words: float
    share: float = 0.0
    fact: float = 0.0
    named: float = 0.0
    framed: float = 0.0
    literal: float = 0.0
    moment: float = 0.0
    begin: float = 0.0
    end: float = 0.0
    aside: float = 0.0
    document: float = 0.0
    column: float = 0.0
    again: float = 1.0


class Reading:
    """What was read of a file: its lines, its passages, and what each of them has of the words."""

    def __init__(self, search: Search, file: int, order: Mapping[str, int]) -> None:
        corpus = search.corpus
        self.file = file
        self.lines = LineWords(corpus.text(file), search.values, search.question.literals)
        definitions, sections = corpus.definitions_in(file), corpus.sections_in(file)
        self.passages = [*passages_of(self.lines.lines, definitions, sections)]
        self.by_line = count_words(self.lines, order)
        sums = np.hstack([np.zeros((len(order), 1)), self.by_line.cumsum(axis=1)])
        self.counts = np.array([sums[:, each.last] - sums[:, each.first - 1] for each in self.passages])
        self.names = _marked([each.definition.name if each.definition else "" for each in self.passages], order)
        self.around = _marked([each.around for each in self.passages], order)
        self.path = np.array([word in search.paths.stems[file] for word in order], dtype=float)
        self.facts = np.zeros(self.counts.shape)
        self._add_facts(search, order)

    def _add_facts(self, search: Search, order: Mapping[str, int]) -> None:
        firsts = [each.first for each in self.passages]
        for fact in search.corpus.facts_in(self.file):
            if fact.first <= len(self.lines.lines) and (found := positions(fact.name, order)):
                self.facts[np.searchsorted(firsts, fact.first, side="right") - 1, found] = 1.0

    def promises(self, question: str, passage: Passage, values: Array) -> Array:
        """Return what each line of a passage promises for a question."""
        lines = self.lines.lines[passage.first - 1 : passage.last]
        told = near_words(self.by_line, values, passage.first, passage.last)
        return promise(question, lines, told / max(float(values.sum()), 1e-9), telling_line(lines, told))


def _marked(texts: Sequence[str], order: Mapping[str, int]) -> Array:
    """Return which texts have which words: a row a text."""
    marked = np.zeros((len(texts), len(order)))
    for at, text in enumerate(texts):
        if text:
            marked[at, positions(text, order)] = 1.0
    return marked


class Ranking:
    """The passages of some files by what they are worth. `priors` are what files are worth before they are read."""

    def __init__(self, search: Search, files: Sequence[int], priors: Array, weights: Weights) -> None:
        order = {word: at for at, word in enumerate(dict.fromkeys([*search.values, *search.question.literals]))}
        self._search, self._readings = search, {file: Reading(search, file, order) for file in files}
        readings = [*self._readings.values()]
        if not readings:
            return
        self._values = _values(search, order, np.vstack([each.counts for each in readings]))
        said = [_bm25(each, self._values) for each in readings]
        most = max(float(each.max()) for each in said) or 1.0
        scores = [
            _scores(search, each, weights, words / most, self._values) + priors[each.file]
            for each, words in zip(readings, said, strict=True)
        ]
        self._scores = np.concatenate(scores)

    def best(self, most: int) -> Iterator[Candidate]:
        """Yield the best passages, the best first."""
        owners = [(file, each) for file, reading in self._readings.items() for each in reading.passages]
        for at in np.argsort(-self._scores, kind="stable")[:most] if owners else ():
            file, passage = owners[at]
            if np.isfinite(self._scores[at]):
                name = passage.definition.qualified if passage.definition else ""
                yield Candidate(file, passage.first, passage.last, float(self._scores[at]), passage.first, name=name)

    def promises(self, found: Candidate) -> Mapping[int, float]:
        """Return the lines of a passage that may be shown with what each promises. `found` begins at its `line`.

        A line that the text names promises all, and the head of a definition that it names more than other lines. A
        report is about a definition, whatever its lines.
        """
        reading = self._readings[found.file]
        passage = next(each for each in reading.passages if each.first == found.line)
        framed, question = _framed_lines(self._search, found.file), self._search.question
        if named := [line for line in framed if passage.first <= line <= passage.last]:
            return {named[0]: NAMED}
        if question.is_report and passage.definition:
            return {max(passage.first, passage.definition.first): NAMED}
        promises = dict(enumerate(reading.promises(question.text, passage, self._values), passage.first))
        if passage.definition and passage.definition.first in promises:
            promises[passage.definition.first] += HEAD * self._search.naming(passage.definition)
        return promises

    def excerpt(self, file: int, line: int) -> str:
        """Return what a line says, as much of it as is shown."""
        return excerpt(self._readings[file].lines, line)


def _values(search: Search, order: Mapping[str, int], counts: Array) -> Array:
    """Return what each word tells: what is rare among the passages tells more."""
    have = (counts > 0).sum(axis=0)
    rarity = np.log(1 + (len(counts) - have + 0.5) / (have + 0.5))
    literals = {*search.question.literals}
    return np.array(
        [LITERAL if word in literals else search.question.words[word] * rarity[at] for word, at in order.items()]
    )


def _bm25(reading: Reading, values: Array) -> Array:
    counts = reading.counts + NAME * reading.names + OWNER * reading.around
    lines = np.array([each.last - each.first + 1 for each in reading.passages])
    room = DAMPING * (1 - LENGTH + LENGTH * np.minimum(lines / TYPICAL, LONG))
    scores: Array = (counts / (counts + room[:, None])) @ values
    return scores


def _scores(search: Search, reading: Reading, weights: Weights, said: Array, values: Array) -> Array:
    """Return what the passages of a file are worth: -inf without a sign. If none has one, the first is shown."""
    signs = _signs(search, reading, weights, values) + _log_signs(search, reading, weights)
    has = (said > 0) | (signs > 0)
    has[0] |= not has.any()
    scores: Array = np.where(has, weights.words * said + signs, -np.inf)
    return scores


def _signs(search: Search, reading: Reading, weights: Weights, values: Array) -> Array:
    own = reading.counts > 0
    there = np.maximum.reduce([own, reading.names, reading.facts, AROUND * reading.around])
    signs: Array = weights.share * (np.maximum(there, PATH * reading.path) @ values) / max(values.sum(), 1e-9)
    signs *= there.any(axis=1)
    signs += weights.fact * reading.facts.any(axis=1)
    signs += weights.literal * own[:, len(search.values) :].any(axis=1)
    framed = _framed_lines(search, reading.file)
    for at, passage in enumerate(reading.passages):
        signs[at] += weights.named * search.naming(passage.definition)
        signs[at] += weights.framed * any(passage.first <= line <= passage.last for line in framed)
    return signs


def _log_signs(search: Search, reading: Reading, weights: Weights) -> Array:
    """Return what the passages of a log are worth by when their entries were written."""
    signs = np.zeros(len(reading.passages))
    if reading.file not in search.corpus.logs():
        return signs
    asked = search.question.text
    signs += weights.begin / np.arange(1, len(signs) + 1)
    signs[-1] += weights.end * bool(_LAST.search(asked))
    signs[0] += weights.end * bool(_FIRST.search(asked))
    moments, entries = Moments.of(asked), search.corpus.entries_in(reading.file)
    if entries and (moments.days or moments.clocks):
        read = entries.firsts <= reading.passages[-1].last
        shares = np.array([moments.share(stamp) for stamp in entries.stamps])[read]
        at = np.searchsorted([each.first for each in reading.passages], entries.firsts[read], side="right") - 1
        best = np.zeros(len(signs))
        np.maximum.at(best, at, shares)
        signs += weights.moment * best
    return signs


def _framed_lines(search: Search, file: int) -> Sequence[int]:
    """Return the lines of a file that the text names, the likeliest first."""
    mentions = (*search.question.frames, *search.question.paths)
    return [mention.line for mention in mentions if mention.line and file in files_of(search, mention)]
