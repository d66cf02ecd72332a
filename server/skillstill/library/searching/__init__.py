"""A question to a catalogue: its definitions by words and by meaning, those that are much the same shown once."""

from skillstill.library.searching.searcher import DefinitionHit, Shared, rank, search, shared_words_of

__all__ = ["DefinitionHit", "Shared", "rank", "search", "shared_words_of"]
