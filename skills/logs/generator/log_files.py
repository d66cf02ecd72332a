"""Generated logs as files, and the notes about their entries."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Literal

from pydantic import JsonValue

from .event import LogEvent
from .formats import first_line, prints_info
from .incidents import incidents
from .landscape import Scene, build_scene, traffic
from .vocabulary import vocabulary


def write_landscape(tree: Path, split: Literal["train", "validation", "test"], rng: Random) -> Mapping[str, JsonValue]:
    """Write the logs of a generated scene. Return its notes, as `steps.py` describes them."""
    scene = build_scene(vocabulary(split), rng)
    events = [*traffic(scene, rng), *incidents(scene, rng)]
    by_file: dict[str, list[LogEvent]] = defaultdict(list)
    for event in sorted(events, key=lambda one: one.at):
        by_file[event.service.file].append(event)
    rows = [row for path, inside in sorted(by_file.items()) for row in _write_file(tree / path, path, inside, scene)]
    needles: list[JsonValue] = [one.text for one in scene.needles]
    return {"entries": [*rows], "levels": True, "absent": _absent(scene), "needles": needles}


def _write_file(file: Path, path: str, events: Sequence[LogEvent], scene: Scene) -> Iterator[list[JsonValue]]:
    """Write the file, and yield a row of notes for each entry."""
    lines: list[str] = []
    for event in events:
        first = len(lines) + 1
        lines += [first_line(event, scene.day), *event.trace]
        yield [path, first, len(lines), event.at, _level(event), event.service.component, _kind(event), event.request,
               event.message, dict(event.facts)]  # fmt: skip
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _level(event: LogEvent) -> str:
    return event.level if event.level != "INFO" or prints_info(event.service.form) else ""


def _kind(event: LogEvent) -> str:
    """Return the kind of the message; a syslog prints the level in it, which makes it another kind."""
    return event.kind if prints_info(event.service.form) else f"{event.level} {event.kind}"


def _absent(scene: Scene) -> list[JsonValue]:
    """Return names of services that do not exist, in the form of those that do."""
    words = scene.words
    own = {service.said for service in scene.services}
    names: list[JsonValue] = []
    for like in scene.services[1:]:
        others = words.core if like in scene.core else words.worker
        names += [like.component.replace(*_swap(like.said, name, like.component)) for name in others if name not in own]
    return list(dict.fromkeys(names))


def _swap(said: str, name: str, component: str) -> tuple[str, str]:
    if said in component:
        return said, name
    return said.title().replace("_", ""), name.title().replace("_", "")
