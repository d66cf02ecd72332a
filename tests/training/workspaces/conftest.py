"""A skill folder, and what puts trees and archives together. The cache lies in each test's own home."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.training.workspaces.index import Index


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    (folder := tmp_path / "skill").mkdir()
    return folder


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    with Index() as served:
        monkeypatch.setenv("PIP_INDEX_URL", served.url)
        yield served


def tar(members: Mapping[str, str | tarfile.TarInfo], mode: str = "w:gz") -> bytes:
    """An archive of files by name; a TarInfo stands for itself."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            member = tarfile.TarInfo(name)
            member.size = len(data := content.encode())
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def wheel(members: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()
