"""A release on a model hub: its pack and a card that tells of it, in a repository of its own.

Speaks through huggingface_hub, with the token of HF_TOKEN and no other.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from skillstill.errors import PackError, UsageError
from skillstill.models.hub import hub_endpoint, plain_error
from skillstill.packs.card import model_card
from skillstill.packs.installer import Accept, InstalledPack, reject_suspicious, unpack
from skillstill.packs.manifest import MOST_BYTES
from skillstill.packs.packer import SUFFIX, pack
from skillstill.skills.registry import ListedEntry

if TYPE_CHECKING:
    from huggingface_hub import HfApi

FILE = f"release{SUFFIX}"  # one name, so that nothing of a repository has to be listed
ADDRESS = re.compile(r"hub:(?P<repository>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?")
TOKEN = "HF_TOKEN"  # noqa: S105 - the variable's name


@dataclass(frozen=True, slots=True)
class Address:
    """`hub:OWNER/NAME[@REVISION]`; a revision is a branch, a tag or a commit."""

    repository: str
    revision: str = ""

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Raise UsageError."""
        if not (match := ADDRESS.fullmatch(text)):
            raise UsageError(f"{text!r} is no address of a hub: type hub:OWNER/NAME, or hub:OWNER/NAME@REVISION")
        return cls(match["repository"], match["revision"] or "")

    def __str__(self) -> str:
        return f"hub:{self.repository}{'@' if self.revision else ''}{self.revision}"


def push(listed: ListedEntry, address: Address, *, adapter_licence: str = "", public: bool = False) -> Address:
    """Return its pack and card in one commit, whose address comes back. A repository that is not there yet is made.

    Raise PackError, UsageError without a token.
    """
    token = os.environ.get(TOKEN)
    if not token:
        raise UsageError(f"a hub takes nothing from strangers: set {TOKEN} to a token that may write")
    if address.revision:
        raise UsageError(f"a push goes to the main branch: type hub:{address.repository}")
    with TemporaryDirectory() as folder:
        file = Path(folder) / FILE
        pack(listed, file, adapter_licence=adapter_licence)
        readme = model_card(file, address.repository)
        with _asking(address) as api:
            return Address(address.repository, _commit(api, address, file, readme, public=public))


def pull(address: Address, name: str = "", accept: Accept = reject_suspicious) -> tuple[InstalledPack, Address]:
    """Return what `unpack` makes of the pack that lies there, and the commit it came from.

    Raise PackError, UsageError.
    """
    with TemporaryDirectory() as folder:
        with _asking(address) as api:
            file, commit = _fetch(api, address, Path(folder))
        return unpack(file, name, accept), Address(address.repository, commit)


def _commit(api: "HfApi", address: Address, file: Path, readme: str, *, public: bool) -> str:
    from huggingface_hub import CommitOperationAdd
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    api.create_repo(address.repository, private=not public, exist_ok=True)
    operations = [CommitOperationAdd(FILE, str(file)), CommitOperationAdd("README.md", readme.encode())]
    return str(api.create_commit(address.repository, operations, commit_message="A release of skillstill").oid)


def _fetch(api: "HfApi", address: Address, folder: Path) -> tuple[Path, str]:
    """Return the pack at the commit that the revision stands for now. Its size is known before it is fetched."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    url = hf_hub_url(address.repository, FILE, revision=address.revision or None, endpoint=api.endpoint)
    metadata = get_hf_file_metadata(url, token=api.token, endpoint=api.endpoint)
    if metadata.commit_hash is None or (metadata.size or 0) > MOST_BYTES:
        raise PackError(f"{address} cannot be fetched: its pack has no commit, or over {MOST_BYTES:,} bytes")
    file = api.hf_hub_download(address.repository, FILE, revision=metadata.commit_hash, local_dir=folder)
    return Path(file), metadata.commit_hash


@contextmanager
def _asking(address: Address) -> Iterator["HfApi"]:
    """Return the hub, asked with our token; whatever goes wrong is told in a sentence. Raise PackError."""
    from huggingface_hub import HfApi  # 0.2 s

    endpoint = hub_endpoint()
    try:
        # False, for None would take a token that lies in a file.
        yield HfApi(endpoint=endpoint, token=os.environ.get(TOKEN) or False)
    except PackError:
        raise
    except Exception as error:  # the library, httpx2, hf_xet and the disk have no common class
        raise PackError(f"{address} cannot be reached on {endpoint}: {_reason(address, error)}") from error


def _reason(address: Address, error: Exception) -> str:
    """Return the reason without the addresses that the library's own texts contain."""
    from huggingface_hub import errors

    if isinstance(error, RuntimeError) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # of an upload, which the library wraps
    match error:
        case errors.HFValidationError():
            return "this cannot be the name of a repository"
        case errors.GatedRepoError():
            return f"its owner grants access on request: ask on the repository's page, then set {TOKEN}"
        case errors.RepositoryNotFoundError():
            return f"there is no such repository; check the name, or set {TOKEN} if it is private"
        case errors.RevisionNotFoundError():
            return f"it has no revision {address.revision}"
        case errors.RemoteEntryNotFoundError():
            return f"it holds no {FILE}: `skillstill push` puts one there"
        case errors.HfHubHTTPError() if error.response.status_code in {401, 403}:
            return f"it answers {error.response.status_code}; set {TOKEN} to a token that may do this"
        case errors.HfHubHTTPError():
            return f"it answers {error.response.status_code}; try again later"
        case errors.OfflineModeIsEnabled():
            return "HF_HUB_OFFLINE is set; unset it"
    return f"{plain_error(error)}; check the network and HF_ENDPOINT; a hub of one's own may need HF_HUB_DISABLE_XET=1"
