"""Score an answer by what it has to state or to name: the judge of the field questions, and stricter.

A benchmark counts an answer as right or as wrong: a part of it is worth nothing, and neither is one that handed back.
"""

import re
from collections.abc import Sequence

from skillstill.run.evidence import DENIES, RECEIPT
from skillstill.types import Span

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.benchmarks.benchmark import Task
from skillstill_training.field.judge import MOST_PLACES, FieldAnswer, Verdict, is_same_place, judge_answer
from skillstill_training.field.question import Gold, parse_place

BETWEEN = re.compile(r",(?!\d)|[;|\n]|\b(?:and|or)\b")  # the items of a list
WORD = re.compile(r"[^\W\d_]+")
# Words that a part of a sentence has, and an item of a list has not.
SENTENCE = re.compile(r"\b(?:the|is|are|was|were|its?|they|there|of|in|on|with|by|to|for|that)\b")


def facts_gold(*facts: tuple[str, ...]) -> Gold:
    """Return the gold of a question whose answer states each fact in one of its forms."""
    return Gold(outcome="answer", answer="; ".join(forms[0] for forms in facts), facts=facts)


def score_by_gold(task: Task, answer: str) -> float:
    """Return 1 if the answer is right by the task's gold, a Gold in JSON; else 0."""
    attempt = Attempt.of_text(task.prompt, answer)
    if not answer.strip() or attempt.gave_up:
        return 0.0
    # No places: of facts, what looks like one may be the answer, such as `10.251.30.6:33145`.
    given = FieldAnswer(status="answered", text=answer, absent=DENIES.match(answer) is not None)
    judged = judge_answer(Gold.model_validate(task.gold), given, task.prompt)
    return float(judged.verdict is Verdict.RIGHT)


def score_by_set(task: Task, answer: str) -> float:
    """Return 1 if the answer is right by its gold and lists nothing else; else 0.

    A part of a list is something else if it states no fact, is no part of a sentence, and has words of its own.
    """
    facts = [form.casefold() for forms in Gold.model_validate(task.gold).facts for form in forms]
    asked = set(WORD.findall(task.prompt.casefold()))
    items = [RECEIPT.sub(" ", item) for item in BETWEEN.split(answer.casefold())]
    others = [item for item in items if not SENTENCE.search(item) and not any(fact in item for fact in facts)]
    return 0.0 if any(set(WORD.findall(item)) - asked for item in others) else score_by_gold(task, answer)


def score_by_place(task: Task, answer: str, places: Sequence[str]) -> float:
    """Return 1 if the answer names a line of one of the places, and few others; else 0.

    The field judge lets a place be five lines off. Here the next function would then be right.
    """
    named = Attempt.of_text(task.prompt, answer).places
    found = any(_overlap(one, wanted) for one in named for wanted in map(parse_place, places))
    return float(found and len({(span.path, span.first) for span in named}) <= 1 + MOST_PLACES)


def _overlap(one: Span, other: Span) -> bool:
    is_same_file = is_same_place(Span(path=one.path), Span(path=other.path))
    return is_same_file and one.first <= other.last and other.first <= one.last
