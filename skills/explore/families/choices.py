"""Drafts about names with several definitions, of which the question means one."""

from collections.abc import Callable, Iterator, Sequence
from random import Random

from skillstill_training.authoring import BuiltWorkspace, Draft

from .code import CodePlace, Function
from .draft_parts import COMMON, as_code, facts_of, is_distinct, place_check
from .lookups import raised_names
from .names import last_part, parts, shuffled, spell_out
from .tree import Tree, tree_of

MAX_LISTED = 6  # definitions of one name that an outline shows
MAX_READ = 4  # definitions that are worth reading one after the other
WINDOW = 9  # lines that a `read` shows after the requested one
Property = Callable[[CodePlace], set[str]]


def by_signature(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about a definition that the list identifies: by its class, file, parameter or return type."""
    tree = tree_of(built.root)
    kinds = (
        ("which", _owner_phrases),
        ("which", _file_phrases),
        ("which", _parameter_phrases),
        ("which", _return_phrases),
    )
    for definitions in _shared_names(tree, MAX_LISTED, rng):
        named = [
            (one, text)
            for _, kind in shuffled(kinds, rng)
            for one, text in _distinct_properties(definitions, kind, rng)
        ]
        named = [(one, text) for one, text in named if not one.is_test]
        if named:
            definition, text = rng.choice(named)
            yield _draft(definition, text, definitions)


def by_body(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about a definition that only its body identifies: by what it raises or calls."""
    tree = tree_of(built.root)
    for definitions in _shared_names(tree, MAX_READ, rng):
        if not all(isinstance(one, Function) for one in definitions):
            continue
        named = [
            (one, text)
            for kind in (_raise_phrases, _call_phrases)
            for one, text in _distinct_properties(definitions, kind, rng)
        ]
        named = [
            (one, text) for one, text in named if not one.is_test and (len(definitions) > 2 or one == definitions[-1])
        ]
        if named:
            definition, text = rng.choice(named)
            yield _draft(definition, text, definitions)


def _draft(definition: CodePlace, text: str, definitions: Sequence[CodePlace]) -> Draft:
    others = [[other.path, other.line] for other in definitions if other != definition]
    facts = {**facts_of(definition), "others": others}
    return Draft(
        check=place_check(definition, precision=1.0), words={"name": as_code(definition), "which": text}, facts=facts
    )


def _shared_names(tree: Tree, most: int, rng: Random) -> Iterator[Sequence[CodePlace]]:
    for name in shuffled(sorted(tree.by_last), rng):
        definitions = tree.by_last[name]
        if 2 <= len(definitions) <= most and not name.startswith("__") and not all(one.is_test for one in definitions):
            yield definitions


def _distinct_properties(
    definitions: Sequence[CodePlace], kind: Property, rng: Random
) -> Iterator[tuple[CodePlace, str]]:
    """Yield each definition with a property that no other one has, and a phrase for that property."""
    for definition in definitions:
        others = {text for other in definitions if other != definition for text in kind(other)}
        if own := sorted(kind(definition) - others):
            yield definition, rng.choice(own)


def _owner_phrases(definition: CodePlace) -> set[str]:
    owner = last_part(definition.owner)
    words = spell_out(owner)
    phrases = (f"of the {words} class", f"in {owner}", f"on the {words}", f"that belongs to {owner}")
    return set(phrases) if len(parts(owner)) > 1 and not owner.startswith("_") else set()


def _file_phrases(definition: CodePlace) -> set[str]:
    stem = definition.path.rpartition("/")[2].partition(".")[0]
    words = spell_out(stem)
    return {f"in the {words} module", f"from {words}", f"of the {words} code"} if len(words) > 3 else set()


def _parameter_phrases(definition: CodePlace) -> set[str]:
    names = (
        [given.name for given in definition.parameters if len(given.name) > 2]
        if isinstance(definition, Function)
        else []
    )
    phrases = ("that takes {}", "with a parameter {}", "that can be given {}", "which accepts a `{}` argument")
    return {text.format(name) for name in names for text in phrases}


def _return_phrases(definition: CodePlace) -> set[str]:
    kind = definition.returns.strip("'\"") if isinstance(definition, Function) else ""
    phrases = ("that returns {}", "returning {}", "whose result is a {}")
    return (
        {text.format(kind) for text in phrases}
        if kind.isidentifier() and kind[0].isupper() and kind != "None"
        else set()
    )


def _raise_phrases(definition: CodePlace) -> set[str]:
    """Return phrases for the exceptions, if the first lines show all of them."""
    names = (
        raised_names(definition)
        if isinstance(definition, Function) and definition.end - definition.line <= WINDOW
        else ()
    )
    return {text.format(name) for name in names for text in ("that raises {}", "which can raise {}", "raising {}")}


def _call_phrases(definition: CodePlace) -> set[str]:
    calls = definition.calls if isinstance(definition, Function) else ()
    near = [name for name, line in calls if line <= definition.line + WINDOW]
    names = [name for name in near if is_distinct(name) and name not in COMMON and name != definition.last]
    return {text.format(name) for name in names for text in ("that calls {}", "which uses {}", "calling {}()")}
