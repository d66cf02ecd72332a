"""A git repository's history as rows, read without running anything."""

from skillstill.facts.history.repository import VERSION, history_state, list_commits, read_history
from skillstill.facts.history.tables import TABLES

__all__ = ["TABLES", "VERSION", "history_state", "list_commits", "read_history"]
