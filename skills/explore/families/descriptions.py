"""How people describe code that they cannot name, and which words of a description find it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .code import CodePlace
from .names import parts
from .tree import Line, Tree
from .vocabulary import STOP, VERBS

MAX_SHOWN = 5  # hits that a search shows
MIN_LETTERS = 4  # letters of a word that is worth a search
KEYWORDS = {"py": "def", "rs": "fn", "go": "func"}  # what a definition of a function begins with, by suffix
MIN_WORDS, MAX_WORDS = 4, 22  # words of a description
MAX_HITS = 40  # of a word that is rare enough to find a place by itself
PLAIN_TEXT = re.compile(r"[A-Za-z0-9 ,'()/.-]+")
WORD = re.compile(rf"[A-Za-z]{{{MIN_LETTERS},}}|\b[A-Z]{{3}}\b")
IRREGULAR = {"has": "have", "does": "do", "is": "be"}


@dataclass(frozen=True, slots=True)
class Description:
    """One description with two verb forms: `parse the header`, `parses the header`."""

    action: str
    actions: str


Step = tuple[str, str]  # the pattern and the path of a search


@dataclass(frozen=True, slots=True)
class Query:
    """The searches that find a place by the words of its description.

    steps  the searches; the last one shows `hit`
    """

    steps: tuple[Step, ...]
    hit: Line


def parse_description(sentence: str, name: str) -> Description | None:
    """Return how people ask for what the sentence describes; None if it has no action or little more than the name."""
    text = re.sub(rf"^{re.escape(name)}\s+", "", sentence).strip()
    text = re.sub(r"\s*\([^)]*\)", "", text).strip()
    first, _, rest = text.partition(" ")
    verb = base_form(first.lower())
    words = text.split()
    if verb not in VERBS or not MIN_WORDS <= len(words) <= MAX_WORDS or not PLAIN_TEXT.fullmatch(text):
        return None
    text_words = set(re.findall(r"[a-z]+", text.lower()))
    if all(any(part.startswith(word[:5]) for word in text_words) for part in parts(name)) or "self" in text_words:
        return None
    return Description(f"{verb} {rest}", f"{third_person(verb)} {rest}")


def base_form(verb: str) -> str:
    """Return `return` for `returns`, and other words unchanged."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    forms = [verb, verb[:-1], verb[:-2], f"{verb[:-3]}y"] if verb.endswith("s") else [verb]
    return next((form for form in forms if form in VERBS), verb)


def third_person(verb: str) -> str:
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(s|x|z|ch|sh|o)$", verb) else f"{verb}s"


def search_words(text: str) -> list[str]:
    """Return the words that are worth a search, in lower case; a plural as its singular, which finds both."""
    words = [word.lower() for word in WORD.findall(text)]
    words = [
        word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > MIN_LETTERS + 1 else word
        for word in words
    ]
    return [word for word in dict.fromkeys(words) if word not in STOP and f"{word}s" not in STOP]


def word_hits(tree: Tree, word: str) -> list[Line]:
    """Return the hits of a search for a word, in its order: definitions of that name first."""
    return _definitions_first(tree, word, tree.hits(word) or tree.hits(word, ignore_case=True))


def pattern_hits(tree: Tree, pattern: str, word: str, hits: Sequence[Line]) -> list[Line]:
    """Return the hits of a search for a pattern that contains the word; `hits` are those of the word alone."""
    for flags in (re.NOFLAG, re.IGNORECASE):
        expression = re.compile(pattern, flags)
        if matching := [hit for hit in hits if expression.search(tree.texts[hit[0]][hit[1] - 1])]:
            return _definitions_first(tree, word, matching)
    return []


def _definitions_first(tree: Tree, word: str, hits: Sequence[Line]) -> list[Line]:
    named = {(one.path, one.line) for one in tree.by_last.get(word, ())}
    return sorted(hits, key=lambda hit: hit not in named)


def find_query(tree: Tree, gold: CodePlace, hits_of: Mapping[str, Sequence[Line]]) -> Query | None:
    """Return the shortest search for a line of the gold; None if none finds it.

    First a rare word is tried, then a word in a definition, then a word in a file among its first hits.
    """
    words = rarest_first(hits_of)
    for word in words:
        if len(hits_of[word]) <= MAX_HITS and (hit := _first_hit_inside(hits_of[word][:MAX_SHOWN], gold)):
            return Query(((word, ""),), hit)
    keyword = KEYWORDS[gold.path.rpartition(".")[2]]
    for word in words:
        defined = pattern_hits(tree, f"{keyword} .*{word}", word, hits_of[word])
        if (hit := _first_hit_inside(defined[:MAX_SHOWN], gold)) and len(hits_of[word]) > MAX_SHOWN:
            return Query(((word, ""), (f"{keyword} .*{word}", "")), hit)
    for word in words:
        inside = [hit for hit in hits_of[word] if hit[0] == gold.path]
        led = gold.path in {path for path, _ in hits_of[word][:MAX_SHOWN]}
        if led and (hit := _first_hit_inside(inside[:MAX_SHOWN], gold)):
            return Query(((word, ""), (word, gold.path)), hit)
    return None


def rarest_first(hits_of: Mapping[str, Sequence[Line]]) -> list[str]:
    """Return the words that occur, those with the fewest hits first."""
    return sorted((word for word, hits in hits_of.items() if hits), key=lambda word: len(hits_of[word]))


def lower_first(text: str) -> str:
    """Return the text with a small first letter, unless its first word is a name."""
    first, _, rest = text.partition(" ")
    return f"{first.lower()} {rest}" if first[1:].islower() or len(first) == 1 else text


def _first_hit_inside(hits: Sequence[Line], gold: CodePlace) -> Line | None:
    return next((hit for hit in hits if hit[0] == gold.path and gold.line <= hit[1] <= gold.end), None)


def descriptions(notes: object) -> Iterator[tuple[str, str, str]]:
    """Yield path, qualified name and sentence of the notes {path: {name: sentence}} of a step."""
    for path, named in notes.items() if isinstance(notes, Mapping) else ():
        for name, sentence in named.items() if isinstance(named, Mapping) else ():
            yield path, name, str(sentence)
