"""Drafts of plain look-ups: one definition, and one fact of it."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from random import Random

from skillstill_training.authoring import BuiltWorkspace, Draft, Members, Value, same_number

from .code import Class, CodePlace, Function, Parameter
from .names import shuffled
from .naming import at, called, facts_of, folder_of, loose, plain_classes, plain_functions, with_absent
from .tree import Tree, tree_of

# No plain word: a right answer may hold that by chance.
TOLD = re.compile(r"-?\d[\d.]*|None|True|False|\w+[-_./:]\w.*")
NAME = re.compile(r"[A-Za-z_]\w*")
# How one says that a function raises nothing. Not `nothing` alone: searches find that, too.
NOTHING = (
    "raises nothing", "raise nothing", "nothing is raised", "no exception", "no exceptions", "does not raise",
    "doesn't raise", "does not itself raise", "raises no", "no raise", "not raise any", "none itself",
)  # fmt: skip
BUILT_IN = ("ValueError", "TypeError", "KeyError", "RuntimeError", "NotImplementedError", "OSError", "AttributeError")
SHARE = 0.3  # of the drafts that are followed by one about what is not there
OFTEN = 0.45  # where that is all that is asked
SILENT = 0.03  # of the functions that raise nothing: they are by far the most
COMMONEST = 60  # names or values of a tree that a right answer of another question might list
LONGEST = 30  # characters of a default that a person would ask for
FEW = 7  # parameters that an answer can list


def definitions(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    things: list[CodePlace] = [*plain_functions(tree), *plain_classes(tree)]
    yield from with_absent(tree, _definitions(tree, shuffled(things, rng)), things, OFTEN, rng)


def _definitions(tree: Tree, things: list[CodePlace]) -> Iterator[Draft]:
    for one in things:
        if name := called(tree, one):
            yield Draft(
                check=at(one),
                words={"name": name},
                loose=loose(tree, one, name),
                facts=facts_of(one),
                scope=folder_of(one),
            )


def signatures(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    functions = shuffled(plain_functions(tree), rng)
    yield from with_absent(tree, _signatures(tree, functions), functions, SHARE, rng)


def _signatures(tree: Tree, functions: list[Function]) -> Iterator[Draft]:
    common = Counter(parameter.name for one in tree.functions for parameter in one.parameters)
    usual = [name for name, _ in common.most_common(COMMONEST)]
    for one in functions:
        taken = [parameter.name for parameter in one.parameters]
        if (name := called(tree, one)) and 2 <= len(taken) <= FEW:
            near = {
                parameter.name for other in tree.functions if other.path == one.path for parameter in other.parameters
            }
            others = {*near, *usual, *(read for read, _ in one.reads)} - {*taken, *_header(one), "self", "cls"}
            yield Draft(
                check=Members(gold=tuple(taken), others=apart(others, one)),
                words={"name": name},
                loose=loose(tree, one, name),
                facts={**facts_of(one), "parameters": [*taken]},
            )


def _header(one: Function) -> list[str]:
    """The words of its signature but for the parameters: who quotes it does not list them."""
    typed = (f"{parameter.annotation} {parameter.default}" for parameter in one.parameters)
    return re.findall(r"\w+", " ".join([one.name, one.returns, *typed]))


def apart(others: set[str], one: CodePlace) -> tuple[str, ...]:
    """Without those that the place itself holds: who quotes `src/core/pool.py:3` does not list `core`."""
    return tuple(sorted(others - set(re.findall(r"\w+", one.path))))


def defaults(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    functions = shuffled(plain_functions(tree), rng)
    yield from with_absent(tree, _defaults(tree, functions, rng), functions, SHARE, rng)


def _defaults(tree: Tree, functions: list[Function], rng: Random) -> Iterator[Draft]:
    values = Counter(_value(parameter.default) for one in tree.functions for parameter in one.parameters)
    usual = [value for value, _ in values.most_common(COMMONEST) if value]
    for one in functions:
        asked = [parameter for parameter in one.parameters if is_value(parameter.default)]
        asked = [parameter for parameter in asked if parameter.default != "None" or rng.random() < 0.25]
        if (name := called(tree, one)) and asked:
            parameter = rng.choice(asked)
            yield Draft(
                check=value_of(parameter, [_value(other.default) for other in one.parameters] + usual),
                words={"name": name, "parameter": parameter.name},
                loose=loose(tree, one, name),
                facts={**facts_of(one), "value": parameter.default},
            )


def is_value(text: str) -> bool:
    """Whether it is a number, a short plain text, True, False or None."""
    if not text or len(text) > LONGEST:
        return False
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    if isinstance(value, str):
        return re.fullmatch(r"[\w./:+-]*\w\w[\w./:+-]*(?: [\w./:+-]+)*", value) is not None
    return value is None or isinstance(value, bool | int | float)


def value_of(parameter: Parameter, others: list[str]) -> Value:
    """The check that the default is told; `others` are values that must not be, unless it may have them by its type."""
    gold = _value(parameter.default)
    also = (gold.lower(),) if gold in {"True", "False"} else ()
    told = f"{parameter.annotation} {parameter.default} {parameter.name}"
    wrong = [other for other in dict.fromkeys(others) if TOLD.fullmatch(other) and other not in told]
    return Value(gold=gold, also=also, wrong=tuple(other for other in wrong if not same_number(other, gold)))


def _value(text: str) -> str:
    """As an answer states it: a text without its quotes."""
    return text.strip("'\"") if is_value(text) else ""


def bases(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    classes = shuffled(plain_classes(tree), rng)
    yield from with_absent(tree, _bases(tree, classes), classes, SHARE, rng)


def _bases(tree: Tree, classes: list[Class]) -> Iterator[Draft]:
    common = Counter(base for one in tree.classes for base in named_bases(one))
    usual = [name for name, _ in common.most_common(COMMONEST)]
    for one in classes:
        gold = named_bases(one)
        if (name := called(tree, one)) and gold and len(gold) == len(one.bases):
            near = [other.last for other in tree.classes if other.path == one.path]
            others = {*usual, *near} - {*gold, one.last}
            yield Draft(
                check=Members(gold=gold, others=apart(others, one)),
                words={"name": name},
                loose=loose(tree, one, name),
                facts={**facts_of(one), "bases": [*gold]},
            )


def named_bases(one: Class) -> tuple[str, ...]:
    """The bases without their type arguments; those that are no plain names are left out."""
    plain = [base.partition("[")[0] for base in one.bases]
    return tuple(base for base in plain if NAME.fullmatch(base))


def raises(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    functions = shuffled(plain_functions(tree), rng)
    yield from with_absent(tree, _raises(tree, functions, rng), functions, SHARE, rng)


def _raises(tree: Tree, functions: list[Function], rng: Random) -> Iterator[Draft]:
    for one in functions:
        silent = not one.raises and one.end - one.line > 4
        if (name := called(tree, one)) and (raised_names(one) or (silent and rng.random() < SILENT)):
            yield Draft(
                check=raising(tree, one) if one.raises else _raising_nothing(tree),
                words={"name": name},
                loose=loose(tree, one, name),
                facts={**facts_of(one), "raises": [*one.raises]},
            )


def raised_names(one: Function) -> tuple[str, ...]:
    """What it raises where each is a class by name; else nothing: what a variable holds is not to be told."""
    return one.raises if all(NAME.fullmatch(name) and name[0].isupper() for name in one.raises) else ()


def raising(tree: Tree, one: Function) -> Members:
    return Members(gold=one.raises, others=tuple(sorted({*_exceptions(tree), *BUILT_IN} - {*one.raises})))


def _raising_nothing(tree: Tree) -> Value:
    return Value(gold=NOTHING[0], also=NOTHING[1:], wrong=tuple(dict.fromkeys([*_exceptions(tree), *BUILT_IN])))


def _exceptions(tree: Tree) -> list[str]:
    common = Counter(name for one in tree.functions for name in raised_names(one))
    return [name for name, _ in common.most_common(COMMONEST)]
