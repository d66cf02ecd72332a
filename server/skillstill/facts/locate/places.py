"""The likeliest places of a workspace for a text: files by all signals, then what stands in the best of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from skillstill.facts.locate.candidates import Candidate, ColumnWords, column_candidates
from skillstill.facts.locate.corpus import ALONE, Alike, Corpus, Paths, asked_kinds
from skillstill.facts.locate.excerpt import WIDTH
from skillstill.facts.locate.history import History
from skillstill.facts.locate.passages import LONGEST
from skillstill.facts.locate.postings import Array
from skillstill.facts.locate.question import Question
from skillstill.facts.locate.ranking import Ranking, Weights
from skillstill.facts.locate.shown import ShownText, shown_lines
from skillstill.facts.locate.signals import WEIGHTS, Search, Signal, scaled
from skillstill.facts.locate.unknown import UnknownWord, unknown_words
from skillstill.facts.readers.words import LARGEST_LOG
from skillstill.util.text import one_line

SIZE = 0.2  # what the size of a file counts: more code has more that can be wrong, or meant
LATELY = 0.15  # what it counts that a file was changed lately
READ = 24  # files whose passages are compared
READ_BYTES = 32_000_000  # of them together: two seconds
ASIDE = 0.3  # what a test, a document, an example and the like keep of their score for a report
DEPTH = 200  # places that are compared for the next one
# A question of one line is about a definition, a fact or an entry. Learned by a softmax over passages on 771 training
# questions about code and 689 about logs (docs/experiments.md); what tables need was chosen on 868 about tables.
SENTENCE = Weights(
    file=2.6, words=2.4, share=3.6, fact=1.2, named=1.7, framed=6.0, literal=0.9, moment=6.0, begin=1.5, end=2.0,
    aside=-3.0, document=-2.8, column=8.0,
)  # fmt: skip
# The report of a fault is about a file whatever its lines, so the five had better lie in several.
REPORT = Weights(file=1.0, words=0.6, named=0.2, framed=0.5, again=0.6)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, and the lines around it that one would read.

    line          0 of a table or column in a file without lines
    first, last   of the passage: a definition, a section, a part of a log
    name          of the definition that it is in, or of the table and column
    text          what it says
    alike         the entries of a log that are like it
    more          other lines of it that may hold what is asked for, each with its number
    is_column     it is a table or a column: its text is no line of the file
    """

    path: str
    line: int
    first: int
    last: int
    name: str
    score: float
    text: str = ""
    alike: Alike = ALONE
    more: Sequence[tuple[int, str]] = ()
    is_column: bool = False


class Locator:
    """Finds places of one workspace. What its paths, its history and its columns say is read once."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._paths = Paths.of(corpus.files)
        self._history = History(corpus.commits(), len(corpus.files))
        self._columns = ColumnWords(corpus.columns(), self._paths.stems)

    def places(self, text: str, count: int) -> Sequence[Place]:
        """Return the likeliest places for a text, the likeliest first."""
        search = Search(self._corpus, self._paths, self._history, Question.of(text))
        weights = REPORT if search.question.is_report else SENTENCE
        scores = rank_files(search)
        priors = weights.file * scaled(scores) + _aside(search, weights)
        ranking = Ranking(search, _read_files(search, scores, priors), priors, weights)
        columns = column_candidates(search, self._columns, priors, weights.column) if weights.column else ()
        found = sorted([*ranking.best(DEPTH), *columns], key=lambda each: -each.value)
        chosen = _spread(found, count, weights.again)
        lines = shown_lines(ranking, chosen)
        return [_place(search, each, shown) for each, shown in zip(chosen, lines, strict=True)]

    def unknown_words(self, text: str) -> Sequence[UnknownWord]:
        """Return the words of the last question of a text that no file has as far as the index knows."""
        return [*unknown_words(self._corpus, text)]


def rank_files(search: Search, weights: Mapping[Signal, float] = WEIGHTS) -> Array:
    """Return the score of each file: the weighted sum of its signals, and what size and age add where there are any."""
    if not search.count:
        return search.zeros()
    asked = asked_kinds(search.question.text)
    aside = np.array([search.question.is_report and bool(kinds - asked) for kinds in search.paths.kinds])

    def counted(values: Array) -> Array:
        return scaled(np.where(aside, ASIDE * values, values))

    scores = search.zeros()
    for signal, weight in weights.items():
        scores += weight * counted(signal(search))
    anyway = SIZE * counted(np.log(search.sizes)) + LATELY * counted(search.history.recency)
    return np.where(scores > 0, scores + anyway, 0.0)


def _aside(search: Search, weights: Weights) -> Array:
    """Return what is taken from the files that follow the others unless the text asks for their kind."""
    asked = asked_kinds(search.question.text)
    aside = [bool({"test", "example", "generated"} & kinds - asked) for kinds in search.paths.kinds]
    documents = ["documentation" in kinds - asked for kinds in search.paths.kinds]
    return weights.aside * np.array(aside, dtype=float) + weights.document * np.array(documents, dtype=float)


def _read_files(search: Search, scores: Array, priors: Array) -> Sequence[int]:
    """Return the best files, and logs: a large one has no words by which it could be found."""
    best = [int(file) for file in np.argsort(-priors, kind="stable") if scores[file] > 0][:READ]
    read = [*dict.fromkeys([*best, *search.corpus.logs()[:READ]])]
    totals = accumulate(min(search.corpus.files[file].size, LARGEST_LOG) for file in read)
    return [file for file, total in zip(read, totals, strict=True) if file == read[0] or total <= READ_BYTES]


def _spread(found: Sequence[Candidate], count: int, again: float) -> Sequence[Candidate]:
    """Return the best candidates. One more of a file must be so much better, or it is read together with the other."""
    waiting, taken, shown = [*found[:DEPTH]], Counter[int](), list[Candidate]()
    while waiting and len(shown) < count:
        best = max(waiting, key=lambda each: each.value * again ** taken[each.file])
        waiting.remove(best)
        near = next((at for at, other in enumerate(shown) if _is_read_with(best, other)), None)
        if near is None:
            taken[best.file] += 1
            shown.append(best)
        else:
            other = shown[near]
            shown[near] = replace(other, first=min(other.first, best.first), last=max(other.last, best.last))
    return shown


def _is_read_with(one: Candidate, other: Candidate) -> bool:
    """Return whether both lie in lines that one looks through at once."""
    if one.is_column or other.is_column or one.file != other.file:
        return False
    return max(one.last, other.last) - min(one.first, other.first) < LONGEST


def _place(search: Search, each: Candidate, shown: Sequence[ShownText]) -> Place:
    path = search.corpus.files[each.file].path
    if not shown:
        text = one_line(each.text, WIDTH)
        return Place(path, each.line, each.first, each.last, each.name, each.value, text, is_column=each.is_column)
    best, *others = shown
    entries = search.corpus.entries_in(each.file)
    alike = entries.like(best.line) if entries else ALONE
    more = tuple((one.line, one.text) for one in others)
    return Place(path, best.line, each.first, each.last, each.name, each.value, best.text, alike, more)
