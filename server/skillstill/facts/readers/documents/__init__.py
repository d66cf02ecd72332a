"""Markdown, reStructuredText and AsciiDoc as sections, links and code blocks."""

from skillstill.facts.readers.documents.reader import DOCUMENTS

__all__ = ["DOCUMENTS"]
