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


def parent_class(tree: Tree, class_: Class) -> Class | None:
    """Return the only base that this tree defines, if all other bases are built in; else None."""
    parents = [base for name in base_names(class_) if (base := tree.class_named(name))]
    others = {base.partition("[")[0] for base in class_.bases} - {base.last for base in parents}
    return parents[0] if len(parents) == 1 and others <= ROOTS else None


def inheritance_chain(tree: Tree, class_: Class) -> list[Class]:
    """Return the class, its parent, and so on while each has one parent."""
    chain = [class_]
    while (parent := parent_class(tree, chain[-1])) and parent not in chain:
        chain.append(parent)
    return chain


def inherited(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about a method that a class inherits; several classes have a method of that name."""
    tree = tree_of(built.root)
    for class_ in shuffled(askable_classes(tree), rng):
        descent = inheritance_chain(tree, class_)
        methods = [
            method
            for depth, holder in enumerate(descent)
            for method in _methods(tree, holder)
            if depth and not any(method.last in lower.members for lower in descent[:depth])
        ]
        methods = [method for method in methods if len(tree.by_last[method.last]) > 1]
        if methods:
            method = rng.choice(methods)
            words = {"name": class_.last, "method": as_code(method)}
            yield Draft(check=place_check(method, ONE_PLACE), words=words, facts=facts_of(method))


def _methods(tree: Tree, holder: Class) -> list[Function]:
    """Return the public methods of the class."""
    methods = [one for one in tree.functions_in(holder.path) if one.owner == holder.name]
    return [one for one in methods if one.plain and not one.last.startswith("_")]


def ancestors(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the class at the top of an inheritance chain of three or four."""
    tree = tree_of(built.root)
    descents = (inheritance_chain(tree, one) for one in shuffled(askable_classes(tree), rng))
    long = (found for found in descents if 3 <= len(found) <= 4 and _is_root(found[-1]))
    for descent in limit_per_key(long, lambda found: found[-1], MAX_PER_ROOT):
        class_, top = descent[0], descent[-1]
        facts = {**facts_of(top), "descent": [[holder.last, holder.path] for holder in descent]}
        yield Draft(
            check=place_check(top, ONE_PLACE),
            words={"name": class_.last},
            hidden=_hidden_words(top, class_),
            facts=facts,
        )


def _is_root(class_: Class) -> bool:
    return {base.partition("[")[0] for base in class_.bases} <= ROOTS


def default_constants(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the value of a constant that is a parameter's default."""
    tree = tree_of(built.root)
    functions = shuffled([one for one in askable_functions(tree) if unique_name(tree, one)], rng)
    candidates = ((one, given, _constant_named(tree, given.default)) for one in functions for given in one.parameters)
    for function, given, constant in limit_per_key(candidates, lambda three: three[2], MAX_PER_TARGET):
        if constant:
            words = {"name": unique_name(tree, function), "parameter": given.name}
            facts = {**facts_of(constant), "through": facts_of(function), "value": constant.value}
            yield Draft(check=_value_check(constant), words=words, hidden=(constant.last,), facts=facts)


def used_constants(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the value of the only named constant that a function reads."""
    tree = tree_of(built.root)
    candidates = (
        (one, _only_constant(tree, one)) for one in shuffled(askable_functions(tree), rng) if unique_name(tree, one)
    )
    for function, constant in limit_per_key(candidates, lambda pair: pair[1], MAX_PER_TARGET):
        if constant:
            facts = {**facts_of(constant), "through": facts_of(function), "value": constant.value}
            yield Draft(
                check=_value_check(constant),
                words={"name": unique_name(tree, function)},
                hidden=(constant.last,),
                facts=facts,
            )


def _only_constant(tree: Tree, function: Function) -> Constant | None:
    """Return the constant that the first lines read, if the body reads no other one and the signature none."""
    read = dict(function.reads)
    capitals = [name for name in read if CAPITALS.fullmatch(name)]
    constant = _constant_named(tree, capitals[0]) if len(capitals) == 1 else None
    signature = " ".join(f"{given.default} {given.annotation}" for given in function.parameters)
    return (
        constant
        if constant and read[constant.last] <= function.line + WINDOW and constant.last not in signature
        else None
    )


def _constant_named(tree: Tree, name: str) -> Constant | None:
    constant = tree.constant_named(name) if CAPITALS.fullmatch(name) else None
    if not constant or not is_value(constant.value) or constant.value in {"None", "True", "False"}:
        return None
    written = "".join(tree.lines_of(constant)).replace('"', "'")
    same = re.search(
        rf"(?<![\w.]){re.escape(constant.value)}(?!\w)", written
    )  # 0x10 and 1_000 are stated as they are written
    return constant if same else None


def _value_check(constant: Constant) -> Value:
    return Value(gold=constant.value.strip("'\""), wrong=("None", "True", "False"))


def delegates(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the place of the function that a short function calls."""
    tree = tree_of(built.root)
    for function, helper in limit_per_key(_delegations(tree, rng), lambda pair: pair[1], MAX_PER_TARGET):
        facts = {**facts_of(helper), "through": facts_of(function)}
        yield Draft(
            check=place_check(helper),
            words={"name": unique_name(tree, function)},
            hidden=_hidden_words(helper, function),
            facts=facts,
        )


def delegated_raises(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the exceptions of the function that a short function calls."""
    tree = tree_of(built.root)
    for function, helper in limit_per_key(_delegations(tree, rng), lambda pair: pair[1], MAX_PER_TARGET):
        if gold := raised_names(helper):
            facts = {**facts_of(helper), "through": facts_of(function), "raises": [*gold]}
            yield Draft(
                check=raises_check(tree, helper),
                words={"name": unique_name(tree, function)},
                hidden=_hidden_words(helper, function),
                facts=facts,
            )


def _hidden_words(answer: CodePlace, asked: CodePlace) -> tuple[str, ...]:
    """Return the words that would give the answer away, unless the name in the question contains them anyway."""
    return (answer.last,) if answer.last.lower() not in asked.name.lower() else ()


def _delegations(tree: Tree, rng: Random) -> Iterator[tuple[Function, Function]]:
    """Yield each short function that calls one function of this tree, with that function."""
    for function in shuffled(askable_functions(tree), rng):
        names = dict.fromkeys(name for name, _ in function.calls)
        of_tree = [name for name in names if name in tree.by_last]
        helper = tree.function_named(of_tree[0]) if len(of_tree) == 1 else None
        near = helper is not None and function.end <= function.line + WINDOW and helper.last not in COMMON
        if (
            helper
            and near
            and helper != function
            and not helper.is_test
            and unique_name(tree, function)
            and len(parts(helper.last)) > 1
        ):
            yield function, helper


def returned(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the place of the class in a function's return annotation."""
    tree = tree_of(built.root)
    functions = [one for one in shuffled(askable_functions(tree), rng) if unique_name(tree, one)]
    pairs = [(one, tree.class_named(one.returns.strip("'\""))) for one in functions]
    not_named = [(one, found) for one, found in pairs if found and found.last.lower() not in one.name.lower()]
    for function, class_ in limit_per_key(not_named, lambda pair: pair[1], MAX_PER_TARGET):
        facts = {**facts_of(class_), "through": facts_of(function)}
        yield Draft(
            check=place_check(class_, ONE_PLACE),
            words={"name": unique_name(tree, function)},
            hidden=(class_.last,),
            facts=facts,
        )


def overrides(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield drafts about the methods that a class overrides, without special methods."""
    tree = tree_of(built.root)
    pairs = [(one, parent) for one in askable_classes(tree) if (parent := parent_class(tree, one))]
    anew = {
        one: tuple(name for name in _method_names(tree, one) if name in _method_names(tree, up)) for one, up in pairs
    }
    usual = {name for names in anew.values() for name in names}
    for class_, parent in shuffled(pairs, rng):
        gold, all_listed = anew[class_], max(len(class_.members), len(parent.members)) <= MAX_MEMBERS
        if 1 <= len(gold) <= MAX_LISTED and all_listed:
            others = {*class_.members, *parent.members, *usual} - {*gold}
            facts = {"descent": [[holder.last, holder.path] for holder in (class_, parent)], "gold": [*gold]}
            yield Draft(
                check=Members(gold=gold, others=exclude_path_words(others, class_)),
                words={"name": class_.last},
                facts=facts,
            )


def _method_names(tree: Tree, holder: Class) -> list[str]:
    """Return the names of the methods in its body, each once, without special methods, which most classes override."""
    names = [one.last for one in tree.functions_in(holder.path) if one.owner == holder.name]
    return [name for name in dict.fromkeys(names) if not name.startswith("__")]
