"""From the bytes of one source file to its symbols, by tree-sitter.

    bytes -> tree -> nodes with a rule (languages.py) -> rules (python.py, ...) -> Outline -> Symbol

Only the text counts: nothing is imported, resolved or expanded. Source is read as UTF-8. A broken file has the symbols
that the parser could recover, and their names may lack the name of what is around them.

Nothing recurses. What lies in more than `MAX_DEPTH` functions and classes inside each other is left out. A file that
takes more than `PARSE_SECONDS` of processor time has no symbols. Neither limits the parser's memory: to index files
that are crafted to exhaust it, run this in a process with a limit.
"""

from skillstill.symbols.languages import PARSE_SECONDS, SUFFIXES, is_unparsed, language_of, symbols
from skillstill.symbols.outline import MAX_DEPTH
from skillstill.symbols.symbol import Kind, Raised, Symbol

__all__ = [
    "MAX_DEPTH",
    "PARSE_SECONDS",
    "SUFFIXES",
    "Kind",
    "Raised",
    "Symbol",
    "is_unparsed",
    "language_of",
    "symbols",
]
