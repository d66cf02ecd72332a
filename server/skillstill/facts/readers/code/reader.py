"""The reader of source code: picks the language, parses, sweeps, and hands over the rows."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import cast

from skillstill.facts.reader import Facts, Gap, Source, Unreadable
from skillstill.facts.readers.code.entries import entry_rows, test_rows
from skillstill.facts.readers.code.language import Compiled, compile_language
from skillstill.facts.readers.code.languages import CPP_HEADER, INTERPRETERS, NAMES, SUFFIXES, UNREAD
from skillstill.facts.readers.code.sweep import TEXT_LIMIT, Definition, Sweep
from skillstill.facts.readers.code.tables import TABLES
from skillstill.facts.readers.code.uses import uses
from skillstill.facts.table import FactTable, Row
from tree_sitter import Parser

SIZE_LIMIT = 5_000_000  # bytes; larger files are generated or data
LINE_LIMIT = 20_000  # bytes; a longer line is minified or generated, and its names say little

_SHEBANG = re.compile(rb"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([a-z]+)")


class CodeReader:
    """Definitions, calls and the like of eleven programming languages; for others the word that they are not read."""

    name = "code"
    version = 1
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
    tree = Parser(compiled.grammar).parse(source)
    sweep = Sweep(source, compiled)
    sweep.run(tree)
    rows: dict[str, Sequence[Row]] = {
        "definitions": [definition_row(sweep, item) for item in sweep.definitions],
        "parameters": cast("list[Row]", [tuple(row) for row in sweep.parameters]),
        "bases": sweep.bases,
        "calls": [call.row for call in sweep.calls],
        "imports": sweep.imports,
        "raises": sweep.raises,
        "variables": cast("list[Row]", [tuple(row) for row in sweep.variables]),
        "uses": list(uses(source, tree, compiled, known_names(sweep))),
        "tests": list(test_rows(sweep, compiled, framework_of(sweep, compiled))),
        "entry_points": list(entry_rows(sweep, compiled)),
    }
    return Facts({table: found for table, found in rows.items() if found}, gaps_of(sweep, compiled))


def definition_row(sweep: Sweep, item: Definition) -> Row:
    """Return the row of a definition, its signature cut out of the source."""
    start, end = header_of(sweep.source, item)
    head = sweep.source[start:end].decode("utf-8", "replace")
    visibility = sweep.compiled.language.visibility(item.name, head, item.around, item.access)
    decorators = ", ".join(item.decorators)[:TEXT_LIMIT] or None
    place, is_async = (start, min(TEXT_LIMIT, end - start)), int(bool(re.search(r"\basync\b", head)))
    names = (item.name, item.qualified, item.kind, item.parent)
    return item.first, item.last, *names, place, item.returns, decorators, item.doc, visibility, is_async


def header_of(source: bytes, item: Definition) -> tuple[int, int]:
    """Return where the head of a definition starts and ends: after its annotations, before its body."""
    start, end = max(item.start, item.decorated_until), item.body if item.body is not None else item.end
    head = source[start:end]
    stripped = head.rstrip(b" \t\r\n:{=>;")
    return start + len(head) - len(head.lstrip()), start + max(len(stripped), 1)


def known_names(sweep: Sweep) -> set[str]:
    """Return the names that other tables have."""
    known = {item.name for item in sweep.definitions} | {call.name for call in sweep.calls}
    known.update(str(row[3]) for row in sweep.bases)
    known.update(str(row[2]) for row in (*sweep.raises, *sweep.variables))
    return known.union(*({str(value) for value in row[2:]} for row in sweep.imports))


def framework_of(sweep: Sweep, compiled: Compiled) -> str | None:
    """Return the test framework that a file imports, else the language's usual one."""
    frameworks = compiled.language.frameworks
    for row in sweep.imports:
        module = f"{row[2]}{compiled.language.separator}{row[3]}" if compiled.language.separator else str(row[2])
        for prefix, framework in frameworks.items():
            if prefix and module.startswith(prefix):
                return framework
    return frameworks.get("")


def gaps_of(sweep: Sweep, compiled: Compiled) -> tuple[Gap, ...]:
    errors = (Gap("syntax errors"),) if sweep.has_errors else ()
    depth = (Gap("definitions nested too deep"),) if sweep.is_too_deep else ()
    return (*compiled.language.gaps, *errors, *depth)


CODE = CodeReader()
