"""A code base in memory, for tests and measurements. The index keeps the same in tables."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from skillstill.facts.locate.corpus import SOURCE, Definition, File, Use
from skillstill.facts.locate.postings import Postings, pack
from skillstill.facts.locate.stems import names_in
from skillstill.facts.readers.words import LARGEST, count_words
from skillstill.symbols import language_of, symbols


class MemoryCorpus:
    """A code base of texts by path."""

    def __init__(self, texts: Mapping[str, str]) -> None:
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
    language = language_of(path)
    found = symbols(text.encode(), language) if language else ()
    return [Definition(file, each.line, each.end, each.name.rpartition(".")[2], each.name) for each in found]


def _text(path: Path) -> str | None:
    """Return a file's text; None if it is binary or too large."""
    if path.stat().st_size > LARGEST:
        return None
    data = path.read_bytes()
    return None if b"\0" in data else data.decode("utf-8", "replace")
