"""The likeliest places of a code base for a text: files by all signals, then lines in the best of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skillstill.facts.locate.corpus import Corpus, Paths, is_aside
from skillstill.facts.locate.postings import Array
from skillstill.facts.locate.question import Question
from skillstill.facts.locate.signals import WEIGHTS, Search, Signal, files_of, scaled
from skillstill.facts.locate.spans import LineWords, Span, best_line, score, spans_of

PLACES = 5
READ = 20  # files whose text is read
ASIDE = 0.3  # what a test, a document or an example keeps of its score
LINES = 1.0  # what the best lines of a file count beside the file
DEPTH = 200  # places that are compared for the next one
# What a second place of a file keeps. The report of a fault is about a file whatever its lines, so the five had better
# be in several; a description of one sentence is about a definition.
AGAIN, AGAIN_IN_SENTENCE = 0.6, 1.0
NAMED = 0.5  # what it counts for lines that the text names one of their names
FRAMED = 1.0  # ... or a line


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; `last` ends the definition or window that it begins, `name` is that of the definition."""

    path: str
    line: int
    last: int
    name: str
    score: float


class Locator:
    """Finds places of one code base. What its paths say is read once."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._paths = Paths.of(corpus.files)

    def places(self, text: str, count: int = PLACES) -> Sequence[Place]:
        """Return the likeliest places for a text, the likeliest first."""
        search = Search(self._corpus, self._paths, Question.of(text))
        scores = rank_files(search)
        best = [int(file) for file in np.argsort(-scores, kind="stable")[:READ] if scores[file] > 0]
        found = [candidate for file in best for candidate in _candidates(search, file)]
        return [*_spread(_places(search, found, scaled(scores)), count, _again(text))]


def rank_files(search: Search, weights: Mapping[Signal, float] = WEIGHTS) -> Array:
    """Return the score of each file: the weighted sum of its signals."""
    if not search.count:
        return search.zeros()
    text = search.question.text
    aside = np.array([is_aside(file.path, text) for file in search.corpus.files])
    scores = search.zeros()
    for signal, weight in weights.items():
        values = signal(search)
        scores += weight * scaled(np.where(aside, ASIDE * values, values))
    return scores


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Lines of a file: how much they have of the text's words, and how clearly the text names them."""

    file: int
    span: Span
    line: int
    words: float
    named: float


def _candidates(search: Search, file: int) -> Iterator[_Candidate]:
    """Yield the spans of a file, those that the text names among them."""
    values = search.values
    lines = LineWords(search.corpus.text(file), values)
    framed = _framed_lines(search, file)
    for span in spans_of(search.corpus.definitions_in(file), len(lines.words)):
        inside = [line for line in framed if span.first <= line <= span.last]
        named = FRAMED if inside else NAMED * search.naming(span.definition)
        line = inside[0] if inside else best_line(span, lines, values)
        yield _Candidate(file, span, line, score(span, lines, values), named)


def _framed_lines(search: Search, file: int) -> Sequence[int]:
    """Return the lines of a file that the text names, the likeliest first."""
    mentions = (*search.question.frames, *search.question.paths)
    return [mention.line for mention in mentions if mention.line and file in files_of(search, mention)]


def _places(search: Search, candidates: Sequence[_Candidate], scores: Array) -> Iterator[Place]:
    most = max((candidate.words for candidate in candidates), default=0.0) or 1.0
    for each in candidates:
        value = scores[each.file] + LINES * each.words / most + each.named
        name = each.span.definition.qualified if each.span.definition else ""
        yield Place(search.corpus.files[each.file].path, each.line, max(each.line, each.span.last), name, float(value))


def _again(text: str) -> float:
    return AGAIN if "\n" in text.strip() else AGAIN_IN_SENTENCE


def _spread(places: Iterable[Place], count: int, again: float) -> Iterator[Place]:
    """Yield the best places. One more of a file that has some already must be so much better."""
    waiting = sorted(places, key=lambda place: (-place.score, place.path, place.line))
    taken: Counter[str] = Counter()
    while waiting and taken.total() < count:
        best = max(waiting[:DEPTH], key=lambda place: place.score * again ** taken[place.path])
        waiting.remove(best)
        taken[best.path] += 1
        yield best
