"""What was imported, in one SQLite file: found by name, key and source; a source is replaced whole or not at all."""

from skillstill.library.catalogue.store import Added, Catalogue, unpack_definition

__all__ = ["Added", "Catalogue", "unpack_definition"]
