"""YAML to trees, by the events of libyaml: they hold places, and no tag is executed.

An alias stays an alias: its node's text is `*name`, also in a merge (`<<`).
"""

from collections.abc import Iterator

import yaml
from skillstill.facts.readers.trees.node import Damage, Node, Tree, TreeBuilder

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PREFIX = "tag:yaml.org,2002:"
_TYPES = {"str": "string", "int": "integer", "bool": "boolean", "timestamp": "date", "merge": "string", "value": "string"}
_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_INVALID = "not valid YAML from some line on"


def parse_yaml(text: str) -> Tree:
    """Return a tree with a root for each document; what stands before the damage if it is not YAML."""
    builder = TreeBuilder()
    try:
        _parse(yaml.parse(text, Loader=_LOADER), builder)
    except Damage as damage:
        builder.tree.damage = str(damage)
    except (yaml.YAMLError, RecursionError, ValueError):
        builder.tree.damage = _INVALID
    return builder.tree


def _parse(events: Iterator[yaml.Event], builder: TreeBuilder) -> None:
    names: list[str | None] = []  # for each open container: the name whose value comes next
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            names.pop()
            node = builder.close(_last_line(event))
            node.last = max([node.first, *(child.last for _, child in node.children[-1:])])
        elif isinstance(event, yaml.NodeEvent):
            _take(event, builder, names)


def _take(event: yaml.NodeEvent, builder: TreeBuilder, names: list[str | None]) -> None:
    container = builder.container
    if container is not None and container.type == "object" and names[-1] is None:
        names[-1] = _name(event)
        if isinstance(event, yaml.CollectionStartEvent):
            raise Damage("a name that is no text")
        return
    name = (names[-1] if names else None) or ""
    if names:
        names[-1] = None
    if isinstance(event, yaml.CollectionStartEvent):
        type = "object" if isinstance(event, yaml.MappingStartEvent) else "array"
        builder.open(name, Node(type, event.start_mark.line + 1, event.start_mark.line + 1))
        names.append(None)
    else:
        builder.add(name, _scalar(event))


def _name(event: yaml.NodeEvent) -> str:
    return event.value if isinstance(event, yaml.ScalarEvent) else f"*{event.anchor}"


def _scalar(event: yaml.NodeEvent) -> Node:
    first, last = event.start_mark.line + 1, _last_line(event)
    if isinstance(event, yaml.ScalarEvent):
        return Node(_type(event), first, max(first, last), event.value)
    return Node("alias", first, first, f"*{event.anchor}")


def _last_line(event: yaml.Event) -> int:
    """Return the last line of an event. A block of text ends where the next line begins."""
    mark = event.end_mark
    return int(mark.line if mark.column == 0 else mark.line + 1)


def _type(event: yaml.ScalarEvent) -> str:
    if event.tag and event.tag != "!":
        tag = event.tag
    elif not event.implicit[0]:
        return "string"
    else:
        resolvers = [*_RESOLVERS.get(event.value[:1], ()), *_RESOLVERS.get(None, ())]
        tag = next((tag for tag, pattern in resolvers if pattern.match(event.value)), _PREFIX + "str")
    if not tag.startswith(_PREFIX):
        return tag
    type = tag.removeprefix(_PREFIX)
    return _TYPES.get(type, type)
