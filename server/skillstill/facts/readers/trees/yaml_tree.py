"""YAML to trees, by the events of libyaml: they hold places, and no tag is executed.

An alias is the node that it stands for, not a copy: its values have the lines of the anchor, and a document of
aliases of aliases takes no more room than its text. So what walks a tree must expect as many steps as it can afford.
A merge (`<<`) is done: the mapping gets the merged children whose names it does not have itself.
"""

import yaml

from skillstill.facts.readers.trees.node import Damage, Node, Tree, TreeBuilder

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PREFIX = "tag:yaml.org,2002:"
_TYPES = {"str": "string", "int": "integer", "bool": "boolean", "timestamp": "date", "value": "string"}
_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_INVALID = "not valid YAML from some line on"


def parse_yaml(text: str) -> Tree:
    """Return a tree with a root for each document; what stands before the damage if it is not YAML."""
    parsing = _Parsing()
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            parsing.take(event)
    except Damage as damage:
        parsing.builder.tree.damage = str(damage)
    except (yaml.YAMLError, ValueError):
        parsing.builder.tree.damage = _INVALID
    return parsing.builder.tree


class _Parsing:
    def __init__(self) -> None:
        self.builder = TreeBuilder()
        self._anchors: dict[str, Node] = {}
        self._names: list[str | None] = []  # for each open container: the name whose value comes next

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.CollectionEndEvent):
            self._names.pop()
            _finish(self.builder.close(0))
        elif isinstance(event, yaml.NodeEvent):
            if self._expects_name():
                self._names[-1] = _name(event)
            else:
                self._take_value(event)

    def _expects_name(self) -> bool:
        container = self.builder.container
        return container is not None and container.type == "object" and self._names[-1] is None

    def _take_value(self, event: yaml.NodeEvent) -> None:
        name = (self._names[-1] if self._names else None) or ""
        if self._names:
            self._names[-1] = None
        if isinstance(event, yaml.AliasEvent):
            unknown = Node("alias", *_lines(event), f"*{event.anchor}")
            self.builder.add(name, self._anchors.get(event.anchor or "", unknown))
            return
        node = _scalar(event) if isinstance(event, yaml.ScalarEvent) else _container(event)
        if event.anchor:
            self._anchors[event.anchor] = node
        if isinstance(event, yaml.ScalarEvent):
            self.builder.add(name, node)
        else:
            self.builder.open(name, node)
            self._names.append(None)


def _finish(container: Node) -> None:
    container.last = max([container.first, *(child.last for _, child in container.children[-1:])])
    if container.type == "object" and any(name == "<<" for name, _ in container.children):
        container.children = _merged(container)


def _merged(mapping: Node) -> list[tuple[str, Node]]:
    own = [(name, child) for name, child in mapping.children if name != "<<"]
    seen = {name for name, _ in own}
    for merge in mapping.all("<<"):
        for source in merge.values() if merge.type == "array" else [merge]:
            own += [(name, child) for name, child in source.children if name not in seen]
            seen |= {name for name, _ in source.children}
    return own


def _name(event: yaml.NodeEvent) -> str:
    if isinstance(event, yaml.CollectionStartEvent):
        raise Damage("a name that is no text")
    return str(event.value) if isinstance(event, yaml.ScalarEvent) else f"*{event.anchor}"


def _container(event: yaml.NodeEvent) -> Node:
    return Node("object" if isinstance(event, yaml.MappingStartEvent) else "array", *_lines(event))


def _scalar(event: yaml.ScalarEvent) -> Node:
    return Node(_type(event), *_lines(event), event.value)


def _lines(event: yaml.Event) -> tuple[int, int]:
    """Return the lines of an event. A block of text ends where the next line begins."""
    start, end = event.start_mark, event.end_mark
    assert start is not None
    assert end is not None
    first = start.line + 1
    return first, max(first, end.line if end.column == 0 else end.line + 1)


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
