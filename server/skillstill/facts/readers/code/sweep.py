"""From the matches of a language's query to findings: one sweep over the file, outer before inner.

What a capture means is the same in all languages; queries/README.md says it. A match with a definition opens a scope.
What follows inside belongs to it, so a query need not say which function has a parameter or makes a call.
"""

import re
from collections.abc import Callable, Mapping

from tree_sitter import Node, QueryCursor, Tree

from skillstill.facts.readers.code.language import Compiled
from skillstill.facts.readers.code.parts import (
    Block,
    Call,
    Comment,
    Definition,
    Findings,
    Parameter,
    Scope,
    Variable,
)
from skillstill.facts.readers.code.text import first_sentence, last_name, one_line

TEXT_LIMIT = 300  # characters or bytes of a doc, decorators, what a test touches
VALUE_LIMIT = 120  # of types and receivers
EXCERPT_LIMIT = 2_000  # bytes of a signature, a value or arguments: who shows them cuts them and says so
MAX_DEPTH = 50  # definitions inside each other; without a bound their names alone could fill memory

Captures = Mapping[str, list[Node]]
# At the same place a part of the scope around comes first, and what opens a scope last.
_RANKS = {"define": 1, "constant": 2, "variable": 2, "field": 2, "member": 2, "suite": 3, "test": 3, "scope": 4}
_TYPE_LIKE = frozenset({"class", "trait", "interface", "enum", "struct", "union"})
# What may stand between a decorator and its definition: the next one's mark, comments, words before a declaration.
_BETWEEN = re.compile(
    rb"(?:[\s\])@]|#!?\[|#[^\n]*\n|//[^\n]*\n|/\*.*?\*/|\b(?:export|default|abstract|declare)\b)*", re.DOTALL
)
_STARS = re.compile(r"[*&\s]+")
_CONSTANT = re.compile(
    rb"\b(?:const|constexpr)\b[^;{}]*$|\bfinal\b[^;{}]*\bstatic\b[^;{}]*$|\bstatic\b[^;{}]*\bfinal\b[^;{}]*$"
)
_IMPORTED = {"default": "default", "all": "*"}
_QUOTES = "\"'`"


class Sweep:
    """Collects what one file holds."""

    def __init__(self, source: bytes, compiled: Compiled) -> None:
        self.source, self.compiled, self.found = source, compiled, Findings()
        self._scopes = [Scope(len(source) + 1)]
        self._decorators: list[Node] = []
        self._comment: Comment | None = None
        self._named: set[int] = set()  # where a function or class starts that has a definition already
        self._imported: set[int] = set()  # where a module is named that has a row already
        self._variables: tuple[Scope, list[Variable]] = (self._scopes[0], [])  # the last ones, which may get parts

    def run(self, tree: Tree) -> Findings:
        """Return what the tree holds."""
        for name, node, captures in self._matches(tree):
            while self._scopes[-1].end <= node.start_byte and len(self._scopes) > 1:
                self._scopes.pop()
            kind, _, rest = name.partition(".")
            _HANDLERS[kind](self, node, captures, rest)
        return self.found

    def _matches(self, tree: Tree) -> list[tuple[str, Node, Captures]]:
        names: dict[int, str] = {}
        keyed = []
        for number, (pattern, captures) in enumerate(QueryCursor(self.compiled.facts).matches(tree.root_node)):
            name = names.get(pattern) or names.setdefault(pattern, _main_capture(captures))
            node, rank = captures[name][0], _RANKS.get(name.partition(".")[0], 0)
            keyed.append((node.start_byte, -node.end_byte, rank, number, name, node, captures))
        keyed.sort(key=lambda match: match[:4])
        return [match[4:] for match in keyed]

    def _text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _short(self, captures: Captures, name: str) -> str | None:
        """Return the text of a capture on one line, None if the match lacks it."""
        nodes = captures.get(name)
        return (self._cut(nodes[0]) or None) if nodes else None

    def _cut(self, node: Node) -> str:
        end = min(node.end_byte, node.start_byte + 8 * VALUE_LIMIT)
        return one_line(self.source[node.start_byte : end].decode("utf-8", "replace"), VALUE_LIMIT)

    def _cut_type(self, node: Node) -> str:
        """Return a type. Python may write it as a text if it is defined further down: then without the quotes."""
        inner = node.named_children[:1]
        is_text = node.type == "type" and len(node.children) == 1 and inner and inner[0].type == "string"
        return self._cut(node)[1:-1] if is_text else self._cut(node)

    # Definitions and scopes

    def _define(self, node: Node, captures: Captures, kind: str) -> None:
        """Add a definition and open its scope."""
        around, decorators = self._scopes[-1], self._decorators_above(node)
        if kind == "declaration" and around.kind == "function":
            return  # C++: `Type name(value);` looks like one
        if around.kind == "object":  # a function that is an argument, such as an option, has no name of its own
            self._scopes.append(Scope(node.end_byte, "function", around.name, around.prefix, None, around.owner))
            return
        name, owner, name_start = self._name(captures, kind)
        if not name or node.start_byte in self._named:
            return
        if len(self._scopes) > MAX_DEPTH:
            self.found.is_too_deep = True
            return
        if kind == "function" and (owner or around.kind in _TYPE_LIKE):
            kind = "method"
        first, last = _lines(node)
        body = captures["body"][0].start_byte if "body" in captures else None
        definition = Definition(
            name, around.qualify(owner, name), kind, owner or around.name, around.kind, node.start_byte, node.end_byte,
            first, last, name_start, body, _exported(node) or around.access,
            self._doc_above(decorators[0] if decorators else node), [self._decorator_text(item) for item in decorators],
            (decorators[0] if decorators else node).start_point[0] + 1,
        )  # fmt: skip
        self.found.definitions.append(definition)
        self._give_calls(decorators, definition)
        self._named.update((node.start_byte, captures.get("value", [node])[0].start_byte))
        if kind != "namespace":  # its names are known without it, as in languages where it has no braces
            self._open(node, kind, definition)

    def _give_calls(self, decorators: list[Node], definition: Definition) -> None:
        """Make the calls in decorators those of what is decorated."""
        for call in reversed(self.found.calls):
            if not decorators or call.start < decorators[0].start_byte:
                break
            call.row = (*call.row[:4], definition.qualified, *call.row[5:])

    def _name(self, captures: Captures, kind: str) -> tuple[str, str, int]:
        """Return the name of a definition, the name of its owner if it says one, and where the name starts."""
        node = captures["name" if "name" in captures else "path"][0]
        text = one_line(self._text(node), VALUE_LIMIT).strip(_QUOTES)
        if "operator" not in text:
            text = text.partition("<")[0].rstrip()  # the arguments of a template
        if "path" in captures:
            return *_split_path(text), node.start_byte
        if "::" in text and kind != "namespace":
            owner, _, text = text.rpartition("::")
            return text, last_name(owner), node.start_byte
        return text, last_name(self._text(captures["owner"][0])) if "owner" in captures else "", node.start_byte

    def _open(self, node: Node, kind: str, definition: Definition) -> None:
        kind = "function" if kind in ("method", "declaration", "macro") else kind
        self._scopes.append(Scope(node.end_byte, kind, definition.name, definition.qualified, definition, definition))

    def _scope(self, node: Node, captures: Captures, kind: str) -> None:
        """Open a scope that is no definition: an unnamed function, an object with a name, a block of methods."""
        if node.start_byte in self._named and len(captures) == 1:
            return  # the body of what has a definition already
        around, name = self._scopes[-1], ""
        if "name" in captures or "path" in captures:
            name = last_name(self._name(captures, kind)[0].removeprefix("module.exports"))
        if "value" in captures:
            self._named.add(captures["value"][0].start_byte)
        kind = "object" if around.kind == "object" and kind == "class" else kind
        self._scopes.append(Scope(node.end_byte, kind, name or around.name, around.qualify(name), None, around.owner))

    def _access(self, node: Node, captures: Captures, rest: str) -> None:
        self._scopes[-1].access = self._text(node)

    # Parts of the definition around

    def _body(self, node: Node, captures: Captures, rest: str) -> None:
        definition = self._scopes[-1].definition
        if definition is not None and definition.body is None:
            definition.body = node.start_byte

    def _returns(self, node: Node, captures: Captures, rest: str) -> None:
        definition = self._scopes[-1].definition
        if definition is not None:
            definition.returns = (self._cut_type(node) + self._stars(node, definition.name_start)) or None

    def _stars(self, node: Node, name_start: int) -> str:
        """Return the stars between a type and the name of what has it, as C writes pointers."""
        between = self.source[node.end_byte : min(name_start, node.end_byte + 20)].decode("utf-8", "replace")
        return f" {''.join(between.split())}" if between.strip() and _STARS.fullmatch(between) else ""

    def _doc(self, node: Node, captures: Captures, rest: str) -> None:
        definition = self._scopes[-1].definition
        if definition is not None:
            definition.doc = first_sentence(self._text(node), TEXT_LIMIT)

    def _decorator(self, node: Node, captures: Captures, rest: str) -> None:
        """Add a decorator to the definition that it is part of, or keep it for the one that follows."""
        definition = self._scopes[-1].definition
        self.found.decorators.add(node.start_byte)
        if definition is None or node.start_byte > definition.name_start:
            self._decorators.append(node)
        else:
            definition.decorators.append(self._decorator_text(node))
            definition.decorated_until = node.end_byte

    def _decorator_text(self, node: Node) -> str:
        return self._cut(node).lstrip("@")

    def _decorators_above(self, node: Node) -> list[Node]:
        """Return the decorators with nothing but space and comments between them and the definition."""
        above: list[Node] = []
        start = node.start_byte
        for decorator in reversed(self._decorators):
            end = decorator.end_byte
            if not 0 <= start - end <= TEXT_LIMIT or not _BETWEEN.fullmatch(self.source, end, start):
                break
            above.insert(0, decorator)
            start = decorator.start_byte
        self._decorators.clear()
        return above

    def _comment_(self, node: Node, captures: Captures, rest: str) -> None:
        """Keep a comment, together with those in the lines above it, for the definition that follows."""
        start, first = node.start_byte, node.start_point[0] + 1
        if self.source[self.source.rfind(b"\n", 0, start) + 1 : start].strip():
            return  # it stands behind code
        last = _lines(node)[1]
        above = self._comment
        if above is not None and above.last + 1 == first and not self.source[above.end : start].strip():
            above.end, above.last = node.end_byte, last
        else:
            self._comment = Comment(start, node.end_byte, last)

    def _doc_above(self, head: Node) -> str | None:
        """Return the first sentence of the comment that ends right above a definition."""
        comment, self._comment = self._comment, None
        if comment is None or not head.start_point[0] <= comment.last <= head.start_point[0] + 1:
            return None
        end = min(comment.end, comment.start + 10 * TEXT_LIMIT)
        text = self.source[comment.start : end].decode("utf-8", "replace")
        return first_sentence(text, TEXT_LIMIT) if self.compiled.doc.match(text) else None

    def _parameter(self, node: Node, captures: Captures, part: str) -> None:
        """Add a parameter of the definition around, or a part of the last one."""
        definition = self._scopes[-1].definition
        if definition is None:
            return
        if part:
            self._add_part(node, part)
            return
        name, position = (self._short(captures, "name") or "").replace("* ", "*"), definition.parameters + 1
        is_first = position == 1 and definition.receiver is None
        if is_first and name in self.compiled.language.receivers and definition.kind == "method":
            definition.receiver = name
            return
        definition.parameters = position
        kind, value = self._type(captures), self._short(captures, "value")
        lines = _lines(node)
        self.found.parameters.append(
            Parameter(*lines, node.end_byte, definition.qualified, name or None, position, kind, value)
        )

    def _add_part(self, node: Node, part: str) -> None:
        last = self.found.parameters[-1] if self.found.parameters else None
        if last is not None and node.end_byte <= last.end and getattr(last, part) is None:
            setattr(last, part, (self._cut_type(node) if part == "type" else self._cut(node)) or None)

    def _type(self, captures: Captures) -> str | None:
        if "type" not in captures:
            return None
        name = captures["name"][-1].start_byte if "name" in captures else 0
        return (self._cut_type(captures["type"][0]) + self._stars(captures["type"][0], name)) or None

    def _extends(self, node: Node, captures: Captures, kind: str) -> None:
        scope, base = self._scopes[-1], last_name(self._text(node))
        if scope.name is not None and base:
            self.found.bases.append((*_lines(node), scope.name, base, kind or "extends"))

    def _implements(self, node: Node, captures: Captures, rest: str) -> None:
        self._extends(node, captures, "implements")

    # What a definition does

    def _call(self, node: Node, captures: Captures, rest: str) -> None:
        owner, name = self._scopes[-1].owner, self._cut(captures["name"][0])
        if not name:  # the parser put it there to go on
            return
        receiver, text, place = self._short(captures, "receiver"), "", None
        if "arguments" in captures:
            start, end = self._inside(captures["arguments"][0])
            place = (start, min(EXCERPT_LIMIT, end - start)) if end > start else None
            text = self.source[start : min(node.end_byte, start + VALUE_LIMIT)].decode("utf-8", "replace")
        row = (*_lines(node), name, receiver, owner.qualified if owner else None, place)
        self.found.calls.append(Call(node.start_byte, name, receiver, text, row))

    def _inside(self, arguments: Node) -> tuple[int, int]:
        """Return where arguments start and end, without the parentheses, which Ruby may lack."""
        start, end = arguments.start_byte, arguments.end_byte
        return (start + 1, end - 1) if self.source[start : start + 1] in (b"(", b"[", b"{") else (start, end)

    def _import(self, node: Node, captures: Captures, what: str) -> None:
        language, said = self.compiled.language, captures["module"][0]
        is_alone = "name" not in captures and "alias" not in captures
        if is_alone and said.start_byte in self._imported:
            return
        self._imported.add(said.start_byte)
        module, name = self._cut(said).strip('<>"'), self._short(captures, "name") or _IMPORTED.get(what)
        if language.module_of is not None:
            module = language.module_of(said)
        if name is None and language.separator and language.separator in module:
            module, _, name = module.rpartition(language.separator)
        if not module:
            return
        self.found.imports.append((*_lines(node), module, name, self._short(captures, "alias")))

    def _raised(self, node: Node, captures: Captures, kind: str) -> None:
        owner, name = self._scopes[-1].owner, last_name(self._text(node))
        if name:
            self.found.raises.append((*_lines(node), name, owner.qualified if owner else None, kind or "raised"))

    def _caught(self, node: Node, captures: Captures, rest: str) -> None:
        self._raised(node, captures, "caught")

    def _declared(self, node: Node, captures: Captures, rest: str) -> None:
        self._raised(node, captures, "declared")

    # Variables

    def _variable(self, node: Node, captures: Captures, part: str) -> None:
        """Add a variable of a file or class, or a part of the last ones: `a, b = 1, 2`."""
        if not part:
            self._add_variable(node, captures, "variable")
            return
        scope, variables = self._variables
        for variable in variables:
            is_inside = node.start_byte <= variable.end + len(" = ")  # in C a variable is its name alone
            if scope is self._scopes[-1] and is_inside and getattr(variable, part) is None:
                setattr(variable, part, self._cut_type(node) if part == "type" else self._place(node))

    def _constant(self, node: Node, captures: Captures, part: str) -> None:
        self._add_variable(node, captures, "constant")

    def _field(self, node: Node, captures: Captures, part: str) -> None:
        self._add_variable(node, captures, "field")

    def _member(self, node: Node, captures: Captures, part: str) -> None:
        self._add_variable(node, captures, "member")

    def _add_variable(self, node: Node, captures: Captures, kind: str) -> None:
        scope, (_, last) = self._scopes[-1], self._variables
        if not last or node.start_byte >= last[-1].end:
            self._variables = (scope, [])
        name = self._cut(captures["name"][-1]).lstrip(":")
        if scope.kind == "function" or node.start_byte in self._named or name in ("", "_"):
            return
        place = self._place(captures["value"][0]) if "value" in captures else None
        parent, kind = scope.name, self._variable_kind(kind, captures["name"][-1], name)
        variable = Variable(
            *_lines(node), node.end_byte, name, scope.qualify(name), kind, parent, self._type(captures), place
        )
        self.found.variables.append(variable)
        self._variables[1].append(variable)

    def _variable_kind(self, kind: str, node: Node, name: str) -> str:
        """Return `constant` for what is said to be one, or looks like one: LIMIT."""
        if kind not in ("variable", "field"):
            return kind
        line = self.source[self.source.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte]
        if (len(name) > 1 and name.isupper()) or _CONSTANT.search(line[-200:]):
            return "constant"
        return "field" if self._scopes[-1].kind in _TYPE_LIKE else kind

    def _place(self, node: Node) -> tuple[int, int] | None:
        size = min(EXCERPT_LIMIT, node.end_byte - node.start_byte)
        return (node.start_byte, size) if size else None

    # Tests, entries, errors

    def _test(self, node: Node, captures: Captures, rest: str) -> None:
        self.found.tests.append(self._block(node, captures))

    def _suite(self, node: Node, captures: Captures, rest: str) -> None:
        self.found.suites.append(self._block(node, captures))

    def _block(self, node: Node, captures: Captures) -> Block:
        return Block(
            node.start_byte, node.end_byte, self._cut(captures["name"][0]).strip(f"{_QUOTES}()"), *_lines(node)
        )

    def _main(self, node: Node, captures: Captures, rest: str) -> None:
        self.found.entries.append((*_lines(node), "main", "__main__"))

    def _command(self, node: Node, captures: Captures, rest: str) -> None:
        self.found.entries.append((*_lines(node), "command", self._cut(captures["name"][0]).strip(_QUOTES)))

    def _error(self, node: Node, captures: Captures, rest: str) -> None:
        self.found.has_errors = True


_Handler = Callable[[Sweep, Node, Captures, str], None]
_HANDLERS: Mapping[str, _Handler] = {
    "define": Sweep._define,
    "scope": Sweep._scope,
    "access": Sweep._access,
    "body": Sweep._body,
    "returns": Sweep._returns,
    "doc": Sweep._doc,
    "decorator": Sweep._decorator,
    "comment": Sweep._comment_,
    "parameter": Sweep._parameter,
    "extends": Sweep._extends,
    "implements": Sweep._implements,
    "call": Sweep._call,
    "import": Sweep._import,
    "raised": Sweep._raised,
    "caught": Sweep._caught,
    "declared": Sweep._declared,
    "variable": Sweep._variable,
    "constant": Sweep._constant,
    "field": Sweep._field,
    "member": Sweep._member,
    "test": Sweep._test,
    "suite": Sweep._suite,
    "main": Sweep._main,
    "command": Sweep._command,
    "error": Sweep._error,
}


def _main_capture(captures: Captures) -> str:
    """Return the capture that says what a match is. `body` is a part beside another one, else it is alone."""
    names = [name for name in captures if name.partition(".")[0] in _HANDLERS]
    return next((name for name in names if name != "body"), "body")


def _lines(node: Node) -> tuple[int, int]:
    """Return the first and the last line; a node that ends with a line break does not reach into the next line."""
    first, (row, column) = node.start_point[0] + 1, node.end_point
    return first, max(first, row + (column > 0))


def _exported(node: Node) -> str:
    """Return "export" if the definition is exported, as JavaScript says it around a declaration or its declarators."""
    for parent in (node.parent, node.parent and node.parent.parent):
        if parent is not None and parent.type == "export_statement":
            return "export"
    return ""


def _split_path(path: str) -> tuple[str, str]:
    """Return the name and the owner that `exports.f = function` or `Type.prototype.f = function` defines."""
    if path == "module.exports":
        return path, ""
    bare = re.sub(r"^(?:this|(?:module\.)?exports)\.", "", path).replace(".prototype.", ".")
    owner, _, name = bare.rpartition(".")
    return name, owner
