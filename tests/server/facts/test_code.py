"""The reader of source code: one small file of each language, and files that nobody should have written."""

import io
from textwrap import dedent

from skillstill.facts.reader import Facts, Gap, Source
from skillstill.facts.readers.code import CODE

Found = list[dict[str, object]]


def facts(name: str, content: str | bytes) -> list[Facts]:
    source = content if isinstance(content, bytes) else dedent(content).lstrip("\n").encode()
    return list(CODE.read(Source(name, len(source), io.BytesIO(source))))


def rows(name: str, content: str, table: str) -> Found:
    """Return the rows of a table by column, excerpts as text, what is None left out."""
    source = dedent(content).lstrip("\n").encode()
    columns = ("first", "last", *(column.name for t in CODE.tables if t.name == table for column in t.stored))
    return [
        {key: _value(source, value) for key, value in zip(columns, row, strict=True) if value is not None}
        for part in facts(name, content)
        for row in part.rows.get(table, ())
    ]


def _value(source: bytes, value: object) -> object:
    return source[value[0] : value[0] + value[1]].decode() if isinstance(value, tuple) else value


def pick(found: Found, *columns: str) -> list[tuple[object, ...]]:
    return [tuple(row.get(column) for column in columns) for row in found]


def gaps(name: str, content: str | bytes) -> set[Gap]:
    return {gap for part in facts(name, content) for gap in part.gaps}


PYTHON = '''
    #!/usr/bin/env python3
    import json as j
    from .errors import Missing, Refused as No

    LIMIT: int = 3

    @app.get("/users/{id}")
    async def show(id: int, *rest, size=LIMIT, **more: str) -> str | None:
        """Return a user. Or not."""
        try:
            return await client.users.get(id, size)
        except (Missing, KeyError) as error:
            raise No("gone") from error

    class Cache(base.Store[str], Sized):
        # how long
        ttl = 60
        name: str

        @property
        def _size(self) -> int:
            def inner(): pass
            return len(self.items)

    def test_show():
        assert show(1) == make_user()

    if __name__ == "__main__":
        show(1)
'''


def test_a_definition_of_python_has_its_head_its_doc_and_its_place() -> None:
    found = rows("a.py", PYTHON, "definitions")
    assert found[0] == {
        "first": 8, "last": 13, "name": "show", "qualified": "show", "kind": "function",
        "signature": "async def show(id: int, *rest, size=LIMIT, **more: str) -> str | None",
        "returns": "str | None", "decorators": 'app.get("/users/{id}")', "doc": "Return a user.",
        "visibility": "public", "is_async": 1,
    }  # fmt: skip
    assert pick(found[1:4], "qualified", "kind", "parent", "visibility", "decorators", "signature") == [
        ("Cache", "class", None, "public", None, "class Cache(base.Store[str], Sized)"),
        ("Cache._size", "method", "Cache", "private", "property", "def _size(self) -> int"),
        ("Cache._size.inner", "function", "_size", "public", None, "def inner()"),
    ]


def test_parameters_of_python_have_types_and_defaults_and_self_is_none() -> None:
    found = rows("a.py", PYTHON, "parameters")
    assert pick(found, "function", "name", "position", "type", "default_value") == [
        ("show", "id", 1, "int", None),
        ("show", "*rest", 2, None, None),
        ("show", "size", 3, None, "LIMIT"),
        ("show", "**more", 4, "str", None),
    ]


def test_a_type_that_python_writes_as_a_text_is_told_without_its_quotes() -> None:
    source = """\
        def make(part: "Part", kind: Literal["a"]) -> 'Whole':
            size: "Size" = 1
        """
    assert pick(rows("a.py", source, "definitions"), "returns") == [("Whole",)]
    assert pick(rows("a.py", source, "parameters"), "type") == [("Part",), ('Literal["a"]',)]
    assert pick(rows("a.ts", "function f(mode: 'fast'): 'x' | 'y' {}", "parameters"), "type") == [("'fast'",)]


def test_bases_are_named_without_module_and_type_arguments() -> None:
    assert pick(rows("a.py", PYTHON, "bases"), "class", "base") == [("Cache", "Store"), ("Cache", "Sized")]


def test_a_call_knows_its_caller_its_receiver_and_its_arguments() -> None:
    calls = rows("a.py", PYTHON, "calls")
    assert calls[1] == {
        "first": 11, "last": 11, "name": "get", "receiver": "client.users", "caller": "show", "arguments": "id, size"
    }  # fmt: skip
    assert ("show", None, None, "1") in pick(calls, "name", "receiver", "caller", "arguments")


def test_imports_of_python_name_module_name_and_alias() -> None:
    assert pick(rows("a.py", PYTHON, "imports"), "module", "name", "alias") == [
        ("json", None, "j"),
        (".errors", "Missing", None),
        (".errors", "Refused", "No"),
    ]


def test_what_is_raised_and_caught_is_told_apart() -> None:
    assert pick(rows("a.py", PYTHON, "raises"), "exception", "function", "kind") == [
        ("Missing", "show", "caught"),
        ("KeyError", "show", "caught"),
        ("No", "show", "raised"),
    ]


def test_variables_are_constants_of_a_file_and_fields_of_a_class_but_not_those_of_a_function() -> None:
    found = rows("a.py", PYTHON + "\n    def f():\n        local = 1\n", "variables")
    assert pick(found, "qualified", "kind", "parent", "type", "value") == [
        ("LIMIT", "constant", None, "int", "3"),
        ("Cache.ttl", "field", "Cache", None, "60"),
        ("Cache.name", "field", "Cache", "str", None),
    ]


def test_a_use_lists_the_lines_of_a_name_once_each_and_leaves_out_local_names() -> None:
    found = {str(row["name"]): row["lines"] for row in rows("a.py", PYTHON, "uses")}
    assert found["show"] == "[8,26,29]"
    assert found["Missing"] == "[3,12]"
    assert "error" not in found
    assert "id" not in found


def test_a_test_tells_what_it_touches_and_not_the_framework() -> None:
    found = rows("a.py", "import unittest\n" + dedent(PYTHON), "tests")
    assert pick(found, "name", "touches", "framework") == [("test_show", "show, make_user", "unittest")]


def test_entry_points_are_scripts_mains_and_routes() -> None:
    found = rows("a.py", PYTHON, "entry_points")
    assert pick(found, "first", "kind", "name", "method", "function") == [
        (1, "script", "python3", None, None),
        (28, "main", "__main__", None, None),
        (7, "route", "/users/{id}", "GET", "show"),
    ]


def test_commands_are_decorated_functions_and_added_parsers() -> None:
    source = """
        @cli.command("clean-up")
        def clean(): ...

        @click.command()
        def run(): ...

        parsers.add_parser("build")
        subprocess.Command("git")
    """
    found = rows("a.py", source, "entry_points")
    assert pick(found, "name", "function") == [("clean-up", "clean"), ("run", "run"), ("build", None)]


TYPESCRIPT = """
    import fs, { readFile as read } from "node:fs";
    import * as path from "path";
    /** A client. It calls. */
    @Injectable({ scope: 1 })
    export class Client<T> extends lib.Base<T> implements Api, Closable<T> {
      private retries: number = 3;
      static #count = 0;
      constructor(private url: string, timeout?: number, ...rest: any[]) { super(url); }
      async get(path: string, size = 10): Promise<T> {
        throw new NotFound(path);
      }
      close = () => this.get("x");
    }
    export const LIMIT: number = 5;
    export const double = (n: number): number => n * 2;
    interface Api { name: string; find(id: number): User }
    enum Color { Red = 1, Green }
    type Id = string | number;
    app.get("/users/:id", (req, res) => { res.send(1); });
    axios.get("/not-a-route", { size: 1 });
    describe("client", () => {
      it("gets", async () => { expect(await load(1)).toBe(2); client.post("/x", body); });
    });
    subscribe({ next: (value) => { hidden(value); } });
"""


def test_typescript_has_classes_interfaces_enums_types_and_functions_that_are_values() -> None:
    found = rows("a.ts", TYPESCRIPT, "definitions")
    assert pick(found, "qualified", "kind", "returns", "visibility", "is_async") == [
        ("Client", "class", None, "public", 0),
        ("Client.constructor", "method", None, None, 0),
        ("Client.get", "method", "Promise<T>", None, 1),
        ("Client.close", "method", None, None, 0),
        ("double", "function", "number", "public", 0),
        ("Api", "interface", None, None, 0),
        ("Api.find", "method", "User", "public", 0),
        ("Color", "enum", None, None, 0),
        ("Id", "type", None, None, 0),
    ]
    assert (found[0]["doc"], found[0]["decorators"]) == ("A client.", "Injectable({ scope: 1 })")
    assert found[0]["signature"] == "export class Client<T>".removeprefix("export ") + (
        " extends lib.Base<T> implements Api, Closable<T>"
    )


def test_typescript_has_parameters_bases_imports_and_variables() -> None:
    parameters = pick(rows("a.ts", TYPESCRIPT, "parameters"), "function", "name", "type", "default_value")
    assert parameters[:5] == [
        ("Client.constructor", "url", "string", None),
        ("Client.constructor", "timeout", "number", None),
        ("Client.constructor", "...rest", "any[]", None),
        ("Client.get", "path", "string", None),
        ("Client.get", "size", None, "10"),
    ]
    assert pick(rows("a.ts", TYPESCRIPT, "bases"), "base", "kind") == [
        ("Base", "extends"),
        ("Api", "implements"),
        ("Closable", "implements"),
    ]
    assert pick(rows("a.ts", TYPESCRIPT, "imports"), "module", "name", "alias") == [
        ("node:fs", "default", "fs"),
        ("node:fs", "readFile", "read"),
        ("path", "*", "path"),
    ]
    assert pick(rows("a.ts", TYPESCRIPT, "variables"), "qualified", "kind", "type", "value") == [
        ("Client.retries", "field", "number", "3"),
        ("Client.#count", "field", None, "0"),
        ("LIMIT", "constant", "number", "5"),
        ("Api.name", "field", "string", None),
        ("Color.Red", "member", None, "1"),
        ("Color.Green", "member", None, None),
    ]


def test_a_route_has_a_handler_and_neither_a_client_nor_a_test_is_one() -> None:
    assert pick(rows("a.ts", TYPESCRIPT, "entry_points"), "name", "method") == [("/users/:id", "GET")]


def test_a_test_of_javascript_is_named_with_its_suites() -> None:
    found = rows("a.js", "import { it } from 'vitest';" + TYPESCRIPT[TYPESCRIPT.index("describe") - 5 :], "tests")
    assert pick(found, "name", "qualified", "touches", "framework") == [
        ("gets", "client > gets", "load, post", "Vitest")
    ]


def test_javascript_knows_commonjs_and_prototypes_and_says_that_it_declares_no_types() -> None:
    source = """
        const { join, sep: separator } = require("path");
        exports.load = function (name, size = 1) { throw new Error("x"); };
        Client.prototype.get = function get() {};
        module.exports = { close() {} };
        const api = { users: { list: (page) => 1 } };
    """
    assert pick(rows("a.js", source, "definitions"), "qualified") == [
        ("load",), ("Client.get",), ("close",), ("api.users.list",)
    ]  # fmt: skip
    assert pick(rows("a.js", source, "imports"), "module", "name", "alias") == [
        ("path", "join", None),
        ("path", "sep", "separator"),
    ]
    assert Gap("JavaScript declares no types", "parameters", "type") in gaps("a.js", source)


def test_functions_inside_an_unnamed_object_have_no_name_and_their_calls_are_kept() -> None:
    assert ("hidden", None) in pick(rows("a.ts", TYPESCRIPT, "calls"), "name", "caller")


def test_tsx_and_jsx_are_read() -> None:
    source = "export const Page = ({ title }) => <Card onClick={() => open(title)} />;"
    assert pick(rows("a.tsx", source, "definitions"), "name") == [("Page",)]
    assert pick(rows("a.jsx", source, "calls"), "name", "caller") == [("open", "Page")]


GO = """
    package main

    import (
        "fmt"
        web "net/http"
    )

    const Limit, low = 10, 1

    // Server serves. Always.
    type Server struct {
        *Base
        Name, Host string
    }

    type Store interface { Get(key string) (string, error) }

    // Run runs.
    func (s *Server) Run(ctx context.Context, ports ...int) error {
        web.HandleFunc("/health", s.health)
        return fmt.Errorf("no %s", s.Name)
    }

    func main() { (&Server{}).Run(nil) }

    func TestRun(t *testing.T) { start(); t.Fatal("x") }
"""


def test_go_has_methods_with_their_type_and_exported_names_are_public() -> None:
    found = rows("a.go", GO, "definitions")
    assert pick(found, "qualified", "kind", "visibility", "doc") == [
        ("Server", "struct", "public", "Server serves."),
        ("Store", "interface", "public", None),
        ("Store.Get", "method", "public", None),
        ("Server.Run", "method", "public", "Run runs."),
        ("main", "function", "private", None),
        ("TestRun", "function", "public", None),
    ]
    assert found[3]["returns"] == "error"
    assert pick(rows("a.go", GO, "bases"), "class", "base") == [("Server", "Base")]
    assert pick(rows("a.go", GO, "variables"), "qualified", "kind", "type", "value") == [
        ("Limit", "constant", None, "10, 1"),
        ("low", "constant", None, "10, 1"),
        ("Server.Name", "field", "string", None),
        ("Server.Host", "field", "string", None),
    ]


def test_go_has_entries_tests_and_a_gap_for_its_errors() -> None:
    assert pick(rows("a.go", GO, "entry_points"), "kind", "name", "function") == [
        ("main", "main", "main"),
        ("route", "/health", "s.health"),
    ]
    assert pick(rows("a.go", GO, "tests"), "name", "touches") == [("TestRun", "start")]
    assert gaps("a.go", GO) == {Gap("Go returns errors as values", "raises")}


RUST = """
    use std::{fmt, io::{self, Read as R}};
    /// A pool
    /// of things. More.
    #[derive(Debug)]
    pub struct Pool<T> { pub size: usize, items: Vec<T> }
    pub enum State { Open, Closed = 3 }
    trait Close: Drop { fn close(&self, hard: bool) -> bool; }
    impl<T> Close for Pool<T> { fn close(&self, hard: bool) -> bool { self.items.drain::<u8>(1); io::stdin(); true } }
    impl Pool<u8> { pub(crate) async fn open() -> Self { todo!() } }
    const LIMIT: usize = 4;
    #[get("/items")]
    fn items() {}
    mod tests { #[test] fn opens() { assert!(true); start(); } }
"""


def test_rust_has_the_methods_of_its_impls_and_the_whole_path_of_an_import() -> None:
    found = rows("a.rs", RUST, "definitions")
    assert pick(found, "qualified", "kind", "visibility", "is_async") == [
        ("Pool", "struct", "public", 0),
        ("State", "enum", "public", 0),
        ("Close", "trait", "private", 0),
        ("Close.close", "method", "public", 0),
        ("Pool.close", "method", "public", 0),
        ("Pool.open", "method", "internal", 1),
        ("items", "function", "private", 0),
        ("tests", "module", "private", 0),
        ("tests.opens", "function", "private", 0),
    ]
    assert (found[0]["doc"], found[0]["decorators"]) == ("A pool of things.", "derive(Debug)")
    assert pick(rows("a.rs", RUST, "imports"), "module", "name", "alias") == [
        ("std", "fmt", None),
        ("std", "io", None),
        ("std::io", "Read", "R"),
    ]


def test_rust_has_bases_calls_tests_and_routes() -> None:
    assert pick(rows("a.rs", RUST, "bases"), "class", "base", "kind") == [
        ("Close", "Drop", "extends"),
        ("Pool", "Close", "implements"),
    ]
    assert pick(rows("a.rs", RUST, "calls")[:2], "name", "receiver", "caller") == [
        ("drain", "self.items", "Pool.close"),
        ("stdin", "io", "Pool.close"),
    ]
    assert pick(rows("a.rs", RUST, "tests"), "qualified", "touches") == [("tests.opens", "start")]
    assert pick(rows("a.rs", RUST, "entry_points"), "kind", "name", "function") == [("route", "/items", "items")]


JAVA = """
    package a;
    import java.util.List;
    import org.junit.jupiter.api.*;
    /**
     * An owner
     * of pets. Or none.
     */
    @Entity(name = "x")
    public class Owner extends Person<Pet> implements Named, a.Aged {
      private static final int MAX = 3;
      protected List<Pet> pets;
      public Owner(String name) { super(name); }
      @GetMapping("/owners")
      public List<Pet> find(final String name, int... ids) throws IOException {
        try { throw new Missing("x"); } catch (Gone | a.Lost e) { return repository.find(name); }
      }
      @Test void finds() { assertEquals(1, count()); }
      enum Size { S, M }
    }
    interface Named { String name(); }
"""


def test_java_has_annotations_thrown_exceptions_and_keywords_of_visibility() -> None:
    found = rows("A.java", JAVA, "definitions")
    assert pick(found, "first", "qualified", "kind", "visibility", "decorators") == [
        (9, "Owner", "class", "public", 'Entity(name = "x")'),
        (12, "Owner.Owner", "method", "public", None),
        (14, "Owner.find", "method", "public", 'GetMapping("/owners")'),
        (17, "Owner.finds", "method", "internal", "Test"),
        (18, "Owner.Size", "enum", "internal", None),
        (20, "Named", "interface", "internal", None),
        (20, "Named.name", "method", "public", None),
    ]
    assert (found[0]["doc"], found[2]["returns"]) == ("An owner of pets.", "List<Pet>")
    assert pick(rows("A.java", JAVA, "raises"), "exception", "kind") == [
        ("IOException", "declared"),
        ("Missing", "raised"),
        ("Gone", "caught"),
        ("Lost", "caught"),
    ]


def test_java_has_imports_bases_fields_tests_and_routes() -> None:
    assert pick(rows("A.java", JAVA, "imports"), "module", "name") == [
        ("java.util", "List"),
        ("org.junit.jupiter.api", "*"),
    ]
    assert pick(rows("A.java", JAVA, "bases"), "base") == [("Person",), ("Named",), ("Aged",)]
    assert pick(rows("A.java", JAVA, "variables"), "name", "kind", "type", "value") == [
        ("MAX", "constant", "int", "3"),
        ("pets", "field", "List<Pet>", None),
        ("S", "member", None, None),
        ("M", "member", None, None),
    ]
    assert pick(rows("A.java", JAVA, "tests"), "name", "touches", "framework") == [("finds", "count", "JUnit 5")]
    assert pick(rows("A.java", JAVA, "entry_points"), "name", "function") == [("/owners", "Owner.find")]


C = """
    #include <stdio.h>
    #define LIMIT 10
    #define MAX(a, b) ((a) > (b) ? (a) : (b))
    /* Reads a line. */
    static struct line *read_line(const char *path, int flags[], char **error) { return open_it(path, LIMIT); }
    int close_it(struct line *line);
    typedef struct { int size, *next; void (*done)(int); } item_t;
    enum color { RED = 1, GREEN };
    static int count = 3;
    int main(int argc, char **argv) { items->add(1); return 0; }
    TEST_CASE(parses) { int local = 1; check_it(local); }
"""


def test_c_has_functions_declarations_macros_and_pointers_in_types() -> None:
    found = rows("a.c", C, "definitions")
    assert pick(found, "name", "kind", "returns", "visibility") == [
        ("MAX", "macro", None, "public"),
        ("read_line", "function", "struct line *", "private"),
        ("close_it", "declaration", "int", "public"),
        ("item_t", "struct", None, "public"),
        ("color", "enum", None, "public"),
        ("main", "function", "int", "public"),
        ("parses", "function", "TEST_CASE", "public"),
    ]
    assert found[1]["doc"] == "Reads a line."
    assert pick(rows("a.c", C, "parameters")[2:5], "name", "type") == [
        ("path", "char *"),
        ("flags", "int"),
        ("error", "char **"),
    ]
    assert pick(rows("a.c", C, "variables"), "qualified", "kind", "value") == [
        ("LIMIT", "constant", "10"),
        ("item_t.size", "field", None),
        ("item_t.next", "field", None),
        ("item_t.done", "field", None),
        ("color.RED", "member", "1"),
        ("color.GREEN", "member", None),
        ("count", "variable", "3"),
    ]


def test_c_has_includes_calls_mains_and_tests_that_are_macros() -> None:
    assert pick(rows("a.c", C, "imports"), "module") == [("stdio.h",)]
    assert pick(rows("a.c", C, "calls"), "name", "receiver", "caller") == [
        ("open_it", None, "read_line"),
        ("add", "items", "main"),
        ("check_it", None, "parses"),
    ]
    assert pick(rows("a.c", C, "entry_points"), "kind") == [("main",)]
    assert pick(rows("a.c", C, "tests"), "name", "touches") == [("parses", "check_it")]


CPP = """
    #include <gtest/gtest.h>
    namespace shop {
    /// A cart.
    template <typename T> class Cart : public Base<T>, private util::Lock {
    public:
      explicit Cart(int size) : Base(size) {}
      void add(const std::string& name, int count = 1) const;
      int total = 0;
    protected:
      enum class Kind : int { Small = 1 };
    };
    }
    int shop::Cart::sum(int x) { try { throw std::out_of_range("x"); } catch (const Error& e) {} return util::add(x); }
    TEST(CartTest, Adds) { EXPECT_EQ(make_cart(), 1); }
"""


def test_cpp_has_members_inside_and_outside_of_their_class() -> None:
    found = rows("a.cpp", CPP, "definitions")
    assert pick(found, "qualified", "kind", "visibility") == [
        ("shop", "namespace", "public"),
        ("Cart", "class", "public"),
        ("Cart.Cart", "method", "public"),
        ("Cart.add", "method", "public"),
        ("Cart.Kind", "enum", "protected"),
        ("Cart.sum", "method", "public"),
    ]
    assert found[1]["doc"] == "A cart."
    assert pick(rows("a.cpp", CPP, "parameters"), "name", "type", "default_value") == [
        ("size", "int", None),
        ("name", "std::string &", None),
        ("count", "int", "1"),
        ("x", "int", None),
    ]


def test_cpp_has_bases_exceptions_fields_and_tests() -> None:
    assert pick(rows("a.cpp", CPP, "bases"), "base") == [("Base",), ("Lock",)]
    assert pick(rows("a.cpp", CPP, "raises"), "exception", "kind") == [("out_of_range", "raised"), ("Error", "caught")]
    assert pick(rows("a.cpp", CPP, "variables"), "qualified", "value") == [
        ("Cart.total", "0"),
        ("Cart.Kind.Small", "1"),
    ]
    assert pick(rows("a.cpp", CPP, "tests"), "name", "touches", "framework") == [
        ("CartTest, Adds", "make_cart", "GoogleTest")
    ]


def test_a_header_is_cpp_if_it_has_a_class() -> None:
    assert pick(rows("a.h", "class Cart { int size; };", "definitions"), "kind") == [("class",)]
    assert pick(rows("a.h", "struct cart { int size; };", "definitions"), "kind") == [("struct",)]


CSHARP = """
    using System.Text;
    using Json = System.Text.Json;
    using Xunit;
    namespace Shop {
      /// <summary>
      /// A cart. It grows.
      /// </summary>
      [Route("api/[controller]")]
      public class Cart<T> : Base<T>, ICart {
        private const int Max = 3;
        public string Name { get; set; } = "x";
        [HttpGet("/carts")]
        public async Task<int> Load(string id, int size = 1, params int[] rest) {
          try { throw new Missing("x"); } catch (IOException e) { }
          await _client.SendAsync(id); Check<int>(size); other?.Close(); return 1;
        }
        [Fact] public void Loads() { Assert.Equal(1, Count()); }
        static void Main(string[] args) { app.MapGet("/ping", () => 1); }
      }
      enum Size { S = 1, M }
    }
"""


def test_csharp_has_attributes_properties_and_names_without_the_namespace() -> None:
    found = rows("A.cs", CSHARP, "definitions")
    assert pick(found, "qualified", "kind", "visibility", "is_async") == [
        ("Shop", "namespace", "internal", 0),
        ("Cart", "class", "public", 0),
        ("Cart.Load", "method", "public", 1),
        ("Cart.Loads", "method", "public", 0),
        ("Cart.Main", "method", "private", 0),
        ("Size", "enum", "internal", 0),
    ]
    assert (found[1]["doc"], found[1]["decorators"]) == ("A cart.", 'Route("api/[controller]")')
    assert pick(rows("A.cs", CSHARP, "variables"), "qualified", "kind", "type", "value") == [
        ("Cart.Max", "constant", "int", "3"),
        ("Cart.Name", "field", "string", '"x"'),
        ("Size.S", "member", None, "1"),
        ("Size.M", "member", None, None),
    ]


def test_csharp_has_calls_bases_imports_exceptions_tests_and_entries() -> None:
    assert pick(rows("A.cs", CSHARP, "calls")[1:4], "name", "receiver") == [
        ("SendAsync", "_client"),
        ("Check", None),
        ("Close", "other"),
    ]
    assert pick(rows("A.cs", CSHARP, "bases"), "base", "kind") == [("Base", "extends"), ("ICart", "implements")]
    assert pick(rows("A.cs", CSHARP, "imports")[:2], "module", "alias") == [
        ("System.Text", None),
        ("System.Text.Json", "Json"),
    ]
    assert pick(rows("A.cs", CSHARP, "raises"), "exception") == [("Missing",), ("IOException",)]
    assert pick(rows("A.cs", CSHARP, "tests"), "name", "touches", "framework") == [("Loads", "Count", "xUnit")]
    assert pick(rows("A.cs", CSHARP, "entry_points"), "kind", "name") == [
        ("route", "/carts"),
        ("main", "Cart.Main"),
        ("route", "/ping"),
    ]


RUBY = """
    require "json"
    module Shop
      # A cart. It grows.
      class Cart < Base::Store
        include Comparable
        LIMIT = 3
        attr_reader :size
        def initialize(name, size = 1, *rest, key:, **more, &block)
          raise Missing, "x" if name.nil?
          client.get(name)
        rescue Gone, Net::Timeout => error
          log "x"
        end
        def self.open(path) = new(path)
        private
        def secret; end
      end
    end
    describe Cart do
      it "grows" do
        expect(build(1)).to eq(2)
      end
    end
    get "/carts" do
    end
"""


def test_ruby_has_modules_mixins_accessors_and_private_sections() -> None:
    found = rows("a.rb", RUBY, "definitions")
    assert pick(found, "qualified", "kind", "visibility") == [
        ("Shop", "module", "public"),
        ("Shop.Cart", "class", "public"),
        ("Shop.Cart.initialize", "method", "public"),
        ("Shop.Cart.open", "method", "public"),
        ("Shop.Cart.secret", "method", "private"),
    ]
    assert (found[1]["doc"], found[1]["signature"]) == ("A cart.", "class Cart < Base::Store")
    assert pick(rows("a.rb", RUBY, "bases"), "base", "kind") == [("Store", "extends"), ("Comparable", "implements")]
    assert pick(rows("a.rb", RUBY, "variables"), "name", "kind", "value") == [
        ("LIMIT", "constant", "3"),
        ("size", "field", None),
    ]
    assert pick(rows("a.rb", RUBY, "parameters")[:6], "name", "default_value") == [
        ("name", None), ("size", "1"), ("*rest", None), ("key", None), ("**more", None), ("&block", None)
    ]  # fmt: skip


def test_ruby_has_calls_without_parentheses_exceptions_tests_and_routes() -> None:
    assert ("log", None, "Shop.Cart.initialize", '"x"') in pick(
        rows("a.rb", RUBY, "calls"), "name", "receiver", "caller", "arguments"
    )
    assert pick(rows("a.rb", RUBY, "raises"), "exception", "kind") == [
        ("Missing", "raised"),
        ("Gone", "caught"),
        ("Timeout", "caught"),
    ]
    assert pick(rows("a.rb", RUBY, "tests"), "qualified", "touches") == [("Cart > grows", "build")]
    assert pick(rows("a.rb", RUBY, "entry_points"), "kind", "name") == [("route", "/carts")]


PHP = """
    <?php
    namespace Shop;
    use Lib\\Store as Base;
    use Lib\\{Item, Price as Cost};
    /** A cart. It grows. */
    final class Cart extends Base implements Countable {
      use Logs;
      const MAX = 3;
      private ?string $name = 'x';
      public function __construct(private int $size, string ...$rest) { parent::__construct($size); }
      #[Route('/carts')]
      protected function load(int $id = 1): ?array {
        try { throw new Missing("x"); } catch (Gone | Lost $e) { return $this->client->get($id); }
      }
      public function testLoad() { $this->assertSame(1, make_cart()); }
    }
    function helper($x) { return Item::find($x); }
"""


def test_php_has_classes_traits_promoted_parameters_and_attributes() -> None:
    found = rows("a.php", PHP, "definitions")
    assert pick(found, "qualified", "kind", "visibility", "returns") == [
        ("Shop", "namespace", "public", None),
        ("Cart", "class", "public", None),
        ("Cart.__construct", "method", "public", None),
        ("Cart.load", "method", "protected", "?array"),
        ("Cart.testLoad", "method", "public", None),
        ("helper", "function", "public", None),
    ]
    assert (found[1]["doc"], found[3]["decorators"]) == ("A cart.", "Route('/carts')")
    assert pick(rows("a.php", PHP, "bases"), "base", "kind") == [
        ("Base", "extends"),
        ("Countable", "implements"),
        ("Logs", "implements"),
    ]
    assert pick(rows("a.php", PHP, "variables"), "name", "kind", "type", "value") == [
        ("MAX", "constant", None, "3"),
        ("name", "field", "?string", "'x'"),
    ]


def test_php_has_imports_calls_exceptions_tests_and_routes() -> None:
    assert pick(rows("a.php", PHP, "imports"), "module", "name", "alias") == [
        ("Lib", "Store", "Base"),
        ("Lib", "Item", None),
        ("Lib", "Price", "Cost"),
    ]
    assert ("find", "Item", "helper") in pick(rows("a.php", PHP, "calls"), "name", "receiver", "caller")
    assert pick(rows("a.php", PHP, "raises"), "exception") == [("Missing",), ("Gone",), ("Lost",)]
    assert pick(rows("a.php", PHP, "tests"), "name", "touches") == [("testLoad", "make_cart")]
    assert pick(rows("a.php", PHP, "entry_points"), "name", "function") == [("/carts", "Cart.load")]
