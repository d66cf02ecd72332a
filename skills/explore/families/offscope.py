"""Drafts of work that reading code cannot do. The wordings describe it; the slots only make it look like the others."""

from collections.abc import Iterator
from random import Random

from skillstill_training.authoring import BuiltWorkspace, Declined, Draft

from .draft_parts import askable_functions, is_distinct, unique_name
from .names import parts, shuffled
from .tree import tree_of


def offscope(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    names = [name for one in askable_functions(tree) if (name := unique_name(tree, one)) and is_distinct(one.last)]
    names += [one.last for one in tree.symbols if len(parts(one.last)) > 1]
    paths = [path for path in tree.texts if path.count("/") < 5]
    for name in shuffled(sorted(set(names)), rng):
        yield Draft(
            check=Declined(),
            words={"name": name, "other": rng.choice(names).rpartition(".")[2], "path": rng.choice(paths)},
        )
