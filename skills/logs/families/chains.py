"""Drafts of questions that take several calls, each of which needs the result of the previous one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from pydantic import JsonValue
from skillstill_training.authoring import BuiltWorkspace, Draft, Value

from ..generator.traces import OUTER
from ..generator.vocabulary import vocabulary
from .lookups import place, place_check, places_check, short_names, shuffled, with_absent
from .record import LogRecord, RecordEntry, record, single_most_common

BEGINNING = 300  # seconds


def frame(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the function that raised the exception of a given second."""
    log, functions = record(built), _known_functions(built)
    owners: dict[str, str] = {}  # a function that several components share would be a right answer for each
    for entry in shuffled(log.with_fact("function", "ERROR"), rng):
        if owners.setdefault(entry.facts["function"], entry.component) != entry.component:
            continue
        words = {"exception": entry.facts["exception"], "time": entry.clock}
        if len(_entries_at(log, entry.second, entry.facts["exception"])) == 1:
            yield _function_draft(entry, functions, words)


def follow(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the function that raised the exception behind a 503."""
    log, functions = record(built), _known_functions(built)
    for entry in shuffled(log.with_fact("path", "ERROR"), rng):
        raised = [one for one in log.of_request[entry.request] if "function" in one.facts]
        if len(raised) == 1 and len(_entries_at(log, entry.second, "503")) == 1 and _comes_first(log, raised[0]):
            yield _function_draft(raised[0], functions, {"path": entry.facts["path"], "time": entry.clock})


def request_failure(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the first error of the request that created an object."""
    log = record(built)
    for entry in shuffled([one for one in log.with_fact("object") if one.request], rng):
        own = [one for one in log.of_request[entry.request] if one.level == "ERROR"]
        named = {one.request for one in log.entries if entry.facts["object"] == one.facts.get("object")}
        if own and own[0].facts.get("function") and len(named) == 1 and _comes_first(log, own[0]):
            facts: dict[str, JsonValue] = {"place": place(own[0])}
            there = Draft(check=place_check(own[0]), words={"object": entry.facts["object"]}, facts=facts)
            yield from with_absent(there, _absent_objects(log, entry.facts["object"], rng), "object", rng)


def victim(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the user of the request behind a failed job."""
    log = record(built)
    for entry in shuffled(log.with_fact("object", "ERROR"), rng):
        named = [one for one in log.entries if entry.facts["object"] in one.message]
        requests = {one.request for one in named if one.request}
        users = [one for name in requests for one in log.of_request[name] if "user" in one.facts]
        if len(users) == 1 and len(_entries_at(log, entry.second, entry.facts["exception"])) == 1:
            words = {"exception": entry.facts["exception"], "time": entry.clock}
            user = users[0].facts["user"]
            facts: dict[str, JsonValue] = {"object": entry.facts["object"], "error": place(entry)}
            facts |= {"user": user, "place": place(users[0])}
            yield Draft(check=Value(gold=user), words=words, hidden=(user,), facts=facts)


def before(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the last warning before a service's first error after its last start."""
    log = record(built)
    for start in _last_starts(log, rng):
        own = [one for one in log.of_level["ERROR"] if one.component == start.component]
        later = [one for one in own if one.at > start.at]
        if not later or any(one.second == start.second for one in own):
            continue
        omens = [one for one in log.of_level["WARN"] if start.second < one.second <= later[0].second]
        if omens and omens[-1].second < later[0].second:
            facts: dict[str, JsonValue] = {**_start_facts(start), "error": place(later[0]), "place": place(omens[-1])}
            yield Draft(check=place_check(omens[-1]), words=_start_words(start), loose=("component",), facts=facts)


def new_error(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the error that a service has logged only since its last start."""
    log = record(built)
    for start in _last_starts(log, rng):
        errors = [one for one in log.of_level["ERROR"] if _mentions(one, start.component)]
        old = {one.kind for one in errors if one.at < start.at}
        later = [one for one in errors if one.at > start.at]
        new = {one.kind for one in later} - old
        own = {one.kind for one in later if one.component == start.component}
        if len(new) == 1 and new <= own and old and not any(one.second == start.second for one in errors):
            same = [one for one in later if one.kind in new]
            facts: dict[str, JsonValue] = {**_start_facts(start), "places": [place(one) for one in same]}
            yield Draft(check=places_check(same), words=_start_words(start), loose=("component",), facts=facts)


def origin(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the function in which another service failed just before this one."""
    log, functions = record(built), _known_functions(built)
    for entry in shuffled(log.with_fact("symptom", "ERROR"), rng):
        since = entry.second // 60 * 60
        errors = log.of_level["ERROR"]
        own = [one for one in errors if one.component == entry.component and one.second >= since]
        cause = next((one for one in reversed(errors) if one.at < entry.at), entry)
        alone = sum(one.second == entry.second for one in errors) == 1
        same = cause.request == entry.request and cause.component != entry.component
        if own[0] == entry and "function" in cause.facts and same and alone:
            words = {"component": entry.component, "time": entry.minute}
            yield _function_draft(cause, functions, words, error=place(entry))


def deploy(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the component with most errors since a service's last start."""
    log = record(built)
    for start in _last_starts(log, rng):
        later = [one for one in log.of_level["ERROR"] if one.second >= start.second]
        top = single_most_common(Counter(one.component for one in later))
        if top and top != start.component and len(later) > 3:
            check = Value(gold=top, also=short_names(top), wrong=tuple(name for name in log.components if name != top))
            facts: dict[str, JsonValue] = {**_start_facts(start), "component": top}
            yield Draft(check=check, words=_start_words(start), loose=("component",), hidden=(top,), facts=facts)


def after(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the first error of any service after the last start of one."""
    log = record(built)
    for start in _last_starts(log, rng):
        later = [one for one in log.of_level["ERROR"] if one.second >= start.second]
        if len(later) > 1 and later[0].second > start.second and later[1].second > later[0].second:
            facts: dict[str, JsonValue] = {**_start_facts(start), "place": place(later[0])}
            yield Draft(check=place_check(later[0]), words=_start_words(start), loose=("component",), facts=facts)


def _function_draft(entry: RecordEntry, functions: Sequence[str], words: dict[str, str], **more: JsonValue) -> Draft:
    """Return a draft about the function that raised the entry's exception."""
    function = entry.facts["function"]
    classes = (entry.component, entry.component.rpartition(".")[2])
    wrong = tuple(one for name in functions if name != function for one in (name, *_in_classes(name, classes)))
    check = Value(gold=function, also=_in_classes(function, classes), wrong=wrong)
    facts = {"place": place(entry), "end": entry.last, "function": function, **more}
    loose = tuple(slot for slot in words if slot == "component")
    return Draft(check=check, words=words, hidden=(function,), facts=facts, loose=loose)


def _in_classes(function: str, classes: Sequence[str]) -> tuple[str, ...]:
    """Return the function as Java prints it."""
    return tuple(f"{name}.{function}" for name in classes)


def _known_functions(built: BuiltWorkspace) -> Sequence[str]:
    """Return all functions that may occur in stack traces of the split."""
    return [*OUTER, *(name for one in vocabulary(built.split).failure for name in one.functions)]


def _entries_at(log: LogRecord, second: int, word: str) -> Sequence[RecordEntry]:
    """Return the entries of that second that contain the word."""
    return [one for one in log.entries if one.second == second and word in one.message]


def _comes_first(log: LogRecord, entry: RecordEntry) -> bool:
    """Return whether it is the first error of its request."""
    return next(one for one in log.of_request[entry.request] if one.level == "ERROR") == entry


def _last_starts(log: LogRecord, rng: Random) -> Sequence[RecordEntry]:
    """Return the last start of each service, except services that started only at the beginning of the logs."""
    last = {one.component: one for one in log.entries if "start" in one.facts}
    begin = log.entries[0].second + BEGINNING if log.entries else 0
    return shuffled([one for one in last.values() if one.second > begin], rng)


def _mentions(entry: RecordEntry, component: str) -> bool:
    return entry.component == component or component in entry.message


def _start_facts(start: RecordEntry) -> dict[str, JsonValue]:
    return {"start": place(start), "name": start.component}


def _start_words(start: RecordEntry) -> dict[str, str]:
    return {"component": start.component}


def _absent_objects(log: LogRecord, like: str, rng: Random) -> Iterator[str]:
    noun = like.split()[0]
    for _ in range(20):
        number = str(rng.randint(10_000, 99_999))
        if number not in log.text:
            yield f"{noun} {number}"
