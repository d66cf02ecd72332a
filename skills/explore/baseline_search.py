"""What a prompt of `explore` names or describes, found in the workspace: names, functions, files of C."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skills.explore.baseline_index import NATIVE, PIECE, Def, Index, is_test, pieces
    from skills.explore.baseline_words import SHAPED, TOKEN, asking, common, fold, spelt, stem
else:  # baseline.py has loaded these from beside this file
    from skillstill_baseline_explore_index import NATIVE, PIECE, is_test, pieces
    from skillstill_baseline_explore_words import SHAPED, TOKEN, asking, common, fold, spelt, stem

CLAUSE = re.compile(r"[.?!:;]+\s+|\s-\s|, (?=which|where|what|or so|so )|[?.!]+$")
MARKS = {"that", "which", "to", "we", "who", "it", "whatever"}
SAME = (  # words that stand for each other in names
    "get fetch retrieve return read", "create make build new init", "remove delete drop clear pop",
    "print show display",
    "check is valid validate has determine true", "convert transform to from as", "write save dump store emit send",
    "set update", "add append insert register", "compute calculate", "start begin run launch open execute",
    "merge join",
    "iterate iter walk", "find search lookup", "stop close shutdown", "handle process on", "string str", "integer int",
    "directory dir folder", "dictionary dict map", "argument arg param parameter", "function func fn", "message msg",
    "configuration config", "number num count", "length len size", "index idx", "temporary temp tmp", "character char",
    "expression expr", "attribute attr", "maximum max", "minimum min", "exception error", "command cmd", "copy clone",
    "previous prev", "request req", "response resp", "address addr", "connection conn", "authenticate auth",
    "value val",
    "absolute abs", "position pos", "reference ref", "source src", "context ctx", "variable var", "identifier id",
    "document doc", "specification spec", "generate gen", "initialize init setup", "parse load read", "generate create",
)  # fmt: skip
WEAK = frozenset(
    re.findall(
        r"\w+",
        "a an the of to in for on and or is are be if by with from that this as it its at any all into not which when"
        " was were has have can will then than so but there their them they where no do does don t s",
    )
)
FAINT = frozenset(
    re.findall(
        r"\w+",
        "fix fixed bug issue problem add added avoid make sure handle check support change changed remove removed"
        " update use correct correctly properly possible potential prevent ensure allow code file files fixes several"
        " various also when error errors new unused wrong missing invalid",
    )
)


def wholes(text: str) -> Iterator[str]:
    """The names of several words in a text, each as one word."""
    return (word.lower() for word in re.findall(r"\w+", text) if len(PIECE.findall(word)) > 1)


@dataclass(frozen=True, slots=True)
class Name:
    """A stretch of the prompt that may name something, and what it could be."""

    text: str
    at: range
    found: "tuple[Def, ...]"
    score: float


def shape(token: str, at: int) -> float:
    """How much a word looks like a name."""
    if SHAPED.search(token):
        return 3
    if "-" in token or (token.isupper() and len(token) > 2):
        return 2
    return float(token[0].isupper() and at > 0)


def name_at(tokens: Sequence[str], at: range, index: "Index") -> Name | None:
    text = " ".join(tokens[at.start : at.stop])
    found = tuple(index.find(text.replace(" ", "_") if len(at) > 1 else text))
    looks = shape(text, at.start) if len(at) == 1 and spelt(text) not in asking() else 0
    new = sum(spelt(tokens[word]) not in asking() for word in at)
    if len(fold(text)) < 2 or (not found and (len(at) > 1 or not looks)) or not new:
        return None
    unusual = any(spelt(tokens[word]) not in common() for word in at)
    exact = bool(found) and found[0].last == text.removesuffix("()").rpartition(".")[2]
    joined = 1 + 0.8 * len(at) if len(at) > 1 else 0
    score = looks + 2 * bool(found) + exact + 1.5 * unusual + joined - 0.05 * at.start
    return Name(text, at, found, score)


def names_in(tokens: Sequence[str], index: "Index") -> list[Name]:
    """Those that do not overlap, the likeliest first."""
    count = len(tokens)
    spans = [range(at, at + size) for size in range(6, 0, -1) for at in range(count - size + 1)]
    plain = [span for span in spans if len(span) == 1 or not any(SHAPED.search(tokens[at]) for at in span)]
    chosen: list[Name] = []
    for name in sorted(filter(None, (name_at(tokens, span, index) for span in plain)), key=lambda name: -name.score):
        if name.score >= 2 and not any(set(name.at) & set(other.at) for other in chosen):
            chosen.append(name)
    new = [at for at, token in enumerate(tokens) if spelt(token) not in common()]
    unknown = [Name(tokens[at], range(at, at + 1), (), 1) for at in new[:1]]
    return chosen or (unknown if len(new) == 1 else [])


def told_apart(name: "Name", names: Sequence["Name"], tokens: Sequence[str], index: "Index") -> float:
    """More for a name that has several definitions between which the rest of the prompt decides."""
    rest = [token for at, token in enumerate(tokens) if at not in name.at]
    if len(name.found) > 1 and max(evidence(one, rest, index, rare=True) for one in name.found) >= 3:
        return 5.0 - 0.4 * name.at.start
    others = (one for other in names if other is not name and shape(other.text, 1) > 1 for one in other.found)
    used = {word for one in others for word in index.parameters(one)}
    return -2.0 if name.text in used else 0.0


def evidence(one: "Def", rest: Sequence[str], index: "Index", *, rare: bool = False) -> float:
    """How much of the prompt beside the name points to this definition: its class, its file, what it calls."""
    owner = one.container.rpartition(".")[2]
    address = [owner, *re.split(r"[/.]", one.path)[:-1]]
    stretches = [rest[at : at + size] for size in range(1, 6) for at in range(len(rest))]
    plain = {word for word in rest if spelt(word) in common()}
    runs = {fold("".join(run)) for run in stretches if not (rare and plain.issuperset(run))}
    score = sum(3.0 + 0.1 * len(part) for part in map(fold, address[:1] + address[-1:]) if part and part in runs)
    near = {word for part in address for word in pieces(part)}
    words = {stem(word) for word in rest if word not in plain}
    score += sum(word in near for word in words)
    used = set(re.findall(r"\w+", "\n".join(index.lines[one.path][one.line : one.end])))
    for word in {token.removesuffix("()").rpartition(".")[2] for token in rest if token.removesuffix("()") != one.last}:
        score += (5 if SHAPED.search(word) else 2 - rare if word not in common() else 0.3) * (word in used)
    return score


def gist(prompt: str) -> list[str]:
    """The words of a description without the question around it: the clauses that say something unusual."""
    quoted = re.search(r"[\"“](.{20,})[\"”]", prompt)
    text = quoted[1] if quoted else prompt
    clauses = [TOKEN.findall(clause) for clause in CLAUSE.split(text)]
    news = [[at for at, word in enumerate(words) if spelt(word) not in asking()] for words in clauses]
    most = max(map(len, news))
    kept: list[str] = []
    for words, new in zip(clauses, news, strict=True):
        if new and (len(new) > 1 or len(new) == most):
            marks = [at for at in range(new[0]) if spelt(words[at]) in MARKS]
            kept += words[max(marks, default=-1) + 1 :]
    return kept or TOKEN.findall(text)


@lru_cache(maxsize=1)
def same() -> Mapping[str, set[str]]:
    near: dict[str, set[str]] = defaultdict(set)
    for group in ([stem(word) for word in words.split()] for words in SAME):
        for word in group:
            near[word] |= {*group} - {word}
    return near


class Functions:
    """The functions of a workspace, ranked by the words of a description."""

    def __init__(self, index: "Index") -> None:
        self.all = [self._read(index, one) for one in index.defs if one.is_function and _is_code(one.path)]
        self.seen = Counter(word for _, fields, _ in self.all for word in set().union(*fields))
        self.size = sum(size for *_, size in self.all) / max(1, len(self.all))

    def _read(self, index: "Index", one: "Def") -> tuple["Def", Sequence[Counter[str]], int]:
        texts = one.last, one.container, one.path, one.signature, index.body(one)
        fields = [Counter({*pieces(text), text.lower()}) for text in texts[:4]]
        fields.append(Counter([*pieces(texts[4]), *wholes(texts[4])]))
        return one, fields, sum(fields[4].values())

    def ranked(self, words: Sequence[str], usual: Container[str]) -> list["Def"]:
        asked = {part: 0.3 if word.lower() in usual else 1.0 for word in words for part in pieces(word)}
        asked |= dict.fromkeys(wholes(" ".join(words)), 1.0)
        near = {other: 0.6 for word in asked for other in same().get(word, ()) if other not in asked}
        rare = {word: share * self._rarity(word) for word, share in (asked | near).items() if word in self.seen}
        scores = [(self._score(fields, size, rare, near), one) for one, fields, size in self.all]
        return [one for score, one in sorted(scores, key=lambda pair: (-pair[0], pair[1].rank)) if score]

    def _rarity(self, word: str) -> float:
        return float(math.log(1 + len(self.all) / (self.seen[word] + 0.5)) ** 0.9)

    def _score(
        self, fields: Sequence[Counter[str]], size: int, rare: Mapping[str, float], near: Container[str]
    ) -> float:
        total = 0.0
        room = 1.2 * (0.3 + 0.7 * size / self.size)
        for word, worth in rare.items():
            held = [weight * (word in field) for weight, field in zip((2.0, 0.6, 0.15, 0.8), fields, strict=False)]
            count = fields[4][word]
            total += worth * (held[0] if word in near else sum(held) + 2 * count / (count + room))
        return total * (0.7 + 0.6 * sum(word in rare for word in fields[0]) / len(fields[0]))


@lru_cache(maxsize=8)
def functions(index: "Index") -> Functions:
    return Functions(index)


def _is_code(path: str) -> bool:
    return not (is_test(path) or path.endswith(".pyi"))


def terms(words: Sequence[str]) -> dict[str, float]:
    """What to look for in the text of files, and what each is worth."""
    found: dict[str, float] = {}
    for word in (word for word in words if word.lower() not in WEAK and len(word) > 1):
        worth = 0.3 if word.lower() in FAINT else 1.0
        parts = PIECE.findall(word)
        if len(parts) > 1:
            found[word.removesuffix("()").lower()] = 2 * worth
        for part in (stem(part) for part in parts if part.lower() not in WEAK and len(part) > 1):
            found[part] = max(found.get(part, 0), worth if len(parts) == 1 else worth / 2)
    return found


@lru_cache(maxsize=8)
def lowered(index: "Index") -> dict[str, str]:
    return {path: text.lower() for path, text in index.texts.items()}


def counted(index: "Index", pattern: str) -> dict[str, int]:
    """How often the word stands in each file; a short one must begin there."""
    texts = ((path, text) for path, text in lowered(index).items() if pattern in text)
    if len(pattern) > 4:
        return {path: text.count(pattern) for path, text in texts}
    begins = re.compile(rf"(?<![a-z]){re.escape(pattern)}")
    counts = ((path, len(begins.findall(text))) for path, text in texts)
    return {path: count for path, count in counts if count}


def files(index: "Index", words: Sequence[str]) -> list[str]:
    """The files of C, those first in which the rare words of a description stand often, and close to each other."""
    size = sum(map(len, lowered(index).values())) / max(1, len(lowered(index)))
    scores: dict[str, float] = defaultdict(float)
    rare: dict[str, float] = {}
    for pattern, worth in terms(words).items():
        counts = counted(index, pattern)
        rare[pattern] = worth * math.log(1 + len(lowered(index)) / max(1, len(counts))) ** 1.3 if counts else 0.0
        for path, count in counts.items():
            share = count / (count + 1.2 * (0.7 + 0.3 * len(lowered(index)[path]) / size))
            scores[path] += rare[pattern] * (share + 0.5 * (pattern in set(pieces(path))))
    for path in sorted(scores, key=lambda path: -scores[path])[:25]:
        scores[path] += 0.6 * closest(lowered(index)[path], rare)
    ranked = sorted(scores, key=lambda path: -scores[path])
    return [path for path in ranked if path.endswith(NATIVE)] or ranked


def closest(text: str, rare: Mapping[str, float]) -> float:
    """The most that words within a dozen lines are worth together."""
    held = [(at, [word for word in rare if word in line]) for at, line in enumerate(text.split("\n"))]
    hits, best = [(at, words) for at, words in held if words], 0.0
    for first, (start, _) in enumerate(hits):
        near = {word for at, words in hits[first : first + 13] if at - start <= 12 for word in words}
        best = max(best, sum(rare[word] for word in near))
    return best
