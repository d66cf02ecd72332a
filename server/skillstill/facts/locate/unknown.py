"""The words of a question that no file of a workspace has."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from skillstill.facts.locate.corpus import Corpus
from skillstill.facts.locate.question import Question
from skillstill.facts.locate.stems import names_in, stems_of
from skillstill.facts.readers.logs.stream import PACKED

SHORTEST = 4  # letters of a stem: a shorter one stands in other words


@dataclass(frozen=True, slots=True)
class UnknownWord:
    """A word as it stands in a question, and a part of it in small letters that no file has."""

    text: str
    part: str


def unknown_words(corpus: Corpus, text: str) -> Iterator[UnknownWord]:
    """Yield the words of the last question of a text that no file has as far as the index knows, each once.

    None if words may stand where nobody looks for them: in large and in packed logs, and in the values of tables.
    """
    if not corpus.columns() and not _unsearched_logs(corpus):
        question = Question.of(text)
        asked = question.title & question.words.keys()
        yield from _distinct(corpus, question.text, {stem for stem in asked if len(stem) >= SHORTEST})


def _distinct(corpus: Corpus, text: str, asked: Collection[str]) -> Iterator[UnknownWord]:
    unknown = {stem for stem in asked if not len(corpus.postings.of_word(stem)[0])}
    for name in names_in(text):
        if found := unknown.intersection(stems_of(name)):
            unknown -= found
            yield UnknownWord(name, min(found))


def _unsearched_logs(corpus: Corpus) -> bool:
    """Return whether there are logs without words, as large ones are, or in which no search finds a part of a word."""
    logs = corpus.logs()
    return not np.isin(logs, corpus.postings.files).all() or any(PACKED.search(corpus.files[log].path) for log in logs)
