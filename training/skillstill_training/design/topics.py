"""The topic tree: what a subagent can be asked about, in branches that differ, and how alike two texts are."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from pydantic import JsonValue
from skillstill.util.text import one_line

NEAR = 0.5  # of the words that either of two topics has: from here on they are one topic
LONGEST = 80  # characters of a topic
PLAIN = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at by for from given has have how in is it its of on or that the their this to what when "
        "where which who with",
    )
)

PROMPT = """\
A subagent answers single questions about a workspace. It only looks, with these tools: {tools}.
Its description: {description}
Its text begins so:
{body}

Name what people would ask it about: {branches} branches that have little in common, and under each {leaves} topics that
differ from one another. {scope}
Reply in this form, with your own words for the dots:
{{"branches": [{{"branch": "…", "topics": ["…", "…"]}}]}}"""

CHECKED = "Keep to what can be looked up in a workspace and has one right answer; leave out advice."
JUDGED = "Keep to what it can answer in a few lines after a look at the files of a workspace, without changing any."


@dataclass(frozen=True, slots=True)
class Topic:
    """`family`: its name as a goal family."""

    family: str
    text: str


def likeness(one: str, other: str) -> float:
    """Return the share, 0..1, of the telling words of either text that both contain."""
    mine, theirs = _words(one), _words(other)
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0


def _words(text: str) -> set[str]:
    words = set(re.findall(r"[^\W_]+", text.lower()))
    return {re.sub(r"(?<=\w{3})s$", "", word) for word in words - PLAIN} or words


def topics(told: Mapping[str, JsonValue], taken: Iterable[str]) -> Iterator[Topic | tuple[str, str]]:
    """Yield topics from each branch in turn; those too near to an earlier one with the reason.

    `taken`: names in use.
    """
    kept: list[str] = []
    names = set(taken)
    if not (leaves := _leaves(told)):
        yield "topics", "the answer was no JSON object with branches of topics"
    for text in leaves:
        if near := next((one for one in kept if likeness(one, text) >= NEAR), ""):
            yield text, f"too near to the topic {near!r}"
        elif name := _name(text, names):
            kept.append(text)
            names.add(name)
            yield Topic(name, text)
        else:
            yield text, "it has no letters a to z that a family could be named by, or too many are named so"


def _leaves(told: Mapping[str, JsonValue]) -> list[str]:
    branches = told.get("branches")
    lists = [_texts(one.get("topics")) for one in _list(branches) if isinstance(one, dict)]
    return [text for text in chain.from_iterable(zip_longest(*lists)) if text]


def _texts(value: JsonValue) -> Sequence[str]:
    return [one_line(one, LONGEST) for one in _list(value) if isinstance(one, str) and one.strip()]


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list) else []


def _name(text: str, taken: Iterable[str]) -> str:
    """Return letters and underscores that no other has; empty if the text has no such letters."""
    plain = re.sub(r"[^a-z]+", "_", text.lower()).strip("_")[:34].strip("_")
    names = (plain, *(f"{plain}_{mark}" for mark in "bcdefgh")) if plain else ()
    return next((name for name in names if name not in taken), "")
