"""Where sources come from: one file for each kind, each with a function that fills an empty folder."""

from pathlib import Path

from skillstill_training.workspaces.fetching import debian, git, local, pypi
from skillstill_training.workspaces.requests import Fetcher, FetchRequest


def nothing(request: FetchRequest, tree: Path) -> None:
    """Fetch nothing: the steps generate the workspace."""


FETCHERS: dict[str, Fetcher] = {
    "folder": local.folder,
    "package": local.package,
    "pypi": pypi.fetch,
    "debian": debian.fetch,
    "git": git.fetch,
    "generated": nothing,
}
