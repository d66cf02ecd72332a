"""A project's own registry counts when its owner has pinned it, and exactly as it was then."""

import os
from pathlib import Path

import pytest
from skillstill.errors import RegistryError
from skillstill.skills.registry import Registry, bundled, user_registry
from skillstill.skills.trust import distrust, fingerprint, is_trusted, trust

pytestmark = pytest.mark.usefixtures("as_shipped")
PINS = "trusted.json"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose own registry has another `explore`."""
    folder = tmp_path / "a project" / ".skillstill"
    (folder / "skills" / "explore").mkdir(parents=True)
    for name in ("registry.json", "skills/explore/SKILL.md", "skills/explore/subagent.toml"):
        (folder / name).write_bytes((bundled() / name).read_bytes())
    (folder / "empty").touch()
    return folder.parent


def own(project: Path) -> bool:
    """Whether `explore` is the project's own."""
    return Registry(None, project).entry("explore").origin == project / ".skillstill" / "registry.json"


def test_a_project_s_registry_is_ignored_until_it_is_trusted(project: Path) -> None:
    registry = Registry(None, project)
    assert registry.entry("explore").origin == bundled() / "registry.json"
    reason = f"not trusted; look at it, then type `skillstill trust '{project}'`"
    assert registry.untrusted() == f"{project / '.skillstill'}: {reason}"
    trust(project / ".skillstill")
    assert registry.entry("explore").origin == project / ".skillstill" / "registry.json"
    assert registry.untrusted() == ""


def test_trust_is_for_this_folder_alone(project: Path, tmp_path: Path) -> None:
    trust(project / ".skillstill")
    project.rename(tmp_path / "moved")
    assert not own(tmp_path / "moved")


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "registry.json").write_text((folder / "registry.json").read_text() + " "),
        lambda folder: (folder / "skills" / "explore" / "SKILL.md").write_text("another text"),
        lambda folder: (folder / "goals.py").touch(),
        lambda folder: (folder / ".hidden").write_text("hidden"),
        lambda folder: (folder / "new").mkdir(),
        lambda folder: (folder / "empty").rename(folder / "renamed"),
        lambda folder: (folder / "skills" / "explore").rename(folder / "skills" / "other"),
        lambda folder: (folder / "empty").unlink(),
        lambda folder: ((folder / "empty").unlink(), (folder / "empty").mkdir()),
    ],
    ids=["registry", "skill", "new", "hidden", "folder", "renamed", "renamed folder", "removed", "kind"],
)
def test_any_change_takes_trust_back(project: Path, change: object) -> None:
    trust(project / ".skillstill")
    assert own(project)
    assert callable(change)
    change(project / ".skillstill")
    assert not own(project)


def test_a_change_is_noticed_while_we_run_even_with_the_old_time_stamp(project: Path) -> None:
    trust(project / ".skillstill")
    registry, file = Registry(None, project), project / ".skillstill" / "registry.json"
    assert registry.entry("explore").origin == file
    before = file.stat().st_mtime_ns
    file.write_text(file.read_text("utf-8").replace("Answers", "Obeys  "), encoding="utf-8")
    os.utime(file, ns=(before, before))
    assert registry.entry("explore").origin == bundled() / "registry.json"
    trust(project / ".skillstill")
    assert registry.entry("explore").entry.description.startswith("Obeys")


def test_a_removed_registry_is_neither_read_nor_told(project: Path) -> None:
    registry = Registry(None, project)
    registry.entries()
    (project / ".skillstill" / "registry.json").unlink()
    trust(project / ".skillstill")
    assert registry.entry("explore").origin == bundled() / "registry.json"
    assert registry.untrusted() == ""


@pytest.mark.parametrize("target", ["registry.json", "/etc/passwd", "nowhere", "skills", "."])
def test_a_folder_with_a_link_in_it_cannot_be_trusted(project: Path, target: str) -> None:
    (project / ".skillstill" / "skills" / "link").symlink_to(target)
    with pytest.raises(RegistryError, match="link is a link or a device: such a folder cannot be trusted"):
        trust(project / ".skillstill")
    assert not own(project)


def test_a_link_that_appears_takes_trust_back(project: Path) -> None:
    trust(project / ".skillstill")
    (project / ".skillstill" / "link").symlink_to("registry.json")
    assert not own(project)


def test_a_pipe_cannot_be_trusted_and_is_not_waited_for(project: Path) -> None:
    os.mkfifo(project / ".skillstill" / "pipe")
    with pytest.raises(RegistryError, match="pipe is a link or a device"):
        trust(project / ".skillstill")


def test_a_link_to_a_trusted_folder_is_not_trusted(project: Path, tmp_path: Path) -> None:
    trust(project / ".skillstill")
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / ".skillstill").symlink_to(project / ".skillstill")
    assert not own(tmp_path / "clone")
    with pytest.raises(RegistryError, match="is a link or a device"):
        trust(tmp_path / "clone" / ".skillstill")


def test_a_project_reached_through_a_link_is_the_same_project(project: Path, tmp_path: Path) -> None:
    (tmp_path / "shortcut").symlink_to(project)
    trust(tmp_path / "shortcut" / ".skillstill")
    assert own(project)
    assert own(tmp_path / "shortcut")


def test_trust_can_be_taken_back(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    trust(project / ".skillstill")
    trust(other)
    distrust(project / ".skillstill")
    assert not own(project)
    assert is_trusted(other)
    distrust(tmp_path / "never trusted")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'"all"'])
def test_a_corrupt_list_of_pins_trusts_nothing_and_can_be_begun_anew(project: Path, content: bytes) -> None:
    trust(project / ".skillstill")
    pins = user_registry().parent / PINS
    assert pins.stat().st_mode & 0o777 == 0o600
    pins.write_bytes(content)
    assert not own(project)
    trust(project / ".skillstill")
    assert own(project)


@pytest.mark.parametrize("pin", ["true", '""', "null", '["0"]'])
def test_a_pin_that_is_no_fingerprint_trusts_nothing(project: Path, pin: str) -> None:
    trust(project / ".skillstill")
    (user_registry().parent / PINS).write_text(f'{{"{project / ".skillstill"}": {pin}}}', encoding="utf-8")
    assert not own(project)


def test_nothing_is_no_folder_to_trust(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match=r"^nothing to trust: there is no folder "):
        trust(tmp_path / ".skillstill")
    assert not is_trusted(tmp_path / ".skillstill")


def test_pins_that_cannot_be_written_are_one_sentence(project: Path) -> None:
    user_registry().parent.parent.mkdir(parents=True, exist_ok=True)
    user_registry().parent.touch()
    with pytest.raises(RegistryError, match=rf"{PINS} cannot be written: (Not a directory|File exists)$"):
        trust(project / ".skillstill")
    assert not own(project)


def files(folder: Path, contents: dict[str, bytes]) -> str:
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return fingerprint(folder)


def test_bytes_cannot_move_between_a_name_and_a_content_unnoticed(tmp_path: Path) -> None:
    trees: list[dict[str, bytes]] = [
        {"ab": b"c"},
        {"a": b"bc"},
        {"abc": b""},
        {"a": b"b", "c": b""},
        {"a": b"", "b": b"c"},
        {"a/b": b"c"},
        {"a": b"b\0c"},
    ]
    found = [files(tmp_path / str(number), tree) for number, tree in enumerate(trees)]
    assert len(set(found)) == len(trees)
    assert files(tmp_path / "again", trees[0]) == found[0]
