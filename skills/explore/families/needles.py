"""Drafts that describe: what a function does, from a docstring that the tree lost, or what a change was about."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from random import Random

from pydantic import JsonValue
from skillstill_training.authoring import BuiltWorkspace, Draft, Locations, Span

from .code import CodePlace
from .describing import (
    FEWEST,
    SHOWN,
    Query,
    by_hits,
    descriptions,
    found,
    found_by,
    lowered,
    query,
    said,
    telling_words,
)
from .lookups import OFTEN
from .names import parts, shuffled
from .naming import at, facts_of, with_absent
from .tree import Line, Tree, TreeSymbol, tree_of

FEW_FILES = 6  # in which a word of a change's description may stand: one that stands in more tells nothing
KNOWN = 4_000  # words of descriptions whose hits are remembered
MEANT = ("function", "method")
LANGUAGES = ("rust", "go")  # those whose doc comments a step of ours takes out
KINDS = ("struct", "enum", "trait", "interface", "type")


def python_needles(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    places = {(one.path, one.name): one for one in tree.code_only() if not one.last.startswith("__")}
    yield from _needles(tree, places, built.notes.get("docstrings"), rng)


def other_needles(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    places = {(one.path, one.name): one for one in tree.symbols if one.kind in MEANT and not one.is_test}
    yield from _needles(tree, places, built.notes.get("doc_comments"), rng)


def _needles(tree: Tree, places: Mapping[tuple[str, str], CodePlace], notes: object, rng: Random) -> Iterator[Draft]:
    told = [(places[path, name], sentence) for path, name, sentence in descriptions(notes) if (path, name) in places]
    often = Counter(_gist(sentence) for _, sentence in told)
    for one, sentence in shuffled(told, rng):
        alone = often[_gist(sentence)] == 1 and all(other.is_test for other in tree.by_last[one.last] if other != one)
        words = said(sentence, one.last) if alone and one.end > one.line else None
        asked = query(tree, one, _hits(tree, words.action)) if words else None
        if words and asked:
            yield Draft(
                check=at(one, precision=1.0),  # the choice is the point: a guess at two places is none
                words={"action": words.action, "actions": words.actions},
                hidden=(one.last,) if len(parts(one.last)) > 1 else (),
                facts={**facts_of(one), **_facts(asked)},
            )


def _gist(sentence: str) -> str:
    return " ".join(sentence.lower().split()[:6])


def _facts(asked: Query) -> dict[str, JsonValue]:
    path, line = asked.hit
    steps: list[JsonValue] = [[*step] for step in asked.steps]
    return {"steps": steps, "hit_path": path, "hit": line}


def _hits(tree: Tree, text: str) -> Mapping[str, Sequence[Line]]:
    return {word: _found(tree, word) for word in telling_words(text)}


@lru_cache(maxsize=KNOWN)
def _found(tree: Tree, word: str) -> Sequence[Line]:
    return found(tree, word)


def changes(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """The files that a described change touches, in the tree as it was before."""
    tree = tree_of(built.root)
    noted = built.notes.get("changes")
    for one in shuffled(noted, rng) if isinstance(noted, list) else ():
        if isinstance(one, dict) and isinstance(files := one.get("files"), list):
            yield from _change(tree, str(one["description"]), [str(path) for path in files])


def _change(tree: Tree, description: str, files: Sequence[str]) -> Iterator[Draft]:
    """Where the description leads to one of the files without naming it, but perhaps as its prefix, which is cut."""
    prefix, colon, rest = description.partition(": ")
    told = rest if colon and _names_file(prefix, files) else description
    asked = _query_of_files(tree, told, files) if len(told.split()) >= FEWEST and not _names_file(told, files) else None
    if asked:
        gold = tuple(Span(path=path) for path in files)
        check = Locations(gold=gold, recall=1 / len(files), precision=1.0)
        facts = {**_facts(asked), "files": [*files]}
        yield Draft(check=check, words={"description": lowered(told)}, facts=facts)


def _names_file(text: str, files: Sequence[str]) -> bool:
    stems = (re.escape(path.rpartition("/")[2].partition(".")[0].lower()) for path in files)
    return any(re.search(rf"\b{stem}\b", text.lower()) for stem in stems)


def _query_of_files(tree: Tree, description: str, files: Sequence[str]) -> Query | None:
    """A word that stands in few files; else a frequent one, and then two that follow each other in the description."""
    hits = _hits(tree, description)
    for word in by_hits(hits):
        if right := _pointed(hits[word], files):
            return Query(((word, ""),), right)
    for word, other in pairwise(telling_words(description)):
        pattern = f"{word}.?{other}"
        both = found_by(tree, pattern, word, hits[word]) if len(hits[word]) > SHOWN else []
        if right := _pointed(both, files):
            return Query(((word, ""), (pattern, "")), right)
    return None


def _pointed(hits: Sequence[Line], files: Sequence[str]) -> Line | None:
    """The first hit in one of the files that is shown, where the hits lie in so few that they tell something."""
    few = len({path for path, _ in hits}) <= FEW_FILES
    return next((hit for hit in hits[:SHOWN] if hit[0] in files), None) if few else None


def other_definitions(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Definitions in trees of other languages, of those names that stand for one thing."""
    tree = tree_of(built.root)
    things = [one for one in tree.symbols if _is_asked_for(tree, one)]
    yield from with_absent(tree, _other_definitions(shuffled(things, rng)), things, OFTEN, rng)


def _is_asked_for(tree: Tree, one: TreeSymbol) -> bool:
    kinds = {*MEANT, *KINDS}
    return (
        one.language in LANGUAGES
        and one.kind in kinds
        and not one.is_test
        and tree.is_unique_in_any_case(one)
        and len(parts(one.last)) > 1
    )


def _other_definitions(things: Sequence[TreeSymbol]) -> Iterator[Draft]:
    for one in things:
        yield Draft(check=at(one), words={"name": one.last}, loose=("name",), facts=facts_of(one))
