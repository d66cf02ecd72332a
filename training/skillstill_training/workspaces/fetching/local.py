"""What lies on this machine already: a folder, a file of an installed distribution."""

import shutil
from pathlib import Path

from skillstill.errors import WorkspaceSourceError
from skillstill.util.packages import installed_file

from skillstill_training.util.hashes import file_sha256
from skillstill_training.workspaces import tree
from skillstill_training.workspaces.requests import FetchRequest


def folder(request: FetchRequest, into: Path) -> None:
    """Copy a folder. Its pin is that of the whole tree, which `keep` prunes later."""
    path = locate_folder(request)
    if not path.is_dir():
        raise WorkspaceSourceError(f"{path} {'is no folder' if path.exists() else 'does not exist'}")
    tree.copy_into(path, into)


def package(request: FetchRequest, into: Path) -> None:
    distribution, name = request.wanted.split("/", 1)
    file = installed_file(distribution, name)
    if file is None:
        raise WorkspaceSourceError(f"no installed {distribution} holds {name}: type `pip install {distribution}`")
    request.check(file_sha256(file))
    shutil.copyfile(file, into / file.name)


def locate_folder(request: FetchRequest) -> Path:
    """Return the path that is wanted: from the skill folder, of the home folder, or absolute."""
    try:
        return request.skill_folder.absolute() / Path(request.wanted).expanduser()
    except RuntimeError as error:  # `~name` of nobody
        raise WorkspaceSourceError(f"{request.wanted} cannot be reached: {error}") from error
