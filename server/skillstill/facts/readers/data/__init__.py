"""Tables of data files: SQLite, CSV and its relatives, spreadsheets, Parquet and JSON."""

from skillstill.facts.readers.data.reader import DATA

__all__ = ["DATA"]
