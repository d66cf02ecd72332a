"""The known languages as data, and those that are known not to be read."""

import re
from collections.abc import Mapping

from tree_sitter import Node

from skillstill.facts.reader import Gap
from skillstill.facts.readers.code.language import Language, TestRule
from skillstill.facts.readers.code.visibility import (
    by_capital,
    by_export,
    by_keyword,
    by_pub,
    by_section,
    by_static,
    by_underscore,
)

_JAVASCRIPT_TESTS = {
    "vitest": "Vitest",
    "@jest/globals": "Jest",
    "mocha": "Mocha",
    "node:test": "node:test",
    "bun:test": "Bun",
    "ava": "AVA",
    "tape": "tape",
    "tap": "tap",
    "@playwright/test": "Playwright",
}
_JAVASCRIPT_ASSERTS = (
    r"(?:expect\w*|assert\w*|describe|it|test|suite|context|before\w*|after\w*|to[A-Z]\w*|not|equal|deepEqual|"
    r"strictEqual|deepStrictEqual|ok|rejects|throws|fn|spyOn|mock\w*)$"
)
_JAVASCRIPT_NAMES = (
    "(identifier) @use (shorthand_property_identifier) @use (property_identifier) @use "
    "(member_expression property: (property_identifier) @use.member)"
)
_TYPESCRIPT_NAMES = f"{_JAVASCRIPT_NAMES} (type_identifier) @use @use.member"


_C_NAMES = "(identifier) @use (field_identifier) @use @use.member (type_identifier) @use @use.member"
_MACROS = tuple(Gap("macros are not expanded", table) for table in ("definitions", "calls"))


def rust_path(node: Node) -> str:
    """Return the whole path of an import, which `use a::{b::{c, d}}` says in parts."""
    parts, parent = [node], node.parent
    while parent is not None and parent.type != "use_declaration":
        path = parent.child_by_field_name("path")
        if parent.type == "scoped_use_list" and path is not None:
            parts.insert(0, path)
        parent = parent.parent
    path_text = "::".join((part.text or b"").decode("utf-8", "replace") for part in parts)
    return path_text.removesuffix("::self")


def _typescript(function: str) -> Language:
    return Language(
        name="TypeScript",
        grammar=("tree_sitter_typescript", function),
        queries=("ecmascript", "typescript"),
        names=_TYPESCRIPT_NAMES,
        visibility=by_export,
        doc=r"/\*\*",
        frameworks=_JAVASCRIPT_TESTS,
        asserts=_JAVASCRIPT_ASSERTS,
        gaps=(Gap("TypeScript's catch names no type", "raises"),),
    )


LANGUAGES: Mapping[str, Language] = {
    "python": Language(
        name="Python",
        grammar=("tree_sitter_python", "language"),
        queries=("python",),
        names="(identifier) @use (attribute attribute: (identifier) @use.member) (type (identifier) @use.member)",
        visibility=by_underscore,
        receivers=("self", "cls"),
        test=TestRule(name=r"test(_|[A-Z]|$)"),
        frameworks={"pytest": "pytest", "unittest": "unittest", "": "pytest"},
        asserts=r"(?:assert\w*|raises|warns|fail\w*|skip\w*|subTest|parametrize|fixture|approx)$",
    ),
    "javascript": Language(
        name="JavaScript",
        grammar=("tree_sitter_javascript", "language"),
        queries=("ecmascript", "javascript"),
        names=_JAVASCRIPT_NAMES,
        visibility=by_export,
        doc=r"/\*\*",
        frameworks=_JAVASCRIPT_TESTS,
        asserts=_JAVASCRIPT_ASSERTS,
        gaps=(
            Gap("JavaScript declares no types", "definitions", "returns"),
            Gap("JavaScript declares no types", "parameters", "type"),
            Gap("JavaScript declares no types", "variables", "type"),
            Gap("JavaScript's catch names no type", "raises"),
        ),
    ),
    "typescript": _typescript("language_typescript"),
    "tsx": _typescript("language_tsx"),
    "go": Language(
        name="Go",
        grammar=("tree_sitter_go", "language"),
        queries=("go",),
        names=(
            "(identifier) @use (field_identifier) @use (type_identifier) @use @use.member "
            "(selector_expression field: (field_identifier) @use.member)"
        ),
        visibility=by_capital,
        doc=r"//|/\*",
        main=r"main",
        test=TestRule(name=r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])", kinds=("function",)),
        frameworks={"github.com/stretchr/testify": "testing with testify", "testing": "testing"},
        asserts=r"(?:Error|Errorf|Fatal|Fatalf|Log|Logf|Helper|Run|Parallel|Skip\w*|Cleanup|"
        r"(?:Not)?(?:Equal|Nil|Empty|Contains|Zero)\w*|True|False|NoError|Len|Panics)$",
        gaps=(Gap("Go returns errors as values", "raises"),),
    ),
    "rust": Language(
        name="Rust",
        grammar=("tree_sitter_rust", "language"),
        queries=("rust",),
        names="(identifier) @use (field_identifier) @use @use.member (type_identifier) @use @use.member",
        visibility=by_pub,
        doc=r"///|/\*\*",
        separator="::",
        main=r"main",
        test=TestRule(decorator=r"^(?:\w+::)*(?:test|rstest|test_case|bench)\b"),
        frameworks={"proptest": "proptest", "rstest": "rstest", "": "built-in"},
        asserts=r"(?:(?:debug_)?assert\w*|unwrap\w*|expect\w*|panic|Ok|Err|Some)$",
        gaps=(
            Gap("Rust returns errors as values", "raises"),
            Gap("code inside of Rust's macros is not read", "calls"),
        ),
        module_of=rust_path,
    ),
    "java": Language(
        name="Java",
        grammar=("tree_sitter_java", "language"),
        queries=("java",),
        names="(identifier) @use (type_identifier) @use @use.member (field_access field: (identifier) @use.member)",
        visibility=by_keyword("internal", "internal"),
        doc=r"/\*\*",
        separator=".",
        main=r"(?:.*\.)?main",
        test=TestRule(decorator=r"^(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b"),
        frameworks={
            "org.junit.jupiter": "JUnit 5",
            "org.junit": "JUnit 4",
            "junit.": "JUnit 3",
            "org.testng": "TestNG",
        },
        asserts=r"(?:assert\w*|fail|verify\w*|when|thenReturn|expect\w*|is[A-Z]\w*To|isTrue|isFalse)$",
    ),
    "c": Language(
        name="C",
        grammar=("tree_sitter_c", "language"),
        queries=("c",),
        names=_C_NAMES,
        visibility=by_static,
        doc=r"/\*|//",
        main=r"main",
        test=TestRule(name=r"test_"),
        gaps=(*_MACROS, Gap("tests of C are known by their names only", "tests"), Gap("C has no exceptions", "raises")),
    ),
    "cpp": Language(
        name="C++",
        grammar=("tree_sitter_cpp", "language"),
        queries=("c", "cpp"),
        names=_C_NAMES,
        visibility=by_static,
        doc=r"/\*|//",
        separator="::",
        main=r"main",
        frameworks={
            "gtest": "GoogleTest",
            "gmock": "GoogleTest",
            "catch2": "Catch2",
            "doctest": "doctest",
            "boost/test": "Boost.Test",
        },
        asserts=r"(?:(?:EXPECT|ASSERT|REQUIRE|CHECK|BOOST)_?\w*|assert)$",
        gaps=_MACROS,
    ),
    "c_sharp": Language(
        name="C#",
        grammar=("tree_sitter_c_sharp", "language"),
        queries=("c_sharp",),
        names=(
            "(identifier) @use (member_access_expression name: (identifier) @use.member) "
            "(generic_name (identifier) @use.member)"
        ),
        visibility=by_keyword("private", "internal"),
        doc=r"///|/\*\*",
        main=r"(?:.*\.)?Main",
        test=TestRule(decorator=r"^(?:\w+\.)*(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b"),
        frameworks={
            "Xunit": "xUnit",
            "NUnit.Framework": "NUnit",
            "Microsoft.VisualStudio.TestTools.UnitTesting": "MSTest",
        },
        asserts=r"(?:Equal|NotEqual|True|False|Null|NotNull|Throws\w*|Are(?:Not)?Equal|Is\w+|That|Contains|Empty)$",
    ),
    "ruby": Language(
        name="Ruby",
        grammar=("tree_sitter_ruby", "language"),
        queries=("ruby",),
        names="(identifier) @use (constant) @use @use.member (instance_variable) @use (global_variable) @use",
        visibility=by_section,
        doc=r"#|=begin",
        test=TestRule(name=r"test_"),
        frameworks={"minitest": "minitest", "test/unit": "test-unit", "": "RSpec"},
        asserts=r"(?:assert\w*|refute\w*|expect|to|not_to|eq\w*|be\w*|it|describe|context|let!?|before|after|raise_error)$",
        gaps=(
            Gap("Ruby declares no types", "definitions", "returns"),
            Gap("Ruby declares no types", "parameters", "type"),
            Gap("Ruby declares no types", "variables", "type"),
            Gap("calls of Ruby without arguments and receiver look like variables", "calls"),
        ),
    ),
    "php": Language(
        name="PHP",
        grammar=("tree_sitter_php", "language_php"),
        queries=("php",),
        names="(name) @use (member_access_expression name: (name) @use.member) (named_type (name) @use.member)",
        visibility=by_keyword("public", "public"),
        doc=r"/\*\*",
        separator="\\",
        test=TestRule(name=r"test[A-Z_]", decorator=r"^Test\b"),
        frameworks={"PHPUnit": "PHPUnit", "Pest": "Pest"},
        asserts=r"(?:assert\w*|expect\w*|fail|markTest\w*|createMock|method|will\w*|with)$",
    ),
}

SUFFIXES: Mapping[str, str] = {
    ".py": "python",
    ".pyi": "python",
    ".pyw": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cxx": "cpp",
    ".c++": "cpp",
    ".hh": "cpp",
    ".hpp": "cpp",
    ".hxx": "cpp",
    ".ipp": "cpp",
    ".tpp": "cpp",
    ".inl": "cpp",
    ".cs": "c_sharp",
    ".rb": "ruby",
    ".rake": "ruby",
    ".gemspec": "ruby",
    ".php": "php",
}
NAMES: Mapping[str, str] = {"Rakefile": "ruby", "Gemfile": "ruby"}
INTERPRETERS: Mapping[str, str] = {
    "python": "python",
    "node": "javascript",
    "deno": "typescript",
    "bun": "typescript",
    "ruby": "ruby",
    "php": "php",
}
# A header of C that only C++ can mean.
CPP_HEADER = re.compile(
    rb"(?m)^\s*(?:class\s+\w|namespace\b|template\s*<|public:|private:|using\s+\w|#include\s*<\w+>)"
)

# Programs too, but nothing here reads them: each such file says so, or "none found" would be wrong.
UNREAD: Mapping[str, str] = {
    ".kt": "Kotlin",
    ".kts": "Kotlin",
    ".swift": "Swift",
    ".scala": "Scala",
    ".groovy": "Groovy",
    ".gradle": "Groovy",
    ".clj": "Clojure",
    ".cljs": "Clojure",
    ".cljc": "Clojure",
    ".m": "Objective-C or MATLAB",
    ".mm": "Objective-C",
    ".lua": "Lua",
    ".pl": "Perl",
    ".pm": "Perl",
    ".ex": "Elixir",
    ".exs": "Elixir",
    ".erl": "Erlang",
    ".hrl": "Erlang",
    ".hs": "Haskell",
    ".ml": "OCaml",
    ".mli": "OCaml",
    ".fs": "F#",
    ".fsx": "F#",
    ".vb": "Visual Basic",
    ".vbs": "Visual Basic",
    ".bas": "Visual Basic",
    ".dart": "Dart",
    ".jl": "Julia",
    ".r": "R",
    ".nim": "Nim",
    ".zig": "Zig",
    ".cr": "Crystal",
    ".f90": "Fortran",
    ".f95": "Fortran",
    ".cob": "COBOL",
    ".cbl": "COBOL",
    ".pas": "Pascal",
    ".adb": "Ada",
    ".ads": "Ada",
    ".asm": "assembly",
    ".s": "assembly",
    ".lisp": "Lisp",
    ".el": "Emacs Lisp",
    ".scm": "Scheme",
    ".rkt": "Racket",
    ".tcl": "Tcl",
    ".sol": "Solidity",
    ".vue": "Vue",
    ".svelte": "Svelte",
    ".astro": "Astro",
    ".coffee": "CoffeeScript",
    ".pyx": "Cython",
    ".pxd": "Cython",
    ".erb": "ERB",
    ".sh": "Shell",
    ".bash": "Shell",
    ".zsh": "Shell",
    ".fish": "Shell",
    ".ps1": "PowerShell",
    ".psm1": "PowerShell",
    ".bat": "Batch",
    ".cmd": "Batch",
    ".awk": "AWK",
    ".vim": "Vim script",
    ".cu": "CUDA",
    ".cuh": "CUDA",
    ".cshtml": "Razor",
    ".razor": "Razor",
    ".v": "Verilog",
    ".sv": "SystemVerilog",
    ".vhd": "VHDL",
    ".elm": "Elm",
    ".purs": "PureScript",
    ".hx": "Haxe",
    ".gd": "GDScript",
    ".ahk": "AutoHotkey",
}
