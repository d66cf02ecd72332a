"""Distributions of a package index: found, verified, unpacked, never built."""

from __future__ import annotations

import hashlib
import subprocess
from datetime import date
from pathlib import Path

import pytest
from skillstill.errors import WorkspaceSourceError
from skillstill_training.workspaces import Source, build_workspace
from skillstill_training.workspaces.__main__ import main
from skillstill_training.workspaces.fetching import pypi

from tests.training.workspaces.conftest import tar, wheel
from tests.training.workspaces.index import Index

SDIST = tar({"shop-1.10/setup.py": "raise SystemExit('ran')\n", "shop-1.10/shop/__init__.py": "NAME = 'shop'\n"})
WHEEL = wheel({"shop/__init__.py": "NAME = 'wheel'\n"})
SPECIAL = wheel({"shop/__init__.py": "NAME = 'special'\n"})


@pytest.fixture
def index(index: Index) -> Index:
    index.files = {
        "shop": {
            "shop-1.9.tar.gz": b"old",
            "shop-1.10-cp311-cp311-manylinux1_x86_64.whl": SPECIAL,
            "shop-1.10-py3-none-any.whl": WHEEL,
            "shop-1.10.tar.gz": SDIST,
            "shop-2.0-py3-none-any.whl": WHEEL,
        }
    }
    return index


def of(data: bytes, source: str = "pypi:shop==1.10") -> Source:
    return Source(name="shop", split="test", source=source, sha256=hashlib.sha256(data).hexdigest())


def refusal(source: Source, skill: Path, *, offline: bool = False) -> str:
    with pytest.raises(WorkspaceSourceError) as caught:
        build_workspace(source, skill, offline=offline)
    assert "127.0.0.1" not in str(caught.value)
    return str(caught.value)


def test_an_sdist_is_unpacked_and_its_setup_never_runs(index: Index, skill: Path) -> None:
    root = build_workspace(of(SDIST), skill).root
    assert (root / "shop/__init__.py").read_text(encoding="utf-8") == "NAME = 'shop'\n"
    assert (root / "setup.py").is_file()


def test_of_wheels_the_pure_one_is_taken(index: Index, skill: Path) -> None:
    root = build_workspace(of(WHEEL, "pypi:shop==1.10#wheel"), skill).root
    assert (root / "shop/__init__.py").read_text(encoding="utf-8") == "NAME = 'wheel'\n"


def test_an_archive_is_fetched_once(index: Index, skill: Path) -> None:
    build_workspace(of(SDIST), skill)
    asked = list(index.requests)
    build_workspace(of(SDIST).model_copy(update={"keep": ("shop/**",)}), skill, offline=True)
    assert index.requests == asked
    assert asked == ["/simple/shop/", "/files/shop/shop-1.10.tar.gz"]


def test_offline_without_a_copy_says_so(index: Index, skill: Path) -> None:
    assert "is not in the cache and this run is offline" in refusal(of(SDIST), skill, offline=True)
    assert index.requests == []


def test_another_archive_than_the_pinned_one_is_refused(index: Index, skill: Path) -> None:
    expected, got = (hashlib.sha256(data).hexdigest() for data in (WHEEL, SDIST))
    assert f"expected sha256 {expected}, got {got}" in refusal(of(WHEEL), skill)


def test_an_altered_download_is_refused(index: Index, skill: Path) -> None:
    index.altered = True
    assert "is not what the index lists: try again" in refusal(of(SDIST), skill)


def test_missing_versions_kinds_and_projects_are_told(index: Index, skill: Path) -> None:
    assert "no version 1.11; the nearest are 1.9, 1.10, 2.0" in refusal(of(SDIST, "pypi:shop==1.11"), skill)
    assert "this version has no sdist; try `#wheel`" in refusal(of(SDIST, "pypi:shop==2.0"), skill)
    assert "this version has no wheel; drop `#wheel`" in refusal(of(SDIST, "pypi:shop==1.9#wheel"), skill)
    assert "has no project other; check the name" in refusal(of(SDIST, "pypi:other==1"), skill)


def test_an_unreachable_index_is_told(skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:secret@127.0.0.1:1/simple")
    text = refusal(of(SDIST), skill)
    assert "workspace shop (pypi:shop==1.10): the package index cannot be read (ConnectionError)" in text


def test_pip_s_configuration_names_the_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://mirror.example/simple\n", encoding="utf-8")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    assert pypi._address() == "https://mirror.example/simple"
    failed = subprocess.CompletedProcess([], 1, stdout="", stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *a, **o: failed)
    assert pypi._address().endswith("/simple/")


def test_the_first_upload_is_that_of_the_oldest_file(index: Index) -> None:
    index.uploaded = {"shop-1.10.tar.gz": "2026-02-01T00:00:00.5Z", "shop-1.9.tar.gz": "2025-07-22T05:14:44Z"}
    assert pypi.first_upload("shop") == date(2025, 7, 22)
    assert main(["first-upload", "shop"]) == 'shop: first_uploaded = "2025-07-22"\n'


def test_an_index_that_tells_no_times_is_told(index: Index) -> None:
    with pytest.raises(WorkspaceSourceError, match="does not tell when shop was uploaded"):
        pypi.first_upload("shop")


def test_pinning_prints_an_entry_that_can_be_prepared(index: Index) -> None:
    index.uploaded = {"shop-1.9.tar.gz": "2025-07-22T05:14:44Z"}
    entry = ["[[workspace]]", 'name = "shop"', 'split = "train"', 'source = "pypi:shop==1.10"',
             f'sha256 = "{hashlib.sha256(SDIST).hexdigest()}"', 'first_uploaded = "2025-07-22"', ""]  # fmt: skip
    assert main(["pin", "shop==1.10"]) == "\n".join(entry)


@pytest.mark.parametrize("arguments", [[], ["pin"], ["first-upload"], ["pin", "svn:here"]])
def test_a_wrong_command_says_what_was_expected(arguments: list[str]) -> None:
    with pytest.raises(WorkspaceSourceError, match="expected"):
        main(arguments)
