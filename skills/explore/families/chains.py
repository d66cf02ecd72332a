"""Drafts of questions that take several calls, each of which needs the result of the previous one."""

import re
from collections.abc import Iterator
from random import Random

from skillstill_training.authoring import BuiltWorkspace, Draft, Members, Value

from .choices import WINDOW
from .code import Class, CodePlace, Constant, Function
from .draft_parts import COMMON, as_code, askable_classes, askable_functions, facts_of, place_check, unique_name
from .lookups import MAX_LISTED, base_names, exclude_path_words, is_value, raised_names, raises_check
from .names import limit_per_key, parts, shuffled
from .tree import Tree, tree_of

ONE_PLACE = 0.6  # precision: of two places one is wrong, because it is only a step to the other
MAX_PER_TARGET = 3  # drafts of a workspace with the same definition as the answer
MAX_PER_ROOT = 6  # drafts with the same class at the top: there are few such classes
ROOTS = frozenset(
    {"object", "ABC", "Exception", "Protocol", "Generic", "Enum", "dict", "list", "str", "int", "TypedDict"}
)
MAX_MEMBERS = 40  # members of a class that an outline shows
CAPITALS = re.compile(r"_?[A-Z][A-Z0-9_]{2,}")


def parent_class(tree: Tree, one: Class) -> Class | None:
    """Return the only base that this tree defines, if all other bases are built in; else None."""
    known = [base for name in base_names(one) if (base := tree.class_named(name))]
    others = {base.partition("[")[0] for base in one.bases} - {base.last for base in known}
    return known[0] if len(known) == 1 and others <= ROOTS else None


def inheritance_chain(tree: Tree, one: Class) -> list[Class]:
    """Return the class, its parent, and so on while each has one parent."""
    chain = [one]
    while (parent := parent_class(tree, chain[-1])) and parent not in chain:
        chain.append(parent)
    return chain


def inherited(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about a method that a class inherits; several classes have a method of that name."""
    tree = tree_of(built.root)
    for one in shuffled(askable_classes(tree), rng):
        descent = inheritance_chain(tree, one)
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
            yield Draft(check=place_check(method, ONE_PLACE), words=words, facts=facts_of(method))


def _methods(tree: Tree, holder: Class) -> list[Function]:
    """Return the public methods of the class."""
    found = [one for one in tree.functions_in(holder.path) if one.owner == holder.name]
    return [one for one in found if one.plain and not one.last.startswith("_")]


def ancestors(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the class at the top of an inheritance chain of three or four."""
    tree = tree_of(built.root)
    descents = (inheritance_chain(tree, one) for one in shuffled(askable_classes(tree), rng))
    long = (found for found in descents if 3 <= len(found) <= 4 and _is_root(found[-1]))
    for descent in limit_per_key(long, lambda found: found[-1], MAX_PER_ROOT):
        one, top = descent[0], descent[-1]
        facts = {**facts_of(top), "descent": [[holder.last, holder.path] for holder in descent]}
        yield Draft(
            check=place_check(top, ONE_PLACE), words={"name": one.last}, hidden=_hidden_words(top, one), facts=facts
        )


def _is_root(one: Class) -> bool:
    return {base.partition("[")[0] for base in one.bases} <= ROOTS


def default_constants(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the value of a constant that is a parameter's default."""
    tree = tree_of(built.root)
    functions = shuffled([one for one in askable_functions(tree) if unique_name(tree, one)], rng)
    found = ((one, given, _constant_named(tree, given.default)) for one in functions for given in one.parameters)
    for one, given, constant in limit_per_key(found, lambda three: three[2], MAX_PER_TARGET):
        if constant:
            words = {"name": unique_name(tree, one), "parameter": given.name}
            facts = {**facts_of(constant), "through": facts_of(one), "value": constant.value}
            yield Draft(check=_value_check(constant), words=words, hidden=(constant.last,), facts=facts)


def used_constants(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the value of the only named constant that a function reads."""
    tree = tree_of(built.root)
    found = (
        (one, _only_constant(tree, one)) for one in shuffled(askable_functions(tree), rng) if unique_name(tree, one)
    )
    for one, constant in limit_per_key(found, lambda pair: pair[1], MAX_PER_TARGET):
        if constant:
            facts = {**facts_of(constant), "through": facts_of(one), "value": constant.value}
            yield Draft(
                check=_value_check(constant),
                words={"name": unique_name(tree, one)},
                hidden=(constant.last,),
                facts=facts,
            )


def _only_constant(tree: Tree, one: Function) -> Constant | None:
    """Return the constant that the first lines read, if the body reads no other one and the signature none."""
    read = dict(one.reads)
    capitals = [name for name in read if CAPITALS.fullmatch(name)]
    constant = _constant_named(tree, capitals[0]) if len(capitals) == 1 else None
    signature = " ".join(f"{given.default} {given.annotation}" for given in one.parameters)
    return (
        constant if constant and read[constant.last] <= one.line + WINDOW and constant.last not in signature else None
    )


def _constant_named(tree: Tree, name: str) -> Constant | None:
    found = tree.constant_named(name) if CAPITALS.fullmatch(name) else None
    if not found or not is_value(found.value) or found.value in {"None", "True", "False"}:
        return None
    written = "".join(tree.lines_of(found)).replace('"', "'")
    same = re.search(
        rf"(?<![\w.]){re.escape(found.value)}(?!\w)", written
    )  # 0x10 and 1_000 are stated as they are written
    return found if same else None


def _value_check(constant: Constant) -> Value:
    return Value(gold=constant.value.strip("'\""), wrong=("None", "True", "False"))


def delegates(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the place of the function that a short function calls."""
    tree = tree_of(built.root)
    for one, helper in limit_per_key(_delegations(tree, rng), lambda pair: pair[1], MAX_PER_TARGET):
        facts = {**facts_of(helper), "through": facts_of(one)}
        yield Draft(
            check=place_check(helper),
            words={"name": unique_name(tree, one)},
            hidden=_hidden_words(helper, one),
            facts=facts,
        )


def delegated_raises(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the exceptions of the function that a short function calls."""
    tree = tree_of(built.root)
    for one, helper in limit_per_key(_delegations(tree, rng), lambda pair: pair[1], MAX_PER_TARGET):
        if gold := raised_names(helper):
            facts = {**facts_of(helper), "through": facts_of(one), "raises": [*gold]}
            yield Draft(
                check=raises_check(tree, helper),
                words={"name": unique_name(tree, one)},
                hidden=_hidden_words(helper, one),
                facts=facts,
            )


def _hidden_words(answer: CodePlace, asked: CodePlace) -> tuple[str, ...]:
    """Return the words that would give the answer away, unless the name in the question contains them anyway."""
    return (answer.last,) if answer.last.lower() not in asked.name.lower() else ()


def _delegations(tree: Tree, rng: Random) -> Iterator[tuple[Function, Function]]:
    """Yield each short function that calls one function of this tree, with that function."""
    for one in shuffled(askable_functions(tree), rng):
        names = dict.fromkeys(name for name, _ in one.calls)
        of_tree = [name for name in names if name in tree.by_last]
        helper = tree.function_named(of_tree[0]) if len(of_tree) == 1 else None
        near = helper is not None and one.end <= one.line + WINDOW and helper.last not in COMMON
        if (
            helper
            and near
            and helper != one
            and not helper.is_test
            and unique_name(tree, one)
            and len(parts(helper.last)) > 1
        ):
            yield one, helper


def returned(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the place of the class in a function's return annotation."""
    tree = tree_of(built.root)
    functions = [one for one in shuffled(askable_functions(tree), rng) if unique_name(tree, one)]
    pairs = [(one, tree.class_named(one.returns.strip("'\""))) for one in functions]
    not_named = [(one, found) for one, found in pairs if found and found.last.lower() not in one.name.lower()]
    for one, found in limit_per_key(not_named, lambda pair: pair[1], MAX_PER_TARGET):
        facts = {**facts_of(found), "through": facts_of(one)}
        yield Draft(
            check=place_check(found, ONE_PLACE),
            words={"name": unique_name(tree, one)},
            hidden=(found.last,),
            facts=facts,
        )


def overrides(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the methods that a class overrides, without special methods."""
    tree = tree_of(built.root)
    pairs = [(one, above) for one in askable_classes(tree) if (above := parent_class(tree, one))]
    anew = {
        one: tuple(name for name in _method_names(tree, one) if name in _method_names(tree, up)) for one, up in pairs
    }
    usual = {name for names in anew.values() for name in names}
    for one, above in shuffled(pairs, rng):
        gold, all_listed = anew[one], max(len(one.members), len(above.members)) <= MAX_MEMBERS
        if 1 <= len(gold) <= MAX_LISTED and all_listed:
            others = {*one.members, *above.members, *usual} - {*gold}
            facts = {"descent": [[holder.last, holder.path] for holder in (one, above)], "gold": [*gold]}
            yield Draft(
                check=Members(gold=gold, others=exclude_path_words(others, one)), words={"name": one.last}, facts=facts
            )


def _method_names(tree: Tree, holder: Class) -> list[str]:
    """Return the names of the methods in its body, each once, without special methods, which most classes override."""
    found = [one.last for one in tree.functions_in(holder.path) if one.owner == holder.name]
    return [name for name in dict.fromkeys(found) if not name.startswith("__")]
