"""What a definition is called: a slug of its own name, else of the place where it lies."""

import re
from pathlib import PurePosixPath

LONGEST = 64  # of a name, by the Agent Skills specification


def slug(name: str) -> str:
    """Return at most 64 of a-z, 0-9 and single hyphens, none at an end; empty if nothing of the name is any of these.

    A name meets the specification if and only if it is its own slug.
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST].rstrip("-")


def stem(path: PurePosixPath, folder: str) -> str:
    """Return what a file is called by its place.

    As the `folder` of a SKILL.md, else its own name without the endings.
    """
    if path.name.lower() == "skill.md":
        return folder
    return re.sub(r"(\.(agent|prompt))?\.md$", "", path.name, flags=re.IGNORECASE)
