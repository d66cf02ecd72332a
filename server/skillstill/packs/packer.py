"""A release becomes one file: what belongs to it, and nothing of the machine that it was made on."""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from pydantic import JsonValue, ValidationError

from skillstill.chat import LINES
from skillstill.contract import provenance_hash, serving_hash
from skillstill.errors import BaseError, PackError
from skillstill.library.reading.licences import declared_licence, recognise_licence
from skillstill.models.sources import locate
from skillstill.packs.archive import Content, write_archive
from skillstill.packs.lora_check import check_lora, licence_of
from skillstill.packs.manifest import (
    ADAPTER,
    BESIDE,
    MOST_TEXT,
    SCORECARD,
    SKILLS,
    Contract,
    Licences,
    Manifest,
    Member,
    portable,
)
from skillstill.skills.registry import DIGITS, RELEASES, ListedEntry, RegistryEntry
from skillstill.skills.skill import Skill, mistake
from skillstill.types import ModelFile

SUFFIX = ".skillstill"
# Of a skill's folder, what never leaves: releases of its own, field questions, runs and traces, caches, weights; hidden
# files neither.
KEPT_FOLDERS = {RELEASES, "field", "runs", "traces", "__pycache__"}
KEPT_SUFFIXES = {".jsonl", ".pyc", ".part", ".gguf", ".safetensors", ".log"}
PATH = re.compile(r"(?:file:)?(?<![\w.@/-])/(?:[^/\s]+/)+")  # an absolute path up to its last name


def pack(listed: ListedEntry, file: Path, *, adapter_licence: str = "") -> Manifest:
    """Write the release as one file, the same bytes whenever and wherever it is done.

    Raise PackError if it cannot be shared as it is: untrained, changed since it was measured, on a base that only
    this machine has; BaseError if its adapter is not what it was; SkillError.
    """
    skill, contents = listed.skill(), _contents(listed)
    _check(listed, skill)
    manifest = _manifest(listed, skill, contents, adapter_licence)
    _write(file, manifest, contents)
    return manifest


def _check(listed: ListedEntry, skill: Skill) -> None:
    entry = listed.entry
    if entry.serving_hash != serving_hash(skill, entry.base, entry.adapter):
        raise PackError(f"{entry.name} is stale, no other machine could serve it either: train it again")
    for base in (entry.base, skill.subagent.base):
        if base.source.startswith(("file:", "beside:")):
            raise PackError(f"the base of {entry.name} is {base.source}, which nobody else has: put it on a hub, name "
                            "it hf:OWNER/NAME/FILE@COMMIT in subagent.toml, and publish again")  # fmt: skip
    _check_terms(listed, skill)
    if entry.goals_hash and provenance_hash(listed.skill_folder, entry.goals_hash) != entry.provenance_hash:
        raise PackError(f"{listed.skill_folder} changed since {entry.name} was measured: type `skillstill evaluate` "
                        "and `skillstill publish`, so that its figures are those of what you share")  # fmt: skip


def _check_terms(listed: ListedEntry, skill: Skill) -> None:
    """Raise PackError if the skill's licence forbids what a release is: a derived work."""
    files = [file for file in sorted(listed.skill_folder.glob("LICEN[CS]E*")) if file.is_file()]
    terms = [declared_licence(skill.licence, "SKILL.md")]
    terms += [recognise_licence(file.read_text("utf-8", "replace"), file.name) for file in files]
    for licence in terms:
        if licence.derived_works == "forbidden":
            raise PackError(f"{listed.entry.name} cannot be shared: the licence of its skill, {licence.name} in "
                            f"{licence.where}, forbids derived works, which a release is")  # fmt: skip


def _contents(listed: ListedEntry) -> Mapping[str, Content]:
    """Return the contents by member, sorted. Raise PackError and BaseError."""
    entry = listed.entry
    if entry.state != "released" or entry.adapter is None:
        raise PackError(f"{entry.name} is {entry.state} and has no adapter: there is nothing to share yet, train it")
    adapter = locate(entry.adapter)
    check_lora(adapter, _base(entry))
    found: dict[str, Content] = {ADAPTER: adapter}
    scorecard = listed.skill_folder / RELEASES / f"{entry.adapter.sha256[:DIGITS]}.json"
    if not scorecard.is_file():  # a pack that is packed again keeps it beside its adapter
        scorecard = adapter.parent / SCORECARD
    if scorecard.is_file():
        found[SCORECARD] = _portable_scorecard(scorecard, entry)
    for name, content in _texts(listed.skill_folder):
        found[f"{SKILLS}/{listed.skill_folder.name}/{name}"] = content
    return dict(sorted(found.items()))


def _texts(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a skill that are shared. Raise PackError if one cannot be."""
    private = [f"{path}/".encode() for path in (folder.parent.absolute(), Path.home()) if path != Path("/")]
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        if not _shared_files(name) or (file.is_dir() and not file.is_symlink()):
            continue
        if file.is_symlink() or not file.is_file() or not portable(name.as_posix()):
            raise PackError(f"{file} cannot be shared: it is a link or a device, or its name is not plain")
        if file.stat().st_size > MOST_TEXT:
            raise PackError(f"{file} has {file.stat().st_size:,} bytes: a skill's file has at most {MOST_TEXT:,}")
        content = file.read_bytes()
        if leaked := [path for path in private if path in content]:
            raise PackError(
                f"{file} names {leaked[0].decode()}, a folder of this machine: take it out before you share"
            )
        yield name.as_posix(), content


def _shared_files(name: Path) -> bool:
    hidden = any(part.startswith(".") for part in name.parts)
    return not hidden and KEPT_FOLDERS.isdisjoint(name.parts) and name.suffix not in KEPT_SUFFIXES


def _portable_scorecard(file: Path, entry: RegistryEntry) -> bytes:
    """Return the scorecard without the folders of the machine that it was measured on. Raise PackError."""
    try:
        card = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise PackError(f"{file} cannot be read as a scorecard: publish {entry.name} again") from error
    if not isinstance(card, dict):
        raise PackError(f"{file} is no scorecard: publish {entry.name} again")
    card = {key: _without_paths(value) for key, value in card.items()}
    card |= {"base": entry.base.model_dump(), "adapter": {"source": BESIDE, "sha256": _adapter(entry).sha256}}
    return json.dumps(card, indent=1, ensure_ascii=False).encode() + b"\n"


def _without_paths(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return PATH.sub("", value)
        case list():
            return [_without_paths(one) for one in value]
        case dict():
            return {name: _without_paths(one) for name, one in value.items()}
    return value


def _manifest(listed: ListedEntry, skill: Skill, contents: Mapping[str, Content], adapter_licence: str) -> Manifest:
    entry = listed.entry
    licences = Licences(skill=skill.licence, base=_base_licence(entry), adapter=adapter_licence)
    moved = {
        "skill": f"{SKILLS}/{listed.skill_folder.name}",
        "adapter": ModelFile(source=BESIDE, sha256=_adapter(entry).sha256).model_dump(),
        "measured": None,
        "claimed": (entry.measured or entry.claimed),
        "before": None,
        "accepted": None,
    }
    try:
        return Manifest(
            contract=Contract(skillstill=version("skillstill"), dialect=LINES.name, tools=skill.subagent.tools),
            licences=licences,
            entry=RegistryEntry.model_validate({**entry.model_dump(), **moved}),
            members=tuple(_member(path, content, entry) for path, content in contents.items()),
        )
    except ValidationError as error:
        raise PackError(f"{entry.name} cannot be packed: {': '.join(mistake(error))}") from error


def _member(path: str, content: Content, entry: RegistryEntry) -> Member:
    if isinstance(content, bytes):
        return Member(path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest())
    return Member(path=path, size=content.stat().st_size, sha256=_adapter(entry).sha256)


def _adapter(entry: RegistryEntry) -> ModelFile:
    assert entry.adapter
    return entry.adapter


def _base(entry: RegistryEntry) -> Path | None:
    """Return the base's file, or None if it is not on this machine; nothing is fetched for it."""
    try:
        return locate(entry.base, offline=True)
    except BaseError:
        return None


def _base_licence(entry: RegistryEntry) -> str:
    base = _base(entry)
    return licence_of(base) if base else ""


def _write(file: Path, manifest: Manifest, contents: Mapping[str, Content]) -> None:
    """Write all or nothing. Raise PackError."""
    draft = None
    try:
        with tempfile.NamedTemporaryFile(dir=file.absolute().parent, prefix=file.name, delete=False) as part:
            draft = Path(part.name)
            write_archive(part, manifest, contents)
            part.flush()
            os.fsync(part.fileno())
        draft.chmod(0o644)
        draft.replace(file)
    except OSError as error:
        raise PackError(f"{file} cannot be written: {error.strerror}") from error
    finally:
        if draft:
            draft.unlink(missing_ok=True)
