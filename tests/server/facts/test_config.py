"""Settings of configuration files: the full path of each value, and the line that holds it."""

import io
from itertools import chain

import pytest
from skillstill.facts.reader import Facts, Source, Unreadable
from skillstill.facts.readers.config import CONFIG
from skillstill.facts.table import Row


def rows(name: str, text: str | bytes) -> list[Row]:
    return list(chain.from_iterable(facts.rows.get("settings", ()) for facts in read(name, text)))


def read(name: str, text: str | bytes) -> list[Facts]:
    data = text if isinstance(text, bytes) else text.encode()
    assert CONFIG.takes(name, data[:8192])
    return list(CONFIG.read(Source(name, len(data), io.BytesIO(data))))


def values(name: str, text: str | bytes) -> dict[object, object]:
    return {row[2]: row[4] for row in rows(name, text)}


def lines(name: str, text: str | bytes) -> dict[object, tuple[object, object]]:
    return {row[2]: (row[0], row[1]) for row in rows(name, text)}


def gaps(name: str, text: str | bytes) -> list[str]:
    return [gap.reason for facts in read(name, text) for gap in facts.gaps]


def test_a_value_has_its_path_name_type_and_line() -> None:
    compose = "services:\n  web:\n    image: nginx\n    ports:\n      - 8080\n      - '443'\n"
    assert rows("compose.yml", compose) == [
        (3, 3, "services.web.image", "image", "nginx", "string"),
        (5, 5, "services.web.ports[0]", "ports", "8080", "integer"),
        (6, 6, "services.web.ports[1]", "ports", "443", "string"),
    ]


def test_json_may_have_comments_trailing_commas_and_bare_names() -> None:
    text = '{\n  // why\n  "strict": true, /* both */\n  paths: {\n    "@/*": ["src/*",],\n  },\n}\n'
    assert values("tsconfig.json", text) == {"strict": "true", "paths.@/*[0]": "src/*"}
    assert lines("tsconfig.json", text)["paths.@/*[0]"] == (5, 5)


def test_empty_containers_and_nulls_are_values() -> None:
    assert [row[2:] for row in rows("a.json", '{"a": {}, "b": [], "c": null, "d": ""}')] == [
        ("a", "a", "{}", "object"),
        ("b", "b", "[]", "array"),
        ("c", "c", None, "null"),
        ("d", "d", "", "string"),
    ]


def test_escapes_are_resolved() -> None:
    assert values("a.json", r'{"a\"b": "\u00e9\n"}') == {'a"b': "é"}
    assert values("a.toml", "a = \"x\\ty\"\nb = 'c\\d'\n") == {"a": "x\ty", "b": "c\\d"}


def test_a_name_that_stands_twice_has_both_rows() -> None:
    assert [row[4] for row in rows("a.json", '{"a": 1, "a": 2}')] == ["1", "2"]


def test_json_lines_are_data_and_only_the_first_value_is_read() -> None:
    assert values("a.json", '{"a": 1}\n{"a": 2}\n') == {"a": "1"}
    assert gaps("a.json", '{"a": 1}\n{"a": 2}\n') == ["several JSON values in a file: only the first is read"]


def test_documents_of_a_yaml_file_are_numbered() -> None:
    assert values("k8s.yaml", "kind: Pod\n---\nkind: Service\n") == {"[0].kind": "Pod", "[1].kind": "Service"}


def test_yaml_aliases_and_merges_show_the_line_of_the_anchor() -> None:
    text = "base: &base\n  image: one\n  restart: always\nweb:\n  <<: *base\n  image: two\nalso: *base\n"
    assert values("compose.yaml", text)["web.image"] == "two"
    assert lines("compose.yaml", text)["web.restart"] == (3, 3)
    assert lines("compose.yaml", text)["also.image"] == (2, 2)


def test_a_yaml_tag_is_a_type_and_is_not_executed() -> None:
    text = "role: !Ref Name\nrun: !!python/object/apply:os.system ['exit 1']\n"
    assert [row[4:] for row in rows("a.yml", text)] == [("Name", "!Ref"), ("exit 1", "string")]


def test_aliases_of_aliases_end_at_the_limit_of_rows() -> None:
    layers = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 12))
    assert gaps("bomb.yml", f"l0: &l0 [x, x]\n{layers}") == ["more than 10000 settings"]


def test_an_alias_in_what_it_stands_for_ends() -> None:
    assert gaps("loop.yml", "a: &a\n  b: 1\n  a: *a\n") == ["nested more than 64 deep"]


def test_a_block_of_text_ends_with_its_last_line() -> None:
    assert lines("ci.yml", "run: |\n  one\n  two\nnext: 1\n") == {"run": (1, 3), "next": (4, 4)}


def test_toml_tables_arrays_and_dotted_keys_make_one_path() -> None:
    text = '[a.b]\nc.d = 1 # why\n[[x]]\nn = [1,\n  {y = "z"}]\n[[x]]\n[x.sub]\nm = 1979-05-27\n'
    assert values("a.toml", text) == {
        "a.b.c.d": "1",
        "x[0].n[0]": "1",
        "x[0].n[1].y": "z",
        "x[1].sub.m": "1979-05-27",
    }
    assert lines("a.toml", text)["x[0].n[1].y"] == (5, 5)


def test_a_damaged_line_of_toml_costs_only_itself() -> None:
    assert values("a.toml", "a = 1\nb = \nc = 3\n") == {"a": "1", "c": "3"}
    assert gaps("a.toml", "a = 1\nb = \nc = 3\n") == ["lines that are not valid TOML"]


def test_a_value_of_an_ini_file_goes_on_in_deeper_lines() -> None:
    text = "top = 1\n[tool:x]\n; no\nAddopts = -q\n    # no\n    -v\nflag\n"
    assert rows("setup.cfg", text) == [
        (1, 1, "top", "top", "1", "string"),
        (4, 6, "tool:x.Addopts", "Addopts", "-q\n-v", "string"),
        (7, 7, "tool:x.flag", "flag", None, "null"),
    ]


def test_a_conf_file_is_taken_if_it_looks_like_an_ini_file() -> None:
    assert CONFIG.takes("jail.conf", b"# c\n\n[DEFAULT]\nbantime = 10m\n")
    assert not CONFIG.takes("nginx.conf", b"server {\n  listen 80;\n}\n")


def test_properties_have_escapes_joined_lines_and_dots_in_their_names() -> None:
    text = "# c\nserver.port : 80\\\n   80\nname\\ x=\\u00e9\n"
    assert rows("application.properties", text) == [
        (2, 3, "server.port", "port", "8080", "string"),
        (4, 4, "name x", "name x", "é", "string"),
    ]


def test_variables_lose_their_quotes_and_comments() -> None:
    text = "export A=\"x y\" # c\nB='#'\nC=d#e\n\nnot a variable\n"
    assert values(".env.example", text) == {"A": "x y", "B": "#", "C": "d#e"}
    assert gaps(".env.example", text) == ["lines that are not NAME=value"]


def test_xml_has_elements_and_attributes_on_their_lines() -> None:
    text = '<?xml version="1.0"?>\n<a xmlns="u">\n <b\n   n="1"\n   k="2">t</b>\n <b/>\n <c>\n  x\n </c>\n</a>\n'
    assert rows("a.xml", text) == [
        (3, 5, "a.b[0]", "b", "t", "string"),
        (4, 4, "a.b[0]@n", "n", "1", "attribute"),
        (5, 5, "a.b[0]@k", "k", "2", "attribute"),
        (6, 6, "a.b[1]", "b", "", "string"),
        (7, 9, "a.c", "c", "x", "string"),
    ]


def test_entities_of_an_xml_file_are_not_expanded() -> None:
    text = '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n<a>&e;</a>'
    assert rows("a.xml", text) == []
    assert gaps("a.xml", text) == ["entities of its own are not expanded"]


def test_instructions_of_a_named_stage_stand_under_its_name() -> None:
    text = "FROM golang:1 AS build\nRUN a && \\\n  # why\n  b\nRUN <<E\nc\nE\nFROM scratch\ncopy x /x\n"
    assert rows("Dockerfile.dev", text) == [
        (1, 1, "build.FROM", "FROM", "golang:1 AS build", "instruction"),
        (2, 4, "build.RUN[0]", "RUN", "a && b", "instruction"),
        (5, 7, "build.RUN[1]", "RUN", "<<E\nc\nE", "instruction"),
        (8, 8, "FROM", "FROM", "scratch", "instruction"),
        (9, 9, "COPY", "COPY", "x /x", "instruction"),
    ]


def test_a_makefile_has_variables_and_targets_with_their_recipes() -> None:
    text = "CC ?= gcc\n.PHONY: all\nall clean: main.o \\\n  x.o\n\techo $@\n\t@true\n"
    assert values("Makefile", text) == {
        "CC": "gcc",
        ".PHONY": "all",
        "all": "main.o x.o",
        "all.recipe": "echo $@\n@true",
        "clean": "main.o x.o",
        "clean.recipe": "echo $@\n@true",
    }
    assert lines("Makefile", text)["all"] == (3, 6)


def test_front_matter_counts_its_fence_as_a_line() -> None:
    assert rows("SKILL.md", "---\nname: x\n---\n# T\n") == [(2, 2, "name", "name", "x", "string")]
    assert not CONFIG.takes("README.md", b"# T\n")


def test_lock_files_and_large_files_are_no_settings() -> None:
    assert gaps("package-lock.json", "{}") == ["a lock file is no configuration: its packages are in dependencies"]
    with pytest.raises(Unreadable, match="larger than 1 MB"):
        read("a.json", "[" + "1," * 600_000 + "1]")
    assert not CONFIG.takes("TEST-a.xml", b'<?xml version="1.0"?>\n<testsuite/>')


@pytest.mark.parametrize("name", ["a.json", "a.yml", "a.toml", "a.ini", "a.xml", "a.properties", ".env", "Makefile"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\xff\xfe\xfa",
        b"{" * 100000,
        b"[" * 100000,
        b'"' * 99999,
        b"<a>" * 50000,
        b"a" * 900000,
        b"a" + b" " * 90_000 + b"b",
        b"a: b: c: [",
        b"\\" * 10001,
        b"a = [\n" * 9999,
        "é=ü\n".encode("latin-1"),
        b"#" * 500000,
    ],
)
def test_bad_input_ends_with_rows_or_gaps(name: str, data: bytes) -> None:
    read(name, data)


def test_binary_content_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="binary"):
        read("a.ini", b"[a]\n\0\0\0")


def test_a_mark_of_wide_characters_is_heard() -> None:
    assert values("a.ini", "[a]\nb = 1\n".encode("utf-16")) == {"a.b": "1"}
