"""Configuration files as one table of settings."""

from skillstill.facts.readers.config.reader import CONFIG

__all__ = ["CONFIG"]
