"""What single sentences of documentation state: what something needs, and what happens under a condition."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .entries import COMMON, VERSION
from .pages import Block, blocks_of

NEEDS = re.compile(
    r"\b(?:requires?|needs?|depends? on|must be installed|must have)\s+(?!to be\b)(?:an? |the |that )?([`A-Z\d*].{3,})"
)
VAGUE = r"it\b|this\b|these\b|they\b|that\b|you (?:want|need|would|are using|have any|prefer|don)\b"
CONDITION = re.compile(rf"(?:If|When) ((?!{VAGUE})[^,.;]{{18,110}}), (.{{15,}})")
TASK = re.compile(
    r"(?:how to )?((?:add|build|call|chang|check|configur|connect|creat|customi[sz]|debug|defin|deploy|disabl|download"
    r"|enabl|exclud|filter|generat|handl|import|includ|install|integrat|limit|list|load|log|manag|monitor|migrat|overrid"
    r"|pars|pass|prefetch|publish|read|redirect|remov|renam|replac|restor|run|send|serv|set|shar|show|sort|start|stop"
    r"|stream|test|track|updat|upload|us|validat|writ)(?:e|ing|ting|ning|ging|ping|))\b (.{4,60})",
    re.IGNORECASE,
)
DOUBLED = re.compile(r"(t|n|g|p)\1ing$")


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence in its block: what it is about, as a question says it, and the words that answer."""

    block: Block
    about: str
    answer: str


def needs_of(root: Path) -> Iterator[Fact]:
    """Yield the one sentence below a title that says what its topic needs."""
    found = [(block, said) for block in blocks_of(root) for text in block.sentences if (said := NEEDS.search(text))]
    times = Counter((block.path, block.titles) for block, _ in found)
    topics = Counter(block.titles[-1] for block, _ in found if block.titles)
    for block, said in found:
        title = block.titles[-1] if block.titles else ""
        if (
            times[block.path, block.titles] == 1
            and topics[title] == 1
            and len(title) > 3
            and not COMMON.fullmatch(title)
        ):
            yield Fact(block, title, first_words(said[1]))


def conditions_of(root: Path) -> Iterator[Fact]:
    """Yield sentences that say what happens if something is so."""
    for block in blocks_of(root):
        for text in block.sentences:
            if said := CONDITION.match(text):
                yield Fact(block, said[1], first_words(said[2]))


def versions_of(root: Path) -> Iterator[Fact]:
    """Yield the one version that is named below a title, as that which brought it."""
    found = [(block, said[1]) for block in blocks_of(root) if block.titles and (said := VERSION.search(block.text))]
    times = Counter((block.path, block.titles) for block, _ in found)
    for block, version in found:
        if times[block.path, block.titles] == 1 and not COMMON.fullmatch(block.titles[-1]):
            yield Fact(block, block.titles[-1], version)


def tasks_of(root: Path) -> Iterator[tuple[str, Sequence[Block]]]:
    """Yield what a title says how to do, and the blocks below it."""
    below: dict[tuple[str, tuple[str, ...]], list[Block]] = {}
    for block in blocks_of(root):
        below.setdefault((block.path, block.titles), []).append(block)
    times = Counter(titles[-1].lower() for _, titles in below if titles)
    for (_, titles), blocks in below.items():
        if titles and times[titles[-1].lower()] == 1 and (task := TASK.fullmatch(titles[-1])):
            yield f"{_infinitive(task[1].lower())} {task[2].rstrip(':')}", blocks


def _infinitive(verb: str) -> str:
    """Return the verb of a title as one asks `how do I` with it."""
    if not verb.endswith("ing"):
        return verb
    stem = verb[:-3]
    if DOUBLED.search(verb):
        return stem[:-1]
    alone = ("add", "build", "call", "check", "connect", "debug", "deploy", "download", "filter", "import", "install",
                  "limit", "list", "load", "log", "monitor", "pass", "prefetch", "publish", "read", "redirect", "send",
                  "show", "sort", "start", "stream", "test", "track", "upload")  # fmt: skip
    return stem if stem in alone else stem + "e"


def first_words(text: str, count: int = 4) -> str:
    """Return the first words of a text: what an answer that quotes it must hold."""
    return " ".join(text.split()[:count]).rstrip(".,;:!")
