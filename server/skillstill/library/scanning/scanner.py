"""A source, read: every definition in it, every refusal by name, and the digests that spare the next reading.

A folder is remembered by a digest of all that its definitions depend on: what lies in it, what it is called, the
licence it stands under, whether a skill brings it along, and this reader's own version. One with a refusal in it is not
remembered: it is read and told again each time.
"""

import hashlib
import os
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from skillstill.errors import LibraryError
from skillstill.library.definition import Definition, Kind, Licence, NamedServer
from skillstill.library.reading import FileContext, Read, build_definition, decode
from skillstill.library.reading.kinds import kind_by_fields, kind_by_place, kind_named
from skillstill.library.reading.licences import FILE, README, mentioned_licence, recognise_licence, strictest_licence
from skillstill.library.reading.servers import FILE as SERVERS
from skillstill.library.reading.servers import servers_in
from skillstill.library.scanning.bundles import Bundle, bundle_of, holds_skill, mode
from skillstill.library.scanning.files import read_content
from skillstill.library.scanning.trees import ROOT, Folder, TreeEntry, tree

READER = "3"  # a new one if this room reads the same bytes otherwise: then everything is read again
LARGEST = 1_000_000  # bytes of one definition; the largest of 17 public libraries has 291 kB
_FRONT = 4_000  # bytes in which a front matter begins that makes any file a definition


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that was not understood; reasons are few, so that they can be counted."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Scan:
    """`folders` are all that need no reading while their digests stay; of `unchanged` ones nothing was read."""

    source: str
    commit: str
    definitions: tuple[Definition, ...]
    refused: tuple[Refused, ...]
    folders: Mapping[str, str]
    unchanged: tuple[str, ...] = ()

    def without(self, definitions: Iterable[Definition], reason: str) -> "Scan":
        """Return the same, these refused: their folders are read again next time."""
        left = {one.origin.path for one in definitions}
        above = {str(folder) for path in left for folder in PurePosixPath(path).parents}
        return replace(
            self,
            definitions=tuple(one for one in self.definitions if one.origin.path not in left),
            refused=(*self.refused, *(Refused(path, reason) for path in sorted(left))),
            folders={path: digest for path, digest in self.folders.items() if path not in above},
        )


def scan(
    source: Path,
    origin_source: str,
    commit: str = "",
    unchanged: Mapping[str, str] | None = None,
    tree_ids: Mapping[str, str] | None = None,
) -> Scan:
    """Return everything in a folder, or the one file that `source` is.

    `unchanged` are the `folders` of an earlier scan; `tree_ids` git's own, if the source is a commit of ours.
    Raise LibraryError if there is nothing to read; one bad file is a refusal and no more.
    """
    if source.is_file() and source.name.lower() != "skill.md":
        return _single(source.resolve(), origin_source, commit)
    root = (source.parent if source.is_file() else source).resolve()
    scanner = _Scanner(root, origin_source, commit, unchanged or {}, tree(root, tree_ids))
    scanner.visit(scanner.top, _licence_above(root), bundle=False)
    return scanner.result()


def _single(file: Path, origin_source: str, commit: str) -> Scan:
    scanner = _Scanner(file.parent, origin_source, commit, {}, Folder(ROOT, (), (), {}, {}, ""))
    status = file.stat()
    scanner.definition(
        scanner.top, TreeEntry(file.name, status.st_size, status.st_mode), _licence_above(file), named=True
    )
    return scanner.result()


@dataclass
class _Scanner:
    root: Path
    source: str
    commit: str
    known: Mapping[str, str]
    top: Folder
    definitions: list[Definition] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    folders: dict[str, str] = field(default_factory=dict)
    unchanged: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.every = {folder.path: folder for folder in self.top.every()}
        self.paths = {folder.path / entry.name for folder in self.every.values() for entry in folder.files}

    def result(self) -> Scan:
        found, refused = tuple(self.definitions), tuple(self.refused)
        return Scan(self.source, self.commit, found, refused, self.folders, tuple(self.unchanged))

    def visit(self, folder: Folder, above: Licence, *, bundle: bool, servers: tuple[NamedServer, ...] = ()) -> bool:
        """Return whether all in it was understood, so that it can be left alone while it is unchanged.

        `above` and `servers` are the licence and the MCP servers that a file above it names.
        """
        digest = _digest(folder, self._called(folder), above, servers, bundle)
        if digest and self.known.get(str(folder.path)) == digest:
            self._leave(folder, digest)
            return True
        before = len(self.refused)
        self.refused += [Refused(str(path), reason) for path, reason in folder.refused.items()]
        licence = self._licence(folder, above)
        inside, named = bundle or holds_skill(folder), self._servers(folder) or servers
        for entry in folder.files:
            self.definition(folder, entry, licence, bundle=inside, servers=named)
        complete = [self.visit(inner, licence, bundle=inside, servers=named) for inner in folder.folders]
        understood = all(complete) and len(self.refused) == before
        if digest and understood:
            self.folders[str(folder.path)] = digest
        return understood

    def _leave(self, folder: Folder, digest: str) -> None:
        self.unchanged.append(str(folder.path))
        self.folders[str(folder.path)] = digest
        below = (str(inner.path) for inner in folder.every())
        self.folders |= {path: self.known[path] for path in below if path in self.known}

    def definition(
        self,
        folder: Folder,
        entry: TreeEntry,
        licence: Licence,
        *,
        bundle: bool = False,
        named: bool = False,
        servers: tuple[NamedServer, ...] = (),
    ) -> None:
        """Keep the definition of a file, or refuse it; most files are neither."""
        path = folder.path / entry.name
        if path.suffix.lower() != ".md" and not named:
            return
        try:
            if found := self._understood(folder, entry, licence, servers, bundle, named):
                self.definitions.append(found)
        except LibraryError as error:
            self.refused.append(Refused(str(path), str(error)))
        except OSError as error:
            self.refused.append(Refused(str(path), f"unreadable: {error.strerror}"))
        except (ValueError, RecursionError) as error:
            self.refused.append(Refused(str(path), f"not understood: {type(error).__name__}"))

    def _understood(
        self,
        folder: Folder,
        entry: TreeEntry,
        licence: Licence,
        servers: tuple[NamedServer, ...],
        bundle: bool,
        named: bool,
    ) -> Definition | None:
        path, file = folder.path / entry.name, self.root / (entry.target or folder.path / entry.name)
        kind = kind_by_place(path)
        if kind is None and not named and not _begins(file):
            return None
        if entry.size > LARGEST:
            raise LibraryError(f"larger than {LARGEST // 1_000_000} MB")
        raw = read_content(file, LARGEST)
        read = decode(raw)
        kind = (
            kind_named(path, read.front.fields)
            if named
            else kind or kind_by_fields(path, read.front.fields, bundled=bundle)
        )
        if kind is None and named:
            raise LibraryError("no definition: it has no front matter")
        return self._defined(folder, entry, read, kind, licence, servers) if kind else None

    def _defined(
        self,
        folder: Folder,
        entry: TreeEntry,
        read: Read,
        kind: Kind,
        licence: Licence,
        servers: tuple[NamedServer, ...],
    ) -> Definition:
        beside = bundle_of(self.root, folder, self.every, entry.name) if kind == "skill" else Bundle()
        around = FileContext(
            source=self.source,
            commit=self.commit,
            path=folder.path / entry.name,
            folder=self._called(folder),
            mode=mode(entry),
            licence=licence,
            own_licence=bool(licence.where) and PurePosixPath(licence.where).parent == folder.path,
            bundle=beside.files,
            servers=servers,
            there=lambda target: self._there(folder.path, target),
            findings=beside.findings,
        )
        return build_definition(read, kind, around)

    def _called(self, folder: Folder) -> str:
        return os.fsencode(folder.path.name or self.root.name).decode("utf-8", "replace")

    def _there(self, folder: PurePosixPath, target: str) -> bool:
        path = PurePosixPath(posixpath.normpath(folder / unquote(target)))
        if path.parts[:1] == ("..",):
            return False
        return path in self.paths or path in self.every or (self.root / path).exists()

    def _licence(self, folder: Folder, above: Licence) -> Licence:
        """Return the licence of this folder's files, else the one above it; at the top, a README may name one."""
        files = [(entry, folder.path / entry.name) for entry in folder.files]
        own = [
            recognise_licence(self._text(entry, path), str(path)) for entry, path in files if FILE.fullmatch(entry.name)
        ]
        if own or above.name or folder.path != ROOT:
            return strictest_licence(own) if own else above
        readmes = [
            mentioned_licence(self._text(entry, path), str(path))
            for entry, path in files
            if README.fullmatch(entry.name)
        ]
        return next((licence for licence in readmes if licence), above)

    def _servers(self, folder: Folder) -> tuple[NamedServer, ...]:
        """Return the MCP servers that the folder's own file names."""
        files = (entry for entry in folder.files if entry.name == SERVERS)
        return next((servers_in(self._text(one, folder.path / one.name).encode()) for one in files), ())

    def _text(self, entry: TreeEntry, path: PurePosixPath) -> str:
        try:
            return read_content(self.root / (entry.target or path), LARGEST).decode("utf-8", "replace")
        except OSError:
            return ""


def _begins(file: Path) -> bool:
    """Return whether a front matter may begin here."""
    return b"---" in read_content(file, _FRONT)[:200]


def _digest(folder: Folder, called: str, above: Licence, servers: tuple[NamedServer, ...], bundle: bool) -> str:
    if not folder.digest:
        return ""
    named = [one.model_dump_json() for one in servers]
    said = f"{READER}\n{bundle}\n{above.model_dump_json()}\n{named}\n{called}\n{folder.digest}"
    return hashlib.sha256(said.encode()).hexdigest()


def _licence_above(place: Path) -> Licence:
    """Return the licence of the folders between here and the top of the repository; none outside of one."""
    above = place.parents
    top = next((folder for folder in (place, *above) if (folder / ".git").exists()), None)
    for folder in above if top else ():
        if not folder.is_relative_to(top or folder):
            break
        files = [file for file in sorted(folder.iterdir()) if FILE.fullmatch(file.name) and file.is_file()]
        if files:
            return strictest_licence(
                [
                    recognise_licence(read_content(file.resolve(), LARGEST).decode("utf-8", "replace"), file.name)
                    for file in files
                ]
            )
    return Licence()
