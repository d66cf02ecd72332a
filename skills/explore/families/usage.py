"""Drafts about uses of a name: its callers, its importers, its tests."""

import re
from collections.abc import Iterator, Sequence
from random import Random

from skillstill_training.authoring import Absent, BuiltWorkspace, Draft, Locations, Span

from .code import Class, CodePlace, Function
from .draft_parts import askable_classes, askable_functions, facts_of, is_distinct, span_of, with_absent
from .lookups import ABSENT_SHARE
from .names import shuffled
from .tree import Line, Tree, tests_folder, tree_of

MAX_SHOWN = 5  # hits that a search shows
MAX_LISTED = 4  # places that an answer lists
MIN_PRECISION = 0.6  # the least share of right files: an answer may name the defining file beside two importing ones


def callers(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    functions = shuffled(askable_functions(tree), rng)
    yield from with_absent(tree, _callers(tree, functions), functions, ABSENT_SHARE, rng)


def _callers(tree: Tree, functions: Sequence[Function]) -> Iterator[Draft]:
    for function in functions:
        hits = tree.hits(f"{function.last}(") if is_distinct(function.last) and tree.is_unique(function) else []
        calls = [hit for hit in hits if hit != (function.path, function.line)]
        if len(hits) <= MAX_SHOWN and (callers := _calling_functions(tree, function, calls)):
            yield Draft(
                check=Locations(gold=tuple(map(span_of, callers)), precision=1.0),
                words={"name": function.last},
                facts={**facts_of(function), "places": [[*hit] for hit in calls]},
            )


def _calling_functions(tree: Tree, function: Function, calls: Sequence[Line]) -> list[Function]:
    """Return the two to four functions with these lines, if each line is a call and nothing else uses the name."""
    functions = list(dict.fromkeys(_caller_around(tree, hit, function.last) for hit in calls))
    fit = 2 <= len(functions) <= MAX_LISTED and function not in functions and _is_only_called(tree, function)
    return [caller for caller in functions if caller] if fit and None not in functions else []


def _caller_around(tree: Tree, hit: Line, name: str) -> Function | None:
    """Return the innermost function around a line if it calls the name there, else None."""
    inside = [one for one in tree.functions_in(hit[0]) if one.line < hit[1] <= one.end]
    innermost = max(inside, key=lambda one: one.line, default=None)
    return innermost if innermost and (name, hit[1]) in innermost.calls else None


def _is_only_called(tree: Tree, definition: CodePlace) -> bool:
    """Return whether only calls, imports and texts name it: a name that is passed on may be called anywhere."""
    word = re.compile(rf"\b{re.escape(definition.last)}\b(?!\()")
    for path, number in tree.hits(definition.last):
        line = tree.texts[path][number - 1]
        if path.endswith(".py") and word.search(line) and not re.search(r"import|^\s*#|['\"]", line):
            return False
    return True


def importers(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    things: list[CodePlace] = [*askable_functions(tree), *askable_classes(tree)]
    yield from with_absent(tree, _importers(tree, shuffled(things, rng)), things, ABSENT_SHARE, rng)


def _importers(tree: Tree, things: Sequence[CodePlace]) -> Iterator[Draft]:
    for thing in things:
        if lines := _imports(tree, thing):
            gold = tuple(Span(path=path) for path in dict.fromkeys(path for path, _ in lines))
            yield Draft(
                check=Locations(gold=gold, precision=MIN_PRECISION),
                words={"name": thing.last},
                facts={**facts_of(thing), "places": [[*line] for line in lines]},
            )


def _imports(tree: Tree, thing: CodePlace) -> list[Line]:
    """Return all lines that import it, if each is a whole statement and one search shows them all; else none."""
    imports = tree.imports_of.get(thing.last, ()) if is_distinct(thing.last) and tree.is_unique(thing) else ()
    if not imports or len({one.path for one in imports}) > MAX_LISTED or not all(one.is_one_line for one in imports):
        return []
    pattern = re.compile(f"import .*{thing.last}")
    hits = [(path, line) for path, line in tree.hits(thing.last) if pattern.search(tree.texts[path][line - 1])]
    return hits if len(hits) <= MAX_SHOWN and set(hits) == {(one.path, one.line) for one in imports} else []


def tests(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    tree = tree_of(built.root)
    folder = tests_folder(tree)
    things: list[CodePlace] = [*askable_functions(tree), *askable_classes(tree)] if folder else []
    tested = "\n".join("\n".join(lines) for path, lines in tree.texts.items() if path.startswith(f"{folder}/")).lower()
    untested = iter([one for one in shuffled(things, rng) if is_distinct(one.last) and one.last.lower() not in tested])
    for number, draft in enumerate(_tests(tree, shuffled(things, rng), folder)):
        pair = f"{draft.words['name']}/{number}"
        missing = next(untested, None) if rng.random() < ABSENT_SHARE else None
        yield draft.model_copy(update={"pair": pair if missing else ""})
        if missing:
            yield Draft(
                check=Absent(), words={"name": missing.last}, facts={"folder": folder, "absent": True}, pair=pair
            )


def _tests(tree: Tree, things: Sequence[CodePlace], folder: str) -> Iterator[Draft]:
    for thing in things:
        if not (is_distinct(thing.last) and tree.is_unique(thing) and isinstance(thing, Class | Function)):
            continue
        hits = [hit for hit in tree.hits(f"{thing.last}(") if hit[0].startswith(f"{folder}/")]
        inside = [hit for hit in hits if _test_around(tree, hit)]
        if not set(inside).isdisjoint(hits[:MAX_SHOWN]) and all(_contains_name(tree, hit, thing.last) for hit in hits):
            named = [hit for hit in tree.hits(thing.last) if hit[0].startswith(folder)]
            named = [hit for hit in named if _contains_name(tree, hit, thing.last)]
            gold = tuple(span_of(test) for test in dict.fromkeys(_test_around(tree, hit) for hit in named) if test)
            path, line = inside[0]
            yield Draft(
                check=Locations(gold=gold, recall=1 / len(gold), precision=1.0),
                words={"name": thing.last},
                facts={"folder": folder, "path": path, "line": line, "right": len(inside)},
            )


def _test_around(tree: Tree, hit: Line) -> Function | None:
    tests = (one for one in tree.functions_in(hit[0]) if one.last.startswith("test"))
    return next((one for one in tests if one.line < hit[1] <= one.end), None)


def _contains_name(tree: Tree, hit: Line, name: str) -> bool:
    """Return whether the line contains it as a name of its own, not as a part of a longer one."""
    return re.search(rf"(?<!\w){name}(?!\w)", tree.texts[hit[0]][hit[1] - 1]) is not None
