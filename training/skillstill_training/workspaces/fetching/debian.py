"""Debian source packages of the format 3.0: upstream's tree, with Debian's `debian/` folder placed in."""

import re
import shutil
from email import message_from_string
from email.message import Message
from pathlib import Path

from skillstill.errors import WorkspaceSourceError

from skillstill_training.util.hashes import file_sha256
from skillstill_training.workspaces.archives import unpack
from skillstill_training.workspaces.fetching.apt import Apt
from skillstill_training.workspaces.requests import FetchRequest, cache_folder, download, locked

ORIGINAL = re.compile(r"\.orig(?:-([A-Za-z0-9-]+))?\.tar\.\w+$")
DEBIAN = re.compile(r"\.debian\.tar\.\w+$")


def fetch(request: FetchRequest, tree: Path) -> None:
    name, _, version = request.wanted.partition("=")
    description = download(request, lambda folder: _download(name, version, folder))
    fields = _fields(description)
    if not fields.get("Format", "").startswith("3.0"):
        raise WorkspaceSourceError(
            f"its format is {fields.get('Format', 'unknown')}; 3.0 (quilt) and 3.0 (native) are read"
        )
    names = [file.name for file in _verify(fields, description.parent)]
    for file in sorted(names, key=len):  # upstream's main archive before those that go into its folders
        if found := ORIGINAL.search(file):
            unpack(description.parent / file, tree / (found[1] or ""), strip_top=True)
    if "native" in fields["Format"]:
        unpack(description.parent / next(file for file in names if ".tar." in file), tree, strip_top=True)
    for file in filter(DEBIAN.search, names):
        _place(description.parent / file, tree)


def _download(name: str, version: str, into: Path) -> Path:
    folder = cache_folder() / "apt"
    with locked(folder):
        Apt(folder).download(name, version, into)
    described = list(into.glob("*.dsc"))
    if len(described) != 1:
        raise WorkspaceSourceError(f"apt brought {len(described)} .dsc files, expected one")
    return described[0]


def _fields(description: Path) -> Message:
    """Return the fields of a `.dsc`, signed or not. Whose signature it is, apt's lists vouch for."""
    text = description.read_text(encoding="utf-8", errors="replace")
    if signed := re.search(
        r"^-----BEGIN PGP SIGNED.*?\n\n(.*?)^-----BEGIN PGP SIGNATURE", text, re.DOTALL | re.MULTILINE
    ):
        text = signed[1]
    return message_from_string(text)


def _verify(fields: Message, folder: Path) -> list[Path]:
    """Return the files that the `.dsc` lists, each with the SHA-256 that stands there."""
    found = []
    for line in fields.get("Checksums-Sha256", "").split("\n"):
        match line.split():
            case [sha256, _, name] if Path(name).name == name:
                file = folder / name
                if not file.is_file() or file_sha256(file) != sha256:
                    raise WorkspaceSourceError(f"its file {name} is missing or altered: remove {folder} and try again")
                found.append(file)
    if not found:
        raise WorkspaceSourceError("its .dsc lists no files with a SHA-256")
    return found


def _place(archive: Path, tree: Path) -> None:
    """Replace upstream's own `debian/`, as dpkg-source does."""
    aside = tree.with_name(f"{tree.name}.debian")
    unpack(archive, aside)
    shutil.rmtree(tree / "debian", ignore_errors=True)
    if (aside / "debian").is_dir():
        (aside / "debian").rename(tree / "debian")
    shutil.rmtree(aside)
