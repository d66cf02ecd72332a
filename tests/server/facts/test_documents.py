"""Sections, links and code blocks of documents, with the lines that show them."""

import io

import pytest
from skillstill.facts.reader import Source, Unreadable
from skillstill.facts.readers.documents import DOCUMENTS
from skillstill.facts.table import Row, Value


def rows(name: str, table: str, text: str | bytes) -> list[Row]:
    """Return the rows of a table; excerpts are replaced by the text that they stand for."""
    data = text if isinstance(text, bytes) else text.encode()
    assert DOCUMENTS.takes(name, data[:8192])
    (facts,) = DOCUMENTS.read(Source(name, len(data), io.BytesIO(data)))
    return [tuple(_shown(value, data) for value in row) for row in facts.rows[table]]


def _shown(value: Value, data: bytes) -> Value:
    return data[value[0] : value[0] + value[1]].decode("utf-8", "replace") if isinstance(value, tuple) else value


def test_a_section_has_the_titles_above_it_and_its_own_text() -> None:
    text = "intro\n\n# A `b` *c*\n\nétext\n\n## B\nmore\n### C\n## D\n"
    assert rows("a.md", "sections", text) == [
        (1, 1, None, 0, "", "intro\n"),
        (3, 5, "A b c", 1, "", "étext\n"),
        (7, 8, "B", 2, "A b c", "more\n"),
        (9, 9, "C", 3, "A b c > B", ""),
        (10, 10, "D", 2, "A b c", ""),
    ]


def test_titles_in_code_are_no_sections() -> None:
    assert [row[2] for row in rows("a.md", "sections", "```\n# no\n```\n    # no\n\nYes\n===\n")] == [None, "Yes"]


def test_front_matter_gives_the_title_of_what_has_no_heading() -> None:
    text = '---\ntitle: "The page"\nx: 1\n---\ntext\n\n## Sub\n'
    assert rows("a.md", "sections", text)[0] == (1, 5, "The page", 0, "", "text\n")
    assert rows("a.md", "sections", text)[1][:3] == (7, 7, "Sub")


def test_headings_and_links_in_html_count() -> None:
    text = '<h1 align="center">\n  <img alt="logo" src="l.png">\n  Big <b>name</b>\n</h1>\n\nand <a href="u">here</a>\n'
    assert rows("a.md", "sections", text)[0][:4] == (1, 6, "Big name", 1)
    assert rows("a.md", "links", text) == [(2, 2, "logo", "l.png", "image"), (6, 6, "here", "u", "link")]


def test_links_stand_on_their_own_line_of_a_paragraph() -> None:
    text = "> one\n> [two\n> words](b) [![i](c)](d)\n> https://x.y/z.\n> [r] <http://m> `[no](no)`\n\n[r]: e 'title'\n"
    assert rows("a.md", "links", text) == [
        (2, 2, "two words", "b", "link"),
        (3, 3, "i", "d", "link"),
        (3, 3, "i", "c", "image"),
        (4, 4, "https://x.y/z", "https://x.y/z", "link"),
        (5, 5, "r", "e", "link"),
        (5, 5, "http://m", "http://m", "link"),
    ]


def test_code_blocks_have_their_language_and_text_without_fences() -> None:
    text = "- a\n\n  ```py title=x\n  b\n  ```\n\n~~~\n~~~\n\n    indented\n"
    assert rows("a.md", "code_blocks", text) == [
        (3, 5, "py", "  b\n"),
        (7, 8, None, ""),
        (10, 10, None, "    indented\n"),
    ]


def test_levels_of_restructured_text_are_the_order_of_adornments() -> None:
    text = "====\nTop\n====\n\nOne\n---\ntext\n\nTwo ``x``\n~~~~~~~~~\n\nThree\n-----\n"
    assert rows("a.rst", "sections", text) == [
        (1, 3, "Top", 1, "", ""),
        (5, 7, "One", 2, "Top", "text\n"),
        (9, 10, "Two x", 3, "Top > One", ""),
        (12, 13, "Three", 2, "Top", ""),
    ]


def test_tables_transitions_and_literal_text_are_no_titles() -> None:
    text = "====  ====\na     b\n====  ====\n\n-----\n\ntext::\n\n    Title\n    =====\n\nend\n"
    assert [row[2] for row in rows("a.rst", "sections", text)] == [None]


def test_code_of_restructured_text() -> None:
    text = (
        ".. code-block:: sh\n   :caption: x\n\n   ls\n\nSo::\n\n  lit\n\n  more\n\n>>> 1\n1\n\n"
        ".. highlight:: c\n\nAnd::\n\n  int\n"
    )
    assert rows("a.rst", "code_blocks", text) == [
        (1, 4, "sh", "   ls\n"),
        (8, 10, None, "  lit\n\n  more\n"),
        (12, 13, "pycon", ">>> 1\n1\n"),
        (19, 19, "c", "  int\n"),
    ]


def test_links_of_restructured_text() -> None:
    text = "`a\nb <http://u>`_ and :doc:`guide` and :ref:`T <t>`\n\n.. _n: http://v\n.. image:: i.png\n\nhttp://w.\n"
    assert rows("README", "links", text) == [
        (1, 1, "a b", "http://u", "link"),
        (2, 2, "guide", "guide", "link"),
        (2, 2, "T", "t", "link"),
        (4, 4, "n", "http://v", "link"),
        (5, 5, "", "i.png", "image"),
        (7, 7, "http://w", "http://w", "link"),
    ]


def test_asciidoc_has_titles_listings_and_links() -> None:
    text = "= Doc\n\n== Sec\nhttps://x[text] xref:a.adoc[A]\n\n[source,ruby]\n----\n== no\n----\n\n////\n== no\n////\n"
    assert [row[2:5] for row in rows("a.adoc", "sections", text)] == [("Doc", 1, ""), ("Sec", 2, "Doc")]
    assert rows("a.adoc", "code_blocks", text) == [(7, 9, "ruby", "== no\n")]
    assert [row[2:4] for row in rows("a.adoc", "links", text)] == [("text", "https://x"), ("A", "a.adoc")]


def test_carriage_returns_begin_no_lines() -> None:
    assert rows("a.md", "sections", "# A\r\n\r\nx\ry\r\n# B\r\n") == [
        (1, 3, "A", 1, "", "x\ry\r\n"),
        (4, 4, "B", 1, "", ""),
    ]


@pytest.mark.parametrize("name", ["a.md", "a.rst", "a.adoc"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"\xff\xfe#",
        b"> " * 3000,
        b"[" * 3000,
        b"- " * 2000,
        b"*a_ " * 3000,
        b"<a " * 20_000,
        b"`" * 20_000,
        b"a" * 400_000,
        "# é\n".encode("latin-1"),
        b"---\ntitle: x\n",
        b"=\n" * 20_000,
        b"x::\n" * 5_000,
    ],
)
def test_bad_input_ends(name: str, data: bytes) -> None:
    rows(name, "sections", data)


def test_binary_content_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="binary"):
        rows("a.md", "sections", b"# a\n\0")
