"""The tree of hashes: after any changes it is the one that is made from nothing."""

from hypothesis import given
from hypothesis import strategies as st
from skillstill.facts.tree import ROOT, Tree

PATHS = st.sampled_from(["a", "b", "one/a", "one/b", "one/two/a", "one/two/three/a", "four/a"])
CHANGES = st.lists(st.tuples(PATHS, st.one_of(st.none(), st.binary(min_size=1, max_size=1))), max_size=12)


@given(st.lists(CHANGES, max_size=4))
def test_what_changes_step_by_step_equals_what_is_made_at_once(steps: list[list[tuple[str, bytes | None]]]) -> None:
    tree, told, leaves = Tree({}), dict[str, bytes](), dict[str, bytes]()
    for step in steps:
        for path, leaf in step:
            if leaf is None:
                leaves.pop(path, None)
                tree.remove(path)
            else:
                leaves[path] = leaf
                tree.put(path, leaf)
        for folder, made in tree.rehash().items():
            if made is None:
                told.pop(folder, None)
            else:
                told[folder] = made
        whole = Tree(leaves)
        whole.rehash()
        assert told == tree.hashes == whole.hashes


def test_equal_folders_have_equal_hashes_and_names_count() -> None:
    tree = Tree({"one/a": b"x", "two/a": b"x", "three/b": b"x"})
    tree.rehash()
    assert tree.hashes["one"] == tree.hashes["two"] != tree.hashes["three"]
    assert {*tree.hashes} == {ROOT, "one", "two", "three"}
