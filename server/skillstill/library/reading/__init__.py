"""Bytes of a stranger's file -> a definition. Nothing of it is executed; only to say nothing at all is an error."""

from skillstill.library.reading.reader import Read, Surroundings, decoded, define

__all__ = ["Read", "Surroundings", "decoded", "define"]
