"""Debian source packages, without Debian: how apt is asked, and what is made of the files that it brings."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from skillstill.errors import WorkspaceSourceError
from skillstill_training.workspaces import BuiltWorkspace, Source, build_workspace
from skillstill_training.workspaces.fetching import apt
from skillstill_training.workspaces.requests import cache_folder

from tests.scenes import write
from tests.training.workspaces.conftest import tar

STANZAS = """Types: deb
# a comment
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian.gpg

Enabled: no
Types: deb deb-src
URIs: http://other.example
Suites: bookworm
Components: main
"""
LINES = """# deb http://off.example bookworm main
deb [arch=amd64 signed-by=/a.gpg] http://mirror.example/debian bookworm main
deb-src [arch=amd64 signed-by=/a.gpg] http://mirror.example/debian bookworm main
"""


def test_lists_of_sources_are_derived_from_those_of_the_machine(tmp_path: Path) -> None:
    etc = write(tmp_path / "etc", {"sources.list": LINES, "sources.list.d/debian.sources": STANZAS})
    write(etc, {"sources.list.d/more.list": "deb http://more.example a b\n", "sources.list.d/x.disabled": "deb no\n"})
    apt.Apt(folder := tmp_path / "apt", etc)
    assert (folder / "sources.list").read_text(encoding="utf-8") == (
        "deb-src [arch=amd64 signed-by=/a.gpg] http://mirror.example/debian bookworm main\n"
        "deb-src http://more.example a b\n"
    )
    derived = (folder / "sources.list.d/debian.sources").read_text(encoding="utf-8")
    assert derived == STANZAS.split("\n\n")[0].replace("Types: deb", "Types: deb-src") + "\n"


def test_apt_writes_nowhere_but_its_folder_and_runs_no_hooks(tmp_path: Path) -> None:
    text = apt.configuration(tmp_path)
    for option in ("Dir::State", "Dir::State::status", "Dir::Cache", "Dir::Etc::SourceList", "Dir::Etc::SourceParts"):
        assert f'{option} "{tmp_path}/' in text
    for hook in ("Pre-Invoke", "Post-Invoke", "Post-Invoke-Success"):
        assert f"#clear APT::Update::{hook};" in text


def test_without_apt_it_says_what_it_needs(tmp_path: Path, skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkspaceSourceError, match="there is no apt-get here: Debian's sources need Debian"):
        build_workspace(Source(name="shop", split="test", source="debian:shop=1-1"), skill)


def apt_that_says(folder: Path, *lines: str) -> None:
    for name in ("apt-get", "apt-cache"):
        write(
            folder,
            {name: "#!/bin/sh\n" + "".join(f"echo '{line}' >&2; echo '{line}'\n" for line in lines) + "exit 100\n"},
        )
        (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Version: 2-1", "there is no version 1-1; the machine's Debian has 2-1"),
        ("E: Failed to fetch http://a.example/b.tar.gz  404  Not Found [IP: 1.2.3.4 80]", "it (404  Not Found): check"),
        ("E: Unable to locate", "apt cannot fetch it (Unable to locate): check the name and the network"),
    ],
)
def test_what_apt_refuses_is_told(
    line: str, said: str, tmp_path: Path, skill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt_that_says(tmp_path / "bin", line)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    with pytest.raises(WorkspaceSourceError) as caught:
        build_workspace(Source(name="shop", split="test", source="debian:shop=1-1"), skill)
    assert said in str(caught.value)
    assert "a.example" not in str(caught.value)


def described(files: dict[str, bytes], form: str = "3.0 (quilt)") -> bytes:
    sums = "".join(f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n" for name, data in files.items())
    body = f"Format: {form}\nSource: shop\nChecksums-Sha256:\n{sums}Files:\n md5 1 x\n"
    return f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n{body}-----BEGIN PGP SIGNATURE-----\n\nabc\n".encode()


FILES = {
    "shop_1.orig-extra.tar.gz": tar({"extra-2/more.py": "MORE = 1\n"}),
    "shop_1-1.debian.tar.xz": tar({"debian/control": "Source: shop\n", "debian/patches/series": ""}, "w:xz"),
    "shop_1.orig.tar.gz": tar({"shop-1/cart.py": "TOTAL = 3\n", "shop-1/debian/old": "upstream's own\n"}),
}


def prepared(skill: Path, files: dict[str, bytes], form: str = "3.0 (quilt)", **fields: object) -> BuiltWorkspace:
    """The workspace of a source package that was downloaded before."""
    description = described(files, form)
    folder = cache_folder() / "downloads" / (pin := hashlib.sha256(description).hexdigest())
    folder.mkdir(parents=True)
    for name, data in {**files, "shop_1-1.dsc": description}.items():
        (folder / name).write_bytes(data)
    source = {"name": "shop", "split": "test", "source": "debian:shop=1-1", "sha256": pin, **fields}
    return build_workspace(Source.model_validate(source), skill, offline=True)


def shown(built: BuiltWorkspace) -> list[str]:
    return sorted(str(path.relative_to(built.root)) for path in built.root.rglob("*") if path.is_file())


def test_debian_s_folder_takes_the_place_of_upstream_s(skill: Path) -> None:
    assert shown(prepared(skill, FILES)) == ["cart.py", "debian/control", "debian/patches/series", "extra/more.py"]


def test_patches_find_debian_s_folder_whatever_keep_says(skill: Path) -> None:
    built = prepared(skill, FILES, keep=("cart.py",), steps=("patches",))
    assert (shown(built), dict(built.notes)) == (["cart.py"], {"changes": []})


def test_a_native_package_is_one_archive(skill: Path) -> None:
    files = {"shop_1.tar.gz": tar({"shop/cart.py": "", "shop/debian/control": ""})}
    assert shown(prepared(skill, files, "3.0 (native)")) == ["cart.py", "debian/control"]


def test_files_other_than_described_are_refused(skill: Path) -> None:
    folder = cache_folder() / "downloads" / hashlib.sha256(described(FILES)).hexdigest()
    prepared(skill, FILES)
    (folder / "shop_1.orig.tar.gz").write_bytes(b"other")
    source = {"name": "x", "split": "test", "source": "debian:shop=1-1", "sha256": folder.name, "keep": ["a*"]}
    with pytest.raises(WorkspaceSourceError, match=r"its file shop_1\.orig\.tar\.gz is missing or altered: remove "):
        build_workspace(Source.model_validate(source), skill, offline=True)


def test_old_formats_are_told(skill: Path) -> None:
    with pytest.raises(WorkspaceSourceError, match=r"its format is 1\.0; 3\.0 \(quilt\) and 3\.0 \(native\) are read"):
        prepared(skill, {"shop_1.orig.tar.gz": tar({"a/b": ""})}, "1.0")
