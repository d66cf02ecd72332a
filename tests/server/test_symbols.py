"""What `symbols` says of a file: one fixture for each language, Python's `ast` as judge, and hostile sources."""

import ast
import http
import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skillstill.symbols import MAX_DEPTH, Symbol, language_of, symbols

LANGUAGES = ["python", "javascript", "typescript", "tsx", "go", "rust", "java"]

PYTHON = '''\
from typing import TYPE_CHECKING, overload

DEFAULT_TIMEOUT = 5.0
LONG = ["aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccc", "dddddddddddddddd"]
first = second = 1
left, right = 1, 2
type Pair[T] = tuple[T, T]

if TYPE_CHECKING:
    class Hint: ...
try:
    import fast
except ImportError:
    fast: object | None = None

@decorate(name="x")
class Client(Base[int], mixins.Log, metaclass=Meta):
    retries: int = 3  # times
    name: str

    @overload
    def get(self, url: str) -> str: ...
    @overload
    def get(self, url: bytes) -> bytes: ...
    @cached
    async def get(
        self,
        url: str,  # where ( it is
        *,
        key=lambda x: (x, "a)  b"),
        pair: tuple[int, ...] = (1,),
    ) -> "Response":
        """Fetch."""
        local = 1
        def check(value):
            raise ValueError("no")
        if not url:
            raise errors.Empty(url) from None
        try:
            return check(url)
        except OSError as error:
            raise
        raise error.with_traceback(None)
        # done

def \\
    plain(): pass
'''
PYTHON_TABLE = [
    ("constant", "DEFAULT_TIMEOUT", 3, "DEFAULT_TIMEOUT = 5.0"),
    (
        "constant",
        "LONG",
        4,
        'LONG = ["aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccc", "dddddd…',
    ),
    ("constant", "first", 5, "first = second = 1"),
    ("constant", "second", 5, "second = 1"),
    ("type", "Pair", 7, "type Pair[T] = tuple[T, T]"),
    ("class", "Hint", 10, "class Hint"),
    ("constant", "fast", 14, "fast: object | None = None"),
    ("class", "Client", 17, "class Client(Base[int], mixins.Log, metaclass=Meta)"),
    ("constant", "Client.retries", 18, "retries: int = 3"),
    ("constant", "Client.name", 19, "name: str"),
    ("method", "Client.get", 22, "def get(self, url: str) -> str"),
    ("method", "Client.get", 24, "def get(self, url: bytes) -> bytes"),
    (
        "method",
        "Client.get",
        26,
        'async def get(self, url: str, *, key=lambda x: (x, "a)  b"), pair: tuple[int, ...] = (1,)) -> "Response"',
    ),
    ("function", "Client.get.check", 35, "def check(value)"),
    ("function", "plain", 46, "def plain()"),
]

JAVASCRIPT = """\
const LIMIT = 10, twice = (n) => n * 2;
const { a, b } = require("x");
export default class extends lib.Base {
  static #count = 0;
  state = {};
  constructor(x) { super(); if (!x) { throw new TypeError("x"); } }
  get size() { return 1; }
  static async *walk(node = { deep: [1, 2] }) {}
  #secret() { const f = () => { throw new Error(); }; return f; }
  onClick = async (event) => { throw fail(event); };
}
export async function load(url, { timeout = 5 } = {}) {
  const local = 1;
  function inner() {}
  try { inner(); } catch (error) { throw error; }
}
function* ids() {}
let named = function () {}, Shape = class { area() {} };
const api = { read() {}, write: (x) => x, nested: { go() {} } };
register({ hidden() {} });
Shape.prototype.scale = function (by) {};
exports.helper = () => 1;
for (let i = 0; i < 3; i++) {}
if (a) { const block = 1; }
"""
JAVASCRIPT_TABLE = [
    ("constant", "LIMIT", 1, "const LIMIT = 10"),
    ("function", "twice", 1, "const twice = (n) =>"),
    ("class", "default", 3, "export default class extends lib.Base"),
    ("constant", "default.#count", 4, "static #count = 0"),
    ("method", "default.constructor", 6, "constructor(x)"),
    ("method", "default.size", 7, "get size()"),
    ("method", "default.walk", 8, "static async *walk(node = { deep: [1, 2] })"),
    ("method", "default.#secret", 9, "#secret()"),
    ("function", "default.#secret.f", 9, "const f = () =>"),
    ("method", "default.onClick", 10, "onClick = async (event) =>"),
    ("function", "load", 12, "export async function load(url, { timeout = 5 } = {})"),
    ("function", "load.inner", 14, "function inner()"),
    ("function", "ids", 17, "function* ids()"),
    ("function", "named", 18, "let named = function ()"),
    ("class", "Shape", 18, "let Shape = class"),
    ("method", "Shape.area", 18, "area()"),
    ("constant", "api", 19, "const api = { read() {}, write: (x) => x, nested: { go() {} } }"),
    ("method", "api.read", 19, "read()"),
    ("method", "api.write", 19, "write: (x) =>"),
    ("method", "api.nested.go", 19, "go()"),
    ("method", "Shape.scale", 21, "Shape.prototype.scale = function (by)"),
    ("function", "helper", 22, "exports.helper = () =>"),
]

TYPESCRIPT = """\
export interface Store<T> extends Reader<T>, Writer { get(key: string): T; size: number }
type Handler = (event: Event) => void;
export const enum Mode { Read, Write }
declare function load(path: string): Promise<void>;
@sealed
export abstract class Cache<T> extends Base<T> implements Store<T>, Closer {
  static readonly MAX: number = 9;
  constructor(@inject() private items: Map<string, T>) { super(); }
  protected abstract flush(): void;
  get(key: string): T;
  @log get(key: any): T { throw new errors.Missing<T>(key); }
}
namespace Tools.Text { export const width = 80; export function wrap(text: string) {} }
function options(bag: { parse(): void }) {}
"""
TYPESCRIPT_TABLE = [
    ("interface", "Store", 1, "export interface Store<T> extends Reader<T>, Writer"),
    ("method", "Store.get", 1, "get(key: string): T"),
    ("type", "Handler", 2, "type Handler = (event: Event) => void"),
    ("enum", "Mode", 3, "export const enum Mode"),
    ("function", "load", 4, "declare function load(path: string): Promise<void>"),
    ("class", "Cache", 6, "export abstract class Cache<T> extends Base<T> implements Store<T>, Closer"),
    ("constant", "Cache.MAX", 7, "static readonly MAX: number = 9"),
    ("method", "Cache.constructor", 8, "constructor(@inject() private items: Map<string, T>)"),
    ("method", "Cache.flush", 9, "protected abstract flush(): void"),
    ("method", "Cache.get", 10, "get(key: string): T"),
    ("method", "Cache.get", 11, "get(key: any): T"),
    ("module", "Tools.Text", 13, "namespace Tools.Text"),
    ("constant", "Tools.Text.width", 13, "export const width = 80"),
    ("function", "Tools.Text.wrap", 13, "export function wrap(text: string)"),
    ("function", "options", 14, "function options(bag: { parse(): void })"),
]

GO = """\
package client

type Client struct {
	io.Reader
	*Config `json:"c"`
	name string
}
type (
	Doer interface {
		io.Closer
		Do(req *Request) (*Response, error)
	}
	Names = []string
	Stack[T any] struct{ items []T }
)
const (
	First = iota
	Second
)
var low, high = 1, 2
var _ Doer = (*Client)(nil)

func (c *Client) Do(
	req *Request, // what
) (*Response, error) {
	var local = 1
	panic("no")
}
func (s Stack[T]) Push(item T) { f := func() { panic("inner") }; f() }
func New[T any](opts ...Option) *Client { return nil }
"""
GO_TABLE = [
    ("struct", "Client", 3, "type Client struct"),
    ("interface", "Doer", 9, "type Doer interface"),
    ("method", "Doer.Do", 11, "Do(req *Request) (*Response, error)"),
    ("type", "Names", 13, "type Names = []string"),
    ("struct", "Stack", 14, "type Stack[T any] struct"),
    ("constant", "First", 17, "const First = iota"),
    ("constant", "Second", 18, "const Second"),
    ("constant", "low", 20, "var low, high = 1, 2"),
    ("constant", "high", 20, "var low, high = 1, 2"),
    ("method", "Client.Do", 23, "func (c *Client) Do(req *Request) (*Response, error)"),
    ("method", "Stack.Push", 29, "func (s Stack[T]) Push(item T)"),
    ("function", "New", 30, "func New[T any](opts ...Option) *Client"),
]

RUST = """\
#[derive(Debug)]
pub struct Point<T> { x: T }
pub struct Meters(pub f64, u8);
pub(crate) enum Shape { Dot, Line }
union Bits { a: u32 }
pub trait Area: Named + fmt::Debug { const SIDES: u32 = 4; type Unit; fn area(&self) -> f64; fn twice(&self) {} }
impl<T> fmt::Display for Point<T> where T: Copy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { panic!("no") }
}
impl Shape { pub const fn new() -> Self { const LOCAL: u8 = 1; fn helper() {} let c = || panic!(); todo!() } }
static mut COUNT: usize = 0;
mod tests { #[test] fn works() {} }
macro_rules! square { ($x:expr) => { $x * $x }; }
type Grid = Vec<Vec<u8>>;
extern "C" { fn abs(x: i32) -> i32; }
"""
RUST_TABLE = [
    ("struct", "Point", 2, "pub struct Point<T>"),
    ("struct", "Meters", 3, "pub struct Meters(pub f64, u8)"),
    ("enum", "Shape", 4, "pub(crate) enum Shape"),
    ("struct", "Bits", 5, "union Bits"),
    ("trait", "Area", 6, "pub trait Area: Named + fmt::Debug"),
    ("constant", "Area.SIDES", 6, "const SIDES: u32 = 4"),
    ("type", "Area.Unit", 6, "type Unit"),
    ("method", "Area.area", 6, "fn area(&self) -> f64"),
    ("method", "Area.twice", 6, "fn twice(&self)"),
    ("method", "Point.fmt", 8, "fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result"),
    ("method", "Shape.new", 10, "pub const fn new() -> Self"),
    ("function", "Shape.new.helper", 10, "fn helper()"),
    ("constant", "COUNT", 11, "static mut COUNT: usize = 0"),
    ("module", "tests", 12, "mod tests"),
    ("function", "tests.works", 12, "fn works()"),
    ("function", "square", 13, "macro_rules! square"),
    ("type", "Grid", 14, "type Grid = Vec<Vec<u8>>"),
    ("function", "abs", 15, "fn abs(x: i32) -> i32"),
]

JAVA = """\
package demo;

@Service(name = "calc")
public final class Calc<T> extends Base<T> implements Runnable, io.Closer {
    public static final int ZERO = 0, ONE = 1;
    private static int calls = 0;
    final int kept = 1;

    @Inject
    Calc(@Named("x") String name) { if (name == null) throw new IllegalArgumentException("name"); }

    @Override
    public int add(int a, int b) throws IOException {
        Runnable later = new Runnable() { public void run() { throw new Error(); } };
        try { later.run(); } catch (Error e) { throw e; }
        throw Errors.of("x");
    }
    abstract static class Inner { abstract void go(); }
}
interface Shape extends Named, Comparable<Shape> { int SIDES = 4; default int sides() { return SIDES; } }
enum Op implements Shape { PLUS { int apply() { return 1; } }; Op() {} }
record Pair(int a, int b) { Pair { } }
@interface Marker { String value() default "x"; }
"""
JAVA_TABLE = [
    ("class", "Calc", 4, "public final class Calc<T> extends Base<T> implements Runnable, io.Closer"),
    ("constant", "Calc.ZERO", 5, "public static final int ZERO = 0"),
    ("constant", "Calc.ONE", 5, "public static final int ONE = 1"),
    ("method", "Calc.Calc", 10, 'Calc(@Named("x") String name)'),
    ("method", "Calc.add", 13, "public int add(int a, int b) throws IOException"),
    ("class", "Calc.Inner", 18, "abstract static class Inner"),
    ("method", "Calc.Inner.go", 18, "abstract void go()"),
    ("interface", "Shape", 20, "interface Shape extends Named, Comparable<Shape>"),
    ("constant", "Shape.SIDES", 20, "int SIDES = 4"),
    ("method", "Shape.sides", 20, "default int sides()"),
    ("enum", "Op", 21, "enum Op implements Shape"),
    ("method", "Op.PLUS.apply", 21, "int apply()"),
    ("method", "Op.Op", 21, "Op()"),
    ("class", "Pair", 22, "record Pair(int a, int b)"),
    ("method", "Pair.Pair", 22, "Pair"),
    ("interface", "Marker", 23, "@interface Marker"),
    ("method", "Marker.value", 23, 'String value() default "x"'),
]

FIXTURES = {
    "python": (PYTHON, PYTHON_TABLE),
    "javascript": (JAVASCRIPT, JAVASCRIPT_TABLE),
    "typescript": (TYPESCRIPT, TYPESCRIPT_TABLE),
    "tsx": (TYPESCRIPT, TYPESCRIPT_TABLE),
    "go": (GO, GO_TABLE),
    "rust": (RUST, RUST_TABLE),
    "java": (JAVA, JAVA_TABLE),
}


def table(source: bytes, language: str) -> list[tuple[str, str, int, str]]:
    return [(found.kind, found.name, found.line, found.signature) for found in symbols(source, language)]


def named(source: str, language: str, name: str) -> Symbol:
    """The last symbol of that name: the one after its overloads."""
    return [found for found in symbols(source.encode(), language) if found.name == name][-1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_gives_its_symbols_in_order(language: str) -> None:
    source, expected = FIXTURES[language]
    assert table(source.encode(), language) == expected


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("change", ["carriage returns", "byte order mark", "no last line end"])
def test_the_encoding_of_line_ends_changes_nothing(language: str, change: str) -> None:
    source, expected = FIXTURES[language]
    changed = {
        "carriage returns": source.replace("\n", "\r\n").encode(),
        "byte order mark": b"\xef\xbb\xbf" + source.encode(),
        "no last line end": source.rstrip("\n").encode(),
    }[change]
    assert table(changed, language) == expected


@pytest.mark.parametrize(
    ("language", "name", "bases"),
    [
        ("python", "Client", ("Base[int]", "mixins.Log")),
        ("javascript", "default", ("lib.Base",)),
        ("typescript", "Store", ("Reader<T>", "Writer")),
        ("typescript", "Cache", ("Base<T>", "Store<T>", "Closer")),
        ("go", "Client", ("io.Reader", "*Config")),
        ("go", "Doer", ("io.Closer",)),
        ("rust", "Area", ("Named", "fmt::Debug")),
        ("rust", "Point", ("fmt::Display",)),
        ("java", "Calc", ("Base<T>", "Runnable", "io.Closer")),
        ("java", "Shape", ("Named", "Comparable<Shape>")),
    ],
)
def test_bases_are_as_written(language: str, name: str, bases: tuple[str, ...]) -> None:
    assert named(FIXTURES[language][0], language, name).bases == bases


@pytest.mark.parametrize(
    ("language", "name", "raises"),
    [
        ("python", "Client.get", [("errors.Empty", 38), ("error", 43)]),
        ("python", "Client.get.check", [("ValueError", 36)]),
        ("javascript", "default.constructor", [("TypeError", 6)]),
        ("javascript", "default.#secret", []),
        ("javascript", "default.onClick", [("fail", 10)]),
        ("javascript", "load", []),
        ("typescript", "Cache.get", [("errors.Missing", 11)]),
        ("go", "Client.Do", [("panic", 27)]),
        ("go", "Stack.Push", []),
        ("rust", "Point.fmt", [("panic!", 8)]),
        ("rust", "Shape.new", []),
        ("java", "Calc.Calc", [("IllegalArgumentException", 10)]),
        ("java", "Calc.add", [("Errors.of", 16)]),
    ],
)
def test_a_function_raises_what_its_own_body_raises(language: str, name: str, raises: list[tuple[str, int]]) -> None:
    found = named(FIXTURES[language][0], language, name)
    assert [(raised.name, raised.line) for raised in found.raises] == raises


@pytest.mark.parametrize(
    ("language", "source", "names"),
    [
        ("javascript", "module.exports = { open(path) {}, shut: function () {}, flush: () => 1 };", "open shut flush"),
        ("javascript", "exports = module.exports = { a() { const x = 1; }, inner: { b() {} } };", "a inner.b"),
        ("javascript", "other.thing = { alpha() {} };", ""),
        ("typescript", "export const api = { get(id: string) {}, list: () => 1 } as const;", "api api.get api.list"),
        ("typescript", "const h = { on() {} } satisfies H;\nconst f = function () {} as F;", "h h.on f"),
        ("typescript", "export default { fetch() {} } satisfies Worker;", "default.fetch"),
    ],
)  # fmt: skip
def test_members_of_an_object_have_names_where_the_object_has_one_or_is_what_a_module_exports(
    language: str, source: str, names: str
) -> None:
    assert [found.name for found in symbols(source.encode(), language)] == names.split()


def test_a_trait_that_a_type_is_said_not_to_have_is_none_of_its_bases() -> None:
    source = "struct Guard;\nimpl !Send for Guard {}\nimpl Drop for Guard {}\n"
    assert named(source, "rust", "Guard").bases == ("Drop",)


def test_a_definition_ends_with_its_last_statement() -> None:
    assert named(PYTHON, "python", "Client.get").end == 43
    assert named(GO, "go", "Client.Do").end == 28
    assert named(JAVASCRIPT, "javascript", "default").end == 11


def test_a_long_header_is_one_line_without_its_layout() -> None:
    source = dedent(
        '''
        def run(  # a comment (
            first: Annotated[
                str,
                Doc("two  spaces, (a bracket"),
            ] = "x",
            second=f(
                1,
            )["key"]
            .strip(),
            third="""a
              b""",
        ): ...
        '''
    )
    assert named(source, "python", "run").signature == (
        'def run(first: Annotated[str, Doc("two  spaces, (a bracket")] = "x", '
        'second=f(1)["key"].strip(), third="""a b""")'
    )


def test_broken_source_gives_what_the_parser_recovered() -> None:
    broken = b"class A:\n    def whole(self): pass\n    def half(self, x\n\ndef after(): pass\n"
    assert {"A.whole"} <= {found.name for found in symbols(broken, "python")}
    assert {"f"} <= {found.name for found in symbols(b"func f() {}\nfunc (", "go")}


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_empty_file_has_no_symbols(language: str) -> None:
    assert symbols(b"", language) == symbols(b"\xef\xbb\xbf\r\n", language) == ()


def test_bytes_that_are_no_text_are_replaced() -> None:
    (found,) = symbols(b'def f(a="\xff\xfe"): pass\n', "python")
    assert found.signature == 'def f(a="\ufffd\ufffd")'


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("opening", ["(", "[", "f(", "{", "x = ("])
def test_deep_nesting_is_walked_without_recursion(language: str, opening: str) -> None:
    assert len(symbols(opening.encode() * 20_000, language)) <= 20_000


def test_definitions_deeper_than_the_bound_are_left_out() -> None:
    nested = b"function f(){" * 2_000 + b"}" * 2_000
    assert len(symbols(nested, "javascript")) == MAX_DEPTH


def test_a_header_cannot_grow_without_bound() -> None:
    (found,) = symbols(b"def f(" + b"argument, " * 10_000 + b"): pass", "python")
    assert len(found.signature) == 2001
    assert found.signature.endswith("…")


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=60, deadline=None)
@given(source=st.binary(max_size=300))
def test_random_bytes_never_raise(language: str, source: bytes) -> None:
    symbols(source, language)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_damaged_file_never_raises_and_keeps_its_lines(language: str, data: st.DataObject) -> None:
    source = FIXTURES[language][0].encode()
    start = data.draw(st.integers(0, len(source)))
    damaged = source[:start] + data.draw(st.binary(max_size=20)) + source[data.draw(st.integers(0, 40)) + start :]
    for found in symbols(damaged, language):
        assert 1 <= found.line <= found.end <= damaged.count(b"\n") + 1
        assert found.name
        assert "\n" not in found.signature


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("a.pyi", "python"),
        ("A.CJS", "javascript"),
        ("a.jsx", "javascript"),
        ("a.d.ts", "typescript"),
        ("a.mts", "typescript"),
        ("a.tsx", "tsx"),
        ("a.go", "go"),
        ("a.rs", "rust"),
        ("A.java", "java"),
        ("a.txt", None),
        ("Makefile", None),
        (".py", None),
    ],
)
def test_the_suffix_says_the_language(path: str, language: str | None) -> None:
    assert language_of(path) == language


def test_an_unknown_language_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown language 'cobol'; known are python, "):
        symbols(b"", "cobol")


Fact = tuple[str, str, int, int, tuple[str, ...], tuple[tuple[str, int], ...]]


def facts_by_ast(body: list[ast.stmt], prefix: str = "", around: str = "module") -> Iterator[Fact]:
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                kind = "method" if around == "class" else "function"
                raises = tuple(sorted(raises_by_ast(statement.body)))
                yield (prefix + name, kind, statement.lineno, statement.end_lineno or 0, (), raises)
                yield from facts_by_ast(statement.body, f"{prefix}{name}.", "function")
            case ast.ClassDef(name=name):
                bases = tuple(ast.unparse(base) for base in statement.bases)
                yield (prefix + name, "class", statement.lineno, statement.end_lineno or 0, bases, ())
                yield from facts_by_ast(statement.body, f"{prefix}{name}.", "class")
            case ast.Assign(targets=targets) if around != "function":
                for target in targets:
                    if isinstance(target, ast.Name):
                        line, end = target.lineno, statement.end_lineno or 0
                        yield (prefix + target.id, "constant", line, end, (), ())
            case _:
                yield from facts_by_ast(list(inner_statements(statement)), prefix, around)


def raises_by_ast(body: list[ast.stmt]) -> Iterator[tuple[str, int]]:
    for statement in body:
        if isinstance(statement, ast.Raise) and statement.exc is not None:
            exception = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
            yield ast.unparse(exception), statement.lineno
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from raises_by_ast(list(inner_statements(statement)))


def inner_statements(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.excepthandler | ast.match_case):
            yield from inner_statements(child)


@pytest.mark.parametrize("package", [json, http], ids=["json", "http"])
def test_the_standard_library_has_the_symbols_that_ast_finds(package: object) -> None:
    files = list(Path(str(getattr(package, "__file__", ""))).parent.rglob("*.py"))
    assert files
    for file in files:
        source = file.read_bytes()
        found = [
            (s.name, s.kind, s.line, s.end, s.bases, tuple(sorted((raised.name, raised.line) for raised in s.raises)))
            for s in symbols(source, "python")
        ]
        assert sorted(found) == sorted(facts_by_ast(ast.parse(source).body)), file
