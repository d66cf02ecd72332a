"""The likeliest places of a workspace for a text: files by all signals, then what stands in the best of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skillstill.facts.locate.candidates import (
    Candidate,
    ColumnWords,
    column_candidates,
    line_candidates,
    line_values,
    span_candidates,
)
from skillstill.facts.locate.corpus import Corpus, Paths, asked_kinds
from skillstill.facts.locate.excerpt import WIDTH, excerpt
from skillstill.facts.locate.history import History
from skillstill.facts.locate.lines import LineWords
from skillstill.facts.locate.postings import Array
from skillstill.facts.locate.question import Question
from skillstill.facts.locate.signals import WEIGHTS, Search, Signal, scaled
from skillstill.util.text import one_line

PLACES = 5
SIZE = 0.2  # what the size of a file counts: more code has more that can be wrong, or meant
LATELY = 0.15  # what it counts that a file was changed lately
READ = 12  # files whose definitions are compared
SEARCHED = 20  # files whose lines are
ASIDE = 0.3  # what a test, a document or an example keeps of its score
DEPTH = 200  # places that are compared for the next one
NEAR = 5  # lines between two places that a reader sees at once


@dataclass(frozen=True, slots=True)
class Shape:
    """How places of a sort of text are chosen.

    spans   what the best definition of a file counts beside the file
    lines   what the best line does; 0 if single lines are no answer
    again   what a second place of the same file keeps of its score
    """

    spans: float
    lines: float
    again: float


# The report of a fault is about a file whatever its lines, so the five had better lie in several.
# A question of one line is about a definition or a fact.
REPORT, SENTENCE = Shape(spans=0.6, lines=0.0, again=0.6), Shape(spans=1.0, lines=1.0, again=1.0)
COLUMNS = 1.0  # what the best column of a table counts beside its file


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; `last` ends the definition, window or entry that it begins.

    line    0 of a table or column in a file without lines
    name    of the definition that it is in, or of the table and column
    text    what it says
    times   how many entries of a log are like it
    """

    path: str
    line: int
    last: int
    name: str
    score: float
    text: str = ""
    times: int = 1


class Locator:
    """Finds places of one workspace. What its paths, its history and its columns say is read once."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._paths = Paths.of(corpus.files)
        self._history = History(corpus.commits(), len(corpus.files))
        self._columns = ColumnWords(corpus.columns(), self._paths.stems)

    def places(self, text: str, count: int = PLACES) -> Sequence[Place]:
        """Return the likeliest places for a text, the likeliest first."""
        search = Search(self._corpus, self._paths, self._history, Question.of(text))
        scores = rank_files(search)
        shape = REPORT if search.question.is_report else SENTENCE
        texts = {file: _lines(search, file) for file in _best_files(scores, SEARCHED if shape.lines else READ)}
        found = [*_valued(search, scaled(scores), shape, texts, self._columns)]
        return [_place(search, texts, value, each) for value, each in _spread(found, count, shape.again)]


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


def _best_files(scores: Array, count: int) -> Iterator[int]:
    return (int(file) for file in np.argsort(-scores, kind="stable")[:count] if scores[file] > 0)


def _lines(search: Search, file: int) -> LineWords:
    return LineWords(search.corpus.text(file), search.values, search.question.literals)


_Valued = Iterator[tuple[float, Candidate]]


def _valued(
    search: Search, scores: Array, shape: Shape, texts: Mapping[int, LineWords], columns: ColumnWords
) -> _Valued:
    """Yield all candidates with what they are worth together with their files."""
    read = [*texts.items()]
    spans = [each for file, lines in read[:READ] for each in _spans(search, shape, file, lines)]
    yield from _weighed(spans, scores, shape.spans)
    if shape.lines:
        values = line_values(search, texts)
        lines = [each for file, words in read for each in line_candidates(search, file, words, values)]
        yield from _weighed(lines, scores, shape.lines)
        yield from _weighed([*column_candidates(search, columns)], scores, COLUMNS)


def _spans(search: Search, shape: Shape, file: int, lines: LineWords) -> Iterator[Candidate]:
    """Yield the spans of a file. Windows are wanted if single lines are no answer, or if none has a word."""
    return span_candidates(search, file, lines, windows=not shape.lines or not any(lines.words))


def _weighed(candidates: Sequence[Candidate], scores: Array, weight: float) -> _Valued:
    most = max((each.words for each in candidates), default=0.0) or 1.0
    return ((scores[each.file] + weight * each.words / most + each.named, each) for each in candidates)


def _spread(found: Iterable[tuple[float, Candidate]], count: int, again: float) -> _Valued:
    """Yield the best candidates. One more of a file that has some already must be so much better."""
    waiting = sorted(found, key=lambda each: -each[0])[:DEPTH]
    taken: Counter[int] = Counter()
    shown: list[Candidate] = []
    while waiting and len(shown) < count:
        best = max(waiting, key=lambda each: each[0] * again ** taken[each[1].file])
        waiting.remove(best)
        if again < 1 or not any(_is_same(best[1], other) for other in shown):
            taken[best[1].file] += 1
            shown.append(best[1])
            yield best


def _is_same(one: Candidate, other: Candidate) -> bool:
    """Return whether a reader of one place sees the other too, or something that says the same."""
    if one.group or other.group:
        return one.group == other.group
    if one.text or other.text:
        return False
    return one.file == other.file and abs(one.line - other.line) <= NEAR


def _place(search: Search, texts: Mapping[int, LineWords], value: float, each: Candidate) -> Place:
    text = one_line(each.text, WIDTH) or excerpt(texts[each.file], each.line)
    path = search.corpus.files[each.file].path
    return Place(path, each.line, each.last, each.name, float(value), text, each.times)
