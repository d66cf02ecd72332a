"""Drafts with descriptions: of a function, from a removed docstring, or of a change."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from random import Random

from pydantic import JsonValue
from skillstill_training.authoring import BuiltWorkspace, Draft, Locations, Span

from .code import CodePlace
from .descriptions import (
    MAX_SHOWN,
    MIN_WORDS,
    Query,
    descriptions,
    find_query,
    lower_first,
    parse_description,
    pattern_hits,
    rarest_first,
    search_words,
    word_hits,
)
from .draft_parts import facts_of, place_check, with_absent
from .lookups import ABSENT_SHARE_ALONE
from .names import parts, shuffled
from .tree import Line, Tree, TreeSymbol, tree_of

FEW_FILES = 6  # in which a word of a change's description may occur: a more frequent word finds nothing
CACHED_WORDS = 4_000  # words of descriptions with cached hits
FUNCTION_KINDS = ("function", "method")
LANGUAGES = ("rust", "go")  # a step of this skill removes their doc comments
TYPE_KINDS = ("struct", "enum", "trait", "interface", "type")


def python_needles(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    places = {(one.path, one.name): one for one in tree.code_only() if not one.last.startswith("__")}
    yield from _needles(tree, places, built.notes.get("docstrings"), rng)


def other_needles(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    places = {(one.path, one.name): one for one in tree.symbols if one.kind in FUNCTION_KINDS and not one.is_test}
    yield from _needles(tree, places, built.notes.get("doc_comments"), rng)


def _needles(tree: Tree, places: Mapping[tuple[str, str], CodePlace], notes: object, rng: Random) -> Iterator[Draft]:
    described = [
        (places[path, name], sentence) for path, name, sentence in descriptions(notes) if (path, name) in places
    ]
    often = Counter(_gist(sentence) for _, sentence in described)
    for definition, sentence in shuffled(described, rng):
        alone = often[_gist(sentence)] == 1 and all(
            other.is_test for other in tree.by_last[definition.last] if other != definition
        )
        words = parse_description(sentence, definition.last) if alone and definition.end > definition.line else None
        asked = find_query(tree, definition, _hits(tree, words.action)) if words else None
        if words and asked:
            yield Draft(
                check=place_check(
                    definition, precision=1.0
                ),  # the question is about the choice: two places are no answer
                words={"action": words.action, "actions": words.actions},
                hidden=(definition.last,) if len(parts(definition.last)) > 1 else (),
                facts={**facts_of(definition), **_query_facts(asked)},
            )


def _gist(sentence: str) -> str:
    return " ".join(sentence.lower().split()[:6])


def _query_facts(asked: Query) -> dict[str, JsonValue]:
    path, line = asked.hit
    steps: list[JsonValue] = [[*step] for step in asked.steps]
    return {"steps": steps, "hit_path": path, "hit": line}


def _hits(tree: Tree, text: str) -> Mapping[str, Sequence[Line]]:
    return {word: _cached_hits(tree, word) for word in search_words(text)}


@lru_cache(maxsize=CACHED_WORDS)
def _cached_hits(tree: Tree, word: str) -> Sequence[Line]:
    return word_hits(tree, word)


def changes(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the files that a described change touches, in the tree before the change."""
    tree = tree_of(built.root)
    noted = built.notes.get("changes")
    for change in shuffled(noted, rng) if isinstance(noted, list) else ():
        if isinstance(change, dict) and isinstance(files := change.get("files"), list):
            yield from _change(tree, str(change["description"]), [str(path) for path in files])


def _change(tree: Tree, description: str, files: Sequence[str]) -> Iterator[Draft]:
    """Yield a draft if the description finds one of the files without naming it. A prefix with the name is cut."""
    prefix, colon, rest = description.partition(": ")
    text = rest if colon and _names_file(prefix, files) else description
    asked = (
        _query_of_files(tree, text, files) if len(text.split()) >= MIN_WORDS and not _names_file(text, files) else None
    )
    if asked:
        gold = tuple(Span(path=path) for path in files)
        check = Locations(gold=gold, recall=1 / len(files), precision=1.0)
        facts = {**_query_facts(asked), "files": [*files]}
        yield Draft(check=check, words={"description": lower_first(text)}, facts=facts)


def _names_file(text: str, files: Sequence[str]) -> bool:
    stems = (re.escape(path.rpartition("/")[2].partition(".")[0].lower()) for path in files)
    return any(re.search(rf"\b{stem}\b", text.lower()) for stem in stems)


def _query_of_files(tree: Tree, description: str, files: Sequence[str]) -> Query | None:
    """Return a search for a word in few files; else for a frequent word, then for two adjacent words."""
    hits = _hits(tree, description)
    for word in rarest_first(hits):
        if right := _telling_hit(hits[word], files):
            return Query(((word, ""),), right)
    for word, other in pairwise(search_words(description)):
        pattern = f"{word}.?{other}"
        both = pattern_hits(tree, pattern, word, hits[word]) if len(hits[word]) > MAX_SHOWN else []
        if right := _telling_hit(both, files):
            return Query(((word, ""), (pattern, "")), right)
    return None


def _telling_hit(hits: Sequence[Line], files: Sequence[str]) -> Line | None:
    """Return the first shown hit in one of the files; None if there is none or the hits are in too many files."""
    few = len({path for path, _ in hits}) <= FEW_FILES
    return next((hit for hit in hits[:MAX_SHOWN] if hit[0] in files), None) if few else None


def other_definitions(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about definitions with a unique name in languages other than Python."""
    tree = tree_of(built.root)
    things = [one for one in tree.symbols if _is_askable(tree, one)]
    yield from with_absent(tree, _other_definitions(shuffled(things, rng)), things, ABSENT_SHARE_ALONE, rng)


def _is_askable(tree: Tree, symbol: TreeSymbol) -> bool:
    kinds = {*FUNCTION_KINDS, *TYPE_KINDS}
    return (
        symbol.language in LANGUAGES
        and symbol.kind in kinds
        and not symbol.is_test
        and tree.is_unique_in_any_case(symbol)
        and len(parts(symbol.last)) > 1
    )


def _other_definitions(things: Sequence[TreeSymbol]) -> Iterator[Draft]:
    for symbol in things:
        yield Draft(check=place_check(symbol), words={"name": symbol.last}, loose=("name",), facts=facts_of(symbol))
