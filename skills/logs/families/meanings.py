"""Drafts of questions with descriptions in other words, and of work that these tools cannot do."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from pydantic import JsonValue
from skillstill_training.authoring import Absent, BuiltWorkspace, Declined, Draft, Value

from ..generator.vocabulary import HOLE, Needle, vocabulary
from .lookups import ABSENT, place, places_check, short_names, shuffled
from .record import LogRecord, record

# The tasks of each split, and why the tools cannot do them.
TASKS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("tasks.toml").read_text(encoding="utf-8")
)


def match(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the warning that a description means, or that there is none."""
    log = record(built)
    needles = vocabulary(built.split).needle if log.levels else ()
    there = shuffled([(one, said) for one in needles if one.text in log.needles for said in one.meaning], rng)
    absent = shuffled([said for one in needles if _is_absent(one, log) for said in one.meaning], rng)
    for needle, description in there:
        same = [one for one in log.of_level["WARN"] if one.facts.get("needle") == needle.text]
        facts: dict[str, JsonValue] = {"place": place(same[0]), "message": same[0].message}
        draft = Draft(check=places_check(same), words={"meaning": description}, facts=facts)
        if absent and rng.random() < ABSENT:
            otherwise = absent.pop()
            pair = f"{description} | {otherwise}"
            none = Draft(check=Absent(), words={"meaning": otherwise}, facts={"message": ""}, pair=pair)
            yield from shuffled((draft.model_copy(update={"pair": pair}), none), rng)
        else:
            yield draft


def several(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the service with one kind of trouble with a host."""
    log = record(built)
    phrases = {one.text: one.said for one in vocabulary(built.split).trouble} if log.levels else {}
    troubles = log.with_fact("trouble", "WARN")
    for entry, way in shuffled([(one, way) for one in troubles for way in phrases[one.facts["trouble"]]], rng):
        host = entry.facts["host"]
        wrong = tuple(name for name in log.components if name != entry.component)
        facts: dict[str, JsonValue] = {"component": entry.component, "place": place(entry)}
        facts |= {"message": entry.message}
        check = Value(gold=entry.component, also=short_names(entry.component), wrong=wrong)
        yield Draft(check=check, words={"trouble": way, "host": host}, hidden=(entry.component,), facts=facts)


def offscope(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts of work to hand back."""
    for component in shuffled(record(built).components, rng):
        for task, reason in rng.sample([*TASKS[built.split].items()], 3):
            words = {"task": task.format(component=component)}
            yield Draft(check=Declined(), words=words, facts={"reason": reason})


def _is_absent(needle: Needle, log: LogRecord) -> bool:
    """Return whether the message does not occur, and neither does any of its fixed parts."""
    if needle.text in log.needles:
        return False
    fixed: Sequence[str] = [part.lower() for part in HOLE.split(needle.text)[::3] if len(part) > 4]
    return not any(part in log.text for part in fixed)
