"""Files on their way to a worker: their bytes travel, unless the worker runs where they lie already.

What a parcel brings stays in `<cache>/parcels/<sha256>`, which all workers of a machine share.
"""

import hashlib
import io
import tarfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from platformdirs import user_cache_path
from skillstill.types import ModelFile


@dataclass(frozen=True, slots=True)
class Parcel:
    """A file or folder at `path` of a node of the cluster. `content` refers to its bytes, a tar file.

    `content` is None if all workers are on that node.
    """

    path: Path
    node: str
    sha256: str = ""
    content: Any = None

    def place(self) -> Path:
        """Return where it lies for this worker, unpacked if it is here for the first time."""
        import ray  # only workers unpack

        if self.content is None or ray.get_runtime_context().get_node_id() == self.node:
            return self.path
        home = user_cache_path("skillstill") / "parcels" / self.sha256
        if not home.is_dir():
            unpack(ray.get(self.content), home)
        return home / self.path.name


Packer = Callable[[Path], Parcel]


@dataclass(frozen=True, slots=True)
class SentModel:
    """A model file, with its bytes if it lies in a file of the sender's. Others are found as on any machine."""

    file: ModelFile
    parcel: Parcel | None

    @classmethod
    def of(cls, file: ModelFile, pack: Packer) -> "SentModel":
        kind, _, path = file.source.partition(":")
        return cls(file, pack(Path(path)) if kind == "file" else None)

    def here(self) -> ModelFile:
        """Return the same file as this worker finds it."""
        if self.parcel is None:
            return self.file
        return self.file.model_copy(update={"source": f"file:{self.parcel.place()}"})


def send_models(
    files: Mapping[str, ModelFile | None], needed: Collection[str], pack: Packer
) -> Mapping[str, SentModel]:
    """Return those of the files that there are and that are needed, by their roles."""
    return {role: SentModel.of(file, pack) for role, file in files.items() if file and role in needed}


def found_models(sent: Mapping[str, SentModel]) -> Mapping[str, ModelFile]:
    """Return the files by their roles as this worker finds them."""
    return {role: model.here() for role, model in sent.items()}


def pack(path: Path) -> bytes:
    """Return a file, or a folder with all that is in it, as a tar file: the same bytes for the same files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for file in (path, *sorted(path.rglob("*"))):
            if "__pycache__" not in file.parts:
                tar.add(file, Path(path.name, file.relative_to(path)), recursive=False, filter=_without_owner)
    return packed.getvalue()


def unpack(packed: bytes, home: Path) -> None:
    """Leave the files in the folder `home`, in one step. If another worker was first, its files stay."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=home.parent, prefix=".part-", ignore_cleanup_errors=True) as part:
        (work := Path(part, "files")).mkdir()
        with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
            tar.extractall(work, filter="data")
        try:
            work.rename(home)
        except OSError:
            if not home.is_dir():
                raise


def parcel_hash(packed: bytes) -> str:
    return hashlib.sha256(packed).hexdigest()


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
