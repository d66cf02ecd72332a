"""Signs of the files that a text belongs to. Each gives every file a value from 0 to 1."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from skillstill.facts.locate.corpus import Corpus, Definition, Paths, plain
from skillstill.facts.locate.history import History
from skillstill.facts.locate.postings import Array
from skillstill.facts.locate.question import Mention, Question

# BM25F, chosen on development issues: a word's count is dampened late, long files are held back, rare words count more
# than their information.
DAMPING, LENGTH, NAME, RARITY = 3.0, 0.75, 4.0, 1.5
SMALLEST = 200  # bytes that a file counts at least
COMMON = 0.3  # of all files: a name that stands in more of them tells nothing
MANY = 20  # files that define a name: more, and it is a word like `get`
NAMESAKES = 15  # files of one name
FRAME = 0.8  # what a frame counts of the one before
UNKNOWN = 8  # files of one name that a mentioned path fits equally: it may be any of them

Signal = Callable[["Search"], Array]


class Search:
    """One question to one code base."""

    def __init__(self, corpus: Corpus, paths: Paths, history: History, question: Question) -> None:
        self.corpus = corpus
        self.paths = paths
        self.history = history
        self.question = question
        self.count = len(corpus.files)
        self._naming: dict[str, float] = {}
        self.sizes = np.array([max(SMALLEST, file.size) for file in corpus.files], dtype=float)

    @cached_property
    def values(self) -> Mapping[str, float]:
        """Return what each word of the text tells."""
        found = {word: len(self.corpus.postings.of_word(word)[0]) for word in self.question.words}
        return {
            word: weight * self.rarity(found[word]) ** RARITY
            for word, weight in self.question.words.items()
            if found[word]
        }

    def naming(self, definition: Definition | None) -> float:
        """Return how clearly the text names a definition."""
        if definition is None or definition.name not in self.question.names:
            return 0.0
        name = definition.name
        if name not in self._naming:  # a long class has many passages
            files = {each.file for each in self.corpus.definitions_named(name)}
            self._naming[name] = self.question.names[name] / math.sqrt(max(1, len(files)))
        return self._naming[name]

    def rarity(self, files: int) -> float:
        """Return what a word tells that stands in this many files."""
        return math.log(1 + (self.count - files + 0.5) / (files + 0.5))

    def zeros(self) -> Array:
        return np.zeros(self.count)


def by_words(search: Search) -> Array:
    return _bm25(search, search.question.words)


def by_prose(search: Search) -> Array:
    return _bm25(search, search.question.prose)


def _bm25(search: Search, words: Mapping[str, float]) -> Array:
    scores = search.zeros()
    room = DAMPING * (1 - LENGTH + LENGTH * search.sizes / search.sizes.mean())
    for word, weight in words.items():
        files, names, bodies = search.corpus.postings.of_word(word)
        if len(files):
            counts = NAME * names + bodies
            scores[files] += weight * search.rarity(len(files)) ** RARITY * counts / (counts + room[files])
    return scores


def by_uses(search: Search) -> Array:
    """Value the files that have the names of the text, by how rare these are."""
    scores = search.zeros()
    for name, weight in _code_names(search.question).items():
        uses = search.corpus.uses_of(name)
        if 0 < len(uses) <= COMMON * search.count + 3:
            for use in uses:
                scores[use.file] += weight * search.rarity(len(uses)) * use.count / (use.count + 1)
    return scores


def _code_names(question: Question) -> Mapping[str, float]:
    return {name: weight for name, weight in question.names.items() if weight >= 0.5}


def by_definitions(search: Search) -> Array:
    """Value the files that define the names of the text."""
    scores = search.zeros()
    for name, weight in search.question.names.items():
        files = {definition.file for definition in search.corpus.definitions_named(name)}
        if len(files) <= MANY:
            for file in files:
                scores[file] += weight / math.sqrt(len(files))
    return scores


def by_qualified(search: Search) -> Array:
    scores = search.zeros()
    for owner, name in search.question.qualified:
        for definition in search.corpus.definitions_named(name):
            if definition.qualified.endswith(f"{owner}.{name}"):
                scores[definition.file] += 1
    return scores


def by_paths(search: Search) -> Array:
    scores = search.zeros()
    for mention in search.question.paths:
        for file, weight in files_of(search, mention).items():
            scores[file] = max(scores[file], weight)
    return scores


def by_frames(search: Search) -> Array:
    """Value the files of a traceback. Those of other packages are no files of the code base."""
    scores = search.zeros()
    own = [found for mention in search.question.frames if (found := files_of(search, mention))]
    for depth, found in enumerate(own):
        for file, weight in found.items():
            scores[file] = max(scores[file], weight * FRAME**depth)
    return scores


def files_of(search: Search, mention: Mention) -> Mapping[int, float]:
    """Return the files whose paths share most of their last parts with a mentioned one."""
    wanted = [part for part in mention.path.lower().split("/") if part not in ("", ".", "..")][::-1]
    shared = {
        file: _common(wanted, search.corpus.files[file].path.lower().split("/")[::-1])
        for file in search.paths.by_name.get(wanted[0] if wanted else "", ())
    }
    most = max(shared.values(), default=0)
    best = [file for file, count in shared.items() if count == most]
    return {file: 1 / len(best) for file in best} if len(best) <= UNKNOWN else {}


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def by_file_names(search: Search) -> Array:
    """Value the files that are called like a name of the text, but for `_` and capitals."""
    scores = search.zeros()
    weights: dict[str, float] = {}
    for name, weight in search.question.names.items():
        weights[plain(name)] = max(weights.get(plain(name), 0.0), max(weight, 0.5))
    for name, weight in weights.items():
        files = search.paths.by_stem.get(name, ())
        if len(name) > 2 and len(files) <= NAMESAKES:
            for file in files:
                scores[file] += weight / math.sqrt(len(files))
    return scores


def by_path_words(search: Search) -> Array:
    scores = search.zeros()
    question = search.question
    frequencies = Counter(stem for stems in search.paths.stems for stem in stems & question.words.keys())
    values = {stem: search.rarity(count) * (2 if stem in question.title else 1) for stem, count in frequencies.items()}
    for file, stems in enumerate(search.paths.stems):
        if shared := stems & values.keys():
            scores[file] = sum(values[stem] for stem in shared) / math.sqrt(len(stems) + 2)
    return scores


def by_messages(search: Search) -> Array:
    """Value the files that were changed by commits whose messages are like the text."""
    return search.history.by_messages(search.question.words)


def by_subjects(search: Search) -> Array:
    return search.history.by_subjects(dict.fromkeys(search.question.title, 1.0))


# Fixed on development items: 531 issues and commits of 24 repositories. scripts/bench-locate shows what each is worth.
WEIGHTS: Mapping[Signal, float] = {
    by_words: 1.0,
    by_prose: 0.75,
    by_uses: 1.0,
    by_definitions: 1.0,
    by_qualified: 1.0,
    by_paths: 0.5,
    by_frames: 1.0,
    by_file_names: 0.35,
    by_path_words: 0.75,
    by_messages: 0.3,
    by_subjects: 0.45,
}


def scaled(values: Array) -> Array:
    top = values.max(initial=0)
    return values / top if top > 0 else values
