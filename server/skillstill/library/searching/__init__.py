"""A question to a catalogue: its definitions by words and by meaning, those that are much the same shown once."""

from skillstill.library.searching.searcher import DefinitionHit, Shared, ranked, search, shared

__all__ = ["DefinitionHit", "Shared", "ranked", "search", "shared"]
