"""Drafts of questions that take several looks, each of which needs what the one before it showed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from pydantic import JsonValue
from skillstill_training.authoring import BuiltWorkspace, Draft, Value

from ..generator.traces import OUTER
from ..generator.vocabulary import vocabulary
from .lookups import also, any_of, one_of, place, shuffled, with_absent
from .record import LogRecord, RecordEntry, record, single

BEGINNING = 300  # seconds


def frame(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """In which function the exception of a moment was raised."""
    known, functions = record(built), _functions(built)
    owners: dict[str, str] = {}  # a function that several raise in would be right for each of them
    for entry in shuffled(known.told("function", "ERROR"), rng):
        if owners.setdefault(entry.facts["function"], entry.component) != entry.component:
            continue
        words = {"exception": entry.facts["exception"], "time": entry.clock}
        if len(_at(known, entry.second, entry.facts["exception"])) == 1:
            yield _function_of(entry, functions, words)


def follow(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """In which function the request was lost that ended in a 503."""
    known, functions = record(built), _functions(built)
    for entry in shuffled(known.told("path", "ERROR"), rng):
        raised = [one for one in known.of_request[entry.request] if "function" in one.facts]
        if len(raised) == 1 and len(_at(known, entry.second, "503")) == 1 and _comes_first(known, raised[0]):
            yield _function_of(raised[0], functions, {"path": entry.facts["path"], "time": entry.clock})


def request_failure(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Where the request failed that brought an object."""
    known = record(built)
    for entry in shuffled([one for one in known.told("object") if one.request], rng):
        own = [one for one in known.of_request[entry.request] if one.level == "ERROR"]
        named = {one.request for one in known.entries if entry.facts["object"] == one.facts.get("object")}
        if own and own[0].facts.get("function") and len(named) == 1 and _comes_first(known, own[0]):
            facts: dict[str, JsonValue] = {"place": place(own[0])}
            there = Draft(check=one_of(own[0]), words={"object": entry.facts["object"]}, facts=facts)
            yield from with_absent(there, _absent_objects(known, entry.facts["object"], rng), "object", rng)


def victim(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """For which user the job was that failed later on."""
    known = record(built)
    for entry in shuffled(known.told("object", "ERROR"), rng):
        named = [one for one in known.entries if entry.facts["object"] in one.message]
        requests = {one.request for one in named if one.request}
        users = [one for name in requests for one in known.of_request[name] if "user" in one.facts]
        if len(users) == 1 and len(_at(known, entry.second, entry.facts["exception"])) == 1:
            words = {"exception": entry.facts["exception"], "time": entry.clock}
            user = users[0].facts["user"]
            facts: dict[str, JsonValue] = {"object": entry.facts["object"], "error": place(entry)}
            facts |= {"user": user, "place": place(users[0])}
            yield Draft(check=Value(gold=user), words=words, hidden=(user,), facts=facts)


def before(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """The last warning before a service's first error after its last start."""
    known = record(built)
    for start in _starts(known, rng):
        own = [one for one in known.of_level["ERROR"] if one.component == start.component]
        later = [one for one in own if one.at > start.at]
        if not later or any(one.second == start.second for one in own):
            continue
        omens = [one for one in known.of_level["WARN"] if start.second < one.second <= later[0].second]
        if omens and omens[-1].second < later[0].second:
            facts: dict[str, JsonValue] = {**_since(start), "error": place(later[0]), "place": place(omens[-1])}
            yield Draft(check=one_of(omens[-1]), words=_named(start), loose=("component",), facts=facts)


def new_error(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """The error that a service logs only since its last start."""
    known = record(built)
    for start in _starts(known, rng):
        errors = [one for one in known.of_level["ERROR"] if _mentions(one, start.component)]
        old = {one.kind for one in errors if one.at < start.at}
        later = [one for one in errors if one.at > start.at]
        new = {one.kind for one in later} - old
        own = {one.kind for one in later if one.component == start.component}
        if len(new) == 1 and new <= own and old and not any(one.second == start.second for one in errors):
            same = [one for one in later if one.kind in new]
            facts: dict[str, JsonValue] = {**_since(start), "places": [place(one) for one in same]}
            yield Draft(check=any_of(same), words=_named(start), loose=("component",), facts=facts)


def origin(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """In which function another service had failed just before this one did."""
    known, functions = record(built), _functions(built)
    for entry in shuffled(known.told("symptom", "ERROR"), rng):
        since = entry.second // 60 * 60
        errors = known.of_level["ERROR"]
        own = [one for one in errors if one.component == entry.component and one.second >= since]
        cause = next((one for one in reversed(errors) if one.at < entry.at), entry)
        alone = sum(one.second == entry.second for one in errors) == 1
        same = cause.request == entry.request and cause.component != entry.component
        if own[0] == entry and "function" in cause.facts and same and alone:
            words = {"component": entry.component, "time": entry.minute}
            yield _function_of(cause, functions, words, error=place(entry))


def deploy(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Who logged most errors since a service's last start."""
    known = record(built)
    for start in _starts(known, rng):
        later = [one for one in known.of_level["ERROR"] if one.second >= start.second]
        top = single(Counter(one.component for one in later))
        if top and top != start.component and len(later) > 3:
            check = Value(gold=top, also=also(top), wrong=tuple(name for name in known.components if name != top))
            facts: dict[str, JsonValue] = {**_since(start), "component": top}
            yield Draft(check=check, words=_named(start), loose=("component",), hidden=(top,), facts=facts)


def after(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """The first error of all, of whichever service, after the last start of one."""
    known = record(built)
    for start in _starts(known, rng):
        later = [one for one in known.of_level["ERROR"] if one.second >= start.second]
        if len(later) > 1 and later[0].second > start.second and later[1].second > later[0].second:
            facts: dict[str, JsonValue] = {**_since(start), "place": place(later[0])}
            yield Draft(check=one_of(later[0]), words=_named(start), loose=("component",), facts=facts)


def _function_of(entry: RecordEntry, functions: Sequence[str], words: dict[str, str], **more: JsonValue) -> Draft:
    """A question for the function in which the entry's exception was raised."""
    function = entry.facts["function"]
    classes = (entry.component, entry.component.rpartition(".")[2])
    wrong = tuple(one for name in functions if name != function for one in (name, *_in_classes(name, classes)))
    check = Value(gold=function, also=_in_classes(function, classes), wrong=wrong)
    facts = {"place": place(entry), "end": entry.last, "function": function, **more}
    loose = tuple(slot for slot in words if slot == "component")
    return Draft(check=check, words=words, hidden=(function,), facts=facts, loose=loose)


def _in_classes(function: str, classes: Sequence[str]) -> tuple[str, ...]:
    """The function as Java prints it."""
    return tuple(f"{name}.{function}" for name in classes)


def _functions(built: BuiltWorkspace) -> Sequence[str]:
    """All that stack traces of the split may hold."""
    return [*OUTER, *(name for one in vocabulary(built.split).failure for name in one.functions)]


def _at(known: LogRecord, second: int, word: str) -> Sequence[RecordEntry]:
    """The entries of that second that hold the word."""
    return [one for one in known.entries if one.second == second and word in one.message]


def _comes_first(known: LogRecord, entry: RecordEntry) -> bool:
    """Whether it is the first error of its request."""
    return next(one for one in known.of_request[entry.request] if one.level == "ERROR") == entry


def _starts(known: LogRecord, rng: Random) -> Sequence[RecordEntry]:
    """The last start of each service, but for those that only started when the logs did."""
    last = {one.component: one for one in known.entries if "start" in one.facts}
    begin = known.entries[0].second + BEGINNING if known.entries else 0
    return shuffled([one for one in last.values() if one.second > begin], rng)


def _mentions(entry: RecordEntry, component: str) -> bool:
    return entry.component == component or component in entry.message


def _since(start: RecordEntry) -> dict[str, JsonValue]:
    return {"start": place(start), "name": start.component}


def _named(start: RecordEntry) -> dict[str, str]:
    return {"component": start.component}


def _absent_objects(known: LogRecord, like: str, rng: Random) -> Iterator[str]:
    noun = like.split()[0]
    for _ in range(20):
        number = str(rng.randint(10_000, 99_999))
        if number not in known.text:
            yield f"{noun} {number}"
