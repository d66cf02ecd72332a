"""The baseline of a skill of declared kinds: the likeliest kind by its words, the slots by their values, then its gold.

answer = answer_by_kinds(Path(__file__).parent)    # the whole of its baseline.py
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import log
from pathlib import Path

from skillstill_training.authoring.checks import Declined, Locations, Members, Quoted, Value
from skillstill_training.authoring.families import slots
from skillstill_training.authoring.kind_drafts import KindFacts, check_of, drawn_slots, open_index
from skillstill_training.authoring.kinds import FILE, Kind, Slots, load_kinds

LIKELY = 4  # kinds that are looked at, the likeliest first
KEPT = 8  # workspaces whose slots are held
Counts = Mapping[str, float]


def answer_by_kinds(skill: Path) -> Callable[[str, Path], str]:
    """Return the `answer` of a baseline: it knows the kinds with their training wordings, and what can be drawn."""
    kinds = load_kinds(skill)
    wordings = [[_words(re.sub(r"\{\w+\}", " ", text)) for text in kind.wordings] for kind in kinds]
    seen = Counter(word for texts in wordings for words in texts for word in words)
    weights = {word: log(sum(map(len, wordings)) / count) for word, count in seen.items()}

    @lru_cache(KEPT * len(kinds))
    def drawn(root: Path, number: int) -> tuple[KindFacts, Sequence[Slots]]:
        facts = KindFacts(kinds[number], open_index(skill, root), skill / FILE)
        return facts, drawn_slots(facts)

    def answer(prompt: str, root: Path) -> str:
        asked = _words(prompt)
        scores = [max(_likeness(asked, words, weights) for words in texts) for texts in wordings]
        for number in sorted(range(len(kinds)), key=lambda one: -scores[one])[:LIKELY]:
            facts, rows = drawn(root, number)
            if found := _said(prompt, kinds[number], rows):
                return _answered(facts, found)
        return "There is none (r1 found nothing)."

    return answer


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+|#(?=\d)", text.lower()))


def _likeness(asked: frozenset[str], words: frozenset[str], weights: Counts) -> float:
    """Return the share of weight that a wording and a question have in common, the wording counted twice."""
    common = sum(weights.get(word, 0.0) for word in asked & words)
    whole = sum(weights.get(word, 0.0) for word in words)
    return common / (whole + 1.0) + common / (sum(weights.get(word, 0.0) for word in asked) + 1.0)


def _said(prompt: str, kind: Kind, rows: Sequence[Slots]) -> Slots | None:
    """Return the slots whose values the question says, those with the longest values; None if none are."""
    sayings = {frozenset(slots(text)) for text in kind.wordings}
    best: Slots | None = None
    longest = 0
    for row in rows:
        told = {name for name, value in row.items() if _stands_in(str(value), prompt)}
        length = sum(len(str(row[name])) for name in told)
        if length > longest and any(saying <= told for saying in sayings):
            best, longest = row, length
    return best


def _stands_in(value: str, text: str) -> bool:
    before, after = (r"(?<!\w)" if value[:1].isalnum() else ""), (r"(?!\w)" if value[-1:].isalnum() else "")
    return value.lower() in text.lower() and bool(re.search(before + re.escape(value) + after, text, re.IGNORECASE))


def _answered(facts: KindFacts, said: Slots) -> str:
    """Return what the kind's gold says of these slots."""
    check = check_of(facts, said)
    if isinstance(check, Declined):
        return f"escalate: {facts.kind.because}"
    if isinstance(check, Locations):
        return "\n".join(f"{span.path}:{span.first}" for span in check.gold)
    if isinstance(check, Members):
        return f"They are {', '.join(check.gold)} (r1)."
    if isinstance(check, Value | Quoted):
        return f"It is {check.gold} (r1)."
    return "There is none (r1 found nothing)."
