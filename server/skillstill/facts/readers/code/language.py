"""What the engine must know of a language beside its query."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

from tree_sitter import Language as Grammar
from tree_sitter import Node, Query

from skillstill.facts.reader import Gap
from skillstill.facts.readers.code.visibility import Visibility

QUERIES = Path(__file__).parent / "queries"


@dataclass(frozen=True, slots=True)
class TestRule:
    """By what a definition is known as a test: its name or one of its decorators matches. A test of JavaScript or
    Ruby is a call, which the query finds."""

    name: str = r"(?!)"
    decorator: str = r"(?!)"
    kinds: tuple[str, ...] = ("function", "method")


@dataclass(frozen=True, slots=True)
class Language:
    """A programming language.

    grammar     module and function of the grammar
    queries     query files, read one after another: a language may extend another one
    names       a query for the table of uses: `use` is a name, `use.member` one that no variable of a function has
    doc         how a comment begins that documents the definition below it
    separator   parts the module from the name in one path: `java.util.List`
    receivers   names of a method's first parameter that no caller gives
    main        qualified names of the function in which a program starts
    frameworks  test frameworks by the modules that they are imported from; the empty module says the usual one
    module_of   puts together the module of an import, for imports inside each other
    asserts     names that belong to test frameworks, so that a test does not touch them
    """

    name: str
    grammar: tuple[str, str]
    queries: tuple[str, ...]
    names: str
    visibility: Visibility
    doc: str = r"(?!)"
    separator: str = ""
    receivers: tuple[str, ...] = ()
    main: str = r"(?!)"
    test: TestRule = TestRule()
    frameworks: Mapping[str, str] = field(default_factory=dict)
    asserts: str = r"(?!)"
    gaps: tuple[Gap, ...] = ()
    module_of: Callable[[Node], str] | None = None


@dataclass(frozen=True, slots=True)
class Compiled:
    """A language, ready for use."""

    language: Language
    grammar: Grammar
    facts: Query
    names: Query
    doc: re.Pattern[str]
    main: re.Pattern[str]
    test_name: re.Pattern[str]
    test_decorator: re.Pattern[str]
    asserts: re.Pattern[str]


@cache
def compile_language(language: str) -> Compiled:
    """Return the language of this key, its grammar loaded and its queries compiled."""
    from skillstill.facts.readers.code.languages import LANGUAGES

    known = LANGUAGES[language]
    module, function = known.grammar
    grammar = Grammar(getattr(import_module(module), function)())
    facts = "\n".join((QUERIES / f"{name}.scm").read_text(encoding="utf-8") for name in known.queries)
    patterns = (known.doc, known.main, known.test.name, known.test.decorator, known.asserts)
    return Compiled(known, grammar, Query(grammar, facts), Query(grammar, known.names), *map(re.compile, patterns))
