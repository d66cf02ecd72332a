"""XML to a tree, by expat: it knows places and loads nothing from outside. No entity of the file's own is expanded."""

import re
from xml.parsers import expat

from skillstill.facts.readers.trees.node import Damage, Node, Tree, TreeBuilder

_ATTRIBUTE = re.compile(rb"""\s+([^\s=>/"']+)\s*=\s*(?:"[^"]*"|'[^']*')""")
_NAME = re.compile(rb"<[^\s/>]+")


def parse_xml(data: bytes) -> Tree:
    """Return the tree of a document: an object with its element in it, under its name.

    An element has its own text, and its attributes are children called `@name`. Names lose their namespace prefix.
    """
    parsing = _Parsing(data)
    try:
        parsing.parser.Parse(data, True)
    except Damage as damage:
        parsing.builder.tree.damage = str(damage)
    except (expat.ExpatError, ValueError, LookupError):
        parsing.builder.tree.damage = "not valid XML from some line on"
    return parsing.builder.tree


class _Parsing:
    def __init__(self, data: bytes) -> None:
        self.builder = TreeBuilder()
        self.builder.open("", Node("object", 1, 1))
        self.parser = expat.ParserCreate()
        self._data = data
        self._texts: list[list[str]] = []
        self.parser.buffer_text = True
        self.parser.ordered_attributes = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._take_text
        self.parser.EntityDeclHandler = _refuse_entity

    def _start(self, name: str, attributes: list[str]) -> None:
        line = self.parser.CurrentLineNumber
        self.builder.open(_local(name), Node("element", line, line))
        self._texts.append([])
        if attributes:
            lines = self._attribute_lines(line)
            for attribute, value in zip(attributes[::2], attributes[1::2], strict=True):
                if not attribute.startswith("xmlns"):
                    place = lines.get(attribute, line)
                    self.builder.add(f"@{_local(attribute)}", Node("attribute", place, place, value))

    def _attribute_lines(self, line: int) -> dict[str, int]:
        """Return the lines of the attributes of the tag that begins here, if they are not its first."""
        place, end = self.parser.CurrentByteIndex, self._data.find(b"\n", self.parser.CurrentByteIndex)
        closed = self._data.find(b">", place)
        if end < 0 or closed < end:
            return {}
        match = _NAME.match(self._data, place)
        lines = {}
        while match is not None and (match := _ATTRIBUTE.match(self._data, match.end())):
            name = match[1].decode("utf-8", "replace")
            lines[name] = line + self._data.count(b"\n", place, match.start(1))
        return lines

    def _take_text(self, text: str) -> None:
        if self._texts:
            self._texts[-1].append(text)

    def _end(self, _name: str) -> None:
        node = self.builder.close(self.parser.CurrentLineNumber)
        node.text = "".join(self._texts.pop()).strip()


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _refuse_entity(*_declaration: object) -> None:
    raise Damage("entities of its own are not expanded")
