"""Tests and entry points: what definitions, decorators and calls mean by the look of their names."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from skillstill.facts.readers.code.language import Compiled
from skillstill.facts.readers.code.parts import Call, Definition, Findings
from skillstill.facts.readers.code.sweep import TEXT_LIMIT
from skillstill.facts.readers.code.text import one_line
from skillstill.facts.table import Row

# `get("/users", ...)`, `@PostMapping("/users")`, `HandleFunc("/users", ...)`: a verb, then a path
_VERB = re.compile(r"(?i)(?:http|map|add|handle)?_?(get|post|put|delete|patch|head|options)(?:mapping|async)?$")
_ROUTE = re.compile(
    r"(?i)(?:app|add|request|api|blueprint)?_?(?:route|url_rule|websocket|handle|handlefunc|mapping|all|any)$"
)
_PATH = re.compile(r"\s*(?:\w+\s*=\s*)?[\"'`](/[^\"'`\s]*)[\"'`]\s*(,?)\s*(.*)", re.DOTALL)
# What handles a route: a function without a name, a block, a name, or a call that makes one. Options and bodies do not.
_HANDLER = re.compile(
    r"(?:(?:async|function|func|fn)\b|\(|\[|[\w$.:]+\s*(?:=>|\()|(?P<function>[\w$.\\:]*[\w$])(?=\s*(?:[,)]|$)))",
    re.ASCII,
)
_BLOCK = re.compile(r"(?:do\b|\{)(?P<function>(?!))?")
_COMMAND = re.compile(r"(?i)(?:command|subcommand)$")  # a decorator
_ADDS_COMMAND = re.compile(r"(?:command|add_parser|add_command|subcommand)$")  # a call; `exec.Command("git")` runs one
_STRING = re.compile(r"\s*(?:name\s*=\s*)?[\"'`]([^\"'`]*)[\"'`]")
_DECORATOR = re.compile(r"^#?\[?\s*([\w.:\\]+)\s*(?:\((.*)\))?", re.DOTALL)
_SHEBANG = re.compile(rb"#!\s*(?:/\S*/env\s+(?:-\S+\s+)*)?(?:/\S*/)?([\w.+-]+)")


def test_rows(found: Findings, compiled: Compiled, framework: str | None) -> Iterator[Row]:
    """Yield the tests: definitions that look like one, and calls such as `it("works", ...)`."""
    rule, starts = compiled.language.test, [call.start for call in found.calls]
    for item in found.definitions:
        decorated = any(compiled.test_decorator.search(decorator) for decorator in item.decorators)
        if item.kind in rule.kinds and (decorated or compiled.test_name.match(item.name)):
            touched = _touched(found.calls, starts, item.start, item.end, compiled)
            yield item.first, item.last, item.name, item.qualified, touched, framework
    for test in found.tests:
        around = [suite.name for suite in found.suites if suite.start <= test.start and test.end <= suite.end]
        touched = _touched(found.calls, starts, test.start + 1, test.end, compiled)
        yield test.first, test.last, test.name, " > ".join([*around, test.name]), touched, framework


def _touched(calls: Sequence[Call], starts: Sequence[int], start: int, end: int, compiled: Compiled) -> str | None:
    """Return the names that are called between two bytes, each once."""
    inside = calls[bisect_left(starts, start) : bisect_left(starts, end)]
    names = dict.fromkeys(call.name for call in inside if not compiled.asserts.match(call.name))
    return one_line(", ".join(names), TEXT_LIMIT) or None


def entry_rows(source: bytes, found: Findings, compiled: Compiled, tests: Sequence[Row]) -> Iterator[Row]:
    """Yield the entry points of a file. What a test sets up inside itself does not enter the program."""
    lines = {line for test in tests for line in range(int(str(test[0])), int(str(test[1])) + 1)}
    return (row for row in _entries(source, found, compiled) if row[0] not in lines)


def _entries(source: bytes, found: Findings, compiled: Compiled) -> Iterator[Row]:
    if shebang := _SHEBANG.match(source):
        yield 1, 1, "script", shebang[1].decode(), None, None
    for first, last, kind, name in found.entries:
        yield first, last, kind, name, None, None
    for item in found.definitions:
        yield from _definition_entries(item, compiled)
    for call in found.calls:
        if call.start not in found.decorators:
            yield from _call_entries(call)


def _definition_entries(item: Definition, compiled: Compiled) -> Iterator[Row]:
    if compiled.main.fullmatch(item.qualified):
        yield item.first, item.last, "main", item.qualified, None, item.qualified
    for decorator in item.decorators:
        found = _DECORATOR.match(decorator)
        name, arguments = (re.split(r"[.:]+", found[1])[-1], found[2] or "") if found else ("", "")
        path = _PATH.match(arguments)
        if path and (_VERB.match(name) or _ROUTE.match(name)):
            yield item.decorated_from, item.last, "route", path[1], _method(name), item.qualified
        elif _COMMAND.match(name):
            said = _STRING.match(arguments)
            yield item.decorated_from, item.last, "command", said[1] if said else item.name, None, item.qualified


def _call_entries(call: Call) -> Iterator[Row]:
    first, last = call.row[:2]
    if (_VERB.match(call.name) or _ROUTE.match(call.name)) and (path := _PATH.match(call.text)):
        if handler := (_HANDLER if path[2] else _BLOCK).match(path[3]):
            yield first, last, "route", path[1], _method(call.name), handler["function"]
    elif call.receiver and _ADDS_COMMAND.match(call.name) and (said := _STRING.match(call.text)):
        yield first, last, "command", said[1], None, None


def _method(name: str) -> str | None:
    found = _VERB.match(name)
    return found[1].upper() if found else None
