"""What a text tells of where it belongs: words, names, paths, and the frames of a traceback."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise

from skillstill.facts.locate.stems import names_in, stem, stems_in

LONGEST = 8_000  # characters that are read
PROSE = 700  # characters of the report itself: what follows are versions, logs and thanks
TITLE = 3.0  # what a word of the title counts
SHORTEST = 3  # letters of a name
# What a name counts: written as only code writes it, marked as code, or a word like any other.
WRITTEN, MARKED, PLAIN = 1.0, 0.5, 0.2

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TRACE_LINE = re.compile(r"^\s*(?:at |File |\d+[: ]|>>>|#|- \[|[|+=-]{3})")
_QUOTED = re.compile(r"`([^`\n]{1,80})`")
_CALLED = re.compile(r"([^\W\d]\w{2,})\(")
_DOTTED = re.compile(r"(?<![\w/.@])([^\W\d]\w*(?:(?:\.|::|#)[^\W\d]\w*)+)")
_CODE_NAME = re.compile(r"[^\W_]_+[^\W_]|[a-z0-9][A-Z]|^_+\w")
_PATH = re.compile(
    r"(?<![\w/\\.-])((?:[A-Za-z]:)?[\w@+.~/\\-]*[\w-]\.[A-Za-z]{1,10})(?!\w)"
    r"(?P<line>\"?, line (\d+)|:(\d+)|#L(\d+)| in \w+\()?"
)
_JAVA_FRAME = re.compile(r"\b((?:[a-z_]\w*\.)+)[A-Z][\w$]*\.[\w<>$]+\((\w+\.\w+)(?::(\d+))?\)")


# What has a digit: an address, a time, an id, a version.
_LITERAL = re.compile(r"(?<![\w.:/-])(?=[\w.:/@-]*\d)[\w](?:[\w.:/@-]*\w)?")
MOST_LITERALS = 8
_ASKS = re.compile(
    r"\?\s*$|^\W*(?:and|ok|okay|so|then|but|what|which|who|whose|where|when|why|how|is|are|does|do|did|was|were|has|have"
    r"|can|could|show|list|give|name|tell)\b",
    re.IGNORECASE,
)
ASKED = 300  # characters of one question


@dataclass(frozen=True, slots=True)
class Mention:
    """A path that a text names, and a line of it; 0 if it names none."""

    path: str
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A text as it is searched.

    words       stems with what they count
    prose       those of the report itself, without code and logs
    title       those of the first line
    names       names with what they count as such
    qualified   names with the name before them: Client.get
    literals    addresses, times, numbers and the like, as they stand there
    is_report   it tells of a fault at length, and is no question of a line, or some that follow each other
    frames      of a traceback, the likeliest first
    paths       other paths
    """

    text: str
    words: Mapping[str, float]
    prose: Mapping[str, float]
    title: frozenset[str]
    names: Mapping[str, float]
    qualified: frozenset[tuple[str, str]]
    literals: Sequence[str]
    is_report: bool
    frames: Sequence[Mention]
    paths: Sequence[Mention]

    @classmethod
    def of(cls, text: str) -> "Question":
        text = text[:LONGEST]
        is_report = _is_report(text)
        lines = [line for line in text.split("\n") if line.strip()] or [""]
        first = lines[0 if is_report else -1]  # of questions that follow each other the last is asked
        title = frozenset(_weighed(first))
        weighed = _weighed(text) if is_report else _telling(_weighed(text))
        words = {word: count * (TITLE if word in title else 1.0) for word, count in weighed.items()}
        frames, paths = _mentions(text)
        literals = [*dict.fromkeys(_LITERAL.findall(text))][:MOST_LITERALS]
        prose, names = _weighed(_prose(text)), _names(text, first)
        if not is_report:
            prose, title = _telling(prose), title & words.keys()
        return cls(text, words, prose, title, names, _qualified(text), literals, is_report, frames, paths)


def last_question(text: str) -> str:
    """Return the last of questions that follow each other, a line each: it is the one that is asked."""
    return text.strip().rpartition("\n")[2]


def _is_report(text: str) -> bool:
    lines = text.strip().split("\n")
    if len(lines) == 1:
        return False
    return len(lines[-1]) > ASKED or any(lines[1::2]) or not all(map(_ASKS.search, lines[2::2]))


@lru_cache(maxsize=1)
def stop_words() -> frozenset[str]:
    """Return words that stand in every text, and their stems."""
    words = files("skillstill.util").joinpath("stop_words.txt").read_text(encoding="utf-8").split()
    return frozenset(words) | {stem(word) for word in words}


def _weighed(text: str) -> dict[str, float]:
    """Return the stems of a text. A word that is said again counts more, but less each time."""
    counts = Counter(word for word in stems_in(text) if word not in stop_words())
    return {word: 1 + math.log(count) for word, count in counts.items()}


def _telling(words: Mapping[str, float]) -> dict[str, float]:
    """Return the words of a question without those by which people ask, unless it has no others."""
    return {word: weight for word, weight in words.items() if word not in chat_words()} or dict(words)


@lru_cache(maxsize=1)
def chat_words() -> frozenset[str]:
    return frozenset(stems_in(files(__package__).joinpath("chat_words.txt").read_text(encoding="utf-8")))


def _prose(text: str) -> str:
    lines = _FENCED.sub(" ", text).split("\n")
    return "\n".join(line for line in lines if not _TRACE_LINE.search(line))[:PROSE]


def _names(text: str, title: str) -> dict[str, float]:
    counts = Counter(name for name in names_in(text) if len(name) >= SHORTEST and name.lower() not in stop_words())
    marked = _marked(text)
    in_title = set(names_in(title))
    return {
        name: _kind(name, marked) * (1 + math.log(count)) * (1.5 if name in in_title else 1.0)
        for name, count in counts.items()
    }


def _kind(name: str, marked: frozenset[str]) -> float:
    if _CODE_NAME.search(name):
        return WRITTEN
    return MARKED if name in marked else PLAIN


def _marked(text: str) -> frozenset[str]:
    """Return the names in backticks, before a parenthesis, and with dots between them."""
    parts = [*_QUOTED.findall(text), *_CALLED.findall(text), *_DOTTED.findall(text)]
    return frozenset(name for part in parts for name in names_in(part))


def _qualified(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(pair for dotted in _DOTTED.findall(text) for pair in _pairs(re.split(r"\.|::|#", dotted)))


def _pairs(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    return pairwise(parts)


def _mentions(text: str) -> tuple[Sequence[Mention], Sequence[Mention]]:
    """Return the frames and the other paths. Python's innermost frame comes last, everybody else's first."""
    java = [
        Mention(package.replace(".", "/") + name, int(line or 0)) for package, name, line in _JAVA_FRAME.findall(text)
    ]
    frames: list[Mention] = []
    paths: list[Mention] = []
    for match in _PATH.finditer(text):
        mention = Mention(match[1].replace("\\", "/"), int(match[3] or match[4] or match[5] or 0))
        (paths if match["line"] is None or match[5] else frames).append(mention)
    return (java or ([*reversed(frames)] if "Traceback" in text or ", line " in text else frames)), paths
