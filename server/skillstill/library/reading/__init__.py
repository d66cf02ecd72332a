"""Bytes of a stranger's file -> a definition. Nothing of it is executed; only to say nothing at all is an error."""

from skillstill.library.reading.reader import FileContext, Read, build_definition, decode

__all__ = ["FileContext", "Read", "build_definition", "decode"]
