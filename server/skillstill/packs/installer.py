"""A pack becomes a release of this user: judged in a folder aside, then placed at once, registered last.

Nothing of it runs: texts are parsed, the adapter's head is read as bytes. Whoever is killed on the way leaves a folder
that nothing names, which the next unpacking or removing takes away.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skillstill.contract import provenance_hash, serving_hash
from skillstill.errors import BaseError, OtherFile, PackError, SkillError, UsageError
from skillstill.models.sources import locate
from skillstill.packs.archive import Archive, read_archive
from skillstill.packs.lora_check import check_lora
from skillstill.packs.manifest import ADAPTER, MANIFEST, SCORECARD, Manifest
from skillstill.skills.code import brings_tools
from skillstill.skills.registry import Registry, RegistryEntry, read_registry, user_registry
from skillstill.skills.releases import register
from skillstill.skills.skill import NAME, Skill, load_skill, read_skill
from skillstill.skills.trust import PACKS
from skillstill.types import ModelFile
from skillstill.util import storage
from skillstill.util.storage import data_folder
from skillstill.util.suspicion import Finding, suspicions

ASIDE = ".unpacking-"
Accept = Callable[[Sequence[Finding]], bool]


@dataclass(frozen=True, slots=True)
class InstalledPack:
    """The entry as it was registered, where it lies; `base_missing` says what its base still needs."""

    entry: RegistryEntry
    folder: Path
    manifest: Manifest
    base_missing: str = ""

    @property
    def python(self) -> tuple[str, ...]:
        """Return the members that would run if the folder were trusted."""
        return tuple(member.path for member in self.manifest.members if member.path.endswith(".py"))

    @property
    def brings_tools(self) -> bool:
        """Return whether the subagent has tools of its own, without which it cannot run."""
        return brings_tools(self.folder / self.manifest.entry.skill)


def reject_suspicious(_: Sequence[Finding]) -> bool:
    """Accept nothing suspicious."""
    return False


def unpack(file: Path, name: str = "", accept: Accept = reject_suspicious) -> InstalledPack:
    """Verify all of a pack, then place it in the user's data folder and register it there, under `name` if given.

    `accept` is asked if its texts hold hidden characters or speak to a model. Raise PackError, which says which member
    or what does not fit, UsageError if the name is taken or is none.
    """
    with read_archive(file) as (manifest, archive), locked() as packs:
        chosen = _free_name(manifest, name, file)
        aside = Path(tempfile.mkdtemp(dir=packs, prefix=ASIDE))
        try:
            _extract(manifest, archive, aside)
            missing = _check(file, manifest, aside)
            suspicious = find_suspicions(manifest, aside)
            if suspicious and not accept(suspicious):
                raise PackError(f"{file} was not unpacked, for it holds what is suspicious: {suspicious[0].text}; look "
                                "at it, then add --accept-suspicious if you want it all the same")  # fmt: skip
            return _place(manifest, aside, packs / chosen, missing, accepted=bool(suspicious))
        except OSError as error:
            raise PackError(f"{packs} cannot be written: {error.strerror}; nothing was registered") from error
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def find_suspicions(manifest: Manifest, folder: Path) -> tuple[Finding, ...]:
    """Return what a person should read first of the texts that an orchestrator or a model is shown."""
    entry = manifest.entry
    found = [*suspicions("\n".join((entry.title, entry.description, entry.search_hint)), MANIFEST)]
    for name in ("SKILL.md", "subagent.toml"):
        found += suspicions((folder / entry.skill / name).read_text(encoding="utf-8-sig"), name)
    return tuple(found)


@contextmanager
def locked() -> Iterator[Path]:
    """Return the folder of all packs, which nobody else changes meanwhile. Raise PackError."""
    packs = data_folder() / PACKS
    try:
        packs.mkdir(parents=True, exist_ok=True, mode=0o700)
        with storage.locked(packs / ".lock"):
            for left in packs.glob(f"{ASIDE}*"):  # by somebody who was killed: they had the lock
                shutil.rmtree(left, ignore_errors=True)
            yield packs
    except OSError as error:
        raise PackError(f"{packs} cannot be written: {error.strerror}") from error


def _free_name(manifest: Manifest, name: str, file: Path) -> str:
    """Return a name that no subagent has, no bundled one either. Raise UsageError and RegistryError."""
    chosen = name or manifest.entry.name
    if not re.fullmatch(NAME, chosen) or len(chosen) > 64:
        raise UsageError(f"a subagent's name is 1 to 64 of a-z, 0-9 and single hyphens, not {chosen[:80]!r}")
    if user_registry().exists():
        read_registry(user_registry())  # one that cannot be read hides its names
    taken = {listed.entry.name: listed.origin for listed in Registry().entries()}
    if chosen in taken:
        raise UsageError(f"there is a subagent {chosen} already, from {taken[chosen]}: type `skillstill unpack {file} "
                         f"--as {_another(chosen, taken)}`, or another name")  # fmt: skip
    return chosen


def _another(name: str, taken: dict[str, Path]) -> str:
    return next(one for number in range(2, 10_000) if (one := f"{name[:58]}-{number}") not in taken)


def _extract(manifest: Manifest, archive: Archive, aside: Path) -> None:
    for member in manifest.members:
        archive.extract(member, aside / member.path)
    (aside / MANIFEST).write_text(manifest.model_dump_json(indent=1, exclude_none=True) + "\n", encoding="utf-8")


def _check(file: Path, manifest: Manifest, aside: Path) -> str:
    """Return what the base still needs; empty if it is here. Raise PackError."""
    entry = manifest.entry
    try:
        if brings_tools(aside / entry.skill):  # they have to run for its contract: the first run after trust checks it
            read_skill(aside / entry.skill)
        else:
            _check_contract(file, manifest, load_skill(aside / entry.skill).sized(entry.size or ""))
    except SkillError as error:
        raise PackError(f"{file}: {str(error).removeprefix(f'{aside}/')}") from error
    if entry.goals_hash and provenance_hash(aside / entry.skill, entry.goals_hash) != entry.provenance_hash:
        raise PackError(f"{file}: its skill is not the one that its figures were measured with")
    _check_scorecard(file, aside / SCORECARD)
    base, missing = _base(entry)
    try:
        check_lora(aside / ADAPTER, base)
    except PackError as error:
        raise PackError(f"{file}: {error}") from error
    return missing


def _check_contract(file: Path, manifest: Manifest, skill: Skill) -> None:
    entry, contract = manifest.entry, manifest.contract
    if entry.serving_hash != serving_hash(skill, entry.base, entry.adapter):
        raise PackError(f"{file} is of another contract: it was made by skillstill {contract.skillstill}, with the "
                        f"dialect {contract.dialect} and the tools {', '.join(contract.tools)} as they were there; "
                        "install that version, or ask for a pack of this one")  # fmt: skip


def _check_scorecard(file: Path, scorecard: Path) -> None:
    try:
        known = not scorecard.exists() or isinstance(json.loads(scorecard.read_bytes()), dict)
    except (ValueError, RecursionError):
        known = False
    if not known:
        raise PackError(f"{file}: {SCORECARD} is no scorecard")


def _base(entry: RegistryEntry) -> tuple[Path | None, str]:
    """Return the base's file if one is here, and what is missing if none is. The first run compares another file."""
    try:
        return locate(entry.base, offline=True), ""
    except OtherFile as other:
        return (other.path, "") if entry.base_behaviour else (None, str(other))
    except BaseError as error:
        return None, str(error)


def _place(manifest: Manifest, aside: Path, folder: Path, missing: str, *, accepted: bool) -> InstalledPack:
    """Move the files to their place and register them last. Raise OSError and RegistryError, and nothing counts."""
    if folder.exists():  # no entry has this name: it was left by somebody who was killed, or taken out by hand
        shutil.rmtree(folder)
    _sync(aside)
    aside.rename(folder)
    inside = f"{PACKS}/{folder.name}"
    entry = manifest.entry.model_copy(
        update={
            "name": folder.name,
            "accepted": accepted or None,
            "skill": f"{inside}/{manifest.entry.skill}",
            "adapter": ModelFile(source=f"beside:{inside}/{ADAPTER}", sha256=_adapter_hash(manifest)),
        }
    )
    return InstalledPack(register(user_registry(), entry), folder, manifest, missing)


def _adapter_hash(manifest: Manifest) -> str:
    assert manifest.entry.adapter
    return manifest.entry.adapter.sha256


def _sync(folder: Path) -> None:
    """Flush the folder to the disk before the registry names it."""
    for file in folder.rglob("*"):
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
