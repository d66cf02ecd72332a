"""Logs: entries, what their messages hold, and templates."""

from skillstill.facts.readers.logs.reader import LOGS

__all__ = ["LOGS"]
