"""A code base in memory, for tests and measurements. The index keeps the same in tables."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from io import BytesIO
from pathlib import Path

from skillstill.facts.locate.corpus import SOURCE, Column, Definition, Entries, File, NamedFact, NamedLines, Use
from skillstill.facts.locate.history import Commit
from skillstill.facts.locate.postings import Postings, pack
from skillstill.facts.locate.stems import names_in
from skillstill.facts.reader import HEAD, Source
from skillstill.facts.readers.code import CODE
from skillstill.facts.readers.words import LARGEST, count_words


class MemoryCorpus:
    """A code base of texts by path, and of commits: a message and the paths that were changed, the newest first."""

    def __init__(self, texts: Mapping[str, str], commits: Sequence[tuple[str, Sequence[str]]] = ()) -> None:
        self._commits = commits
        self._texts = [*texts.values()]
        self.files: Sequence[File] = [File(path, len(text.encode())) for path, text in texts.items()]
        self._definitions = [_definitions(at, path, text) for at, (path, text) in enumerate(texts.items())]

    @classmethod
    def of_folder(cls, root: Path) -> "MemoryCorpus":
        """Return the text files below a folder, without hidden ones."""
        files = (path for path in sorted(root.rglob("*")) if path.is_file())
        visible = (path for path in files if not any(part[0] == "." for part in path.relative_to(root).parts))
        return cls({path.relative_to(root).as_posix(): text for path in visible if (text := _text(path)) is not None})

    @cached_property
    def postings(self) -> Postings:
        return Postings.of(
            pack(count_words(file.path, text)) for file, text in zip(self.files, self._texts, strict=True)
        )

    def definitions_named(self, name: str) -> Sequence[Definition]:
        return self._by_name.get(name, ())

    def definitions_in(self, file: int) -> Sequence[Definition]:
        return self._definitions[file]

    def uses_of(self, name: str) -> Sequence[Use]:
        return self._uses.get(name, ())

    def text(self, file: int) -> str:
        return self._texts[file]

    def facts_in(self, file: int) -> Sequence[NamedFact]:
        return ()

    def sections_in(self, file: int) -> Sequence[NamedLines]:
        return ()

    def logs(self) -> Sequence[int]:
        return ()

    def entries_in(self, file: int) -> Entries | None:
        return None

    def columns(self) -> Sequence[Column]:
        return ()

    def commits(self) -> Sequence[Commit]:
        at = {file.path: position for position, file in enumerate(self.files)}
        split = [(message.partition("\n"), paths) for message, paths in self._commits]
        return [
            Commit(subject, body, [at[path] for path in paths if path in at], len(paths))
            for (subject, _, body), paths in split
        ]

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[Definition]]:
        named: defaultdict[str, list[Definition]] = defaultdict(list)
        for definitions in self._definitions:
            for definition in definitions:
                named[definition.name].append(definition)
        return named

    @cached_property
    def _uses(self) -> Mapping[str, Sequence[Use]]:
        uses: defaultdict[str, list[Use]] = defaultdict(list)
        for at, (file, text) in enumerate(zip(self.files, self._texts, strict=True)):
            if SOURCE.search(file.path):
                for name, count in Counter(names_in(text)).items():
                    uses[name].append(Use(at, count))
        return uses


def _definitions(file: int, path: str, text: str) -> Sequence[Definition]:
    data, name = text.encode(), path.rpartition("/")[2]
    if not CODE.takes(name, data[:HEAD]):
        return ()
    batches = [facts.rows for facts in CODE.read(Source(name, len(data), BytesIO(data)))]
    rows = [row for rows in batches for row in rows.get("definitions", ())]
    return [Definition(file, int(str(row[0])), int(str(row[1])), str(row[2]), str(row[3])) for row in rows]


def _text(path: Path) -> str | None:
    """Return a file's text; None if it is binary or too large."""
    if path.stat().st_size > LARGEST:
        return None
    data = path.read_bytes()
    return None if b"\0" in data else data.decode("utf-8", "replace")
