"""Drafts about names that stand for several things, of which the question means one."""

from collections.abc import Callable, Iterator, Sequence
from random import Random

from skillstill_training.authoring import BuiltWorkspace, Draft

from .code import CodePlace, Function
from .lookups import raised_names
from .names import last, parts, plain, shuffled
from .naming import COMMON, as_code, at, facts_of, is_distinct
from .tree import Tree, tree_of

MOST = 6  # definitions of one name that an outline tells
MOST_READ = 4  # that are worth reading one after the other
WINDOW = 9  # lines behind the one asked for that a `read` shows
Property = Callable[[CodePlace], set[str]]


def by_signature(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Which one is meant shows in the list of definitions: its class, its file, a parameter, what it returns."""
    tree = tree_of(built.root)
    kinds = (("which", _owner), ("which", _file), ("which", _parameters), ("which", _returned))
    for found in _shared_names(tree, MOST, rng):
        named = [(one, text) for _, kind in shuffled(kinds, rng) for one, text in _telling(found, kind, rng)]
        named = [(one, text) for one, text in named if not one.is_test]
        if named:
            one, text = rng.choice(named)
            yield _draft(one, text, found)


def by_body(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Which one is meant shows only where each is read: what it raises, or what it calls."""
    tree = tree_of(built.root)
    for found in _shared_names(tree, MOST_READ, rng):
        if not all(isinstance(one, Function) for one in found):
            continue
        named = [(one, text) for kind in (_raised, _called) for one, text in _telling(found, kind, rng)]
        named = [(one, text) for one, text in named if not one.is_test and (len(found) > 2 or one == found[-1])]
        if named:
            one, text = rng.choice(named)
            yield _draft(one, text, found)


def _draft(one: CodePlace, text: str, found: Sequence[CodePlace]) -> Draft:
    others = [[other.path, other.line] for other in found if other != one]
    facts = {**facts_of(one), "others": others}
    return Draft(check=at(one, precision=1.0), words={"name": as_code(one), "which": text}, facts=facts)


def _shared_names(tree: Tree, most: int, rng: Random) -> Iterator[Sequence[CodePlace]]:
    for name in shuffled(sorted(tree.by_last), rng):
        found = tree.by_last[name]
        if 2 <= len(found) <= most and not name.startswith("__") and not all(one.is_test for one in found):
            yield found


def _telling(found: Sequence[CodePlace], kind: Property, rng: Random) -> Iterator[tuple[CodePlace, str]]:
    """The definitions that have a property which no other has, with words for it."""
    for one in found:
        others = {text for other in found if other != one for text in kind(other)}
        if own := sorted(kind(one) - others):
            yield one, rng.choice(own)


def _owner(one: CodePlace) -> set[str]:
    owner = last(one.owner)
    words = plain(owner)
    said = (f"of the {words} class", f"in {owner}", f"on the {words}", f"that belongs to {owner}")
    return set(said) if len(parts(owner)) > 1 and not owner.startswith("_") else set()


def _file(one: CodePlace) -> set[str]:
    stem = one.path.rpartition("/")[2].partition(".")[0]
    words = plain(stem)
    return {f"in the {words} module", f"from {words}", f"of the {words} code"} if len(words) > 3 else set()


def _parameters(one: CodePlace) -> set[str]:
    names = [given.name for given in one.parameters if len(given.name) > 2] if isinstance(one, Function) else []
    said = ("that takes {}", "with a parameter {}", "that can be given {}", "which accepts a `{}` argument")
    return {text.format(name) for name in names for text in said}


def _returned(one: CodePlace) -> set[str]:
    kind = one.returns.strip("'\"") if isinstance(one, Function) else ""
    said = ("that returns {}", "returning {}", "whose result is a {}")
    return (
        {text.format(kind) for text in said} if kind.isidentifier() and kind[0].isupper() and kind != "None" else set()
    )


def _raised(one: CodePlace) -> set[str]:
    """Of all that it raises, that is said which the first lines show."""
    names = raised_names(one) if isinstance(one, Function) and one.end - one.line <= WINDOW else ()
    return {text.format(name) for name in names for text in ("that raises {}", "which can raise {}", "raising {}")}


def _called(one: CodePlace) -> set[str]:
    calls = one.calls if isinstance(one, Function) else ()
    near = [name for name, line in calls if line <= one.line + WINDOW]
    names = [name for name in near if is_distinct(name) and name not in COMMON and name != one.last]
    return {text.format(name) for name in names for text in ("that calls {}", "which uses {}", "calling {}()")}
