"""Drafts whose answer takes several look-ups, each of which needs what the one before it showed."""

import re
from collections.abc import Iterator
from random import Random

from skillstill_training.authoring import BuiltWorkspace, Draft, Members, Value

from .choices import WINDOW
from .code import Class, CodePlace, Constant, Function
from .lookups import FEW, apart, is_value, named_bases, raised_names, raising
from .names import parts, shuffled, sparingly
from .naming import COMMON, as_code, at, called, facts_of, plain_classes, plain_functions
from .tree import Tree, tree_of

ONLY = 0.6  # precision: of two places one is wrong, for the other one lies on the way
MOST_ALIKE = 3  # drafts of a workspace that lead to the same definition
MOST_TOPS = 6  # that lead to the same class at the top: there are few of those
ROOTS = frozenset(
    {"object", "ABC", "Exception", "Protocol", "Generic", "Enum", "dict", "list", "str", "int", "TypedDict"}
)
LISTED = 40  # members of a class that an outline tells
CAPITALS = re.compile(r"_?[A-Z][A-Z0-9_]{2,}")


def parent(tree: Tree, one: Class) -> Class | None:
    """The only base of a class that this tree defines, where all its others are of the language."""
    known = [found for base in named_bases(one) if (found := tree.class_named(base))]
    others = {base.partition("[")[0] for base in one.bases} - {found.last for found in known}
    return known[0] if len(known) == 1 and others <= ROOTS else None


def line_of_descent(tree: Tree, one: Class) -> list[Class]:
    """The class, its parent, and so on as far as each has one parent."""
    found = [one]
    while (above := parent(tree, found[-1])) and above not in found:
        found.append(above)
    return found


def inherited(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """A method that a class has from one above it; several classes have one of that name."""
    tree = tree_of(built.root)
    for one in shuffled(plain_classes(tree), rng):
        descent = line_of_descent(tree, one)
        found = [
            method
            for depth, holder in enumerate(descent)
            for method in _methods(tree, holder)
            if depth and not any(method.last in lower.members for lower in descent[:depth])
        ]
        found = [method for method in found if len(tree.by_last[method.last]) > 1]
        if found:
            method = rng.choice(found)
            words = {"name": one.last, "method": as_code(method)}
            yield Draft(check=at(method, ONLY), words=words, facts=facts_of(method))


def _methods(tree: Tree, holder: Class) -> list[Function]:
    """Those that one calls on it from outside."""
    found = [one for one in tree.functions_in(holder.path) if one.owner == holder.name]
    return [one for one in found if one.plain and not one.last.startswith("_")]


def ancestors(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """The class at the top of a line of three or four."""
    tree = tree_of(built.root)
    descents = (line_of_descent(tree, one) for one in shuffled(plain_classes(tree), rng))
    long = (found for found in descents if 3 <= len(found) <= 4 and _is_root(found[-1]))
    for descent in sparingly(long, lambda found: found[-1], MOST_TOPS):
        one, top = descent[0], descent[-1]
        facts = {**facts_of(top), "descent": [[holder.last, holder.path] for holder in descent]}
        yield Draft(check=at(top, ONLY), words={"name": one.last}, hidden=_hidden(top, one), facts=facts)


def _is_root(one: Class) -> bool:
    return {base.partition("[")[0] for base in one.bases} <= ROOTS


def default_constants(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """The value of a constant that is a parameter's default."""
    tree = tree_of(built.root)
    functions = shuffled([one for one in plain_functions(tree) if called(tree, one)], rng)
    found = ((one, given, _constant(tree, given.default)) for one in functions for given in one.parameters)
    for one, given, constant in sparingly(found, lambda three: three[2], MOST_ALIKE):
        if constant:
            words = {"name": called(tree, one), "parameter": given.name}
            facts = {**facts_of(constant), "through": facts_of(one), "value": constant.value}
            yield Draft(check=_value(constant), words=words, hidden=(constant.last,), facts=facts)


def used_constants(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """The value of the only constant of its kind that a function reads."""
    tree = tree_of(built.root)
    found = ((one, _only_constant(tree, one)) for one in shuffled(plain_functions(tree), rng) if called(tree, one))
    for one, constant in sparingly(found, lambda pair: pair[1], MOST_ALIKE):
        if constant:
            facts = {**facts_of(constant), "through": facts_of(one), "value": constant.value}
            yield Draft(check=_value(constant), words={"name": called(tree, one)}, hidden=(constant.last,), facts=facts)


def _only_constant(tree: Tree, one: Function) -> Constant | None:
    """The one that its first lines read, where the whole body reads no other and the signature none."""
    read = dict(one.reads)
    capitals = [name for name in read if CAPITALS.fullmatch(name)]
    constant = _constant(tree, capitals[0]) if len(capitals) == 1 else None
    signature = " ".join(f"{given.default} {given.annotation}" for given in one.parameters)
    return (
        constant if constant and read[constant.last] <= one.line + WINDOW and constant.last not in signature else None
    )


def _constant(tree: Tree, name: str) -> Constant | None:
    found = tree.constant_named(name) if CAPITALS.fullmatch(name) else None
    if not found or not is_value(found.value) or found.value in {"None", "True", "False"}:
        return None
    written = "".join(tree.lines_of(found)).replace('"', "'")
    same = re.search(
        rf"(?<![\w.]){re.escape(found.value)}(?!\w)", written
    )  # 0x10 and 1_000 are told as they are written
    return found if same else None


def _value(constant: Constant) -> Value:
    return Value(gold=constant.value.strip("'\""), wrong=("None", "True", "False"))


def delegates(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Where that is defined which a short function calls."""
    tree = tree_of(built.root)
    for one, helper in sparingly(_delegating(tree, rng), lambda pair: pair[1], MOST_ALIKE):
        facts = {**facts_of(helper), "through": facts_of(one)}
        yield Draft(check=at(helper), words={"name": called(tree, one)}, hidden=_hidden(helper, one), facts=facts)


def delegated_raises(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """What that raises which a short function calls."""
    tree = tree_of(built.root)
    for one, helper in sparingly(_delegating(tree, rng), lambda pair: pair[1], MOST_ALIKE):
        if gold := raised_names(helper):
            facts = {**facts_of(helper), "through": facts_of(one), "raises": [*gold]}
            yield Draft(
                check=raising(tree, helper), words={"name": called(tree, one)}, hidden=_hidden(helper, one), facts=facts
            )


def _hidden(told: CodePlace, asked: CodePlace) -> tuple[str, ...]:
    """What would give it away, unless the name that is asked about holds it anyway."""
    return (told.last,) if told.last.lower() not in asked.name.lower() else ()


def _delegating(tree: Tree, rng: Random) -> Iterator[tuple[Function, Function]]:
    """Short functions that call one function of this tree, and that function."""
    for one in shuffled(plain_functions(tree), rng):
        names = dict.fromkeys(name for name, _ in one.calls)
        of_tree = [name for name in names if name in tree.by_last]
        helper = tree.function_named(of_tree[0]) if len(of_tree) == 1 else None
        near = helper is not None and one.end <= one.line + WINDOW and helper.last not in COMMON
        if (
            helper
            and near
            and helper != one
            and not helper.is_test
            and called(tree, one)
            and len(parts(helper.last)) > 1
        ):
            yield one, helper


def returned(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Where the class is defined that a function says it returns."""
    tree = tree_of(built.root)
    functions = [one for one in shuffled(plain_functions(tree), rng) if called(tree, one)]
    pairs = [(one, tree.class_named(one.returns.strip("'\""))) for one in functions]
    telling = [(one, found) for one, found in pairs if found and found.last.lower() not in one.name.lower()]
    for one, found in sparingly(telling, lambda pair: pair[1], MOST_ALIKE):
        facts = {**facts_of(found), "through": facts_of(one)}
        yield Draft(check=at(found, ONLY), words={"name": called(tree, one)}, hidden=(found.last,), facts=facts)


def overrides(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Which methods of its parent a class defines anew, special methods aside."""
    tree = tree_of(built.root)
    pairs = [(one, above) for one in plain_classes(tree) if (above := parent(tree, one))]
    anew = {one: tuple(name for name in _defined_in(tree, one) if name in _defined_in(tree, up)) for one, up in pairs}
    usual = {name for names in anew.values() for name in names}
    for one, above in shuffled(pairs, rng):
        gold, all_listed = anew[one], max(len(one.members), len(above.members)) <= LISTED
        if 1 <= len(gold) <= FEW and all_listed:
            others = {*one.members, *above.members, *usual} - {*gold}
            facts = {"descent": [[holder.last, holder.path] for holder in (one, above)], "gold": [*gold]}
            yield Draft(check=Members(gold=gold, others=apart(others, one)), words={"name": one.last}, facts=facts)


def _defined_in(tree: Tree, holder: Class) -> list[str]:
    """The names of the methods in its body, each once; without the special ones, which everybody overrides."""
    found = [one.last for one in tree.functions_in(holder.path) if one.owner == holder.name]
    return [name for name in dict.fromkeys(found) if not name.startswith("__")]
