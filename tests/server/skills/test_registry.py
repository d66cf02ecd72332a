"""Which subagents there are: several files, merged, each of which a person may break while we read it."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from skillstill.errors import RegistryError, UnknownName
from skillstill.skills.registry import (
    Document,
    Measured,
    Registry,
    RegistryEntry,
    bundled,
    read_registry,
    user_registry,
    write_registry,
)
from skillstill.skills.trust import trust

from tests.scenes import bundled_and

HASH = "0" * 64
INF = float("inf")


def fields(name: str = "helper", **others: Any) -> dict[str, Any]:
    base = {"source": "file:~/base.gguf", "sha256": HASH}
    return {"name": name, "title": "T", "description": "D", "state": "untrained", "skill": "s", "base": base} | others


def put(file: Path, *entries: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"version": 1, "entries": entries}), encoding="utf-8")
    return file


def origin(registry: Registry, name: str = "helper") -> Path:
    return registry.entry(name).origin


def names(registry: Registry) -> list[str]:
    return [listed.entry.name for listed in registry.entries()]


def refusal(file: Path) -> str:
    """What is wrong with a registry, without the file's path that it begins with."""
    with pytest.raises(RegistryError) as caught:
        read_registry(file)
    text = str(caught.value)
    assert text.startswith(str(file))
    assert "\n" not in text
    return text.removeprefix(str(file)).lstrip(": ")


@pytest.mark.usefixtures("as_shipped")
def test_without_other_registries_there_is_the_bundled_one() -> None:
    listed = Registry().entry("explore")
    assert listed.origin == bundled() / "registry.json"
    assert listed.skill().name == "explore"


def test_the_first_registry_that_has_a_name_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flag = put(tmp_path / "flag.json", fields(), fields("by-flag"))
    named = put(tmp_path / "environment.json", fields(), fields("by-environment"))
    project = put(tmp_path / "project" / ".skillstill" / "registry.json", fields(), fields("by-project"))
    user = put(user_registry(), fields(), fields("by-user"), fields("explore"))
    monkeypatch.setenv("SKILLSTILL_REGISTRY", str(named))
    trust(project.parent)
    registry = Registry(flag, tmp_path / "project")
    assert names(registry) == bundled_and("by-environment", "by-flag", "by-project", "by-user", "helper")
    ours = bundled() / "registry.json"
    assert [listed.origin for listed in registry.entries()] == [named, flag, project, user, user, flag, ours, ours]
    assert origin(Registry(None, tmp_path / "project")) == named
    monkeypatch.delenv("SKILLSTILL_REGISTRY")
    assert origin(Registry(None, tmp_path / "project")) == project
    assert origin(Registry()) == user
    user.unlink()
    assert names(Registry()) == bundled_and()


def test_a_skill_is_looked_for_beside_its_registry(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "explore"
    skill.parent.mkdir()
    subprocess.run(["cp", "-r", bundled() / "skills" / "explore", skill], check=True)
    (skill / "SKILL.md").write_text((skill / "SKILL.md").read_text("utf-8") + "Mine.\n", encoding="utf-8")
    file = put(tmp_path / "registry.json", fields("explore", skill="skills/explore"))
    assert Registry(file).entry("explore").skill().instructions.endswith("Mine.")


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"^no subagent called 'explorer'; there are: explore, logs, tables$"):
        Registry().entry("explorer")


@pytest.mark.parametrize("by", ["flag", "environment"])
@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"entries": 3}'])
def test_nonsense_that_was_named_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str, text: str | None
) -> None:
    file = tmp_path / "registry.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    if by == "environment":
        monkeypatch.setenv("SKILLSTILL_REGISTRY", str(file))
    with pytest.raises(RegistryError) as caught:
        Registry(file if by == "flag" else None)
    assert str(caught.value).startswith(str(file))


def test_nonsense_in_the_user_s_folder_is_told_once_and_the_rest_stays(caplog: pytest.LogCaptureFixture) -> None:
    user_registry().parent.mkdir(parents=True)
    user_registry().write_text('{"entries": 3}', encoding="utf-8")
    registry = Registry()
    assert names(registry) == names(registry) == bundled_and()
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (
            logging.WARNING,
            f"{user_registry()}: entries: Input should be a valid array, got 3; going on without it",
        )
    ]
    assert list(registry.ignored) == [user_registry()]


def test_one_broken_entry_is_told_with_what_to_do_and_the_others_count(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = [fields(state="famous"), fields("good", title="Another"), {"name": 3}, "text"]
    file = put(tmp_path / "registry.json", fields("good"), *broken)
    registry = Registry(file)
    assert names(registry) == names(registry) == bundled_and("good")
    assert registry.entry("good").entry.title == "T"
    (record,) = caplog.records
    assert record.getMessage().startswith(
        f"{file}: entry helper: state: Input should be 'untrained' or 'released', got 'famous'; mend it there; "
        "entry good: expected each name once, the first one counts; mend it there; entry number 4: "
    )
    assert record.getMessage().endswith("; the others count")
    put(file, fields())
    assert names(registry) == bundled_and("helper")
    assert registry.ignored == {}


@pytest.mark.parametrize(
    "changes", [{"title": ""}, {"measured": Measured.model_construct(success=0.5, n=1, seconds=INF)}]
)
def test_what_could_not_be_read_again_replaces_nothing(tmp_path: Path, changes: dict[str, Any]) -> None:
    file = put(tmp_path / "registry.json", fields())
    before = file.read_bytes()
    entry = read_registry(file).entries[0].model_copy(update=changes)
    with pytest.raises(RegistryError, match="would not be readable: entries"):
        write_registry(file, Document(entries=(entry,)))
    assert file.read_bytes() == before


def test_a_folder_in_place_of_the_user_s_registry_is_told(caplog: pytest.LogCaptureFixture) -> None:
    user_registry().mkdir(parents=True)
    assert names(Registry()) == bundled_and()
    assert "cannot be read as a registry" in caplog.text


@pytest.mark.parametrize("damage", ["nonsense", "half", "gone"])
@pytest.mark.parametrize("named", [True, False])
def test_a_registry_that_breaks_while_we_run_keeps_its_last_good_state(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, named: bool, damage: str
) -> None:
    file = put(tmp_path / "named.json" if named else user_registry(), fields())
    registry = Registry(file if named else None)
    assert names(registry) == bundled_and("helper")
    good = file.read_text("utf-8")
    if damage == "gone":
        file.rename(tmp_path / "aside")
    else:
        file.write_text("nonsense" if damage == "nonsense" else good[: len(good) // 2], encoding="utf-8")
    assert names(registry) == names(registry) == bundled_and("helper")
    assert [record.getMessage().rpartition("; ")[2] for record in caplog.records] == ["keeping its last good state"]
    assert list(registry.ignored) == [file]
    put(file, fields("mended"))
    assert names(registry) == bundled_and("mended")
    assert registry.ignored == {}
    file.write_text("nonsense again", encoding="utf-8")
    assert names(registry) == bundled_and("mended")
    assert len(caplog.records) == 2


def test_a_broken_registry_that_comes_back_as_it_was_is_not_ignored_any_more(tmp_path: Path) -> None:
    file = put(tmp_path / "registry.json", fields())
    registry = Registry(file)
    registry.entries()
    file.rename(tmp_path / "aside")
    registry.entries()
    assert list(registry.ignored) == [file]
    (tmp_path / "aside").rename(file)
    registry.entries()
    assert registry.ignored == {}


def test_a_change_of_the_same_length_in_the_same_instant_is_seen(tmp_path: Path) -> None:
    file = put(tmp_path / "registry.json", fields("one"))
    registry, before = Registry(file), file.stat().st_mtime_ns
    assert names(registry) == bundled_and("one")
    put(file, fields("two"))
    os.utime(file, ns=(before, before))
    assert names(registry) == bundled_and("two")


def test_a_registry_that_appears_while_we_run_counts() -> None:
    registry = Registry()
    assert names(registry) == bundled_and()
    put(user_registry(), fields())
    assert names(registry) == bundled_and("helper")


@pytest.mark.parametrize("project", [Path("x" * 300), Path("no/such/folder"), Path(__file__)])
def test_a_project_without_a_registry_brings_none(project: Path) -> None:
    registry = Registry(None, project)
    assert names(registry) == bundled_and()
    assert registry.ignored == {}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (fields(skill="../elsewhere"), "entries.0.skill: expected a path inside the registry's folder, got '../else"),
        (fields(skill="a/../../b"), "entries.0.skill: expected a path inside the registry's folder"),
        (fields(skill="/etc"), "entries.0.skill: expected a path inside the registry's folder, got '/etc'"),
        (fields(state="released"), "entries.0: a released entry needs its serving_hash, got {"),
        (fields(state="famous"), "entries.0.state: Input should be 'untrained' or 'released', got 'famous'"),
        (fields(colour="red"), "entries.0.colour: Extra inputs are not permitted, got 'red'"),
        (fields(name="No Name"), "entries.0.name: String should match pattern"),
        (fields(name="newline\n"), "entries.0.name: String should match pattern"),
        (fields(name="a" * 65), "entries.0.name: String should have at most 64 characters"),
        (fields(description=""), "entries.0.description: String should have at least 1 character, got ''"),
        (fields(description="a" * 1_001), "entries.0.description: String should have at most 1000 characters"),
        (fields(title=None), "entries.0.title: Input should be a valid string, got None"),
        (fields(base={"source": "file:a"}), "entries.0.base.sha256: Field required"),
        (
            fields(adapter={"source": "beside:../a.gguf", "sha256": HASH}),
            "entries.0.adapter.source: expected a path ins",
        ),
        (fields(adapter={"source": "beside:/a.gguf", "sha256": HASH}), "entries.0.adapter.source: String should match"),
        (fields(provenance_hash="abc"), "entries.0.provenance_hash: String should match pattern"),
        (fields(serving_hash="abc"), "entries.0.serving_hash: String should match pattern"),
    ],
)
def test_an_entry_that_cannot_be_is_one_sentence(tmp_path: Path, entry: dict[str, Any], expected: str) -> None:
    assert refusal(put(tmp_path / "registry.json", entry)).startswith(expected)


def test_a_name_stands_once_in_a_file(tmp_path: Path) -> None:
    file = put(tmp_path / "registry.json", fields(), fields("other"), fields())
    assert refusal(file).startswith("entries: expected each name once, 'helper' stands there 2 times")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "file: Invalid JSON: EOF while parsing"),
        (b"[" * 100_000, "file: Invalid JSON: recursion limit exceeded"),
        (b'{"version": 2}', "version: Input should be 1, got 2"),
        (b'{"versions": 1}', "versions: Extra inputs are not permitted, got 1"),
        (b'{"version": ' + b"1" * 5_000 + b"}", "file: Invalid JSON: number out of range"),
        (b"\xff\xfe{}", "cannot be read as a registry: 'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_a_file_that_is_no_registry_is_one_sentence(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "registry.json").write_bytes(content)
    assert refusal(tmp_path / "registry.json").startswith(expected)


def test_a_registry_of_another_editor_says_the_same(tmp_path: Path) -> None:
    file = put(tmp_path / "registry.json", fields())
    same = tmp_path / "same.json"
    same.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b", ", b",\r\n"))
    assert read_registry(same) == read_registry(file)


def test_what_is_written_is_read_back_and_can_be_read_by_a_person(tmp_path: Path) -> None:
    entry = RegistryEntry.model_validate(fields(state="released", serving_hash=HASH, description="Größe"))
    write_registry(tmp_path / "new" / "registry.json", document := Document(entries=(entry,)))
    assert read_registry(tmp_path / "new" / "registry.json") == document
    assert '\n      "description": "Größe",\n' in (tmp_path / "new" / "registry.json").read_text("utf-8")


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    file = tmp_path / "registry.json"
    documents = [
        Document(entries=tuple(RegistryEntry.model_validate(fields(f"{word}-{number}")) for number in range(300)))
        for word in ("odd", "even")
    ]
    write_registry(file, documents[0])
    done, seen = Event(), list[Document]()

    def read() -> None:
        while not done.is_set():
            seen.append(read_registry(file))

    reader = Thread(target=read)
    reader.start()
    for turn in range(40):
        write_registry(file, documents[turn % 2])
    done.set()
    reader.join()
    assert seen
    assert all(document in documents for document in seen)
    assert [path.name for path in tmp_path.iterdir()] == ["registry.json"]


def test_a_disk_that_is_full_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = put(tmp_path / "registry.json", fields())
    before = file.read_bytes()
    code = (
        "import resource, sys; from pathlib import Path; from skillstill.skills.registry import *\n"
        "file = Path(sys.argv[1]); old = read_registry(file).entries[0]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))\n"
        "many = [old.model_copy(update={'name': f'n{number}'}) for number in range(99)]\n"
        "write_registry(file, Document(entries=many))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith(f"RegistryError: {file} cannot be written: File too large")
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RegistryError, match=r"file/registry\.json cannot be written: (Not a directory|File exists)$"):
        write_registry(tmp_path / "file" / "registry.json", Document())


def test_looking_for_changes_never_follows_a_link_and_survives_what_vanishes(tmp_path: Path) -> None:
    (tmp_path / ".skillstill").symlink_to("/usr")
    registry = Registry(None, tmp_path)
    assert len(registry.stamp()) < 10
    (tmp_path / ".skillstill").unlink()
    assert len(registry.stamp()) < 10
