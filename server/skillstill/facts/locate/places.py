"""The likeliest places of a code base for a text: files by all signals, then lines in the best of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skillstill.facts.locate.corpus import Corpus, Paths, asked_kinds
from skillstill.facts.locate.history import History
from skillstill.facts.locate.postings import Array
from skillstill.facts.locate.question import Question
from skillstill.facts.locate.signals import WEIGHTS, Search, Signal, files_of, scaled
from skillstill.facts.locate.spans import LineWords, Span, best_line, score, spans_of

PLACES = 5
SIZE = 0.2  # what the size of a file counts: more code has more that can be wrong, or meant
LATELY = 0.15  # what it counts that a file was changed lately
READ = 12  # files whose text is read
ASIDE = 0.3  # what a test, a document or an example keeps of its score
DEPTH = 200  # places that are compared for the next one
NAMED = 0.2  # what it counts for lines that the text names one of their names
FRAMED = 0.5  # ... or a line


@dataclass(frozen=True, slots=True)
class Shape:
    """How places of a sort of text are chosen.

    lines   what the best lines of a file count beside the file
    again   what a second place of the same file keeps of its score
    """

    lines: float
    again: float


# The report of a fault is about a file whatever its lines, so the five had better lie in several.
# A description of one line is about a definition.
REPORT, SENTENCE = Shape(lines=0.6, again=0.6), Shape(lines=1.0, again=1.0)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; `last` ends the definition or window that it begins, `name` is that of the definition."""

    path: str
    line: int
    last: int
    name: str
    score: float


class Locator:
    """Finds places of one code base. What its paths and its history say is read once."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._paths = Paths.of(corpus.files)
        self._history = History(corpus.commits(), len(corpus.files))

    def places(self, text: str, count: int = PLACES) -> Sequence[Place]:
        """Return the likeliest places for a text, the likeliest first."""
        search = Search(self._corpus, self._paths, self._history, Question.of(text))
        scores = rank_files(search)
        best = [int(file) for file in np.argsort(-scores, kind="stable")[:READ] if scores[file] > 0]
        found = [candidate for file in best for candidate in _candidates(search, file)]
        return [*_places(search, found, scaled(scores), count)]


def rank_files(search: Search, weights: Mapping[Signal, float] = WEIGHTS) -> Array:
    """Return the score of each file: the weighted sum of its signals, and what size and age add where there are any."""
    if not search.count:
        return search.zeros()
    asked = asked_kinds(search.question.text)
    aside = np.array([bool(kinds - asked) for kinds in search.paths.kinds])

    def counted(values: Array) -> Array:
        return scaled(np.where(aside, ASIDE * values, values))

    scores = search.zeros()
    for signal, weight in weights.items():
        scores += weight * counted(signal(search))
    anyway = SIZE * counted(np.log(search.sizes)) + LATELY * counted(search.history.recency)
    return np.where(scores > 0, scores + anyway, 0.0)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Lines of a file: how much they have of the text's words, and how clearly the text names them."""

    file: int
    span: Span
    lines: LineWords
    framed: int  # a line that the text names; 0 if there is none
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
        yield _Candidate(file, span, lines, inside[0] if inside else 0, score(span, lines, values), named)


def _framed_lines(search: Search, file: int) -> Sequence[int]:
    """Return the lines of a file that the text names, the likeliest first."""
    mentions = (*search.question.frames, *search.question.paths)
    return [mention.line for mention in mentions if mention.line and file in files_of(search, mention)]


def _places(search: Search, candidates: Sequence[_Candidate], scores: Array, count: int) -> Iterator[Place]:
    is_report = "\n" in search.question.text.strip()
    shape = REPORT if is_report else SENTENCE
    most = max((candidate.words for candidate in candidates), default=0.0) or 1.0
    found = [(scores[each.file] + shape.lines * each.words / most + each.named, each) for each in candidates]
    for value, each in _spread(found, count, shape.again):
        line = each.framed or best_line(each.span, each.lines, search.values)
        name = each.span.definition.qualified if each.span.definition else ""
        yield Place(search.corpus.files[each.file].path, line, max(line, each.span.last), name, float(value))


def _spread(found: Sequence[tuple[float, _Candidate]], count: int, again: float) -> Iterator[tuple[float, _Candidate]]:
    """Yield the best candidates. One more of a file that has some already must be so much better."""
    waiting = sorted(found, key=lambda each: -each[0])[:DEPTH]
    taken: Counter[int] = Counter()
    while waiting and taken.total() < count:
        best = max(waiting, key=lambda each: each[0] * again ** taken[each[1].file])
        waiting.remove(best)
        taken[best[1].file] += 1
        yield best
