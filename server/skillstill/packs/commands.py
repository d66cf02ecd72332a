"""`skillstill pack`, `unpack`, `push` and `pull`: what a person types, and what is said back."""

import json as json_module
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillstill.console.options import Json, RegistryFile
from skillstill.util.text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillstill.packs.installer import Accept, InstalledPack
    from skillstill.skills.registry import ListedEntry
    from skillstill.util.suspicion import Finding

SHOWN = 20  # suspicious passages
Release = Annotated[str, typer.Argument(help="A released subagent, by the name that `skillstill list` shows.")]
Repository = Annotated[str, typer.Argument(help="hub:OWNER/NAME on a model hub; HF_TOKEN holds the token.")]
Pulled = Annotated[str, typer.Argument(help="hub:OWNER/NAME on a model hub, or a listed subagent such as tables@0.5b.")]
LABEL = re.compile(r"[a-z0-9-]+(@[0-9.]+[bm])?")  # RegistryEntry.label
Licence = Annotated[str, typer.Option("--licence", help="Of the adapter, an SPDX identifier: it goes with the pack.")]
Suspicious = Annotated[
    bool, typer.Option("--accept-suspicious", help="Keep it if it holds hidden characters or speaks to a model.")
]
As = Annotated[str, typer.Option("--as", help="Another name for it here.")]


def pack(
    release: Release,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Default: RELEASE.skillstill.")] = None,
    licence: Licence = "",
    registry: RegistryFile = None,
    json: Json = False,
) -> int:
    """Make one file of a release: skill, adapter, scorecard, hashes, licences. Its base stays a name and a hash.

    Example: skillstill pack explore -o explore.skillstill
    """
    from skillstill.packs import packer

    listed = _release(release, registry)
    file = out or Path(f"{listed.entry.name}{packer.SUFFIX}")
    manifest = packer.pack(listed, file, adapter_licence=licence)
    if json:
        return _json({"file": str(file), "size": file.stat().st_size, **manifest.model_dump(exclude_none=True)})
    stated = {part: said or "not stated" for part, said in manifest.licences}
    _say(f"{file}: {len(manifest.members)} files, {file.stat().st_size:,} bytes")
    return _say("licences: " + ", ".join(f"{part} {said}" for part, said in stated.items()))


def unpack(
    file: Annotated[Path, typer.Argument(help="A file that `skillstill pack` made; with --remove, its name here.")],
    as_: As = "",
    remove: Annotated[
        bool, typer.Option("--remove", help="Take away what was unpacked under this name, its folder too.")
    ] = False,
    accept_suspicious: Suspicious = False,
    json: Json = False,
) -> int:
    """Verify a pack and add it to your subagents. Nothing of it is executed, and its figures count as claims.

    Example: skillstill unpack explore.skillstill --as their-explore, and skillstill unpack --remove their-explore
    """
    from skillstill.packs import installer, removing

    if remove:
        folder = removing.remove(str(file))
        return _json({"folder": str(folder)}) if json else _say(f"removed {file}: {folder}")
    return _print_unpacked(installer.unpack(file.expanduser(), as_, _consent(accept_suspicious, json)), str(file), json)


def push(
    release: Release,
    repository: Repository,
    licence: Licence = "",
    public: Annotated[bool, typer.Option("--public", help="Make a new repository public.")] = False,
    registry: RegistryFile = None,
    json: Json = False,
) -> int:
    """Put a release on a model hub: its pack, and a model card with its figures.

    Example: skillstill push explore hub:me/explore --licence Apache-2.0
    """
    from skillstill.packs import hub

    address = hub.Address.parse(repository)
    pushed = hub.push(_release(release, registry), address, adapter_licence=licence, public=public)
    if json:
        return _json({"repository": pushed.repository, "commit": pushed.revision})
    return _say(f"pushed; others type: skillstill pull {pushed}")


def pull(repository: Pulled, as_: As = "", accept_suspicious: Suspicious = False, json: Json = False) -> int:
    """Fetch a release from a model hub (hub:OWNER/NAME or hub:OWNER/NAME@REVISION), or the base of a listed one.

    Example: skillstill pull hub:somebody/explore@main --as their-explore, and skillstill pull tables@0.5b
    """
    if LABEL.fullmatch(repository):
        return _pull_base(repository, json)
    from skillstill.packs import hub

    found, address = hub.pull(hub.Address.parse(repository), as_, _consent(accept_suspicious, json))
    return _print_unpacked(found, str(address), json)


def _pull_base(label: str, json: bool) -> int:
    """Fetch the base of a subagent that is listed, such as a larger one; what was begun is gone on with."""
    from skillstill.models.bases import locate_base

    entry = _release(label, None).entry
    found = locate_base(entry.base, entry.base_behaviour)
    if json:
        return _json({"entry": entry.label, "base": entry.base.source, "path": str(found.path),
                      "warning": found.warning})  # fmt: skip
    return _say(" ".join(filter(None, [f"{entry.label}: its base is here, {found.path}.", found.warning])))


def _consent(accept: bool, json: bool) -> "Accept":
    """Return what decides on suspicious texts: they are shown, then the flag says, or a person at a terminal."""

    def decide(found: "Sequence[Finding]") -> bool:
        if not json:
            for one in found[:SHOWN]:
                _say(f"suspicious: line {one.line}: {one.text}")
        asked = not (accept or json) and sys.stdin.isatty() and sys.stdout.isatty()
        return typer.confirm("Unpack it all the same?", default=False) if asked else accept

    return decide


def _release(name: str, registry: Path | None) -> "ListedEntry":
    from skillstill.skills.registry import Registry

    return Registry(registry).entry(name)


def _print_unpacked(found: "InstalledPack", source: str, json: bool) -> int:
    entry, licences = found.entry, found.manifest.licences
    if json:
        return _json({"source": source, "folder": str(found.folder), "python": found.python,
                      "base_missing": found.base_missing, "licences": licences.model_dump(),
                      "entry": entry.model_dump(exclude_none=True)})  # fmt: skip
    _say(f"{entry.name}  {entry.state}, from {source}\n  {entry.description}")
    if claim := entry.claimed:
        _say(f"  claimed by the pack, not measured here: {claim.verified}")
    _say("  licences: " + ", ".join(f"{part} {said or 'not stated'}" for part, said in licences))
    if found.base_missing:
        _say(f"  its base is not here yet: {found.base_missing}")
    if found.python:
        _say(f"  {len(found.python)} Python files of it do not run, unless you look at them and type:\n"
             f"  {_trusting(found.folder)}")  # fmt: skip
    if found.brings_tools:
        _say("  its own tools are among them: it answers nothing before that")
    return 0


def _trusting(folder: Path) -> str:
    import shlex

    return shlex.join(["skillstill", "trust", str(folder)])


def _json(value: object) -> int:
    typer.echo(json_module.dumps(value, ensure_ascii=False))
    return 0


def _say(text: str) -> int:
    typer.echo(clean(text))
    return 0
