"""Drafts: questions about entries, sentences and titles of documentation, each with the lines that answer it."""

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TypeVar

from skillstill_training.authoring import BuiltWorkspace, Declined, Draft, Locations, Quoted, Span

from .entries import Entry, entries_of
from .facts import Fact, conditions_of, first_words, needs_of, tasks_of, versions_of
from .pages import blocks_of
from .rewording import keywords, reworded

Item = TypeVar("Item")
TWIN = 3  # every third question is also asked of something that the documentation does not have
THING = re.compile(r"(?:The|An?|List|Array|Name|Path|Number|Your?|Any|All|[A-Z]{2,})\b")  # begins what is no verb
LONGEST = 130  # characters of what a question says


def options(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Which option does what its description says: in other words, or in a few of them."""
    for entry in _shuffled(entries_of(built.root), rng):
        does = _does(entry)
        if does and entry.name.lower() not in does.lower():
            asked = keywords(does, rng) if rng.random() < 0.4 else reworded(does, rng)
            yield _quoted(entry, entry.name, {"does": asked})


def defaults(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    told = [entry for entry in entries_of(built.root) if entry.default]
    yield from _with_twins(built, rng, told, lambda entry: entry.default)


def meanings(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    told = [entry for entry in entries_of(built.root) if len(entry.sentence.split()) > 4]
    yield from _with_twins(built, rng, told, lambda entry: first_words(entry.sentence))


def versions(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    told = [entry for entry in entries_of(built.root) if entry.version]
    yield from _with_twins(built, rng, told, lambda entry: entry.version)
    for fact in _shuffled([*versions_of(built.root)], rng):
        yield _of_fact(fact, {"name": fact.about})


def needs(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    for fact in _shuffled([*needs_of(built.root)], rng):
        yield _of_fact(fact, {"topic": fact.about})


def effects(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    for fact in _shuffled([*conditions_of(built.root)], rng):
        yield _of_fact(fact, {"condition": reworded(fact.about, rng)})


def tasks(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    for task, blocks in _shuffled([*tasks_of(built.root)], rng):
        span = Span(path=blocks[0].path, first=blocks[0].first, last=blocks[-1].last)
        yield Draft(check=Locations(gold=(span,)), words={"task": reworded(task, rng)}, facts={"spans": _spans(span)})


def differences(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Two entries that stand below one title."""
    below: dict[tuple[str, tuple[str, ...]], list[Entry]] = {}
    for entry in entries_of(built.root):
        if entry.is_alone and len(entry.name) > 3:
            below.setdefault((entry.path, tuple(one for one in entry.titles if one != entry.name)), []).append(entry)
    pairs = [tuple(rng.sample(entries, 2)) for entries in below.values() if len(entries) > 1 for _ in entries[:6:2]]
    for one, other in _shuffled(pairs, rng):
        gold = (_span(one), _span(other))
        facts = {"spans": _spans(*gold), "name": one.name, "other": other.name}
        yield Draft(
            check=Locations(gold=gold, precision=1.0), words={"one": one.name, "other": other.name}, facts=facts
        )


def beyond(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Work that looking into documentation cannot do. The slots only make it look like the others."""
    names = [entry.said for entry in entries_of(built.root)] or [
        block.titles[-1] for block in blocks_of(built.root) if block.titles
    ]
    for name in _shuffled(names, rng):
        yield Draft(check=Declined(), words={"name": name})


def _with_twins(
    built: BuiltWorkspace, rng: Random, entries: Sequence[Entry], key: Callable[[Entry], str]
) -> Iterator[Draft]:
    """Yield a draft for each entry, some of them with a twin of a name that the documentation does not have."""
    everything = "\n".join(block.text.lower() for block in blocks_of(built.root))
    for number, entry in enumerate(_shuffled(entries, rng)):
        made = _invented(entry.name, rng.choice(entries).name) if number % TWIN == 0 else ""
        pair = str(number) if made and made.lower() not in everything else ""
        yield _quoted(entry, key(entry), {"name": entry.said}, pair)
        if pair:
            said = made if entry.is_alone else f"{made} of {entry.topic}"
            yield Draft(check=Declined(), words={"name": said}, facts={"name": made}, pair=pair)


def _quoted(entry: Entry, key: str, words: dict[str, str], pair: str = "") -> Draft:
    span = _span(entry)
    facts = {"spans": _spans(span), "name": entry.name, "key": key}
    return Draft(check=Quoted(gold=key, place=span), words=words, hidden=_hidden(key, words), facts=facts, pair=pair)


def _of_fact(fact: Fact, words: dict[str, str]) -> Draft:
    span = Span(path=fact.block.path, first=fact.block.first, last=fact.block.last)
    facts = {"spans": _spans(span), "key": fact.answer}
    check = Quoted(gold=fact.answer, place=span)
    return Draft(check=check, words=words, hidden=_hidden(fact.answer, words), facts=facts)


def _hidden(key: str, words: dict[str, str]) -> tuple[str, ...]:
    return () if any(key.lower() in said.lower() for said in words.values()) or key.isdigit() else (key,)


def _does(entry: Entry) -> str:
    """Return what an entry does as `the option that …` goes on; empty if its description does not say it so."""
    text = re.sub(r"\s*\([^()]*\)", "", entry.sentence)
    text = re.sub(
        r"^(?:If (?:true|set|enabled|yes),? |Whether to |Option to |Used to |This (?:option|setting) )", "", text
    )
    if not 20 < len(text) <= LONGEST or re.search(r"[|{}=]", text):
        return ""
    return f"{'holds ' if THING.match(text) else ''}{text[0].lower()}{text[1:]}"


def _invented(name: str, other: str) -> str:
    """Return a name with its longest word taken from another one; empty if that changes nothing."""
    longest, theirs = (max(re.findall(r"[A-Za-z]+", one), key=len, default="") for one in (name, other))
    made = name.replace(longest, theirs)
    return "" if made in (name, other) or not theirs else made


def _span(entry: Entry) -> Span:
    return Span(path=entry.path, first=entry.first, last=entry.last)


def _spans(*spans: Span) -> list[list[str | int]]:
    return [[span.path, span.first, span.last] for span in spans]


def _shuffled(items: Sequence[Item], rng: Random) -> Sequence[Item]:
    return rng.sample(items, len(items))
