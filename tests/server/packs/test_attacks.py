"""Packs that are damaged or made to harm: each is refused in one sentence, and nothing of it stays."""

import hashlib
import json
import math
import os
import re
import shutil
import stat
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest
from gguf import GGUFWriter
from skillstill.contract import serving_hash
from skillstill.errors import PackError
from skillstill.packs.installer import unpack
from skillstill.skills.skill import load_skill
from skillstill.types import ModelFile
from skillstill.util.storage import data_folder

from tests.server.packs.conftest import placed, sha256
from tests.training.tiny import Sizes, save_base

Members = list[tuple[ZipInfo, bytes]]


def members(pack: Path) -> Members:
    with ZipFile(pack) as archive:
        return [(info, archive.read(info)) for info in archive.infolist()]


def manifest(found: Members) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(found[0][1])
    return value


def rewritten(pack: Path, found: Members, told: dict[str, Any] | None = None) -> Path:
    """The same file with other members, or another manifest."""
    with ZipFile(pack, "w", ZIP_STORED) as archive, warnings.catch_warnings(action="ignore"):
        for number, (info, content) in enumerate(found):
            archive.writestr(info, json.dumps(told) if told and number == 0 else content, info.compress_type)
    return pack


def with_member(pack: Path, path: str, content: bytes) -> Path:
    """The member has this content, and the manifest says so: all that a forger who can hash may do."""
    found = members(pack)
    told, digest = manifest(found), hashlib.sha256(content).hexdigest()
    told["members"] = [one | {"size": len(content), "sha256": digest} if one["path"] == path else one
                       for one in told["members"]]  # fmt: skip
    if path == "adapter.gguf":
        told["entry"]["adapter"]["sha256"] = digest
    return rewritten(pack, [(info, content if info.filename == path else old) for info, old in found], told)


def refusal(pack: Path) -> str:
    with pytest.raises(PackError) as caught:
        unpack(pack)
    assert "\n" not in str(caught.value)
    assert not placed()
    return str(caught.value)


def test_a_changed_byte_names_its_member(packed: Path) -> None:
    before = packed.read_bytes()
    for info, content in members(packed):
        if content:
            where = before.index(content)
            packed.write_bytes(before[:where] + bytes([before[where] ^ 1]) + before[where + 1 :])
            assert info.filename in refusal(packed)


def test_whichever_byte_is_changed_it_is_refused_or_the_same(packed: Path) -> None:
    """Here those beside the contents: names, sizes, dates, the directory, its end; some are read by nobody."""
    before = packed.read_bytes()
    good = unpacked(packed)
    start = before.index(b"PK\x01\x02")
    for where in (*range(30), *range(start, len(before) - 22, 17), *range(len(before) - 22, len(before))):
        packed.write_bytes(before[:where] + bytes([before[where] ^ 0xFF]) + before[where + 1 :])
        assert unpacked(packed) in ({}, good), where


def unpacked(pack: Path) -> dict[str, bytes]:
    """What is placed of it, nothing where it is refused; gone again after the look."""
    with suppress(PackError):
        unpack(pack)
    found = placed()
    shutil.rmtree(data_folder(), ignore_errors=True)
    return found


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.9, 0.999])
def test_a_truncated_pack_is_refused(packed: Path, share: float) -> None:
    content = packed.read_bytes()
    packed.write_bytes(content[: int(len(content) * share)])
    assert "is cut off or no pack: fetch it again" in refusal(packed)


def test_what_is_no_pack_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello " * 100, encoding="utf-8")
    with ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("a.txt", "a")
    assert "is cut off or no pack" in refusal(tmp_path / "text")
    assert "expected manifest.json as its first member" in refusal(tmp_path / "zip")
    assert "cannot be read: No such file or directory" in refusal(tmp_path / "nothing")


@pytest.mark.parametrize(
    "path",
    ["/etc/cron.d/job", "../../registry.json", "skill/settings/../../../up", "skill/settings/.hidden", "C:\\x",
     "skill/settings//x", "skill/other/SKILL.md", "skill/settings/a\u202eb", "skill/settings/x/", "x" * 300,
     "skill/settings/skill.md", "skill/settings/GOALS.PY", "skill/settings/goals.py/x"],
)  # fmt: skip
def test_a_path_that_leads_elsewhere_or_over_another_is_refused_even_if_listed(packed: Path, path: str) -> None:
    found = members(packed)
    told = manifest(found)
    told["members"].append({"path": path, "size": 1, "sha256": hashlib.sha256(b"x").hexdigest()})
    assert "manifest.json: " in refusal(rewritten(packed, [*found, (ZipInfo(path.rstrip("/")), b"x")], told))


def test_members_that_are_unlisted_missing_or_twice_are_named(packed: Path) -> None:
    found = members(packed)
    extra = (ZipInfo("skill/settings/extra.py"), b"")
    assert "'skill/settings/extra.py' is unlisted" in refusal(rewritten(packed, [*found, extra]))
    assert f"{found[-1][0].filename} is missing" in refusal(rewritten(packed, found[:-1]))
    assert f"{found[-1][0].filename!r} is twice" in refusal(rewritten(packed, [*found, found[-1]]))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFDIR])
def test_links_devices_pipes_and_folders_are_refused(packed: Path, kind: int) -> None:
    found = members(packed)
    found[-1][0].external_attr = (kind | 0o777) << 16
    assert "is a link, a folder or a device" in refusal(rewritten(packed, found))


def test_a_bomb_is_refused_before_it_is_read(packed: Path) -> None:
    found = members(packed)
    bomb = ZipInfo("skill/settings/bomb.txt")
    bomb.compress_type = ZIP_DEFLATED
    assert "is compressed or encrypted" in refusal(rewritten(packed, [*found, (bomb, bytes(50_000_000))]))


def test_members_that_share_their_bytes_are_refused(packed: Path) -> None:
    """Many names for one content would unpack to more than the file holds."""
    content = bytearray(packed.read_bytes())
    start = content.index(b"PK\x01\x02")
    directory = bytes(content[start:-22])
    names = [info.filename for info, _ in members(packed)]
    first = directory[: 46 + len(names[0])]
    end = bytearray(content[-22:])
    end[8:12] = (1_000).to_bytes(2, "little") * 2
    end[12:16] = (len(first) * 1_000).to_bytes(4, "little")
    packed.write_bytes(bytes(content[:start]) + first * 1_000 + bytes(end))
    assert "its members say that they hold more than the file does" in refusal(packed) or "damaged" in refusal(packed)


def test_a_comment_which_another_reader_could_take_for_the_end_is_refused(packed: Path) -> None:
    content = packed.read_bytes()
    packed.write_bytes(content[:-2] + len(content[-22:]).to_bytes(2, "little") + content[-22:])
    assert "members say" in refusal(packed) or "damaged" in refusal(packed)
    packed.write_bytes(content + b"more")
    assert "is cut off or no pack" in refusal(packed)


def test_a_directory_without_end_is_not_read(packed: Path) -> None:
    content = bytearray(packed.read_bytes())
    content[-14:-10] = b"\xff\xff\xff\x7f"
    packed.write_bytes(bytes(content[:-10]) + b"\xff\xff\xff\x7f" + bytes(content[-6:]))
    assert "its directory is too large" in refusal(packed)


def test_a_manifest_of_any_size_is_not_read(packed: Path) -> None:
    found = members(packed)
    found[0] = (found[0][0], found[0][1] + b" " * 2_000_000)
    assert "manifest.json has 2,0" in refusal(rewritten(packed, found))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (lambda told: told | {"format": 2}, "has a format that this version does not know: update skillstill"),
        (lambda told: told | {"more": 1}, "manifest.json: more: Extra inputs are not permitted"),
        (lambda told: entry(told, serving_hash="0" * 64), "is of another contract: it was made by skillstill "),
        (lambda told: entry(told, provenance_hash="0" * 64), "not the one that its figures were measured with"),
        (lambda told: entry(told, measured=told["entry"]["claimed"]), "whose figures are claims"),
        (lambda told: entry(told, state="untrained"), "expected a released entry"),
        (lambda told: entry(told, skill="../settings"), "expected a path inside the registry's folder"),
        (lambda told: entry(told, base={"source": "file:/etc/passwd", "sha256": "0" * 64}), "packer's machine"),
        (lambda told: entry(told, description="Ignore\u200b this"), "characters that a reader does not see"),
        (lambda told: entry(told, name="../up"), "manifest.json: entry.name: "),
        (lambda told: calibrated(told, bias=math.nan), "manifest.json: entry.calibration.bias: Input should be a fini"),
        (lambda told: calibrated(told, means=[-math.inf] * 12), "entry.calibration.means.0: Input should be a finite"),
        (lambda told: entry(told, claimed=told["entry"]["claimed"] | {"seconds": math.inf}), "entry.claimed.seconds: "),
    ],
)
def test_a_manifest_that_claims_what_it_may_not_is_refused(
    packed: Path, changed: Callable[[dict[str, Any]], dict[str, Any]], says: str
) -> None:
    found = members(packed)
    assert says in refusal(rewritten(packed, found, changed(manifest(found))))


def calibrated(told: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return entry(told, calibration=told["entry"]["calibration"] | changes)


def entry(told: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return told | {"entry": told["entry"] | changes}


@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        ("adapter.gguf", b"GGUF", "adapter.gguf cannot be read as GGUF"),
        ("skill/settings/subagent.toml", b"tools = 1", "subagent.toml: "),
        ("skill/settings/SKILL.md", b"no front matter", "SKILL.md: frontmatter: "),
        (
            "skill/settings/SKILL.md",
            b"---\na: " + b"[" * 15_000 + b"\n---\n",
            "expected at most 200 brackets, got 15,000",
        ),
        ("skill/settings/SKILL.md", b"---\na: " + b"[" * 100_000 + b"\n---\n", "at most 20,000 characters, got 100,0"),
        ("skill/settings/SKILL.md", b"---\n" + b"- " * 9_000 + b"\n---\n", "SKILL.md: frontmatter: is nested too"),
        ("skill/settings/SKILL.md", b"x" * 1_000_001, "SKILL.md: file: expected at most 1,000,000 characters"),
        ("skill/settings/subagent.toml", b"a = " + b"[" * 15_000, "expected at most 200 brackets, got 15,000"),
        ("skill/settings/subagent.toml", b"a = " + b"{a=" * 100_000, "at most 20,000 characters, got 300,004"),
        ("skill/settings/subagent.toml", b"a." * 50_000 + b"a = 1", "at most 20,000 characters, got 100,005"),
        ("skill/settings/goals.py", b"FAMILIES = ()", "not the one that its figures were measured with"),
        ("scorecard.json", b"[" * 100_000, "scorecard.json is no scorecard"),
    ],
)
def test_a_member_that_is_not_what_it_should_be_is_named(packed: Path, path: str, content: bytes, says: str) -> None:
    pack = with_member(packed, path, content)
    if path == "adapter.gguf":
        pack = agreeing(pack)
    assert says in refusal(pack)


@pytest.mark.parametrize("value", ["nan", "inf", "99999999", "-1"])
@pytest.mark.parametrize("limit", ["seconds", "tokens", "context", "steps", "turn_tokens"])
def test_a_limit_that_is_none_is_named(packed: Path, limit: str, value: str) -> None:
    toml = next(content for info, content in members(packed) if info.filename.endswith("subagent.toml")).decode()
    changed = re.sub(r"\[limits\]\n(?:\w+ = .*\n)*", f"[limits]\n{limit} = {value}\n", toml)
    told = refusal(with_member(packed, "skill/settings/subagent.toml", changed.encode()))
    assert f"subagent.toml: limits.{limit}: Input should be " in told


@pytest.mark.parametrize("brackets", [b"[", b'{"a":'])
def test_a_manifest_of_nested_brackets_is_one_sentence(packed: Path, brackets: bytes) -> None:
    found = members(packed)
    found[0] = (found[0][0], brackets * 100_000)
    assert "manifest.json: file: Invalid JSON: recursion limit exceeded" in refusal(rewritten(packed, found))


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (Path("/dev/zero"), tmp_path / "pipe", tmp_path):
        assert f"{place} cannot be read: " in refusal(place)


def agreeing(pack: Path) -> Path:
    """With the serving hash of what is inside."""
    found = members(pack)
    told = manifest(found)
    folder = pack.parent / "aside" / "settings"
    for info, content in found:
        if info.filename.startswith("skill/settings/") and info.filename.count("/") == 2:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / info.filename.rpartition("/")[2]).write_bytes(content)
    base, adapter = (ModelFile.model_validate(told["entry"][part]) for part in ("base", "adapter"))
    return rewritten(pack, found, entry(told, serving_hash=serving_hash(load_skill(folder), base, adapter)))


def test_a_whole_model_is_no_adapter(packed: Path, base: Path) -> None:
    says = "adapter.gguf is no LoRA adapter: it says that it is a GGUF file of no stated type"
    assert says in refusal(agreeing(with_member(packed, "adapter.gguf", base.read_bytes())))


def test_an_adapter_that_holds_nothing_or_something_else_is_refused(packed: Path, tmp_path: Path) -> None:
    writer = GGUFWriter(tmp_path / "empty", "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    empty = (tmp_path / "empty").read_bytes()
    assert "it holds no tensor" in refusal(agreeing(with_member(packed, "adapter.gguf", empty)))


@pytest.mark.parametrize("other", [Sizes(hidden=128), Sizes(layers=1)])
def test_an_adapter_for_another_base_is_refused(packed: Path, base: Path, tmp_path: Path, other: Sizes) -> None:
    base.unlink()
    save_base(base, other)
    found = members(packed)
    told = manifest(found)
    source = told["entry"]["base"] | {"sha256": sha256(base)}
    pack = agreeing(rewritten(packed, found, entry(told, base=source)))
    assert "adapter.gguf is for another base: it changes blk." in refusal(pack)


def test_an_adapter_of_another_architecture_is_refused(packed: Path, base: Path) -> None:
    base.unlink()
    save_base(base, architecture="qwen2")
    found = members(packed)
    told = manifest(found)
    source = told["entry"]["base"] | {"sha256": sha256(base)}
    pack = agreeing(rewritten(packed, found, entry(told, base=source)))
    assert "its architecture is llama, that of the base is qwen2" in refusal(pack)
