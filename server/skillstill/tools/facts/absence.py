"""What a question asks for that is not there: it asks whether there is such a thing, and a word of it stands nowhere.

Of 1,428 training questions about code and logs with a word that no file has, 172 ask for what is not there. The weights
of the chance were learned on them by a logistic regression (docs/experiments.md).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skillstill.facts.locate.question import last_question
from skillstill.facts.locate.stems import stems_in
from skillstill.facts.locate.unknown import UnknownWord
from skillstill.tools.facts.extract import probability
from skillstill.tools.kit.ripgrep import files_with_text
from skillstill.workspace import Workspace

LIKELY = 0.4  # that the question asks for what is not there: of those above it two in three do
BIAS = -2.2
NEAR = 0.81  # an unknown word follows "is there"
FOLLOWING = 5  # words in which it does
THERE = re.compile(
    r"\b(?:is|are|was|were) there\b|\bdo(?:es)? (?:we|they|you|it|this|the \w+) (?:have|support|ship|offer|provide)\b",
    re.IGNORECASE,
)
# What else the question is, and what that counts.
ASKED = (
    (THERE, 1.17),
    (
        re.compile(
            r"^\W*(?:(?:and|so|but|ok|okay|also|then)\W+)*"
            r"(?:is|are|does|do|did|has|have|can|could|was|were|will|would)\b",
            re.IGNORECASE,
        ),
        1.34,
    ),
    (
        re.compile(
            r"\bany(?:thing|one|body|where)?\b|\bsome(?:where|thing|body|one)\b|\balready\b|\bat all\b|built[- ]in",
            re.IGNORECASE,
        ),
        1.25,
    ),
    (re.compile(r"\b(?:what|which|where|how|when|who|whose|why)\b", re.IGNORECASE), -0.62),
)
TOLD = 3  # words
_WORD = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Absence:
    """Words of a question that no text file has, and the chance that it asks for what is not there, 0 to 1."""

    words: tuple[str, ...]
    chance: float

    @property
    def answer(self) -> str:
        quoted = [f'"{word}"' for word in self.words[:TOLD]]
        several = f"words {', '.join(quoted[:-1])} and {quoted[-1]}" if quoted[1:] else f"word {quoted[0]}"
        return f"No text file has the {several}."


async def find_absence(
    workspace: Workspace, paths: Sequence[str], question: str, unknown: Sequence[UnknownWord]
) -> Absence | None:
    """Return what is not there; None if the question hardly asks for that, or if each word stands somewhere.

    The index knows words by their stems. So each is looked for in all files, of these `paths`, before it is told.
    """
    last = last_question(question)
    if not unknown or chance_of_absence(last, unknown) < LIKELY:
        return None
    named = "\n".join(paths).lower()
    missing = [
        word for word in unknown if word.part not in named and not await files_with_text(workspace, word.part)
    ]  # fmt: skip
    chance = round(chance_of_absence(last, missing), 3)
    return Absence(tuple(word.text for word in missing), chance) if missing and chance >= LIKELY else None


def chance_of_absence(question: str, unknown: Sequence[UnknownWord]) -> float:
    """Return how likely a question with these unknown words asks for what is not there."""
    logit = BIAS + NEAR * _follows(question, {word.part for word in unknown})
    logit += sum(weight for pattern, weight in ASKED if pattern.search(question))
    return probability(logit)


def _follows(question: str, parts: set[str]) -> bool:
    """Return whether one of the parts stands among the first words behind an "is there"."""
    followers = (_WORD.findall(question[found.end() :])[:FOLLOWING] for found in THERE.finditer(question))
    return any(parts.intersection(stems_in(" ".join(words))) for words in followers)
