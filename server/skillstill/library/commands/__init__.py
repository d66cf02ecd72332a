"""The command line of the library: import, export-skill, search, assess."""
