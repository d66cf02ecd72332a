"""The reader of source code: picks the language, parses, sweeps, and hands over the rows."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from tree_sitter import Parser, Tree

from skillstill.facts.reader import Facts, Gap, Source, Unreadable
from skillstill.facts.readers.code.entries import entry_rows, test_rows
from skillstill.facts.readers.code.language import Compiled, compile_language
from skillstill.facts.readers.code.languages import CPP_HEADER, INTERPRETERS, NAMES, SUFFIXES, UNREAD
from skillstill.facts.readers.code.parts import Definition, Findings
from skillstill.facts.readers.code.sweep import EXCERPT_LIMIT, TEXT_LIMIT, Sweep
from skillstill.facts.readers.code.tables import TABLES
from skillstill.facts.readers.code.text import one_line
from skillstill.facts.readers.code.uses import uses
from skillstill.facts.table import FactTable, Row

SIZE_LIMIT = 5_000_000  # bytes; larger files are generated or data
LINE_LIMIT = 20_000  # bytes; a longer line is minified or generated, and its names say little
DEPTH_LIMIT = 1000  # levels of the tree: a query takes time by their square, and no human writes so many

_SHEBANG = re.compile(rb"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)")
_ASYNC = re.compile(r"\basync\b")
_BODY_MARK = re.compile(rb"(?:\s|=>|[:{;=]|\n\s*#[^\n]*)+$")  # with comments between head and body


class CodeReader:
    """Definitions, calls and the like of eleven programming languages; for others the word that they are not read."""

    name = "code"
    version = 4
    tables: tuple[FactTable, ...] = TABLES

    def takes(self, name: str, head: bytes) -> bool:
        return language_of(name, head) is not None or PurePath(name).suffix.lower() in UNREAD

    def read(self, source: Source) -> Iterator[Facts]:
        suffix = PurePath(source.name).suffix.lower()
        if suffix in UNREAD:
            raise Unreadable(f"{UNREAD[suffix]} is not read")
        content = source.whole(SIZE_LIMIT)
        if b"\0" in content:
            raise Unreadable("binary or not UTF-8")
        if len(content) > LINE_LIMIT and max(map(len, content.split(b"\n"))) > LINE_LIMIT:
            raise Unreadable("minified or generated: a line is longer than 20,000 bytes")
        language = language_of(source.name, content)
        if language is not None and content.strip():
            yield read_code(content, compile_language(language))


def language_of(name: str, head: bytes) -> str | None:
    """Return the key of a file's language by its name, else by its first line."""
    path = PurePath(name)
    language = NAMES.get(name) or SUFFIXES.get(path.suffix.lower())
    if language is None and not path.suffix and (shebang := _SHEBANG.match(head)):
        return INTERPRETERS.get(shebang[1].decode())
    if language == "c" and path.suffix.lower() == ".h" and CPP_HEADER.search(head):
        return "cpp"
    return language


def read_code(source: bytes, compiled: Compiled) -> Facts:
    """Return the rows of all tables."""
    tree = parse(source, compiled)
    found = Sweep(source, compiled).run(tree)
    tests = list(test_rows(found, compiled, framework_of(found, compiled)))
    rows: dict[str, Sequence[Row]] = {
        "definitions": [definition_row(source, item, compiled) for item in found.definitions],
        "parameters": [parameter.row() for parameter in found.parameters],
        "bases": found.bases,
        "calls": [call.row for call in found.calls],
        "imports": found.imports,
        "raises": found.raises,
        "variables": [variable.row() for variable in found.variables],
        "uses": list(uses(source, tree, compiled, known_names(found))),
        "tests": tests,
        "entry_points": list(entry_rows(source, found, compiled, tests)),
    }
    return Facts({table: rows_of for table, rows_of in rows.items() if rows_of}, gaps_of(found, compiled))


def parse(source: bytes, compiled: Compiled) -> Tree:
    """Return the tree. Raise Unreadable for a tree that would take a query too long."""
    tree = Parser(compiled.grammar).parse(source)
    cursor = tree.walk()
    for node in range(0, tree.root_node.descendant_count, DEPTH_LIMIT):
        cursor.goto_descendant(node)  # between the levels n and 2 n of a branch there are n nodes: one is met
        if cursor.depth > DEPTH_LIMIT:
            raise Unreadable("nested too deep")
    return tree


def definition_row(source: bytes, item: Definition, compiled: Compiled) -> Row:
    """Return the row of a definition. It begins where its head does, below decorators and annotations."""
    start, end = header_of(source, item)
    head = source[start : min(end, start + 2 * TEXT_LIMIT)].decode("utf-8", "replace")
    visibility = compiled.language.visibility(item.name, head, item.around, item.access)
    place, is_async = (start, min(EXCERPT_LIMIT, end - start)), int(bool(_ASYNC.search(head)))
    names = (item.name, item.qualified, item.kind, item.parent)
    decorators = one_line(", ".join(item.decorators), TEXT_LIMIT) or None
    first = item.first + source.count(b"\n", item.start, start)
    return first, item.last, *names, place, item.returns, decorators, item.doc, visibility, is_async


def header_of(source: bytes, item: Definition) -> tuple[int, int]:
    """Return where the head of a definition starts and ends: after its annotations, before its body."""
    start, end = max(item.start, item.decorated_until), item.body if item.body is not None else item.end
    head = source[start:end]
    kept = len(_BODY_MARK.sub(b"", head)) if len(head) < 10 * TEXT_LIMIT else len(head)
    start += len(head) - len(head.lstrip(b" \t\r\n],)")) if item.decorated_until else 0
    return start, max(end - len(head) + kept, start + 1)


def known_names(found: Findings) -> set[str]:
    """Return the names that other tables have."""
    known = {item.name for item in found.definitions} | {call.name for call in found.calls}
    known.update(str(row[3]) for row in found.bases)
    known.update(str(row[2]) for row in found.raises)
    known.update(variable.name for variable in found.variables)
    return known.union(*({str(value) for value in row[2:]} for row in found.imports))


def framework_of(found: Findings, compiled: Compiled) -> str | None:
    """Return the test framework that a file imports, else the language's usual one."""
    frameworks, separator = compiled.language.frameworks, compiled.language.separator
    for row in found.imports:
        module = separator.join(str(part) for part in row[2:4] if part) if separator else str(row[2])
        for prefix, framework in frameworks.items():
            if prefix and module.startswith(prefix):
                return framework
    return frameworks.get("")


def gaps_of(found: Findings, compiled: Compiled) -> tuple[Gap, ...]:
    errors = (Gap("syntax errors"),) if found.has_errors else ()
    depth = (Gap("definitions nested too deep"),) if found.is_too_deep else ()
    return (*compiled.language.gaps, *errors, *depth)


CODE = CodeReader()
