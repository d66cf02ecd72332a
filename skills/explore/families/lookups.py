"""Drafts of questions about one definition, or one fact of it."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from random import Random

from skillstill_training.authoring import BuiltWorkspace, Draft, Members, Value, same_number

from .code import Class, CodePlace, Function, Parameter
from .draft_parts import (
    askable_classes,
    askable_functions,
    facts_of,
    folder_of,
    loose_slots,
    place_check,
    unique_name,
    with_absent,
)
from .names import shuffled
from .tree import Tree, tree_of

# No plain word: a right answer may contain one by chance.
STATED = re.compile(r"-?\d[\d.]*|None|True|False|\w+[-_./:]\w.*")
NAME = re.compile(r"[A-Za-z_]\w*")
# Ways to say that a function raises nothing. Not `nothing` alone: a search can find that, too.
RAISES_NOTHING = (
    "raises nothing", "raise nothing", "nothing is raised", "no exception", "no exceptions", "does not raise",
    "doesn't raise", "does not itself raise", "raises no", "no raise", "not raise any", "none itself",
)  # fmt: skip
BUILT_IN = ("ValueError", "TypeError", "KeyError", "RuntimeError", "NotImplementedError", "OSError", "AttributeError")
ABSENT_SHARE = 0.3  # of the drafts that are followed by one about a name that does not exist
ABSENT_SHARE_ALONE = 0.45  # the same, if the place is all that is asked
SILENT_SHARE = 0.03  # of the functions that raise nothing: they are by far the most
MAX_COMMON = 60  # names or values of a tree that a right answer of another question might list
MAX_VALUE_LENGTH = 30  # characters of a default that a person would ask for
MAX_LISTED = 7  # parameters that an answer can list


def definitions(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    things: list[CodePlace] = [*askable_functions(tree), *askable_classes(tree)]
    yield from with_absent(tree, _definitions(tree, shuffled(things, rng)), things, ABSENT_SHARE_ALONE, rng)


def _definitions(tree: Tree, things: list[CodePlace]) -> Iterator[Draft]:
    for definition in things:
        if name := unique_name(tree, definition):
            yield Draft(
                check=place_check(definition),
                words={"name": name},
                loose=loose_slots(tree, definition, name),
                facts=facts_of(definition),
                scope=folder_of(definition),
            )


def signatures(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    functions = shuffled(askable_functions(tree), rng)
    yield from with_absent(tree, _signatures(tree, functions), functions, ABSENT_SHARE, rng)


def _signatures(tree: Tree, functions: list[Function]) -> Iterator[Draft]:
    common = Counter(parameter.name for one in tree.functions for parameter in one.parameters)
    usual = [name for name, _ in common.most_common(MAX_COMMON)]
    for function in functions:
        taken = [parameter.name for parameter in function.parameters]
        if (name := unique_name(tree, function)) and 2 <= len(taken) <= MAX_LISTED:
            near = {
                parameter.name
                for other in tree.functions
                if other.path == function.path
                for parameter in other.parameters
            }
            others = {*near, *usual, *(read for read, _ in function.reads)} - {
                *taken,
                *_header(function),
                "self",
                "cls",
            }
            yield Draft(
                check=Members(gold=tuple(taken), others=exclude_path_words(others, function)),
                words={"name": name},
                loose=loose_slots(tree, function, name),
                facts={**facts_of(function), "parameters": [*taken]},
            )


def _header(function: Function) -> list[str]:
    """Return the words of its signature except the parameters: an answer that quotes it does not list them."""
    typed = (f"{parameter.annotation} {parameter.default}" for parameter in function.parameters)
    return re.findall(r"\w+", " ".join([function.name, function.returns, *typed]))


def exclude_path_words(others: set[str], definition: CodePlace) -> tuple[str, ...]:
    """Return the others without words of the path: an answer that quotes `src/core/pool.py:3` does not list `core`."""
    return tuple(sorted(others - set(re.findall(r"\w+", definition.path))))


def defaults(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    functions = shuffled(askable_functions(tree), rng)
    yield from with_absent(tree, _defaults(tree, functions, rng), functions, ABSENT_SHARE, rng)


def _defaults(tree: Tree, functions: list[Function], rng: Random) -> Iterator[Draft]:
    values = Counter(_stated_value(parameter.default) for one in tree.functions for parameter in one.parameters)
    usual = [value for value, _ in values.most_common(MAX_COMMON) if value]
    for function in functions:
        asked = [parameter for parameter in function.parameters if is_value(parameter.default)]
        asked = [parameter for parameter in asked if parameter.default != "None" or rng.random() < 0.25]
        if (name := unique_name(tree, function)) and asked:
            parameter = rng.choice(asked)
            yield Draft(
                check=value_check(parameter, [_stated_value(other.default) for other in function.parameters] + usual),
                words={"name": name, "parameter": parameter.name},
                loose=loose_slots(tree, function, name),
                facts={**facts_of(function), "value": parameter.default},
            )


def is_value(text: str) -> bool:
    """Return whether it is a number, a short plain text, True, False or None."""
    if not text or len(text) > MAX_VALUE_LENGTH:
        return False
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    if isinstance(value, str):
        return re.fullmatch(r"[\w./:+-]*\w\w[\w./:+-]*(?: [\w./:+-]+)*", value) is not None
    return value is None or isinstance(value, bool | int | float)


def value_check(parameter: Parameter, others: list[str]) -> Value:
    """Return the check of a default. An answer must state none of `others` but those that its own text contains."""
    gold = _stated_value(parameter.default)
    also = (gold.lower(),) if gold in {"True", "False"} else ()
    own = f"{parameter.annotation} {parameter.default} {parameter.name}"
    wrong = [other for other in dict.fromkeys(others) if STATED.fullmatch(other) and other not in own]
    return Value(gold=gold, also=also, wrong=tuple(other for other in wrong if not same_number(other, gold)))


def _stated_value(text: str) -> str:
    """Return the value as an answer states it: a text without its quotes; empty if it is no value."""
    return text.strip("'\"") if is_value(text) else ""


def bases(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    classes = shuffled(askable_classes(tree), rng)
    yield from with_absent(tree, _bases(tree, classes), classes, ABSENT_SHARE, rng)


def _bases(tree: Tree, classes: list[Class]) -> Iterator[Draft]:
    common = Counter(base for one in tree.classes for base in base_names(one))
    usual = [name for name, _ in common.most_common(MAX_COMMON)]
    for class_ in classes:
        gold = base_names(class_)
        if (name := unique_name(tree, class_)) and gold and len(gold) == len(class_.bases):
            near = [other.last for other in tree.classes if other.path == class_.path]
            others = {*usual, *near} - {*gold, class_.last}
            yield Draft(
                check=Members(gold=gold, others=exclude_path_words(others, class_)),
                words={"name": name},
                loose=loose_slots(tree, class_, name),
                facts={**facts_of(class_), "bases": [*gold]},
            )


def base_names(class_: Class) -> tuple[str, ...]:
    """Return the bases without their type arguments, and without those that are no plain names."""
    plain = [base.partition("[")[0] for base in class_.bases]
    return tuple(base for base in plain if NAME.fullmatch(base))


def raises(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    functions = shuffled(askable_functions(tree), rng)
    yield from with_absent(tree, _raises(tree, functions, rng), functions, ABSENT_SHARE, rng)


def _raises(tree: Tree, functions: list[Function], rng: Random) -> Iterator[Draft]:
    for function in functions:
        silent = not function.raises and function.end - function.line > 4
        if (name := unique_name(tree, function)) and (
            raised_names(function) or (silent and rng.random() < SILENT_SHARE)
        ):
            yield Draft(
                check=raises_check(tree, function) if function.raises else _raises_nothing_check(tree),
                words={"name": name},
                loose=loose_slots(tree, function, name),
                facts={**facts_of(function), "raises": [*function.raises]},
            )


def raised_names(function: Function) -> tuple[str, ...]:
    """Return what it raises, if each is the name of a class; else nothing: the value of a variable is not known."""
    return function.raises if all(NAME.fullmatch(name) and name[0].isupper() for name in function.raises) else ()


def raises_check(tree: Tree, function: Function) -> Members:
    return Members(gold=function.raises, others=tuple(sorted({*_exceptions(tree), *BUILT_IN} - {*function.raises})))


def _raises_nothing_check(tree: Tree) -> Value:
    return Value(
        gold=RAISES_NOTHING[0], also=RAISES_NOTHING[1:], wrong=tuple(dict.fromkeys([*_exceptions(tree), *BUILT_IN]))
    )


def _exceptions(tree: Tree) -> list[str]:
    common = Counter(name for one in tree.functions for name in raised_names(one))
    return [name for name, _ in common.most_common(MAX_COMMON)]
