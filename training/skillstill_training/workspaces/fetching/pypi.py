"""Distributions from the package index that pip uses here. They are unpacked and never built."""

import os
import re
import subprocess
import sys
from bisect import bisect
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from skillstill.errors import WorkspaceSourceError

from skillstill_training.workspaces.archives import unpack
from skillstill_training.workspaces.requests import FetchRequest, download

if TYPE_CHECKING:
    from pypi_simple import DistributionPackage, PyPISimple

SECONDS = 60  # without a byte from the index
SHOWN = 4  # versions that an error names


def fetch(request: FetchRequest, tree: Path) -> None:
    wheel = request.wanted.endswith("#wheel")
    archive = download(request, lambda folder: _download(request, folder))
    unpack(archive, tree, strip_top=not wheel)


def first_upload(name: str) -> date:
    """Return the date of the project's first file. Raise WorkspaceSourceError if the index does not say."""
    with _index() as index:
        page = index.get_project_page(name, timeout=SECONDS)
        times = [package.upload_time for package in page.packages if package.upload_time]
        if found := times or list(_told_in_html(index, name)):
            return min(found).date()
    raise WorkspaceSourceError(f"the package index does not tell when {name} was uploaded; look it up on its page")


def _told_in_html(index: "PyPISimple", name: str) -> Iterator[datetime]:
    """Yield the dates from mirrors that serve HTML alone: pypi_simple does not read that attribute of links."""
    from pypi_simple import ACCEPT_HTML_ONLY, RepositoryPage

    answer = index.s.get(index.get_project_url(name), headers={"Accept": ACCEPT_HTML_ONLY}, timeout=SECONDS)
    for link in RepositoryPage.from_html(answer.text).links:
        if told := link.get_str_attrib("data-upload-time"):
            yield datetime.fromisoformat(told)


def _download(request: FetchRequest, folder: Path) -> Path:
    name, _, version = request.wanted.removesuffix("#wheel").partition("==")
    with _index() as index:
        packages = index.get_project_page(name, timeout=SECONDS).packages
        package = _choose_file(packages, version, wheel=request.wanted.endswith("#wheel"))
        file = folder / Path(package.filename).name
        index.download_package(package, file, verify=bool(package.digests), timeout=SECONDS)  # our pin counts
    return file


def _choose_file(packages: "list[DistributionPackage]", version: str, *, wheel: bool) -> "DistributionPackage":
    """Return the sdist, or the pure wheel, else the first of the others."""
    kind = "wheel" if wheel else "sdist"
    same = [one for one in packages if _same(one.version, version)]
    found = sorted(
        (one for one in same if one.package_type == kind),
        key=lambda one: (not one.filename.endswith("-none-any.whl"), one.filename),
    )
    if found:
        return found[0]
    if same:
        raise WorkspaceSourceError(f"this version has no {kind}; {'drop' if wheel else 'try'} `#wheel`")
    versions = ", ".join(_nearest((one.version for one in packages if one.version), version))
    raise WorkspaceSourceError(f"there is no version {version}; the nearest are {versions or 'none: it has no files'}")


def _same(given: str | None, wanted: str) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(given or "") == Version(wanted)
    except InvalidVersion:
        return given == wanted


def _nearest(given: Iterable[str], wanted: str) -> list[str]:
    from packaging.version import InvalidVersion, Version

    versions = set()
    for one in given:
        try:
            versions.add(Version(one))
        except InvalidVersion:
            continue
    try:
        middle = bisect(ordered := sorted(versions), Version(wanted))
    except InvalidVersion:
        return [str(one) for one in sorted(versions)[-SHOWN:]]
    return [str(one) for one in ordered[max(0, middle - SHOWN // 2) :][:SHOWN]]


@contextmanager
def _index() -> "Iterator[PyPISimple]":
    """Return the index. Raise WorkspaceSourceError without its address, which may hold a password."""
    try:
        from packaging.version import Version  # noqa: F401 - comes with it
        from pypi_simple import DigestMismatchError, NoSuchProjectError, PyPISimple
        from requests import RequestException
    except ImportError as error:
        raise WorkspaceSourceError("the package index needs more: type `pip install 'skillstill[goals]'`") from error
    try:
        with PyPISimple(_address()) as index:
            yield index
    except NoSuchProjectError as error:
        raise WorkspaceSourceError(f"the package index has no project {error.project}; check the name") from error
    except DigestMismatchError as error:
        raise WorkspaceSourceError("what was downloaded is not what the index lists: try again") from error
    except (RequestException, ValueError) as error:  # ValueError: no address, or not the answer of an index
        raise WorkspaceSourceError(
            f"the package index cannot be read ({type(error).__name__}): check the network"
        ) from error


def _address() -> str:
    """Return pip's index: its variable, else its configuration, else the library's default."""
    from pypi_simple import PYPI_SIMPLE_ENDPOINT

    if variable := os.environ.get("PIP_INDEX_URL"):
        return variable
    command = [sys.executable, "-m", "pip", "config", "list"]  # `get` passes over the file that PIP_CONFIG_FILE names
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    told = re.search(r"^global\.index-url='(.+)'$", listed, re.MULTILINE)
    return told[1] if told else PYPI_SIMPLE_ENDPOINT
