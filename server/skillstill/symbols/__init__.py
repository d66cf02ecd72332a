"""From the bytes of one source file to its symbols, by tree-sitter.

    bytes -> tree -> nodes with a rule (languages.py) -> rules (python.py, ...) -> Outline -> Symbol

Facts are those of the text: nothing is imported, resolved or expanded. Source is read as UTF-8. A broken file
gives the symbols that the parser could recover, and those may miss the name of what is around them.
Nothing recurses; what lies in more than `MAX_DEPTH` functions and classes inside each other is left out, and
a file that takes more than `PARSE_SECONDS` of processor time to read has no symbols. Neither bounds the
parser's memory: who indexes files that are crafted to exhaust it must run this in a process with a limit.
"""

from skillstill.symbols.languages import PARSE_SECONDS, SUFFIXES, grammar, language_of, unread
from skillstill.symbols.outline import MAX_DEPTH, Outline
from skillstill.symbols.symbol import Kind, Raised, Symbol

__all__ = ["MAX_DEPTH", "PARSE_SECONDS", "SUFFIXES", "Kind", "Raised", "Symbol", "language_of", "symbols", "unread"]


def symbols(source: bytes, language: str) -> tuple[Symbol, ...]:
    """The symbols of `source` in the order of their lines; ValueError only for an unknown language."""
    known, outline = grammar(language), Outline(source)
    tree = known.parse(source)
    for node in known.nodes(tree.root_node) if tree is not None else ():
        outline.reach(node.start_byte)
        if outline.scope.depth < MAX_DEPTH:
            known.rules[node.type](node, outline)
    return outline.symbols()
