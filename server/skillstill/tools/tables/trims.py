"""`trim`, `ltrim` and `rtrim` with characters of their own, as SQLite has them, but for few characters only.

SQLite compares each character of the text with each of those, in one call that cannot be interrupted.
"""

import sqlite3
from collections.abc import Callable

TRIMS: dict[str, Callable[[str, str], str]] = {"trim": str.strip, "ltrim": str.lstrip, "rtrim": str.rstrip}


def add_trims(connection: sqlite3.Connection, most: int) -> None:
    """Let queries of this connection trim up to `most` different characters."""
    for name, stripped in TRIMS.items():
        connection.create_function(name, 2, _trim(stripped, most), deterministic=True)


def _trim(stripped: Callable[[str, str], str], most: int) -> Callable[[object, object], str | None]:
    def trimmed(value: object, characters: object) -> str | None:
        if value is None or characters is None:
            return None
        wanted = _as_text(characters)
        if len(wanted) > most:
            raise ValueError(f"at most {most} characters can be trimmed")
        return stripped(_as_text(value), wanted)

    return trimmed


def _as_text(value: object) -> str:
    """Return the value as SQLite casts it to text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float):
        text = f"{value:.15g}"
        return text if set(text) & set(".en") else f"{text}.0"
    return str(value)
