"""What a pack says of itself, read before anything else of it: its entry, its licences, each of its members.

manifest.json            the only member that the manifest does not list
adapter.gguf             the LoRA; the base is named by source and hash, never carried
scorecard.json           what its packer measured: a claim
skill/<skill>/...        SKILL.md, subagent.toml, goals, wordings: data until somebody trusts it
"""

import re
import unicodedata
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from skillstill.skills.registry import SHA256, Measured, RegistryEntry
from skillstill.types import Frozen, ModelFile
from skillstill.util.text import clean

MANIFEST, ADAPTER, SCORECARD, SKILLS = "manifest.json", "adapter.gguf", "scorecard.json", "skill"
MOST_MEMBERS = 2_000  # the largest public skill bundles 1,103 files
MOST_MANIFEST = 1_000_000  # bytes: 2,000 members take 400,000
MOST_TEXT = 20_000_000  # bytes of one member that is not the adapter
MOST_BYTES = 2_000_000_000  # of a pack: a zip without the 64-bit extension holds 4 GB
PART = re.compile(r"[\w(@+][\w .,@+()=-]*")  # of a member's path: nothing hidden, nothing that a shell or system reads
BESIDE = f"beside:{ADAPTER}"


class Member(Frozen):
    path: str = Field(max_length=200)
    size: int = Field(ge=0, le=MOST_BYTES)  # bytes
    sha256: str = Field(pattern=SHA256)

    @field_validator("path")
    @classmethod
    def plain(cls, path: str) -> str:
        if not portable(path):
            raise ValueError("expected a plain relative path")
        return path


class Licences(Frozen):
    """As they are declared, SPDX identifiers if they are such; empty if nobody says."""

    skill: str = ""
    base: str = ""
    adapter: str = ""


class Contract(Frozen):
    """What the serving hash is made of, as far as words can tell: to say which version would fit."""

    skillstill: str
    dialect: str
    tools: tuple[str, ...]


class Manifest(Frozen):
    """`entry` as the registry will have it, its paths from the pack's root; what was measured is `claimed` there."""

    format: Literal[1] = 1
    contract: Contract
    licences: Licences = Licences()
    entry: RegistryEntry
    members: tuple[Member, ...] = Field(max_length=MOST_MEMBERS)

    @property
    def claimed(self) -> Measured | None:
        return self.entry.claimed

    @field_validator("members")
    @classmethod
    def distinct(cls, members: tuple[Member, ...]) -> tuple[Member, ...]:
        if twice := collision([member.path for member in members]):
            raise ValueError(f"{twice!r} stands there twice, or in capitals and small letters")
        return members

    @model_validator(mode="after")
    def whole(self) -> Self:
        """Check that there is all of a pack and nothing else."""
        sizes = {member.path: member for member in self.members}
        for member in self.members:
            if member.path not in {ADAPTER, SCORECARD} and not member.path.startswith(f"{self.entry.skill}/"):
                raise ValueError(f"{member.path!r} belongs to no pack")
            if member.path != ADAPTER and member.size > MOST_TEXT:
                raise ValueError(f"{member.path!r} has {member.size:,} bytes, at most {MOST_TEXT:,} are read")
        if ADAPTER not in sizes or self.entry.adapter != ModelFile(source=BESIDE, sha256=sizes[ADAPTER].sha256):
            raise ValueError("expected the adapter as a member, under the hash of the entry")
        return self

    @field_validator("entry")
    @classmethod
    def releasable(cls, entry: RegistryEntry) -> RegistryEntry:
        """Check that nothing is there that only its packer can know or find."""
        if entry.state != "released" or entry.measured or entry.before or entry.accepted:
            raise ValueError("expected a released entry whose figures are claims, and nothing before it")
        if not re.fullmatch(rf"{SKILLS}/[a-z0-9-]+", entry.skill):
            raise ValueError(f"expected the skill in {SKILLS}/")
        if entry.base.source.partition(":")[0] not in {"package", "hf"}:
            raise ValueError("its base is a file of the packer's machine")
        if any(text != clean(text) for text in (entry.title, entry.description, entry.search_hint)):
            raise ValueError("its description holds characters that a reader does not see")
        return entry


def portable(path: str) -> bool:
    """Return whether every system can have this file: relative, plain, in composed characters, nothing hidden."""
    parts = path.split("/")
    plain = all(PART.fullmatch(part) and not part.endswith((" ", ".")) for part in parts)
    return plain and len(path) <= 200 and unicodedata.is_normalized("NFC", path)


def collision(paths: list[str]) -> str:
    """Return the first path that a system which does not tell A from a would write over another; else empty.

    A file in the place of another's folder is one too.
    """
    seen: set[str] = set()
    folded = [path.casefold() for path in paths]
    folders = {folder for path in folded for folder in _above(path)}
    for path, key in zip(paths, folded, strict=True):
        if key in seen or key in folders:
            return path
        seen.add(key)
    return ""


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
