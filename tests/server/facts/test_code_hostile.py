"""The reader of source code on files that nobody should have written, and Python's own parser as judge."""

import argparse
import ast
import dataclasses
import io
import json.decoder
from inspect import getsource
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skillstill.facts.reader import Facts, Gap, Source, Unreadable
from skillstill.facts.readers.code import CODE

SUFFIXES = ["py", "js", "ts", "tsx", "go", "rs", "java", "c", "cpp", "cs", "rb", "php"]


def read(name: str, content: bytes) -> list[Facts]:
    return list(CODE.read(Source(name, len(content), io.BytesIO(content))))


def names(found: list[Facts], table: str) -> list[object]:
    return [row[2] for part in found for row in part.rows.get(table, ())]


def test_what_is_around_a_syntax_error_is_read_and_the_gap_says_so() -> None:
    found = read("a.py", b"def first(): pass\n\ndef ((((\n\ndef second(): pass\n")
    assert "first" in names(found, "definitions")
    assert Gap("syntax errors") in found[0].gaps


def test_a_language_that_is_not_read_says_so() -> None:
    assert CODE.takes("Main.kt", b"")
    with pytest.raises(Unreadable, match="Kotlin is not read"):
        read("Main.kt", b"fun main() {}")


def test_texts_that_are_no_programs_are_left_to_others() -> None:
    assert not any(CODE.takes(name, b"text") for name in ("a.md", "a.json", "a.csv", "Makefile", "a.py.txt", "py"))


def test_a_script_without_suffix_is_known_by_its_first_line() -> None:
    script = b"#!/usr/bin/env python3\ndef run(): pass\n"
    assert CODE.takes("run", script)
    assert names(read("run", script), "definitions") == ["run"]
    assert not CODE.takes("run", b"#!/bin/sh\n")


def test_a_minified_file_a_binary_and_one_that_is_too_large_are_not_read() -> None:
    with pytest.raises(Unreadable, match="minified"):
        read("a.js", b"a();" * 6_000)
    with pytest.raises(Unreadable, match="binary"):
        read("a.py", b"x = 1\n\0\n")
    with pytest.raises(Unreadable, match="larger than 5 MB"):
        read("a.py", b"x = 1\n" * 1_000_000)


def test_a_file_without_content_has_no_rows() -> None:
    assert [read(f"a.{suffix}", content) for suffix in SUFFIXES for content in (b"", b" \n")] == [[]] * 24


def test_lines_are_counted_by_line_feeds_and_a_byte_order_mark_is_no_text() -> None:
    found = read("a.py", b"\xef\xbb\xbfdef f(): pass\r\n\r\ndef g(): pass\r\n")
    assert [row[:3] for row in found[0].rows["definitions"]] == [(1, 1, "f"), (3, 3, "g")]


def test_bytes_that_are_not_utf8_stand_for_themselves() -> None:
    assert names(read("a.py", b"# gr\xfc\xdfe\ndef f(): return '\xe4'\n"), "definitions") == ["f"]


def test_definitions_nested_too_deep_are_left_out_and_counted_as_a_gap() -> None:
    source = "\n".join(f"{' ' * depth}class A{depth}:" for depth in range(90)) + "\n" + " " * 91 + "pass"
    found = read("a.py", source.encode())
    assert len(names(found, "definitions")) == 50
    assert Gap("definitions nested too deep") in found[0].gaps


@pytest.mark.parametrize("source", [b"a\n" + b".b()\n" * 3_000, b"function f() {\n" * 2_000 + b"}" * 2_000])
def test_a_tree_that_is_too_deep_for_queries_is_not_read(source: bytes) -> None:
    with pytest.raises(Unreadable, match="nested too deep"):
        read("a.js", source)


def test_long_texts_are_cut() -> None:
    source = f"def f(a={'x' * 10_000}):\n    g({'y' * 10_000})\n".encode()
    found = read("a.py", source)
    assert found[0].rows["definitions"][0][6] == (0, 2_000)
    assert found[0].rows["calls"][0][5] == (source.index(b"y"), 2_000)
    assert len(str(found[0].rows["parameters"][0][6])) == 120


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=30)
@given(content=st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(suffix: str, content: bytes) -> None:
    try:
        found = read(f"a.{suffix}", content)
    except Unreadable:
        return
    widths = {table.name: len(table.stored) + 2 for table in CODE.tables}
    lines = content.count(b"\n") + 1
    for table, rows in (item for part in found for item in part.rows.items()):
        assert all(len(row) == widths[table] for row in rows)
        assert all(1 <= int(str(row[0])) <= int(str(row[1])) <= lines for row in rows)


@pytest.mark.parametrize("module", [argparse, dataclasses, json.decoder])
def test_python_agrees_with_its_own_parser(module: ModuleType) -> None:
    source = getsource(module)
    nodes = list(ast.walk(ast.parse(source)))
    found = read("a.py", source.encode())
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    assert sorted(map(str, names(found, "definitions"))) == sorted(n.name for n in nodes if isinstance(n, definitions))
    called = [n.func for n in nodes if isinstance(n, ast.Call)]
    assert sorted(map(str, names(found, "calls"))) == sorted(
        func.id if isinstance(func, ast.Name) else func.attr
        for func in called
        if isinstance(func, ast.Name | ast.Attribute)
    )
    handlers = sum(isinstance(n, ast.Raise) and n.exc is not None for n in nodes)
    assert sum(row[4] == "raised" for part in found for row in part.rows.get("raises", ())) == handlers
