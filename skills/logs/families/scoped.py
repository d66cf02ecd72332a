"""Drafts of questions about all entries of a scope: how many, the first and the last, which, who most, when most."""

from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random

from pydantic import JsonValue
from skillstill_training.authoring import Absent, BuiltWorkspace, Draft, Locations, Value

from .lookups import ABSENT, also, any_of, one_of, place
from .record import NAMES, RecordEntry, record, single
from .scopes import LogScope, scopes

TRIES = 60  # draws without a draft after which a workspace has no more to give
MOST_KINDS = 16  # that a result has room for


def level_count(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    yield from _beside_none(_counts(built, rng), rng)


def earliest(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    yield from _beside_none(_outermost(built, rng, 0), rng)


def latest(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    yield from _beside_none(_outermost(built, rng, -1), rng)


def kinds(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    yield from _beside_none(_kinds(built, rng), rng)


def noisiest(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    known = record(built)
    for level, scope, found in _scoped(built, rng, files=False):
        top = single(Counter(entry.component for entry in found))
        if top and len(found) > 3:
            check = Value(gold=top, also=also(top), wrong=tuple(name for name in known.components if name != top))
            facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}, "component": top}
            yield Draft(check=check, words=_in_words(level, scope), hidden=(top,), facts=facts)


def top_error(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    told: set[str] = set()
    for level, scope, found in _scoped(built, rng):
        counted = Counter(entry.kind for entry in found)
        top = single(counted)
        if level and top and counted[top] > 1 and top not in told:  # once: the same places would be right again
            told.add(top)
            same = [entry for entry in found if entry.kind == top]
            facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}}
            yield Draft(check=any_of(same), words=_in_words(level, scope), facts=facts)


def burst(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    told: set[str] = set()
    for level, scope, found in _scoped(built, rng):
        counted = Counter(entry.minute for entry in found)
        top = single(counted)
        if top and counted[top] > 2 and len(counted) > 2 and top not in told:
            told.add(top)
            facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}, "minute": top}
            check = Value(gold=top, wrong=tuple(set(counted) - {top}))
            yield Draft(check=check, words=_in_words(level, scope), hidden=(top,), facts=facts)


def _counts(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    for level, scope, found in _scoped(built, rng):
        facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}, "count": len(found)}
        check = Value(gold=str(len(found))) if found else Absent()
        yield Draft(check=check, words=_in_words(level, scope), facts=facts)


def _outermost(built: BuiltWorkspace, rng: Random, end: int) -> Iterator[Draft]:
    """The first entry or the last, where no other one has its second."""
    for level, scope, found in _scoped(built, rng):
        facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}}
        if not found:
            yield Draft(check=Absent(), words=_in_words(level, scope), facts=facts)
        elif sum(one.second == found[end].second for one in found) == 1:
            facts["place"] = place(found[end])
            yield Draft(check=one_of(found[end]), words=_in_words(level, scope), facts=facts)


def _kinds(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Where each kind of message begins, of as many as a result has room for."""
    for level, scope, found in _scoped(built, rng):
        firsts = {entry.kind: entry for entry in reversed(found)}.values()
        if not level or len(firsts) > MOST_KINDS:
            continue
        facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}}
        facts["places"] = [*sorted(place(one) for one in firsts)]
        gold = tuple(one.place for one in firsts)
        check = Locations(gold=gold, precision=1.0) if gold else Absent()
        yield Draft(check=check, words=_in_words(level, scope), facts=facts)


def _beside_none(drafts: Iterable[Draft], rng: Random) -> Iterator[Draft]:
    """The drafts: what is not there is held back until something that is can share its wording."""
    empty: list[Draft] = []
    for draft in drafts:
        if isinstance(draft.check, Absent):
            empty.append(draft)
        elif empty and rng.random() < ABSENT:
            pair = f"{draft.words['where']} {empty[-1].words['where']}"
            yield empty.pop().model_copy(update={"pair": pair})
            yield draft.model_copy(update={"pair": pair})
        else:
            yield draft


def _in_words(level: str, scope: LogScope) -> dict[str, str]:
    return {"entry": NAMES[level][0], "entries": NAMES[level][1], "where": scope.said}


def _scoped(
    built: BuiltWorkspace, rng: Random, files: bool = True
) -> Iterator[tuple[str, LogScope, list[RecordEntry]]]:
    """Endlessly, until too many draws in a row bring nothing new."""
    known = record(built)
    seen: set[tuple[str, str]] = set()
    idle = 0
    for scope in scopes(known, built.split, rng, files):
        level = rng.choice(known.stated_levels)
        if idle > TRIES:
            return
        what = (level, str(scope.arguments))
        if what in seen or not scope.is_clear(known.of_level[level]):
            idle += 1
            continue
        seen.add(what)
        idle = 0
        yield level, scope, [one for one in known.of_level[level] if scope.holds(one)]
