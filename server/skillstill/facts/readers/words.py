"""The words of a text file, for ranking files by a description: about how often each stands in which part of it.

Parts are told by the look of a source alone, so that every language has them: comments, names behind a word that
defines, and all the rest.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from skillstill.facts.locate.postings import Counts, pack
from skillstill.facts.locate.stems import names_in, stems_of
from skillstill.facts.reader import Facts, Gap, Source
from skillstill.facts.readers.logs.reader import LOGS
from skillstill.facts.readers.logs.stream import open_bytes, unpack_head
from skillstill.facts.table import FactColumn, FactTable

LARGEST = 1_000_000  # bytes: what is larger is data
LARGEST_LOG = 16_000_000  # bytes of a log, unpacked: a question then takes a second
HEAD = 8_192  # bytes of its beginning, by which a log is known
LONG_LINE = 2_000  # characters from which on a line was not written by hand
PART = 900  # characters of a row: SQLite gives a row of more than a quarter of a page another page for itself
TABLE = FactTable("file_words", "the words of a file, packed for ranking", (FactColumn("packed"),), is_hidden=True)

_STRING = r'"(?:\\.|[^"\\\n]){0,400}"|\'(?:\\.|[^\'\\\n]){0,400}\''
_HASH, _SLASH, _DASH, _MARKUP = r"\#[^\n]*", r"//[^\n]*|/\*(?:.|\n)*?\*/", r"--[^\n]*", r"<!--(?:.|\n)*?-->"
_PYTHON = f"\"\"\"(?:.|\\n)*?\"\"\"|'''(?:.|\\n)*?'''|{_HASH}"
_COMMENTS: Mapping[str, str] = {
    **dict.fromkeys((".py", ".pyi", ".pyx"), _PYTHON),
    **dict.fromkeys(
        [
            ".rb",
            ".sh",
            ".bash",
            ".zsh",
            ".yml",
            ".yaml",
            ".toml",
            ".cfg",
            ".ini",
            ".conf",
            ".pl",
            ".r",
            ".ex",
            ".exs",
            ".jl",
            ".tcl",
            ".nim",
            ".mk",
        ],
        _HASH,
    ),
    **dict.fromkeys((".sql", ".lua", ".hs", ".elm"), _DASH),
    **dict.fromkeys((".html", ".xml", ".md", ".svg"), _MARKUP),
    ".vue": f"{_SLASH}|{_MARKUP}",
    ".php": f"{_SLASH}|{_HASH}",
}
_PATTERNS: Mapping[str, re.Pattern[str]] = {
    comments: re.compile(f"(?P<comment>{comments})|{_STRING}") for comments in {*_COMMENTS.values(), _SLASH}
}
_DEFINING = re.compile(
    r"\b(?:def|class|func|fn|function|fun|interface|struct|enum|trait|type|object|module|namespace|record|protocol|const"
    r"|static|impl|sub|macro_rules!|define)[ \t]+(?:\([^)\n]{0,80}\)[ \t]*)?([A-Za-z_$][\w$]*)"
)
# What looks like a method of Java, C or JavaScript: words, a name, parameters, a brace.
_METHOD = re.compile(
    r"^[ \t]*(?:[\w<>\[\],.*&@?:]{1,60}[ \t]+){0,6}([A-Za-z_$][\w$]*)[ \t]*"
    r"\([^;{}()\n]{0,300}\)[^;{}()\n]{0,100}\{",
    re.MULTILINE,
)
_STATEMENTS = frozenset({"if", "for", "while", "switch", "catch", "function", "return", "with", "synchronized"})


class WordReader:
    """Words of all text files, packed ones too.

    The rows of a file are parts of one text: they are joined before they are unpacked.
    """

    name = "words"
    version = 2
    tables = (TABLE,)

    def takes(self, name: str, head: bytes) -> bool:
        """Return whether the file is text, once it is unpacked: a binary one has a NUL."""
        return b"\0" not in unpack_head(head)

    def read(self, source: Source) -> Iterator[Facts]:
        data = open_bytes(source)
        most = LARGEST_LOG if LOGS.takes(source.name, data.peek(HEAD)) else LARGEST
        text = data.peek(most + 1)
        if len(text) > most:
            yield Facts(gaps=(Gap(f"words of files over {most // 1_000_000} MB are not kept", TABLE.name),))
            return
        packed = pack(count_words(source.name, text.decode("utf-8", "replace")))
        yield Facts({TABLE.name: [(0, 0, packed[at : at + PART]) for at in range(0, len(packed), PART)]})


WORDS = WordReader()


def count_words(name: str, text: str) -> dict[str, Counts]:
    """Return the stems of a file of this name, and how often each stands in which part."""
    counts: defaultdict[str, Counts] = defaultdict(Counts)
    comments, code = _split(PurePosixPath(name).suffix.lower(), _without_long_lines(text))
    for word in names_in(comments):
        for stem in stems_of(word):
            counts[stem].comments += 1
    for word in names_in(code):
        for stem in stems_of(word):
            counts[stem].code += 1
    for word in defined_names(code):
        for stem in stems_of(word):
            counts[stem].names += 1
    return counts


def _without_long_lines(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if len(line) < LONG_LINE)


def _split(suffix: str, text: str) -> tuple[str, str]:
    """Return the comments of a source, and the source without them."""
    comments: list[str] = []

    def take(match: re.Match[str]) -> str:
        if match["comment"] is None:
            return match[0]
        comments.append(match[0])
        return " "

    code = _PATTERNS[_COMMENTS.get(suffix, _SLASH)].sub(take, text)
    return "\n".join(comments), code


def defined_names(code: str) -> Iterator[str]:
    """Return the names that code defines, as far as its look tells."""
    matches = (match for pattern in (_DEFINING, _METHOD) for match in pattern.finditer(code))
    at = {match.start(1): match[1] for match in matches}  # both may see the same one
    return (name for name in at.values() if name not in _STATEMENTS)
