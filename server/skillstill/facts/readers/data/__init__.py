"""Tables of data files: SQLite, CSV and its relatives, spreadsheets, Parquet and JSON."""
