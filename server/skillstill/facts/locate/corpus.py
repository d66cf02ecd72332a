"""What is asked of a code base, and what its paths say."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

import numpy as np

from skillstill.facts.locate.history import Commit
from skillstill.facts.locate.postings import Array, Postings
from skillstill.facts.locate.stems import stems_in

# Files that are named after the folder they stand for.
_OF_FOLDER = frozenset({"__init__", "index", "mod", "main", "lib"})
# Kinds of files that follow the others unless a text asks for them: words of folders and names.
_ASIDE: Mapping[str, re.Pattern[str]] = {
    "test": re.compile(
        r"(^|/)([^/]*tests?|testing|__tests__|specs?|e2e|testdata|fixtures?)/"
        r"|(^|/)(test_[^/]*|[^/]*_test\.\w+|[^/]*[.-](test|spec)\.\w+|[^/]*Tests?\.\w+|conftest\.py)$"
    ),
    "documentation": re.compile(
        r"(^|/)(docs?|documentation|changelog\.d|news)/|\.(md|rst|txt|adoc)$"
        r"|(^|/)(change(log|s)|history|news|readme|licen[cs]e|authors|contributing)[^/]*$",
        re.IGNORECASE,
    ),
    "example": re.compile(r"(^|/)(examples?|tutorials?|samples?|demos?|benchmarks?)/"),
    "generated": re.compile(
        r"(^|/)(vendor|_vendor|node_modules|third_party|dist|generated|auto)/|\.min\.\w+$|\.pb\.go$|_pb2(_grpc)?\.py$"
    ),
}
_ASKING: Mapping[str, re.Pattern[str]] = {
    "test": re.compile(
        r"\b(failing|flaky|broken|missing|unit) (unit )?tests?\b|\btest (case|suite)s?\b|\bfixtures?\b|\bconftest\b",
        re.IGNORECASE,
    ),
    "documentation": re.compile(r"\b(docs?|documentation|readme|changelog|tutorials?|typo)\b", re.IGNORECASE),
    "example": re.compile(r"\bexamples? (is|are|in|for|of|does|do)\b|\bbenchmarks?\b", re.IGNORECASE),
}
SOURCE = re.compile(
    r"\.(py|pyi|pyx|m?jsx?|cjs|[cm]?tsx?|go|rs|java|kts?|scala|groovy|clj|c|cc|cpp|cxx|cu|m|mm|h|hpp|hh|cs|fs|vb|rb|php|swift|dart"
    r"|lua|pl|pm|r|jl|ex|exs|erl|hs|ml|elm|nim|zig|sol|vue|svelte|sh|bash|ps1|sql|jsp|erb)$",
    re.IGNORECASE,
)


OTHER = "other"  # no source and no document


@dataclass(frozen=True, slots=True)
class File:
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition: the position of its file, its lines, and its name with and without those around it."""

    file: int
    first: int
    last: int
    name: str
    qualified: str


@dataclass(frozen=True, slots=True)
class Use:
    """A file that has a name, by its position, and how often."""

    file: int
    count: int


@dataclass(frozen=True, slots=True)
class NamedFact:
    """A row that states something of a file: its lines, and the name by which one would ask for it."""

    first: int
    last: int
    name: str


@dataclass(frozen=True, slots=True)
class NamedLines:
    """Lines that stand in something, and what that is called: the titles of a section."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Alike:
    """How many entries of a log are like one, and the times of the first and the last as text, if they have any."""

    times: int = 1
    since: str = ""
    until: str = ""


ALONE = Alike()


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The entries of a log in the order of their lines.

    For each its first line and its last one, a number for its template and level (0: none), and its time as text, empty
    if it has none.
    """

    firsts: Array
    lasts: Array
    templates: Array
    stamps: Sequence[str]

    def like(self, line: int) -> Alike:
        """Return which entries are like the one that this line belongs to."""
        at = int(np.searchsorted(self.firsts, line, side="right")) - 1
        template = int(self.templates[at]) if at >= 0 and line <= self.lasts[at] else 0
        if not template:
            return ALONE
        found = np.flatnonzero(self.templates == template)
        stamps = [stamp for entry in found if (stamp := self.stamps[int(entry)])]
        return Alike(len(found), min(stamps, default=""), max(stamps, default=""))


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table in a data file, or a table as a whole if it has no name.

    line     of its header; 0 if the file has no lines
    shown    what a reader wants to know of it
    samples  values, or the names of the columns
    """

    file: int
    line: int
    table: str
    name: str
    shown: str
    samples: str

    @property
    def full_name(self) -> str:
        return f"{self.table}.{self.name}" if self.name else self.table


class Corpus(Protocol):
    """A code base. Its files are known by their positions in `files`."""

    @property
    def files(self) -> Sequence[File]: ...

    @property
    def postings(self) -> Postings: ...

    def definitions_named(self, name: str) -> Sequence[Definition]:
        """Return what has this name, without the names around it."""
        ...

    def definitions_in(self, file: int) -> Sequence[Definition]: ...

    def uses_of(self, name: str) -> Sequence[Use]: ...

    def text(self, file: int) -> str: ...

    def facts_in(self, file: int) -> Sequence[NamedFact]:
        """Return what the rows of a file state: values, defaults, settings, dependencies, scripts."""
        ...

    def sections_in(self, file: int) -> Sequence[NamedLines]: ...

    def logs(self) -> Sequence[int]:
        """Return the files that are logs: large ones have no words by which they could be found."""
        ...

    def entries_in(self, file: int) -> Entries | None:
        """Return the entries of a log; None if the file has none."""
        ...

    def columns(self) -> Sequence[Column]:
        """Return the tables of data files and their columns."""
        ...

    def commits(self) -> Sequence[Commit]:
        """Return the newest commits that led here, the newest first and without merges; none if there is no history."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """The paths of a code base, by what a text may call them.

    by_name    positions by the last part of a path, in small letters
    by_stem    positions by the same without suffix and `_`, or by the folder that a file stands for
    stems      the words of each path
    kinds      why each file follows the others, if it does
    """

    by_name: Mapping[str, Sequence[int]]
    by_stem: Mapping[str, Sequence[int]]
    stems: Sequence[frozenset[str]]
    kinds: Sequence[frozenset[str]]

    @classmethod
    def of(cls, files: Sequence[File]) -> "Paths":
        by_name: defaultdict[str, list[int]] = defaultdict(list)
        by_stem: defaultdict[str, list[int]] = defaultdict(list)
        for position, file in enumerate(files):
            by_name[file.path.rsplit("/", 1)[-1].lower()].append(position)
            if SOURCE.search(file.path):
                by_stem[plain(_called(file.path))].append(position)
        stems = [frozenset(stems_in(file.path)) for file in files]
        return cls(by_name, by_stem, stems, [kinds_of(file.path) for file in files])


def _called(path: str) -> str:
    parts = PurePosixPath(path).parts
    name = parts[-1].split(".")[0]
    return parts[-2] if name in _OF_FOLDER and len(parts) > 1 else name


def plain(name: str) -> str:
    """Return a name's letters and digits: `model_checkpoint` and `ModelCheckpoint` are the same."""
    return re.sub(r"[\W_]", "", name.lower())


def kinds_of(path: str) -> frozenset[str]:
    """Return why a file follows the others, by kinds; none of a source of the program itself."""
    kinds = {kind for kind, pattern in _ASIDE.items() if pattern.search(path)}
    return frozenset(kinds if SOURCE.search(path) or kinds else {OTHER})


def asked_kinds(text: str) -> frozenset[str]:
    """Return the kinds of files that a text asks for."""
    return frozenset(kind for kind, pattern in _ASKING.items() if pattern.search(text))
