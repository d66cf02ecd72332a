"""The values that parsing returns: a symbol of one source file and what it raises."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "class",  # Java records too
    "interface",  # Java annotation types too
    "enum",
    "struct",  # Rust unions too
    "trait",
    "type",  # an alias, or a Go type that is neither struct nor interface
    "function",  # Rust's macro_rules! too
    "method",  # a function directly inside one of the kinds above, or of a named JavaScript object
    "constant",  # a name with a value at the level of a module or a class; variables there too
    "module",  # a Rust mod, a TypeScript namespace
]


@dataclass(frozen=True, slots=True)
class Raised:
    """One statement that raises: the exception as written, without its arguments, and its 1-based line."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition. Lines are 1-based and count line feeds, so they agree with `cat -n` and ripgrep.

    name       qualified inside the file: "Client.get", "outer.inner"; Go and Rust methods as "Type.method"
    line       where the definition itself starts, after its decorators or annotations
    end        its last line
    signature  its source on one line, without body, comments and decorators; "…" if it was cut
    bases      extended and implemented types as written; in Rust also traits that this file implements for it
    raises     what its own body raises, nested functions left out
    """

    name: str
    kind: Kind
    line: int
    end: int
    signature: str
    bases: tuple[str, ...] = ()
    raises: tuple[Raised, ...] = ()
