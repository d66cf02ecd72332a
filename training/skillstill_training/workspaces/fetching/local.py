"""What lies on this machine already: a folder, a file of an installed distribution."""

import shutil
from pathlib import Path

from skillstill.errors import MaterialError
from skillstill.util.packages import installed_file

from skillstill_training.util.hashes import file_sha256
from skillstill_training.workspaces import tree
from skillstill_training.workspaces.requests import Errand


def folder(errand: Errand, into: Path) -> None:
    """A snapshot; its pin is that of the tree, which `keep` has yet to prune."""
    path = located(errand)
    if not path.is_dir():
        raise MaterialError(f"{path} {'is no folder' if path.exists() else 'does not exist'}")
    tree.copy_into(path, into)


def package(errand: Errand, into: Path) -> None:
    distribution, name = errand.wanted.split("/", 1)
    file = installed_file(distribution, name)
    if file is None:
        raise MaterialError(f"no installed {distribution} holds {name}: type `pip install {distribution}`")
    errand.check(file_sha256(file))
    shutil.copyfile(file, into / file.name)


def located(errand: Errand) -> Path:
    """The path that is wanted: from the skill folder, of the home folder, or absolute."""
    try:
        return errand.skill_folder.absolute() / Path(errand.wanted).expanduser()
    except RuntimeError as error:  # `~name` of nobody
        raise MaterialError(f"{errand.wanted} cannot be reached: {error}") from error
