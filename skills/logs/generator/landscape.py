"""A small system of services and some hours of its events: requests, background noise and troubles.

Each request passes the edge and some services under one id. `incidents.py` adds failures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

from .event import LogEvent, Service
from .vocabulary import Needle, Vocabulary, fill

HOUR = 3_600_000  # milliseconds
NEEDLES = 9  # kinds of needles in a scene; questions about the others have no answer
RESTARTS = 0.7  # of the services: those that restart in the first half, before any release
FORMS_OF_JAVA = {"log4j", "spring"}


@dataclass(frozen=True, slots=True)
class Scene:
    """The services of a workspace, the period of its logs, and the vocabulary."""

    words: Vocabulary
    edge: Service
    core: tuple[Service, ...]
    workers: tuple[Service, ...]
    day: datetime
    begin: int
    end: int
    noun: str
    id_form: str
    needles: tuple[Needle, ...]

    @property
    def services(self) -> tuple[Service, ...]:
        return (self.edge, *self.core, *self.workers)


class Call(NamedTuple):
    """One request: its time, id, user, object, path, and the services that it passes."""

    at: int
    id: str
    user: str
    object: str
    path: str
    route: tuple[Service, ...]


def build_scene(words: Vocabulary, rng: Random) -> Scene:
    begin = rng.randint(0, 16) * HOUR
    workers = rng.randint(1, 2)
    cast = _services(words, workers, rng)
    return Scene(
        words=words,
        edge=cast[0],
        core=tuple(cast[1:-workers]),
        workers=tuple(cast[-workers:]),
        day=datetime(2026, 1, 1) + timedelta(days=rng.randrange(300)),
        begin=begin,
        end=begin + rng.randint(3, 7) * HOUR,
        noun=rng.choice(words.object),
        id_form=rng.choice(words.id),
        needles=tuple(rng.sample(words.needle, min(NEEDLES, len(words.needle) - 3))),
    )


def traffic(scene: Scene, rng: Random) -> Iterator[LogEvent]:
    """Yield the events of a normal day."""
    yield from (event for call in calls(scene, rng.randint(60, 240), rng) for event in success_events(scene, call, rng))
    yield from _background(scene, rng)
    yield from _troubles(scene, rng)


def calls(scene: Scene, count: int, rng: Random, window: tuple[int, int] | None = None) -> Sequence[Call]:
    first, last = window or (scene.begin + 60_000, scene.end - 60_000)
    return [_call(scene, at, rng) for at in sorted(rng.sample(range(first, last, 37), count))]


def success_events(scene: Scene, call: Call, rng: Random) -> Iterator[LogEvent]:
    """Yield the events of a successful request."""
    at = call.at
    yield entry_event(scene, call)
    for service in call.route:
        at += rng.randint(3, 60)
        yield step_event(scene, call, service, at, rng)
    taken = at + rng.randint(2, 9) - call.at
    text = f"200 for {call.path} in {taken} ms"
    yield LogEvent(call.at + taken, scene.edge, "INFO", "200", text, call.id)


def entry_event(scene: Scene, call: Call) -> LogEvent:
    text = f"POST {call.path} from user {call.user}"
    return LogEvent(call.at, scene.edge, "INFO", "enter", text, call.id, facts={"user": call.user})


def step_event(scene: Scene, call: Call, service: Service, at: int, rng: Random) -> LogEvent:
    step = rng.choice(scene.words.step)
    text = fill(step, rng, object=call.object)
    return LogEvent(at, service, "INFO", step, text, call.id, facts={"object": call.object})


def start_event(scene: Scene, service: Service, at: int, rng: Random) -> LogEvent:
    form = rng.choice(scene.words.start)
    return LogEvent(at, service, "INFO", form, fill(form, rng), facts={"start": True})


def _services(words: Vocabulary, workers: int, rng: Random) -> Sequence[Service]:
    """Return the edge, the core and the workers, in this order."""
    form = rng.choice([one for one in words.formats if one != "nginx"])
    layout = rng.choice(("each", "each", "each", "one", "edge"))
    folder = rng.choice(("", "", "logs/", "var/log/"))
    prefix, package = rng.choice(words.prefix), rng.choice(words.package)

    def service(name: str, at: int) -> Service:
        own = rng.choice(words.formats) if layout == "each" and rng.random() < 0.35 else form
        own = own if own != "nginx" or at == 0 else form
        file = {"each": name, "one": prefix, "edge": prefix if at else name}[layout]
        return Service(name, _component(name, own, prefix, package), own, f"{folder}{file}.log", own in FORMS_OF_JAVA)

    core = rng.sample(words.core, rng.randint(3, 4))
    names = [rng.choice(words.edge), *core, *rng.sample(words.worker, workers)]
    return [service(name, at) for at, name in enumerate(names)]


def _component(name: str, form: str, prefix: str, package: str) -> str:
    if form in FORMS_OF_JAVA:
        return f"{package}.{name.title().replace('_', '')}"
    return f"{prefix}.{name}" if form.startswith("python") else name


def _call(scene: Scene, at: int, rng: Random) -> Call:
    number = rng.randint(10_000, 99_999)
    route = tuple(rng.sample(scene.core, rng.randint(2, len(scene.core))))
    path, user = rng.choice(scene.words.path), str(rng.randint(1_001, 9_999))
    return Call(at, fill(scene.id_form, rng), user, f"{scene.noun} {number}", path, route)


def _background(scene: Scene, rng: Random) -> Iterator[LogEvent]:
    """Yield routine messages, some harmless errors, and the needles."""
    for service in scene.services:
        yield start_event(scene, service, scene.begin + rng.randint(0, 20_000), rng)
        if rng.random() < RESTARTS:
            yield start_event(
                scene, service, rng.randrange(scene.begin + HOUR // 2, (scene.begin + scene.end) // 2), rng
            )
        for _ in range(rng.randint(8, 40)):
            yield _event(rng.choice(scene.words.routine), "INFO", service, scene, rng)
        for text in rng.sample(scene.words.sporadic, rng.randint(1, 2)):
            for _ in range(rng.randint(1, 6)):
                yield _event(text, "ERROR", service, scene, rng)
    for needle in scene.needles:
        service = rng.choice(scene.services)
        for _ in range(rng.choice((1, 1, 2, 3, 9))):
            yield _event(needle.text, "WARN", service, scene, rng, needle=needle.text)


def _troubles(scene: Scene, rng: Random) -> Iterator[LogEvent]:
    """Yield warnings about hosts: each host gives several services a different kind of trouble."""
    for host in rng.sample(scene.words.host, 3):
        services = rng.sample(scene.services, min(4, len(scene.services)))
        for service, trouble in zip(services, rng.sample(scene.words.trouble, 4), strict=False):
            yield _event(trouble.text, "WARN", service, scene, rng, host=host, trouble=trouble.text)


def _event(text: str, level: str, service: Service, scene: Scene, rng: Random, **facts: str) -> LogEvent:
    at = rng.randrange(scene.begin + 30_000, scene.end)
    host = facts.get("host", "")
    kind = text.replace("{host}", host.partition("-")[0])  # the number of a host is one of the numbers
    return LogEvent(at, service, level, kind, fill(text, rng, host=host), facts=dict(facts))
