"""The tables of source code. They mean the same in all languages."""

from skillstill.facts.readers.code.languages import LANGUAGES
from skillstill.facts.table import FactColumn, FactTable

KINDS = (
    *("class", "interface", "enum", "struct", "union", "trait", "type"),
    *("function", "method", "module", "namespace", "macro", "declaration"),
)
FRAMEWORKS = tuple(dict.fromkeys(name for one in LANGUAGES.values() for name in one.frameworks.values()))
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")

DEFINITIONS = FactTable(
    "definitions",
    "a class, function or other named piece of code that a file defines",
    (
        FactColumn("name", "word", is_verbatim=True),
        FactColumn("qualified", "word", "with the names around it in the file: Client.get", is_verbatim=True),
        FactColumn(
            "kind",
            "word",
            values=KINDS,
        ),
        FactColumn("parent", "word", "name of what it is defined in; empty at the top of a file", is_verbatim=True),
        FactColumn("signature", "excerpt", "its head without the body", is_verbatim=True),
        FactColumn("returns", "word", "declared return type", is_verbatim=True),
        FactColumn("decorators", "word", "decorators, annotations or attributes: property, app.get('/x')"),
        FactColumn("doc", "text", "first sentence of its docstring or doc comment"),
        FactColumn("visibility", "word", values=("public", "private", "protected", "internal")),
        FactColumn("is_async", "integer", "1 or 0"),
    ),
    ("name", "parent"),
)
PARAMETERS = FactTable(
    "parameters",
    "a parameter of a function; self is left out",
    (
        FactColumn("function", "word", "qualified name of the function", is_verbatim=True),
        FactColumn("function_name", about="its last part", of="function", is_verbatim=True),
        FactColumn("name", "word", "*args and **kwargs keep their stars", is_verbatim=True),
        FactColumn("position", "integer", "1 is the first"),
        FactColumn("type", "word", is_verbatim=True),
        FactColumn("default_value", "word"),
    ),
    ("function",),
)
BASES = FactTable(
    "bases",
    "a type that a class extends or implements",
    (
        FactColumn("class", "word", is_verbatim=True),
        FactColumn("base", "word", "without type arguments and module", is_verbatim=True),
        FactColumn("kind", "word", values=("extends", "implements")),
    ),
    ("class", "base"),
)
ANCESTORS = FactTable(
    "ancestors",
    "a type from which a class inherits, at once or over others of these names; the place is that of the last step",
    (FactColumn("class", "word"), FactColumn("base", "word")),
    made_of="""
        with recursive reached(class, via) as (
            select class, class from bases
            union select reached.class, bases.base from reached join bases on bases.class = reached.via
        )
        select bases.path as path, bases.first as first, bases.last as last, reached.class as class, bases.base as base
        from reached join bases on bases.class = reached.via
    """,
)
CALLS = FactTable(
    "calls",
    "a call of a function, a method or a constructor",
    (
        FactColumn("name", "word", "what is called: get", is_verbatim=True),
        FactColumn("receiver", "word", "what stands before the dot: self.client", is_verbatim=True),
        FactColumn(
            "caller",
            "word",
            "qualified name of the definition around the call, decorators included; empty at the top of a file",
            is_verbatim=True,
        ),
        FactColumn("caller_name", about="its last part", of="caller", is_verbatim=True),
        FactColumn("arguments", "excerpt"),
    ),
    ("name", "caller"),
)
IMPORTS = FactTable(
    "imports",
    "a module, or a name of it, that a file imports or includes",
    (
        FactColumn("module", "word", is_verbatim=True),
        FactColumn("name", "word", "empty if the module itself is imported"),
        FactColumn("alias", "word"),
    ),
    ("module",),
)
RAISES = FactTable(
    "raises",
    "an exception that code raises, catches or declares",
    (
        FactColumn("exception", "word", "without module", is_verbatim=True),
        FactColumn("function", "word", "qualified name of the definition around it", is_verbatim=True),
        FactColumn("function_name", about="its last part", of="function", is_verbatim=True),
        FactColumn("kind", "word", values=("raised", "caught", "declared")),
    ),
    ("exception",),
)
VARIABLES = FactTable(
    "variables",
    "a constant, a variable of a file, a field of a class, a member of an enum",
    (
        FactColumn("name", "word", is_verbatim=True),
        FactColumn("qualified", "word", is_verbatim=True),
        FactColumn("kind", "word", values=("constant", "variable", "field", "member")),
        FactColumn("parent", "word", "class or enum; empty at the top of a file", is_verbatim=True),
        FactColumn("type", "word", "declared type"),
        FactColumn("value", "excerpt", "value as it is written"),
    ),
    ("name",),
)
USES = FactTable(
    "uses",
    "lines of a file that mention a name, definition and imports included; not for a function's own variables",
    (FactColumn("name", "word", is_verbatim=True), FactColumn("lines", "text", "JSON list")),
    ("name",),
)
MENTIONS = FactTable(
    "mentions",
    "a line of a definition that mentions a name; the definitions around it have rows of their own",
    (
        FactColumn("name", "word", "as in uses", is_verbatim=True),
        FactColumn("function", "word", "qualified name of the definition", is_verbatim=True),
        FactColumn("function_name", "word", "its last part", is_verbatim=True),
    ),
    made_of="""
        select definitions.path as path, line.value as first, line.value as last, uses.name as name,
            definitions.qualified as function, definitions.name as function_name
        from definitions join uses on uses.path = definitions.path join json_each(uses.lines) as line
        where line.value between definitions.first and definitions.last
    """,
)
TESTS = FactTable(
    "tests",
    "a test",
    (
        FactColumn("name", "word", is_verbatim=True),
        FactColumn("qualified", "word", "with the class or the suites around it", is_verbatim=True),
        FactColumn("touches", "text", "names that it calls, those of the test framework left out"),
        FactColumn("framework", "word", values=FRAMEWORKS),
    ),
)
ENTRY_POINTS = FactTable(
    "entry_points",
    "where a program is entered: main, command, route or script",
    (
        FactColumn("kind", "word", values=("main", "command", "route", "script")),
        FactColumn("name", "text", "name of the command, path of the route, interpreter of the script"),
        FactColumn("method", "word", "of a route, if it says so", METHODS),
        FactColumn("function", "word", "what runs", is_verbatim=True),
    ),
)

TABLES = (
    *(DEFINITIONS, PARAMETERS, BASES, ANCESTORS, CALLS, IMPORTS, RAISES, VARIABLES),
    *(USES, MENTIONS, TESTS, ENTRY_POINTS),
)
