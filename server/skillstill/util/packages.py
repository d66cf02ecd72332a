"""Files that installed distributions carry, found through their metadata and never imported."""

from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path


@cache
def installed_file(distribution: str, name: str) -> Path | None:
    """Return the installed file of that base name or relative path, or None if it is not installed."""
    try:
        listed = files(distribution) or ()
    except PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())).resolve() for file in listed if file.name == name or str(file) == name)
    return next((path for path in paths if path.is_file()), None)
