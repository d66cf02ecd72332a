"""Mutation operators: each makes one small mistake of a node of a function's syntax tree."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Operator: TypeAlias = Callable[[ast.AST], ast.AST | None]
COMPARED: Mapping[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(), ast.LtE: ast.Lt(), ast.Gt: ast.GtE(), ast.GtE: ast.Gt(), ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(), ast.Is: ast.IsNot(), ast.IsNot: ast.Is(), ast.In: ast.NotIn(), ast.NotIn: ast.In(),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutation:
    """One operator at one place: the bytes from `start` to `end` of the source become `text`."""

    operator: str
    start: int
    end: int
    text: bytes

    def of(self, source: bytes) -> bytes:
        return source[: self.start] + self.text + source[self.end :]


def comparison(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return ast.Compare(node.left, [COMPARED[type(node.ops[0])]], node.comparators)
    return None


def connective(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    return None


def sign(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return ast.BinOp(node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right)
    return None


def off_by_one(node: ast.AST) -> ast.AST | None:
    return ast.Constant(node.value + 1) if isinstance(node, ast.Constant) and type(node.value) is int else None


def dropped_not(node: ast.AST) -> ast.AST | None:
    return node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else None


def nothing_returned(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Return) and node.value and ast.unparse(node.value) != "None":
        return ast.Return(ast.Constant(None))
    return None


def swapped_arguments(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.Call) or len(node.args) < 2 or any(isinstance(one, ast.Starred) for one in node.args):
        return None
    return ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)


OPERATORS: Mapping[str, Operator] = {
    one.__name__: one
    for one in (comparison, connective, sign, off_by_one, dropped_not, nothing_returned, swapped_arguments)
}


def functions_of(tree: ast.Module) -> Iterator[Function]:
    """Yield the functions and methods, but not those inside others."""
    pending: list[ast.stmt] = [*tree.body]
    while pending:
        one = pending.pop(0)
        if isinstance(one, Function):
            yield one
        elif isinstance(one, ast.ClassDef):
            pending = [*one.body, *pending]


def mutations_of(function: Function, source: bytes) -> Iterator[Mutation]:
    """Yield each operator at each place of the body that it changes."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _placed(function):
        for name, operator in OPERATORS.items():
            if (other := operator(node)) is not None:
                start = starts[node.lineno - 1] + node.col_offset
                end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
                yield Mutation(name, start, end, ast.unparse(other).encode())


def _placed(function: Function) -> Iterator[ast.expr | ast.stmt]:
    """Yield what stands in the body. In an f-string nodes have no true places, so it is left out."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if not isinstance(node, ast.JoinedStr):
            pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.expr | ast.stmt):
            yield node
