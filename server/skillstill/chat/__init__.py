"""ChatML conversations: messages to prompt and training text, text back to a message."""

from skillstill.chat.dialect import Dialect
from skillstill.chat.hermes import without_tags
from skillstill.chat.markers import END, escape, escaped_json
from skillstill.chat.renderer import HERMES, LINES, dialect_named, parse, render, without_thoughts

__all__ = [
    "END",
    "HERMES",
    "LINES",
    "Dialect",
    "dialect_named",
    "escape",
    "escaped_json",
    "parse",
    "render",
    "without_tags",
    "without_thoughts",
]
