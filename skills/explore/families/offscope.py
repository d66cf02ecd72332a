"""Drafts of work that looking cannot do: the wordings say it, the slots only make it look like all the others."""

from collections.abc import Iterator
from random import Random

from skillstill_training.authoring import BuiltWorkspace, Declined, Draft

from .names import parts, shuffled
from .naming import called, is_distinct, plain_functions
from .tree import tree_of


def offscope(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    names = [name for one in plain_functions(tree) if (name := called(tree, one)) and is_distinct(one.last)]
    names += [one.last for one in tree.symbols if len(parts(one.last)) > 1]
    paths = [path for path in tree.texts if path.count("/") < 5]
    for name in shuffled(sorted(set(names)), rng):
        yield Draft(
            check=Declined(),
            words={"name": name, "other": rng.choice(names).rpartition(".")[2], "path": rng.choice(paths)},
        )
