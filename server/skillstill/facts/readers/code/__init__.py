"""Source code: definitions, parameters, calls, imports and the like, by tree-sitter.

    bytes -> tree -> matches of the language's query (queries/*.scm) -> one sweep (sweep.py) -> rows

Only the text counts: nothing is imported, resolved or expanded.
"""

from skillstill.facts.readers.code.reader import CODE

__all__ = ["CODE"]
