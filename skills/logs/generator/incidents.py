"""Incidents: failures that pass through a request's services, bad releases, and failing jobs."""

from collections.abc import Iterator, Sequence
from random import Random

from pydantic import JsonValue

from .event import LogEvent, Service
from .landscape import HOUR, Call, Scene, calls, entry_event, start_event, step_event
from .traces import trace
from .vocabulary import Failure, fill

MINUTE = 60_000


def incidents(scene: Scene, rng: Random) -> Iterator[LogEvent]:
    """Yield one or two cascades, then releases with an error each, and failing jobs all the time."""
    kinds = rng.sample(scene.words.failure, len(scene.words.failure))
    middle = scene.begin + (scene.end - scene.begin) * 6 // 10
    for failure in kinds[: rng.choice((1, 2))]:
        at = rng.randrange(scene.begin + HOUR // 2, middle - 10 * MINUTE)
        yield from _cascade(scene, failure, at, rng)
    for failure, service in zip(kinds[2:5], rng.sample(scene.core, 3), strict=False):
        yield from _release(scene, failure, service, rng.randrange(middle, scene.end - HOUR), rng)
    yield from _jobs(scene, kinds[-1], rng)


def failure_event(
    service: Service, failure: Failure, at: int, request: str, lead: str, rng: Random, **facts: JsonValue
) -> LogEvent:
    """Return the entry of an exception, with its stack trace."""
    functions = rng.sample(failure.functions, rng.randint(1, len(failure.functions)))
    text = fill(failure.text, rng)
    lines = trace(service, failure.exception, text, functions, rng)
    all_facts: dict[str, JsonValue] = {"exception": failure.exception, "function": functions[-1], **facts}
    message = f"{lead}{failure.exception}"
    kind = f"{lead.split()[0] if lead else ''} {failure.exception}".strip()
    return LogEvent(at, service, "ERROR", kind, message, request, lines, all_facts)


def _cascade(scene: Scene, failure: Failure, start: int, rng: Random) -> Iterator[LogEvent]:
    """Yield the failures of one service and of all that wait for it, up to the edge."""
    root = rng.choice(scene.core)
    for _ in range(rng.randint(1, 3)):
        yield _omen(failure, root, start - rng.randint(1, 20) * MINUTE, rng)
    length = rng.randint(4, 14) * MINUTE
    for call in calls(scene, rng.randint(8, 30), rng, (start, start + length)):
        yield from _failed_call(scene, call, root, failure, rng)


def _failed_call(scene: Scene, call: Call, root: Service, failure: Failure, rng: Random) -> Iterator[LogEvent]:
    yield entry_event(scene, call)
    at = call.at
    before = [service for service in call.route if service != root]
    for service in before:
        at += rng.randint(3, 60)
        yield step_event(scene, call, service, at, rng)
    at += rng.randint(200, 900)
    yield failure_event(root, failure, at, call.id, "", rng)
    callee = root
    for service in reversed(before):
        at += rng.randint(1_050, 2_400)
        text = fill(failure.symptom, rng, callee=callee.said)
        kind = failure.symptom.replace("{callee}", callee.said)
        yield LogEvent(at, service, "ERROR", kind, text, call.id, facts={"symptom": True})
        callee = service
    at += rng.randint(1_050, 1_900)
    text = f"503 for {call.path}"
    yield LogEvent(at, scene.edge, "ERROR", "503", text, call.id, facts={"path": call.path})


def _release(scene: Scene, failure: Failure, service: Service, at: int, rng: Random) -> Iterator[LogEvent]:
    """Yield the start of a new version, and errors that did not occur before."""
    yield start_event(scene, service, at, rng)
    if rng.random() < 0.5:
        yield _omen(failure, service, at + rng.randint(1, 3) * MINUTE, rng)
    for call in calls(scene, rng.randint(3, 25), rng, (at + 4 * MINUTE, scene.end)):
        yield entry_event(scene, call)
        yield step_event(scene, call, service, call.at + 11, rng)
        yield failure_event(service, failure, call.at + rng.randint(40, 900), call.id, "", rng)


def _jobs(scene: Scene, failure: Failure, rng: Random) -> Iterator[LogEvent]:
    """Yield failing jobs. A job runs some time after its request, and logs its object but not its id."""
    for call in _quiet_calls(scene, rng):
        yield entry_event(scene, call)
        yield step_event(scene, call, call.route[0], call.at + 20, rng)
        worker = rng.choice(scene.workers)
        at = min(call.at + rng.randint(2, 20) * MINUTE, scene.end)
        yield failure_event(worker, failure, at, "", f"job for {call.object} failed: ", rng, object=call.object)


def _quiet_calls(scene: Scene, rng: Random) -> Sequence[Call]:
    return calls(scene, rng.randint(6, 14), rng)


def _omen(failure: Failure, service: Service, at: int, rng: Random) -> LogEvent:
    return LogEvent(max(at, 0), service, "WARN", failure.omen, fill(failure.omen, rng))
