"""The definitions of Python files, read with `ast`: goals of Python trees are made from them, not from our tools."""

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

TESTS = frozenset({"test", "tests", "_tests", "testing"})
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter with `default` and `annotation` as they are written; empty if there is none."""

    name: str
    default: str
    annotation: str


@dataclass(frozen=True, slots=True)
class CodePlace:
    """A definition: its name inside the file, and its lines, from 1; the first line is below its decorators."""

    path: str
    name: str
    line: int
    end: int
    decorators: int = 0  # lines of decorators, right before `line`

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def owner(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def is_test(self) -> bool:
        return is_test(self.path)


@dataclass(frozen=True, slots=True)
class Function(CodePlace):
    """A function. `calls` and `reads` contain the last part of each name: `get` of `self.pool.get()`."""

    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    raises: tuple[str, ...] = ()
    calls: tuple[tuple[str, int], ...] = ()
    reads: tuple[tuple[str, int], ...] = ()
    of_class: bool = False
    plain: bool = True  # without decorators that change what its signature means, such as @overload


@dataclass(frozen=True, slots=True)
class Class(CodePlace):
    bases: tuple[str, ...] = ()
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Constant(CodePlace):
    value: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    """One name that a file imports from a module, and its line; `is_one_line` if the whole statement is."""

    path: str
    name: str
    line: int
    is_one_line: bool


@dataclass(frozen=True, slots=True)
class Module:
    definitions: tuple[CodePlace, ...]
    imports: tuple[Import, ...]


def is_test(path: str) -> bool:
    names = PurePosixPath(path).parts
    return not TESTS.isdisjoint(names[:-1]) or names[-1].startswith(("test_", "conftest")) or "_test." in names[-1]


def parse_module(path: str, text: str) -> Module | None:
    """Return what a file defines and imports; None if it does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            return None
    return Module(tuple(_definitions(tree, path, "", inside=tree)), tuple(_imports(tree, path)))


def _definitions(node: ast.AST, path: str, prefix: str, inside: ast.AST) -> Iterator[CodePlace]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FunctionNode):
            yield _function(child, path, prefix, of_class=isinstance(inside, ast.ClassDef))
            yield from _definitions(child, path, f"{prefix}{child.name}.", child)
        elif isinstance(child, ast.ClassDef):
            yield _class(child, path, prefix)
            yield from _definitions(child, path, f"{prefix}{child.name}.", child)
        elif isinstance(child, ast.Assign | ast.AnnAssign) and not isinstance(inside, FunctionNode):
            yield from _constants(child, path, prefix)
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _definitions(child, path, prefix, inside)


def _function(node: FunctionNode, path: str, prefix: str, *, of_class: bool) -> Function:
    own = list(_own_nodes(node))
    return Function(
        path=path,
        name=prefix + node.name,
        line=node.lineno,
        end=node.end_lineno or node.lineno,
        decorators=_decorators(node),
        parameters=tuple(
            _parameters(node.args, bound=of_class and "staticmethod" not in map(_source, node.decorator_list))
        ),
        returns=_source(node.returns),
        raises=tuple(dict.fromkeys(_exception_name(one) for one in own if isinstance(one, ast.Raise) and one.exc)),
        calls=tuple((_last_name(one.func), one.lineno) for one in own if isinstance(one, ast.Call)),
        reads=tuple((one.id, one.lineno) for one in own if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)),
        of_class=of_class,
        plain=not {"overload", "typing.overload", "property"} & set(map(_source, node.decorator_list)),
    )


def _class(node: ast.ClassDef, path: str, prefix: str) -> Class:
    named = [one.name for one in ast.walk(node) if isinstance(one, FunctionNode | ast.ClassDef)]
    assigned = [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    assigned += [
        one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
    ]
    return Class(
        path=path,
        name=prefix + node.name,
        line=node.lineno,
        end=node.end_lineno or node.lineno,
        decorators=_decorators(node),
        bases=tuple(_source(base) for base in node.bases),
        members=tuple(dict.fromkeys([*named, *assigned])),
    )


def _decorators(node: FunctionNode | ast.ClassDef) -> int:
    return node.lineno - min((one.lineno for one in node.decorator_list), default=node.lineno)


def _constants(node: ast.Assign | ast.AnnAssign, path: str, prefix: str) -> Iterator[Constant]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if isinstance(target, ast.Name):
            yield Constant(
                path, prefix + target.id, node.lineno, node.end_lineno or node.lineno, value=_source(node.value)
            )


def _imports(tree: ast.Module, path: str) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                yield Import(path, name.name, node.lineno, node.lineno == node.end_lineno and name.asname is None)


def _parameters(arguments: ast.arguments, *, bound: bool) -> Iterator[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    pairs: list[tuple[ast.arg, ast.expr | None]] = list(zip(positional, defaults, strict=True))[bound:]
    pairs += [(arguments.vararg, None)] if arguments.vararg else []
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    pairs += [(arguments.kwarg, None)] if arguments.kwarg else []
    for argument, default in pairs:
        yield Parameter(argument.arg, _source(default), _source(argument.annotation))


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node of the body, except those of functions and classes inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, FunctionNode | ast.ClassDef | ast.Lambda):
            yield child
            yield from _own_nodes(child)


def _exception_name(node: ast.Raise) -> str:
    return _source(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _source(node: ast.AST | None) -> str:
    return ast.unparse(node) if node is not None else ""


def functions(definitions: Sequence[CodePlace]) -> list[Function]:
    return [one for one in definitions if isinstance(one, Function)]
