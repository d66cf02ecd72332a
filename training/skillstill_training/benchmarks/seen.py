"""Whether our training has seen a folder of a benchmark: by what the `sources.toml` of the skills declare."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal

from skillstill_training.benchmarks.pinned import Pinned
from skillstill_training.workspaces import Source, load_sources

Seen = Literal["trained on", "validated on", "no"]
SPLITS: dict[str, Seen] = {"train": "trained on", "validation": "validated on"}


def seen_by(skills: Path, sources: Collection[Pinned]) -> Seen:
    """Return the worst that holds for one of the sources. A repository is told by its name, however it was fetched."""
    found = {
        SPLITS[ours.split]
        for ours in declared(skills)
        if ours.split in SPLITS
        for theirs in sources
        if _overlap(ours, theirs)
    }
    return next((one for one in SPLITS.values() if one in found), "no")


def declared(skills: Path) -> Iterator[Source]:
    """Yield the workspaces of all skills in the folder, those of their field questions too."""
    for file in sorted([*skills.glob("*/sources.toml"), *skills.glob("*/field/sources.toml")]):
        yield from load_sources(file.parent)


def _overlap(ours: Source, theirs: Pinned) -> bool:
    """Return whether both are of one project and, if both keep only some files, whether they share one."""
    if _project(ours.source or "") != _project(theirs.repository):
        return False
    return not (ours.keep and theirs.keep) or bool(set(ours.keep) & set(theirs.keep))


def _project(source: str) -> str:
    """Return the last part of an address, or the name of a package: `pypi:Flask==3.0` and `.../pallets/flask` agree."""
    name = re.split(r"==|=|@|#", re.sub(r"^(git|pypi|debian|package|folder):", "", source))[0]
    return re.sub(r"[^a-z0-9]", "", Path(name).name.removesuffix(".git").casefold())
