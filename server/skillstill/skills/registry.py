"""registry.json: which subagents there are. Several registries merge; each entry remembers where it came from."""

import hashlib
import json
import logging
import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, ValidationError, field_validator, model_validator

from skillstill.errors import RegistryError, UnknownName
from skillstill.skills.calibration import Calibration
from skillstill.skills.sizes import best_size
from skillstill.skills.skill import NAME, SIZE, Skill, load_skill, mistake
from skillstill.skills.trust import OWN, PINS, is_trusted, pack_around
from skillstill.types import BaseBehaviour, Frozen, ModelFile
from skillstill.util.storage import ALL_READ, data_folder, open_regular, write_atomically
from skillstill.util.text import one_line

FILE = "registry.json"
RELEASES = "releases"  # a skill's folder for adapters, scorecards and earlier entries
DIGITS = 12  # of a hash in a file's name
ENVIRONMENT = "SKILLSTILL_REGISTRY"
PROJECT_FOLDER = OWN
SHA256 = r"^[0-9a-f]{64}$"
FEW = 5  # subagents; of more than these, a client should load only what it searches for
WATCHED = 2_000  # files of a project's own folder that are looked at for changes
Parsed = TypeVar("Parsed", bound=Frozen)
log = logging.getLogger(__name__)


class FieldFigures(Frozen):
    """What a field test found: of `asked` natural questions about `workspaces` real folders so many were right.

    handed_back      rightly: looking cannot answer them
    sure             answered without a warning; None: not counted
    silently_wrong   of these, wrong
    led              of those that stand somewhere, the share with a wanted place handed over; None: not measured
    """

    asked: int = Field(ge=1)
    workspaces: int = Field(ge=1)
    right: int = Field(ge=0)
    handed_back: int = Field(ge=0)
    sure: int | None = Field(default=None, ge=0)
    silently_wrong: int = Field(ge=0)
    led: float | None = Field(default=None, ge=0, le=1)
    seconds: float = Field(ge=0)

    @property
    def share(self) -> float:
        """Return the share that was answered rightly or rightly handed back."""
        return (self.right + self.handed_back) / self.asked

    @property
    def text(self) -> str:
        """Return the figures in one clause."""
        good = f"{self.right + self.handed_back} of {self.asked} natural questions right or rightly handed back"
        led = f", a wanted place handed over for {self.led:.0%}" if self.led is not None else ""
        if self.sure is None:
            return f"{good}{led}, {self.silently_wrong} wrong without a warning"
        return f"{good}{led}, {self.sure} answered without a warning, {self.silently_wrong} of these wrong"


class Measured(Frozen):
    """What an evaluation found: the share of `n` held-out goals solved and verified, and the mean seconds of one.

    `sure` is the share of them that are answered above the threshold, `right` the share of those answers that are so.
    `field` is what a field test found: it comes first wherever figures are told.
    """

    success: float = Field(ge=0, le=1)
    n: int = Field(ge=1)
    seconds: float = Field(ge=0)
    sure: float | None = Field(default=None, ge=0, le=1)
    right: float | None = Field(default=None, ge=0, le=1)
    field: FieldFigures | None = None

    @property
    def verified(self) -> str:
        return f"{self.success:.0%} of {self.n} verified"

    @property
    def figures(self) -> str:
        """Return all of it, in one clause."""
        known = self.sure is not None and self.right is not None
        sure = f"; sure of {self.sure:.0%}, {self.right:.0%} of them right" if known else ""
        made = f"{self.verified}, {self.seconds:.1f} s each{sure}"
        return f"{self.field.text}; of made questions {made}" if self.field else made


class RegistryEntry(Frozen):
    """One subagent. `untrained` is a development entry: a stock base that is told the whole skill.

    size             of the base, such as `0.5b`, if it is a further release on a larger one than the default release's
    skill            a path from the registry's folder, which it stays inside
    base_behaviour   what the base says after a few texts: a file of another hash that says the same may stand in for it
    serving_hash     by `contract`; a released entry must have one
    goals_hash       of the frozen goals that it was measured on
    provenance_hash  by `contract`: what the goals and the skill were then
    claimed          what the pack that it came in says of it: nobody has measured it here
    calibration      turns what is seen of a run into the probability that its answer is right
    accepted         the user has read what is suspicious in the pack that it came in, and wants it all the same
    before           the hash of the entry that stood here before, kept by `releases`
    """

    name: str = Field(pattern=NAME, max_length=64)
    size: str | None = Field(default=None, pattern=SIZE)
    title: str = Field(min_length=1, max_length=80)
    description: str = Field(min_length=1, max_length=1_000)
    state: Literal["untrained", "released"]
    skill: str
    base: ModelFile
    base_behaviour: BaseBehaviour | None = None
    adapter: ModelFile | None = None
    measured: Measured | None = None
    claimed: Measured | None = None
    search_hint: str = Field(default="", max_length=200)
    serving_hash: str | None = Field(default=None, pattern=SHA256)
    goals_hash: str | None = Field(default=None, pattern=SHA256)
    provenance_hash: str | None = Field(default=None, pattern=SHA256)
    calibration: Calibration | None = None
    accepted: Literal[True] | None = None
    before: str | None = Field(default=None, pattern=SHA256)

    @field_validator("skill")
    @classmethod
    def inside(cls, skill: str) -> str:
        if Path(skill).is_absolute() or ".." in Path(skill).parts:
            raise ValueError("expected a path inside the registry's folder")
        return skill

    @model_validator(mode="after")
    def complete(self) -> Self:
        if self.state == "released" and self.serving_hash is None:
            raise ValueError("a released entry needs its serving_hash")
        return self

    @property
    def label(self) -> str:
        """Return what tells it from all others: its name, and `@0.5b` if it is of another size than the default."""
        return f"{self.name}@{self.size}" if self.size else self.name

    @property
    def expectation(self) -> str:
        """Return what may be expected of it, in one sentence, so that an orchestrator can tell when to delegate."""
        if self.measured:
            return f"Measured: {self.measured.figures}."
        if self.claimed:
            return f"Claimed by its pack, not measured here: {self.claimed.figures}."
        return "Not trained yet: expect `escalate`." if self.state == "untrained" else "Not measured here."

    def resolved_from(self, folder: Path) -> "RegistryEntry":
        """Return the entry with model files that are found from any folder; `folder` is that of its registry."""
        adapter = self.adapter.resolved_from(folder) if self.adapter else None
        return self.model_copy(update={"base": self.base.resolved_from(folder), "adapter": adapter})


class Document(Frozen):
    """The whole file.

    pinned   in the user's registry: names of bundled entries, each with the hash of the earlier one that counts instead
    """

    version: Literal[1] = 1
    entries: tuple[RegistryEntry, ...] = ()
    pinned: dict[str, Annotated[str, Field(pattern=SHA256)]] = Field(default_factory=dict)

    @field_validator("entries")
    @classmethod
    def distinct(cls, entries: tuple[RegistryEntry, ...]) -> tuple[RegistryEntry, ...]:
        labels = [entry.label for entry in entries]
        if twice := [label for label in labels if labels.count(label) > 1]:
            raise ValueError(f"expected each name once, {twice[0]!r} stands there {labels.count(twice[0])} times")
        return entries


class _RawDocument(Frozen):
    """The whole file, its entries not looked at yet."""

    version: Literal[1] = 1
    entries: tuple[Any, ...] = ()
    pinned: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrokenEntry:
    """An entry that cannot be read: its name, or its number if it has none, and what is wrong with it."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry, its model files placed, and the registry file it was found in."""

    entry: RegistryEntry
    origin: Path

    @property
    def skill_folder(self) -> Path:
        return (self.origin.parent / self.entry.skill).resolve()

    def skill(self) -> Skill:
        """Raise SkillError."""
        return load_skill(self.skill_folder).sized(self.entry.size or "")


class Registry:
    """The merged registries of a process: by flag, environment, trusted project, user, bundled; first wins by name."""

    def __init__(self, flag: Path | None = None, project: Path | None = None) -> None:
        """Raise RegistryError if a registry that was named by flag or environment cannot be read."""
        given = (Path(path).expanduser() for path in (flag, os.environ.get(ENVIRONMENT)) if path)
        self.named = tuple(dict.fromkeys(given))
        self.project = project
        self.ignored: dict[Path, str] = {}
        self._good: dict[Path, Document] = {}
        for path in self.named:
            self._read(path)

    def entries(self) -> Sequence[ListedEntry]:
        """Return an entry of each name, as the files stand now: of several sizes the best that this machine can run.

        A file that became unreadable keeps its last good state.
        """
        return [best_size(sizes).listed for _, sizes in sorted(self._by_name().items())]

    def sizes(self, name: str) -> Sequence[ListedEntry]:
        """Return the entries of a name, each of another size, the default first. Raise UnknownName."""
        if found := self._by_name().get(name):
            return found
        known = ", ".join(sorted(self._by_name())) or "none"
        raise UnknownName(f"no subagent called {name[:64]!r}; there are: {known}")

    def _by_name(self) -> dict[str, list[ListedEntry]]:
        found: dict[str, list[ListedEntry]] = {}
        for path in self._paths():
            here = [ListedEntry(self._counting(entry, path).resolved_from(path.parent), path)
                    for entry in self._current(path).entries if entry.name not in found]  # fmt: skip
            for listed in sorted(here, key=lambda one: one.entry.size or ""):
                found.setdefault(listed.entry.name, []).append(listed)
        return found

    def _counting(self, entry: RegistryEntry, path: Path) -> RegistryEntry:
        return self._unpinned(entry) if is_bundled(path) else entry

    def _unpinned(self, entry: RegistryEntry) -> RegistryEntry:
        """Return the earlier entry that the user has gone back to, if there is one, else the bundled one."""
        pin = self._current(user_registry()).pinned.get(entry.label)
        if pin is None:
            return entry
        try:
            earlier = kept_entry(bundled() / FILE, entry, pin)
        except RegistryError as error:
            self._ignore(bundled() / FILE, str(error), f"the bundled {entry.name} counts")
            return entry
        return earlier

    def entry(self, name: str) -> ListedEntry:
        """Return the entry of a label, or of a name the best that this machine can run. Raise UnknownName."""
        name, _, size = name.partition("@")
        sizes = self.sizes(name)
        if not size:
            return best_size(sizes).listed
        for listed in sizes:
            if listed.entry.size == size:
                return listed
        known = ", ".join(listed.entry.label for listed in sizes)
        raise UnknownName(f"no {name} of the size {size[:16]!r}; there are: {known}")

    def stamp(self) -> tuple[object, ...]:
        """Return a value that changes if entries may have changed. It needs times and sizes alone, so it is cheap."""
        folder = self._own_folder()
        own = [Path(top) / name for top, _, names in os.walk(folder or "") for name in names]
        files = [*self.named, *sorted(own[:WATCHED]), data_folder() / PINS, user_registry(), bundled() / FILE]
        return tuple((file, *_stamp(file)) for file in files)

    def _paths(self) -> Iterable[Path]:
        yield from self.named
        yield from self._project_paths()
        yield user_registry()
        yield bundled() / FILE

    def untrusted(self) -> str:
        """Return why the project's own registry does not count; empty if it does, or if there is none.

        It came with the repository, not from the user, so it counts only as its owner has pinned it.
        """
        folder = self._own_folder()
        if folder is None or is_trusted(folder):
            return ""
        command = f"skillstill trust {shlex.quote(str(self.project))}"
        return f"{folder}: not trusted; look at it, then type `{command}`"

    def _project_paths(self) -> Iterable[Path]:
        folder = self._own_folder()
        if folder is not None and is_trusted(folder):
            yield folder / FILE

    def _own_folder(self) -> Path | None:
        folder = self.project / PROJECT_FOLDER if self.project else None
        return folder if folder is not None and _holds_registry(folder) else None

    def _current(self, path: Path) -> Document:
        """Read anew each time: the file is small, and its time stamp misses a change within one tick of the clock."""
        try:
            self._read(path)
        except RegistryError as error:
            if path in self._good or not isinstance(error.__cause__, FileNotFoundError):
                kept = "keeping its last good state" if path in self._good else "going on without it"
                self._ignore(path, str(error), kept)
        return self._good.get(path, Document())

    def _read(self, path: Path) -> None:
        """Take the entries of a file that can be read, and tell of the others. Raise RegistryError if none can."""
        document, broken = read_entries(path)
        self._good[path] = document
        if broken:
            self._ignore(path, f"{path}: {'; '.join(_advice(path, one) for one in broken)}", "the others count")
        else:
            self.ignored.pop(path, None)

    def _ignore(self, path: Path, reason: str, kept: str) -> None:
        if self.ignored.get(path) != reason:
            log.warning("%s; %s", reason, kept)
            self.ignored[path] = reason


def read_registry(path: Path) -> Document:
    """Return the whole registry. Raise RegistryError if any of it is wrong: file, field, what was expected."""
    return _parse(path, Document)


def read_entries(path: Path) -> tuple[Document, tuple[BrokenEntry, ...]]:
    """Return the entries that can be read, and why the others cannot. Raise RegistryError if the file cannot."""
    found: dict[str, RegistryEntry] = {}
    broken: list[BrokenEntry] = []
    raw_document = _parse(path, _RawDocument)
    for number, raw in enumerate(raw_document.entries):
        try:
            entry = RegistryEntry.model_validate(raw)
        except ValidationError as error:
            broken.append(BrokenEntry(_name_of(raw) or f"number {number + 1}", ": ".join(mistake(error))))
            continue
        if found.setdefault(entry.label, entry) is not entry:
            broken.append(BrokenEntry(entry.label, "expected each name once, the first one counts"))
    return Document(entries=tuple(found.values()), pinned=raw_document.pinned), tuple(broken)


def remove_entry(path: Path, name: str) -> None:
    """Take the entry of this name out of a registry, readable or not; the others stay. Raise RegistryError."""
    document = _parse(path, _RawDocument)
    left = tuple(raw for raw in document.entries if _name_of(raw) != name)
    changed = document.model_copy(update={"entries": left}).model_dump(exclude_defaults=True)
    _write(path, json.dumps({"version": 1, "entries": left} | changed, indent=2, ensure_ascii=False))


def skill_paths(path: Path, name: str) -> Sequence[Path]:
    """Return where the entries of this name have their skills, even if an entry is broken. Raise RegistryError."""
    named = (raw for raw in _parse(path, _RawDocument).entries if _name_of(raw) == name)
    return [path.parent / skill for raw in named if isinstance(skill := raw.get("skill"), str) and "\0" not in skill]


def write_registry(path: Path, document: Document) -> None:
    """Write all or nothing, and only what can be read back. Raise RegistryError, the old file kept."""
    text = _text_of(document)
    try:
        Document.model_validate_json(text)
    except ValidationError as error:
        raise RegistryError(
            f"{path} would not be readable: {': '.join(mistake(error))}; nothing was changed"
        ) from error
    _write(path, text)


def kept_entry(registry: Path, entry: RegistryEntry, expected: str) -> RegistryEntry:
    """Return the earlier entry of that hash. Raise RegistryError if it is gone or was altered."""
    file = kept_file(registry, entry, expected)
    try:
        content = file.read_bytes()
        found = hashlib.sha256(content).hexdigest()
        if found != expected:
            raise RegistryError(f"{file} is not the entry that was kept: expected sha256 {expected[:12]}…, "
                                f"found {found[:12]}…; put the right file there")  # fmt: skip
        return RegistryEntry.model_validate_json(content)
    except FileNotFoundError as error:
        raise RegistryError(f"{file} is gone, and with it the entry to go back to: put it there again") from error
    except (OSError, ValidationError) as error:
        raise RegistryError(f"{file} cannot be read as an entry: {error}") from error


def kept_file(registry: Path, entry: RegistryEntry, sha256: str) -> Path:
    """Return where an earlier entry is kept, by the hash of its text."""
    return registry.parent / entry.skill / RELEASES / f"{sha256[:DIGITS]}.entry.json"


def _text_of(document: Document) -> str:
    without = None if document.pinned else {"pinned"}
    return document.model_dump_json(indent=2, exclude_none=True, exclude=without)


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, f"{text}\n", mode=ALL_READ)
    except OSError as error:
        raise RegistryError(f"{path} cannot be written: {error.strerror}") from error


def _parse(path: Path, kind: type[Parsed]) -> Parsed:
    try:
        with open(path, encoding="utf-8-sig", opener=open_regular) as file:
            return kind.model_validate_json(file.read())
    except ValidationError as error:
        raise RegistryError(": ".join([str(path), *mistake(error)])) from error
    except (OSError, ValueError) as error:
        raise RegistryError(f"{path} cannot be read as a registry: {error}") from error


def _name_of(raw: Any) -> str:
    name = raw.get("name") if isinstance(raw, dict) else ""
    return name[:64] if isinstance(name, str) else ""


def _advice(path: Path, broken: BrokenEntry) -> str:
    """Say what is wrong with an entry, and what to type if a pack brought it."""
    said = f"entry {one_line(broken.name, 64)}: {broken.reason}"
    if any(map(pack_around, skill_paths(path, broken.name))):
        return f"{said}; type `skillstill unpack --remove {shlex.quote(broken.name)}`"
    return f"{said}; mend it there"


def _stamp(file: Path) -> tuple[int, ...]:
    try:
        status = file.stat()
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def _holds_registry(folder: Path) -> bool:
    try:
        return not folder.is_symlink() and (folder / FILE).is_file()
    except OSError:  # a folder that may not be looked into, a name that is too long
        return False


def is_bundled(registry: Path) -> bool:
    """Return whether this is the registry of the package itself, which belongs to all users."""
    return registry == bundled() / FILE


def user_registry() -> Path:
    return data_folder() / FILE


def bundled() -> Path:
    """Return the folder of the bundled registry.json and skills/: in an installed wheel, or the checkout itself."""
    packed = Path(__file__).parents[1] / "bundled"
    return packed if packed.is_dir() else Path(__file__).parents[3]
