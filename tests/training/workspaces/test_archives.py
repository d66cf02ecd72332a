"""Archives are unpacked as data, inside their folder and within limits."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from skillstill.errors import WorkspaceSourceError
from skillstill_training.workspaces import archives, tree

from tests.training.workspaces.conftest import tar, wheel


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def unpacked(tmp_path: Path, data: bytes, *, strip_top: bool = False) -> dict[str, str]:
    (archive := tmp_path / "archive").write_bytes(data)
    archives.unpack(archive, into := tmp_path / "tree", strip_top=strip_top)
    return {path: (into / path).read_text(encoding="utf-8") for path in tree.files(into)}


def refusal(tmp_path: Path, data: bytes) -> str:
    with pytest.raises(WorkspaceSourceError) as caught:
        unpacked(tmp_path, data)
    return str(caught.value)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
def test_an_sdist_loses_its_top_folder(tmp_path: Path, mode: str) -> None:
    members = {"shop-1/setup.py": "raise SystemExit\n", "shop-1/shop-1/a.py": "", "shop-1/PKG-INFO": "Name: shop"}
    assert unpacked(tmp_path, tar(members, mode), strip_top=True) == {
        "setup.py": "raise SystemExit\n",
        "shop-1/a.py": "",
    }


def test_a_wheel_keeps_its_folders_and_loses_what_pip_needs_alone(tmp_path: Path) -> None:
    members = {"shop/a.py": "1", "shop/b.so": "", "shop-1.dist-info/RECORD": "shop/a.py"}
    assert unpacked(tmp_path, wheel(members)) == {"shop/a.py": "1"}


@pytest.mark.parametrize("name", ["/etc/passwd", "../out", "a/../../out", "a\\..\\out"])
def test_no_path_leaves_the_folder(tmp_path: Path, name: str) -> None:
    for data in (tar({name: "x"}), wheel({name: "x"})):
        assert "would leave the folder" in refusal(tmp_path, data)
    assert {path.name for path in tmp_path.iterdir()} == {"archive", "tree"}


@pytest.mark.parametrize("target", ["/etc/passwd", "../../out"])
@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_no_link_leaves_the_folder(tmp_path: Path, kind: bytes, target: str) -> None:
    if (kind, target) == (tarfile.LNKTYPE, "../../out"):
        target = "../out"
    assert "would leave the folder" in refusal(tmp_path, tar({"a": special("a", kind, target)}))


def test_no_link_of_a_zip_leaves_the_folder(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("shop/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(link, "../../out")
    assert "its link 'shop/link' would leave the folder" in refusal(tmp_path, buffer.getvalue())


def test_links_inside_are_left_out(tmp_path: Path) -> None:
    members: dict[str, str | tarfile.TarInfo] = {"a": "1", "b": special("b", tarfile.SYMTYPE, "a")}
    assert unpacked(tmp_path, tar(members)) == {"a": "1"}


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    assert "is a device" in refusal(tmp_path, tar({"a": special("a", kind)}))


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_FILES", 3)
    for data in (tar(dict.fromkeys("abcd", "")), wheel(dict.fromkeys("abcd", ""))):
        assert refusal(tmp_path, data) == "it holds more than 3 files"


def test_an_archive_bomb_is_refused_before_it_is_written(tmp_path: Path) -> None:
    huge = tarfile.TarInfo("zeros")
    huge.size = 600_000_000  # of which the archive holds nothing
    assert "it unpacks to more than 500,000,000 bytes" in refusal(tmp_path, tar({"zeros": huge}))
    assert not list((tmp_path / "tree").iterdir())


def test_a_bomb_in_what_is_passed_over_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_BYTES", 100_000)
    header = tar({"a": "x" * 300_000})
    assert "it unpacks to more than 100,000 bytes" in refusal(tmp_path, header)


@pytest.mark.parametrize(
    "data",
    [b"", b"no archive", b"PK\x03\x04 no", tar({"a": "1"})[:30], b"\x1f\x8bno", b"\xfd7no"],
    ids=lambda content: f"{content[:2]!r} and {len(content) - 2} more",
)
def test_what_is_no_archive_is_told(tmp_path: Path, data: bytes) -> None:
    assert "is no archive that can be read" in refusal(tmp_path, data)
