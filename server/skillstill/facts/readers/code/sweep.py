"""From the matches of a language's query to rows: one sweep over the file, outer before inner.

What a capture means is the same in all languages (queries/README says it). A match with a definition opens a scope.
What follows inside belongs to it, so the query need not say which function has a parameter or makes a call.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from skillstill.facts.readers.code.language import Compiled
from skillstill.facts.readers.code.text import first_sentence, last_name, one_line
from skillstill.facts.table import Row
from tree_sitter import Node, QueryCursor, Tree

TEXT_LIMIT = 300  # characters or bytes of a signature, a doc or decorators
VALUE_LIMIT = 120  # of arguments, values and receivers
MAX_DEPTH = 50  # definitions inside each other; without a bound their names alone could fill memory

Captures = Mapping[str, list[Node]]
_RANKS = {"define": 1, "constant": 2, "variable": 2, "field": 2, "member": 2, "suite": 3, "test": 4, "scope": 5}


@dataclass(slots=True)
class Definition:
    """A definition whose parts are still being collected. `start` and so on are byte offsets."""

    name: str
    qualified: str
    kind: str
    parent: str | None
    around: str
    start: int
    end: int
    first: int
    last: int
    body: int | None
    access: str
    doc: str | None
    decorators: list[str]
    decorated_until: int = 0
    returns: str | None = None
    parameters: int = 0


@dataclass(slots=True)
class Scope:
    """A part of the file up to byte `end`.

    definition  whose body it is; None for an unnamed function
    owner       the nearest definition around
    access      what a section such as `public:` says of the members below it
    """

    end: int
    kind: str = "file"
    name: str | None = None
    prefix: str = ""
    definition: Definition | None = None
    owner: Definition | None = None
    access: str = ""


@dataclass(slots=True)
class Call:
    """A call with the byte where it starts, by which a test finds the calls inside it."""

    start: int
    name: str
    receiver: str | None
    caller: str | None
    arguments: str
    row: Row


@dataclass(slots=True)
class Block:
    """A test or a suite that is a call: `it("works", () => ...)`."""

    start: int
    end: int
    name: str
    first: int
    last: int


@dataclass(slots=True)
class Comment:
    start: int
    end: int
    first: int
    last: int


@dataclass(slots=True)
class Sweep:
    """Collects what one file holds."""

    source: bytes
    compiled: Compiled
    definitions: list[Definition] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    suites: list[Block] = field(default_factory=list)
    tests: list[Block] = field(default_factory=list)
    mains: list[tuple[int, int]] = field(default_factory=list)
    commands: list[tuple[int, int, str]] = field(default_factory=list)
    parameters: list[list[object]] = field(default_factory=list)
    bases: list[Row] = field(default_factory=list)
    imports: list[Row] = field(default_factory=list)
    raises: list[Row] = field(default_factory=list)
    variables: list[list[object]] = field(default_factory=list)
    has_errors: bool = False
    is_too_deep: bool = False
    _scopes: list[Scope] = field(default_factory=list)
    _decorators: list[Node] = field(default_factory=list)
    _comment: Comment | None = None
    _named: set[int] = field(default_factory=set)  # where functions and classes start that have a definition already
    _open_variables: list[list[object]] = field(default_factory=list)
    _variables_end: int = 0

    def run(self, tree: Tree) -> None:
        """Sweep over the matches in the order of the source."""
        self._scopes.append(Scope(len(self.source) + 1))
        for name, node, captures in self._events(tree):
            while self._scopes[-1].end <= node.start_byte and len(self._scopes) > 1:
                self._scopes.pop()
            kind, _, rest = name.partition(".")
            _HANDLERS[kind](self, node, captures, rest)

    def _events(self, tree: Tree) -> list[tuple[str, Node, Captures]]:
        matches = QueryCursor(self.compiled.facts).matches(tree.root_node)
        names: dict[int, str] = {}
        keyed = []
        for number, (pattern, captures) in enumerate(matches):
            name = names.get(pattern) or names.setdefault(pattern, _main_capture(captures))
            node = captures[name][0]
            rank = _RANKS.get(name.partition(".")[0], 0)
            keyed.append((node.start_byte, -node.end_byte, rank, number, name, node, captures))
        keyed.sort(key=lambda event: event[:4])
        return [event[4:] for event in keyed]

    # texts

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def short(self, captures: Captures, name: str, limit: int = VALUE_LIMIT) -> str | None:
        """Return the text of a capture on one line, None if the match lacks it."""
        nodes = captures.get(name)
        return one_line(self.text(nodes[0]), limit) if nodes else None

    def excerpt(self, node: Node, limit: int = VALUE_LIMIT) -> tuple[int, int]:
        return node.start_byte, min(limit, node.end_byte - node.start_byte)

    # definitions and scopes

    def define(self, node: Node, captures: Captures, kind: str) -> None:
        """Add a definition and open its scope."""
        around = self._scopes[-1]
        name, owner = self._name(captures)
        value = captures.get("value")
        if not name or node.start_byte in self._named:
            return
        if len(self._scopes) > MAX_DEPTH:
            self.is_too_deep = True
            return
        prefix = ".".join(part for part in (around.prefix, owner) if part)
        if kind == "function" and around.kind == "class":
            kind = "method"
        body = captures.get("body")
        definition = Definition(
            name,
            f"{prefix}.{name}" if prefix else name,
            kind,
            owner or around.name,
            around.definition.kind if around.definition else around.kind if around.kind != "file" else "",
            node.start_byte,
            node.end_byte,
            node.start_point[0] + 1,
            node.end_point[0] + 1,
            body[0].start_byte if body else None,
            self._access(node, around),
            self._doc_above(node),
            [one_line(self.text(decorator), TEXT_LIMIT) for decorator in self._decorators],
        )
        self._decorators.clear()
        self._named.add((value[0] if value else node).start_byte)
        self._named.add(node.start_byte)
        self.definitions.append(definition)
        if kind != "namespace":
            self._open(node, "function" if kind in ("function", "method") else "class", definition)

    def _name(self, captures: Captures) -> tuple[str, str]:
        """Return the name of a definition, and the name of its owner if the definition says it."""
        if paths := captures.get("path"):
            path = self.text(paths[0]).replace(".prototype.", ".")
            path = path if path == "module.exports" else path.removeprefix("module.").removeprefix("exports.")
            owner, _, name = path.removeprefix("this.").rpartition(".")
            return (path, "") if path == "module.exports" else (name, owner)
        names, owners = captures.get("name"), captures.get("owner")
        name = one_line(self.text(names[0]), VALUE_LIMIT).strip("\"'`") if names else ""
        return name, last_name(self.text(owners[0])) if owners else ""

    def _access(self, node: Node, around: Scope) -> str:
        for parent in (node.parent, node.parent and node.parent.parent):
            if parent is not None and parent.type == "export_statement":
                return "export"
        return around.access

    def _open(self, node: Node, kind: str, definition: Definition) -> None:
        self._scopes.append(Scope(node.end_byte, kind, definition.name, definition.qualified, definition, definition))

    def open_scope(self, node: Node, captures: Captures, kind: str) -> None:
        """Open a scope that is no definition: an unnamed function, an object with a name, a block of methods."""
        if node.start_byte in self._named and "name" not in captures:
            return
        around = self._scopes[-1]
        name, prefix = around.name, around.prefix
        if "name" in captures:
            name = last_name(self.text(captures["name"][0]))
            prefix = f"{prefix}.{name}" if prefix else name
        self._scopes.append(Scope(node.end_byte, kind, name, prefix, None, around.owner))

    def access(self, node: Node, captures: Captures, rest: str) -> None:
        self._scopes[-1].access = self.text(node).strip(": ")

    # what belongs to the definition around it

    def body(self, node: Node, captures: Captures, rest: str) -> None:
        definition = self._scopes[-1].definition
        if definition is not None and definition.body is None:
            definition.body = node.start_byte

    def returns(self, node: Node, captures: Captures, rest: str) -> None:
        definition = self._scopes[-1].definition
        if definition is not None:
            definition.returns = one_line(self.text(node), VALUE_LIMIT)

    def doc(self, node: Node, captures: Captures, rest: str) -> None:
        definition = self._scopes[-1].definition
        if definition is not None:
            definition.doc = first_sentence(self.text(node), TEXT_LIMIT)

    def decorator(self, node: Node, captures: Captures, where: str) -> None:
        """Keep a decorator for the definition that follows, or add it to the one that it is within."""
        if where == "before":
            self._decorators.append(node)
        elif (definition := self._scopes[-1].definition) is not None:
            definition.decorators.append(one_line(self.text(node).lstrip("@"), TEXT_LIMIT))
            definition.decorated_until = node.end_byte

    def comment(self, node: Node, captures: Captures, rest: str) -> None:
        """Keep a comment, together with those in the lines above it, for the definition that follows."""
        start = node.start_byte
        if self.source[self.source.rfind(b"\n", 0, start) + 1 : start].strip():
            return
        first, last = node.start_point[0] + 1, node.end_point[0] + (node.end_point[1] > 0)
        above = self._comment
        if above is not None and above.last + 1 == first and not self.source[above.end : start].strip():
            above.end, above.last = node.end_byte, last
        else:
            self._comment = Comment(start, node.end_byte, first, last)

    def _doc_above(self, node: Node) -> str | None:
        comment, head = self._comment, self._decorators[0] if self._decorators else node
        if comment is None or comment.last not in (head.start_point[0], head.start_point[0] + 1):
            return None
        self._comment = None
        text = self.source[comment.start : min(comment.end, comment.start + 10 * TEXT_LIMIT)].decode("utf-8", "replace")
        return first_sentence(text, TEXT_LIMIT) if self.compiled.doc.match(text) else None

    def parameter(self, node: Node, captures: Captures, part: str) -> None:
        """Add a parameter of the definition around, or a part of the last one."""
        definition = self._scopes[-1].definition
        if definition is None:
            return
        if part:
            column = {"name": 3, "type": 5, "value": 6}[part]
            if self.parameters and self.parameters[-1][column] is None:
                self.parameters[-1][column] = one_line(self.text(node), VALUE_LIMIT)
            return
        name, position = self.short(captures, "name"), definition.parameters + 1
        if position == 1 and name in ("self", "cls") and definition.kind == "method":
            return
        definition.parameters = position
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        kind, value = self.short(captures, "type"), self.short(captures, "value")
        self.parameters.append([first, last, definition.qualified, name, position, kind, value])

    def extends(self, node: Node, captures: Captures, kind: str) -> None:
        scope = self._scopes[-1]
        if scope.name is not None and (base := last_name(self.text(node))):
            line = node.start_point[0] + 1
            self.bases.append((line, node.end_point[0] + 1, scope.name, base, kind or "extends"))

    def implements(self, node: Node, captures: Captures, rest: str) -> None:
        self.extends(node, captures, "implements")

    # what a definition does

    def call(self, node: Node, captures: Captures, rest: str) -> None:
        owner, name = self._scopes[-1].owner, self.text(captures["name"][0])
        caller, receiver = owner.qualified if owner else None, self.short(captures, "receiver")
        place: tuple[int, int] | None = None
        text = ""
        if arguments := captures.get("arguments"):
            start, end = arguments[0].start_byte + 1, arguments[0].end_byte - 1
            text = self.source[start : min(end, start + VALUE_LIMIT)].decode("utf-8", "replace")
            place = (start, min(VALUE_LIMIT, end - start)) if end > start else None
        row = (node.start_point[0] + 1, node.end_point[0] + 1, name, receiver, caller, place)
        self.calls.append(Call(node.start_byte, name, receiver, caller, text, row))

    def import_(self, node: Node, captures: Captures, what: str) -> None:
        module, name = self.short(captures, "module"), self.short(captures, "name") or _IMPORTED.get(what)
        language = self.compiled.language
        if language.module_of is not None:
            module = language.module_of(captures["module"][0] if "module" in captures else node)
        if name is None and language.separator and module and language.separator in module:
            module, _, name = module.rpartition(language.separator)
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        self.imports.append((first, last, module, name, self.short(captures, "alias")))

    def raised(self, node: Node, captures: Captures, kind: str) -> None:
        owner, name = self._scopes[-1].owner, last_name(self.text(node))
        if name:
            first, last = node.start_point[0] + 1, node.end_point[0] + 1
            self.raises.append((first, last, name, owner.qualified if owner else None, kind or "raised"))

    def caught(self, node: Node, captures: Captures, rest: str) -> None:
        self.raised(node, captures, "caught")

    def declared(self, node: Node, captures: Captures, rest: str) -> None:
        self.raised(node, captures, "declared")

    def variable(self, node: Node, captures: Captures, part: str) -> None:
        """Add a variable of a file or class, or a part of the last ones."""
        if not part:
            self._add_variable(node, captures, "variable")
        elif node.end_byte <= self._variables_end:
            for row in self._open_variables:
                if part == "type":
                    row[6] = one_line(self.text(node), VALUE_LIMIT)
                else:
                    row[7] = self.excerpt(node)

    def constant(self, node: Node, captures: Captures, part: str) -> None:
        self._add_variable(node, captures, "constant")

    def field(self, node: Node, captures: Captures, part: str) -> None:
        self._add_variable(node, captures, "field")

    def member(self, node: Node, captures: Captures, part: str) -> None:
        self._add_variable(node, captures, "member")

    def _add_variable(self, node: Node, captures: Captures, kind: str) -> None:
        scope = self._scopes[-1]
        if node.start_byte >= self._variables_end:
            self._open_variables = []
        if scope.kind == "function" or node.start_byte in self._named:
            return
        name = self.text(captures["name"][-1])
        if kind == "variable":
            kind = "constant" if name.isupper() else "field" if scope.kind == "class" else "variable"
        qualified = f"{scope.prefix}.{name}" if scope.prefix else name
        value = captures.get("value")
        place = self.excerpt(value[0]) if value else None
        first, last = node.start_point[0] + 1, node.end_point[0] + 1
        row: list[object] = [first, last, name, qualified, kind, scope.name, self.short(captures, "type"), place]
        self.variables.append(row)
        self._open_variables.append(row)
        self._variables_end = node.end_byte

    # tests and entries

    def test(self, node: Node, captures: Captures, rest: str) -> None:
        self.tests.append(self._block(node, captures))

    def suite(self, node: Node, captures: Captures, rest: str) -> None:
        self.suites.append(self._block(node, captures))

    def _block(self, node: Node, captures: Captures) -> Block:
        name = one_line(self.text(captures["name"][0]).strip("\"'`"), VALUE_LIMIT)
        return Block(node.start_byte, node.end_byte, name, node.start_point[0] + 1, node.end_point[0] + 1)

    def main(self, node: Node, captures: Captures, rest: str) -> None:
        self.mains.append((node.start_point[0] + 1, node.end_point[0] + 1))

    def command(self, node: Node, captures: Captures, rest: str) -> None:
        name = self.text(captures["name"][0]).strip("\"'`")
        self.commands.append((node.start_point[0] + 1, node.end_point[0] + 1, name))

    def error(self, node: Node, captures: Captures, rest: str) -> None:
        self.has_errors = True


_IMPORTED = {"default": "default", "all": "*"}
_Handler = Callable[[Sweep, Node, Captures, str], None]
_HANDLERS: Mapping[str, _Handler] = {
    "define": Sweep.define,
    "scope": Sweep.open_scope,
    "access": Sweep.access,
    "body": Sweep.body,
    "returns": Sweep.returns,
    "doc": Sweep.doc,
    "decorator": Sweep.decorator,
    "comment": Sweep.comment,
    "parameter": Sweep.parameter,
    "extends": Sweep.extends,
    "implements": Sweep.implements,
    "call": Sweep.call,
    "import": Sweep.import_,
    "raised": Sweep.raised,
    "caught": Sweep.caught,
    "declared": Sweep.declared,
    "variable": Sweep.variable,
    "constant": Sweep.constant,
    "field": Sweep.field,
    "member": Sweep.member,
    "test": Sweep.test,
    "suite": Sweep.suite,
    "main": Sweep.main,
    "command": Sweep.command,
    "error": Sweep.error,
}
# A match has one capture that says what it is; these are its parts. `body` is a part beside a definition, else alone.
_PARTS = frozenset(
    {
        "name",
        "owner",
        "path",
        "value",
        "type",
        "receiver",
        "arguments",
        "module",
        "alias",
        "left",
        "right",
        "f",
        "t",
        "k",
    }
)


def _main_capture(captures: Captures) -> str:
    names = [name for name in captures if name not in _PARTS]
    return names[0] if len(names) == 1 else next(name for name in names if name != "body")
