"""Drafts of questions that take one call: the first and the last entry, a count, the components of a request."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from pydantic import JsonValue
from skillstill_training.authoring import Absent, BuiltWorkspace, Draft, Locations, Members, Value

from .record import LEVEL_NAMES, LogRecord, RecordEntry, record

ABSENT = 0.35  # of the drafts of a family with absent ones


def first(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    yield from _end_entries(record(built), rng, 0)


def last(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    yield from _end_entries(record(built), rng, -1)


def component_count(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    log = record(built)
    for level, component, own in _components(log, rng):
        words = {"component": component, "entries": LEVEL_NAMES[level][1], "entry": LEVEL_NAMES[level][0]}
        facts: dict[str, JsonValue] = {"level": level, "component": component, "count": len(own)}
        there = Draft(check=Value(gold=str(len(own))), words=words, loose=("component",), facts=facts)
        yield from with_absent(there, absent_components(log, level, rng), "component", rng)


def request(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    log = record(built)
    for name, own in shuffled(log.of_request.items(), rng):
        passed = tuple(sorted({entry.component for entry in own}))
        others = tuple(one for one in log.components if one not in passed)
        facts: dict[str, JsonValue] = {"components": [*passed]}
        there = Draft(check=Members(gold=passed, others=others), words={"request": name}, facts=facts)
        if len(passed) > 1:
            yield from with_absent(there, _absent_ids(log, name, rng), "request", rng)


def with_absent(there: Draft, absent: Iterator[str], slot: str, rng: Random) -> Iterator[Draft]:
    """Yield the draft and, at the rate ABSENT, a twin about a name that does not exist, in the same wording."""
    name = next(absent, None) if rng.random() < ABSENT / (1 - ABSENT) else None
    if name is None:
        yield there
    else:
        pair = f"{slot} {there.words[slot]} {name}"
        words = {**there.words, slot: name}
        facts = {key: value for key, value in there.facts.items() if key == "level"}
        none = {"pair": pair, "check": Absent(), "words": words, "facts": facts, "hidden": ()}
        yield from shuffled((there.model_copy(update={"pair": pair}), there.model_copy(update=none)), rng)


def absent_components(log: LogRecord, level: str, rng: Random) -> Iterator[str]:
    """Yield names of services that do not exist, and of services without an entry of that level."""
    silent = [name for name in log.components if not any(one.component == name for one in log.of_level[level])]
    names = [name for name in log.absent if name.rpartition(".")[2].lower() not in log.text]
    yield from shuffled([*silent, *(names or _recombine(log))], rng)


def places_check(entries: Sequence[RecordEntry]) -> Locations:
    """Return the check that an answer names one of these entries and nothing else."""
    return Locations(gold=tuple(entry.place for entry in entries), recall=0.5 / len(entries), precision=1.0)


def place_check(entry: RecordEntry) -> Locations:
    return Locations(gold=(entry.place,), precision=1.0)


def place(entry: RecordEntry) -> str:
    return f"{entry.path}:{entry.first}"


def short_names(component: str) -> tuple[str, ...]:
    """Return shorter names of the component."""
    short = component.rpartition(".")[2]
    return tuple(name for name in (short, short.lower()) if name != component)


def shuffled(items: Any, rng: Random) -> list[Any]:
    ordered = list(items)
    rng.shuffle(ordered)
    return ordered


def _end_entries(log: LogRecord, rng: Random, end: int) -> Iterator[Draft]:
    for level, component, own in _components(log, rng):
        entry = own[end]
        if sum(one.second == entry.second for one in own) == 1:
            words = {"component": component, "entry": LEVEL_NAMES[level][0], "entries": LEVEL_NAMES[level][1]}
            facts: dict[str, JsonValue] = {"level": level, "component": component, "place": place(entry)}
            there = Draft(check=Locations(gold=(entry.place,)), words=words, loose=("component",), facts=facts)
            yield from with_absent(there, absent_components(log, level, rng), "component", rng)


def _components(log: LogRecord, rng: Random) -> Iterator[tuple[str, str, list[RecordEntry]]]:
    pairs = [(level, name) for level in dict.fromkeys(log.stated_levels) for name in log.components]
    for level, name in shuffled(pairs, rng):
        if own := [one for one in log.of_level[level] if one.component == name]:
            yield level, name, own


def _absent_ids(log: LogRecord, like: str, rng: Random) -> Iterator[str]:
    """Yield ids that look like this one and do not occur."""
    for _ in range(20):
        at = rng.randrange(len(like) - 4, len(like))
        name = like[:at] + rng.choice("123456789") + like[at + 1 :]
        if name.lower() not in log.text:
            yield name


def _recombine(log: LogRecord) -> list[str]:
    """Return new names from parts of names in the logs: `systemd-resolved`, `snapd` -> `snapd-resolved`."""
    parts = [name.split("-") for name in log.components if "-" in name]
    names = {f"{one[0]}-{other[-1]}" for one in parts for other in parts}
    return sorted(name for name in names if name.lower() not in log.text)
