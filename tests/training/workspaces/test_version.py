"""A cached workspace is found by the version of what made it: the golden trees hold that version."""

from pathlib import Path
from random import Random

import pytest
from skillstill_training.workspaces import tree
from skillstill_training.workspaces.building import VERSION
from skillstill_training.workspaces.steps import BUILT_IN
from skillstill_training.workspaces.steps.notes import write_notes

from tests.scenes import write

FILES = {
    "shop/cart.py": '"""Carts."""\n\n\nclass Cart:\n    """What is bought."""\n\n'
    "    def total(self, discount: int) -> int:\n"
    '        """The sum."""\n        return sum(self.prices) - discount\n',
    "shop/prices.py": "from shop.cart import Cart\n\nprices = Cart().total(3)\n",
    "notes.txt": "A cart has a total.\n",
}
GOLDEN = {
    "strip_docstrings": "d50abf9b4f26787ae92e882f8c0950d07830d8b0cf1ea1095b8af40a8d77218d",
    "rename_words": "358be61e55e6517d9e7fddc7843a3c469557a1c290c7d30a7bf4f1030ab253ac",
}


@pytest.mark.parametrize("step", GOLDEN)
def test_a_step_makes_the_same_tree_as_long_as_the_version_is_the_same(tmp_path: Path, step: str) -> None:
    root = write(tmp_path / "work" / "tree", FILES)
    write_notes(root, {})
    BUILT_IN[step](root, Random(f"1 {step}"))
    assert (VERSION, tree.sha256(root)) == (1, GOLDEN[step]), "raise VERSION, and write the new tree's hash here"
