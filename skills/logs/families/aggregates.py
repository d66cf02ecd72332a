"""Drafts of questions about all entries of a scope: counts, the first and the last, kinds, maxima."""

from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random

from pydantic import JsonValue
from skillstill_training.authoring import Absent, BuiltWorkspace, Draft, Locations, Value

from .lookups import ABSENT, place, place_check, places_check, short_names
from .record import LEVEL_NAMES, RecordEntry, record, single_most_common
from .scopes import LogScope, scopes

TRIES = 60  # draws without a new draft, after which a workspace has no more
MOST_KINDS = 16  # that fit into a result


def level_count(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    yield from _pair_with_absent(_counts(built, rng), rng)


def earliest(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    yield from _pair_with_absent(_end_entries(built, rng, 0), rng)


def latest(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    yield from _pair_with_absent(_end_entries(built, rng, -1), rng)


def kinds(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    yield from _pair_with_absent(_kinds(built, rng), rng)


def noisiest(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    log = record(built)
    for level, scope, entries in _draw_scopes(built, rng, files=False):
        top = single_most_common(Counter(entry.component for entry in entries))
        if top and len(entries) > 3:
            check = Value(gold=top, also=short_names(top), wrong=tuple(name for name in log.components if name != top))
            facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}, "component": top}
            yield Draft(check=check, words=_words(level, scope), hidden=(top,), facts=facts)


def top_error(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    asked: set[str] = set()
    for level, scope, entries in _draw_scopes(built, rng):
        counted = Counter(entry.kind for entry in entries)
        top = single_most_common(counted)
        if (
            level and top and counted[top] > 1 and top not in asked
        ):  # once, because the same places would be right again
            asked.add(top)
            same = [entry for entry in entries if entry.kind == top]
            facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}}
            yield Draft(check=places_check(same), words=_words(level, scope), facts=facts)


def burst(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    asked: set[str] = set()
    for level, scope, entries in _draw_scopes(built, rng):
        counted = Counter(entry.minute for entry in entries)
        top = single_most_common(counted)
        if top and counted[top] > 2 and len(counted) > 2 and top not in asked:
            asked.add(top)
            facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}, "minute": top}
            check = Value(gold=top, wrong=tuple(set(counted) - {top}))
            yield Draft(check=check, words=_words(level, scope), hidden=(top,), facts=facts)


def _counts(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    for level, scope, entries in _draw_scopes(built, rng):
        facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}, "count": len(entries)}
        check = Value(gold=str(len(entries))) if entries else Absent()
        yield Draft(check=check, words=_words(level, scope), facts=facts)


def _end_entries(built: BuiltWorkspace, rng: Random, end: int) -> Iterator[Draft]:
    """Yield drafts about the first entry or the last, if no other one has its second."""
    for level, scope, entries in _draw_scopes(built, rng):
        facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}}
        if not entries:
            yield Draft(check=Absent(), words=_words(level, scope), facts=facts)
        elif sum(one.second == entries[end].second for one in entries) == 1:
            facts["place"] = place(entries[end])
            yield Draft(check=place_check(entries[end]), words=_words(level, scope), facts=facts)


def _kinds(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the first place of each kind of message, if all kinds fit into a result."""
    for level, scope, entries in _draw_scopes(built, rng):
        firsts = {entry.kind: entry for entry in reversed(entries)}.values()
        if not level or len(firsts) > MOST_KINDS:
            continue
        facts: dict[str, JsonValue] = {"level": level, "scope": {**scope.arguments}}
        facts["places"] = [*sorted(place(one) for one in firsts)]
        gold = tuple(one.place for one in firsts)
        check = Locations(gold=gold, precision=1.0) if gold else Absent()
        yield Draft(check=check, words=_words(level, scope), facts=facts)


def _pair_with_absent(drafts: Iterable[Draft], rng: Random) -> Iterator[Draft]:
    """Yield the drafts. One about nothing waits until one about something can share its wording."""
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


def _words(level: str, scope: LogScope) -> dict[str, str]:
    return {"entry": LEVEL_NAMES[level][0], "entries": LEVEL_NAMES[level][1], "where": scope.phrase}


def _draw_scopes(
    built: BuiltWorkspace, rng: Random, files: bool = True
) -> Iterator[tuple[str, LogScope, list[RecordEntry]]]:
    """Yield level, scope and entries until too many draws in a row bring nothing new."""
    log = record(built)
    seen: set[tuple[str, str]] = set()
    idle = 0
    for scope in scopes(log, built.split, rng, files):
        level = rng.choice(log.stated_levels)
        if idle > TRIES:
            return
        what = (level, str(scope.arguments))
        if what in seen or not scope.is_clear(log.of_level[level]):
            idle += 1
            continue
        seen.add(what)
        idle = 0
        yield level, scope, [one for one in log.of_level[level] if scope.contains(one)]
