"""strip_docstrings: code without what tells its meaning, and that in our notes."""

from __future__ import annotations

import ast
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillstill.errors import WorkspaceSourceError
from skillstill_training import workspaces
from skillstill_training.workspaces.steps.docstrings import first_sentence, strip_docstrings
from skillstill_training.workspaces.steps.notes import write_notes

from tests.scenes import write

BEFORE = '''#!/usr/bin/env python3
"""The cart."""

from __future__ import annotations

RATE = """not a docstring"""


class Cart:
    """Holds what is bought.

    More on it.
    """

    # A comment stays.
    limit = 3

    def total(self) -> int:
        """Sum of all prices, e.g. of `apples`. In cents."""
        return 3

    def empty(self): """Removes all."""

    async def later(self):
        r"""
        Waits for :meth:`Cart.total`
        and returns it.
        """

        def inner():
            "Not done."; return 4
        return inner


def unsaid():
    return "a text"
'''
AFTER = '''#!/usr/bin/env python3
from __future__ import annotations

RATE = """not a docstring"""


class Cart:
    # A comment stays.
    limit = 3

    def total(self) -> int:
        return 3

    def empty(self): ...

    async def later(self):
        def inner():
            ...; return 4
        return inner


def unsaid():
    return "a text"
'''


def stripped(tree: Path) -> dict[str, Any]:
    write_notes(tree, {})
    notes: dict[str, Any] = strip_docstrings(tree, Random(0))
    return notes["docstrings"]  # type: ignore[no-any-return]


def test_docstrings_go_into_the_notes_and_comments_stay(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"shop/cart.py": BEFORE})
    assert stripped(tree) == {
        "shop/cart.py": {
            "Cart": "Holds what is bought",
            "Cart.total": "Sum of all prices, e.g. of apples",
            "Cart.empty": "Removes all",
            "Cart.later": "Waits for Cart.total and returns it",
            "Cart.later.inner": "Not done",
        }
    }
    assert (tree / "shop/cart.py").read_text(encoding="utf-8") == AFTER


def test_a_body_of_nothing_else_becomes_an_ellipsis(tmp_path: Path) -> None:
    text = 'class Lost(Exception):\n    """Nowhere.\n\n    At all.\n    """\n\n\nA = 1\n'
    tree = write(tmp_path / "tree", {"a.py": text})
    stripped(tree)
    assert (tree / "a.py").read_text(encoding="utf-8") == "class Lost(Exception):\n    ...\n\n\nA = 1\n"


def test_files_that_do_not_parse_are_left_out(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"two.py": "print 'a'\n", "nul.py": "a\0", "ok.py": "", "notes.txt": "def"})
    write(tree, {"deep.py": "(" * 5_000})
    stripped(tree)
    assert sorted(path.name for path in tree.iterdir()) == ["notes.txt", "ok.py"]


def test_encodings_and_line_ends_stay(tmp_path: Path) -> None:
    (tree := tmp_path / "tree").mkdir()
    (tree / "latin.py").write_bytes('# coding: latin-1\r\ndef f():\r\n    "é"; return "é"\r\n'.encode("latin-1"))
    (tree / "bom.py").write_bytes('\ufeffdef f():\n    """é"""\n    return "é"\n'.encode())
    stripped(tree)
    after = '# coding: latin-1\r\ndef f():\r\n    ...; return "é"\r\n'
    assert (tree / "latin.py").read_bytes() == after.encode("latin-1")
    assert (tree / "bom.py").read_bytes() == '\ufeffdef f():\n    return "é"\n'.encode()


def test_it_refuses_to_move_lines_that_changes_speak_of(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.py": ""})
    write_notes(tree, {"changes": []})
    with pytest.raises(WorkspaceSourceError, match="put it before their step"):
        strip_docstrings(tree, Random(0))


@pytest.mark.parametrize(
    ("docstring", "told"),
    [
        ("Return the *bold* and **very** name of ``x_y``.", "Return the bold and very name of x_y"),
        ("Opens :class:`~shop.cart.Cart` or `the cart <https://a.b>`_!", "Opens shop.cart.Cart or the cart"),
        ("See [the manual](https://a.b/c). Then run.", "See the manual"),
        ("Wait 1.5 seconds, i.e. long. Then go", "Wait 1.5 seconds, i.e. long"),
        ("Calls ``__init__`` of a*b*c.", "Calls __init__ of a*b*c"),
        ("\n    First line\n    goes on.\n\n    Not this.", "First line goes on"),
        ("Does it:\n- one\n- two", "Does it"),
        (":param x: what", ""),
        (">>> 1 + 1\n2", ""),
        ("Args:\n    x: what", ""),
        ("Title\n=====\nText", "Title"),
        ("Ends \ud800 well", "Ends well"),
        ("", ""),
    ],
)
def test_the_first_sentence_is_plain_words(docstring: str, told: str) -> None:
    assert first_sentence(docstring) == told


@given(st.text())
def test_any_docstring_gives_one_line(docstring: str) -> None:
    assert len(first_sentence(docstring).splitlines()) <= 1


def test_what_is_left_of_our_own_code_defines_the_same(tmp_path: Path) -> None:
    sources = {path.name: path.read_text("utf-8") for path in Path(workspaces.__file__).parent.glob("*.py")}
    stripped(tree := write(tmp_path / "tree", sources))
    for name, text in sources.items():
        before, after = (definitions(one) for one in (text, (tree / name).read_text("utf-8")))
        assert [node.name for node in before] == [node.name for node in after]
        assert not [node for node in after if ast.get_docstring(node)]


def test_long_expressions_are_no_trouble(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.py": f"A = {'1 + ' * 990}1\n"})
    assert stripped(tree) == {}
    assert (tree / "a.py").is_file()


def definitions(text: str) -> list[ast.FunctionDef | ast.ClassDef]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
