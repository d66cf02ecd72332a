"""What can be said against a proposed question without asking anybody: its check, put to the test, and its likes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import Locations, Quoted, Value, judge
from skillstill_training.design.questions import Candidate, goal_of
from skillstill_training.design.topics import likeness
from skillstill_training.sampling.sampler import accepts_wrong

ALIKE = 0.8  # of the words of two questions: from here on they are one question
MOST = 24  # questions of one topic


def screen_candidates(
    proposed: Sequence[Candidate], roots: Mapping[str, Path], skill: str
) -> Iterator[tuple[Candidate, str]]:
    """Yield each with what speaks against it; nothing if it may be tried."""
    kept: list[Candidate] = []
    topics: Counter[str] = Counter()
    sound = [(one, _unsound(one, roots[one.workspace])) for one in proposed]
    neighbours = [one for one, why in sound if not why and one.is_checked]
    for one, unsound in sound:
        why = unsound or _repeated(one, kept) or _weak(one, neighbours, skill)
        if not why and topics[one.topic.family] >= MOST:
            why = f"its topic has {MOST} questions already"
        if not why:
            kept.append(one)
            topics[one.topic.family] += 1
        yield one, why


def _unsound(one: Candidate, root: Path) -> str:
    """Return what is wrong with its check and its answer alone."""
    if one.check is None or not one.is_checked:
        return ""
    if isinstance(one.check, Locations) and (
        gone := [span.path for span in one.check.gold if not _is_in(root, span.path)]
    ):
        return f"its check names {gone[0]}, which is not there"
    if isinstance(one.check, Value | Quoted) and one.check.gold.lower() in one.question.lower():
        return "the question gives its answer away"
    own = judge(one.check, Attempt.of_text(one.question, one.answer))
    return "" if own.passed else f"its check refuses its own answer: {own.why}"


def _is_in(root: Path, path: str) -> bool:
    place = (root / path).resolve()
    return place.is_file() and place.is_relative_to(root.resolve())


def _repeated(one: Candidate, kept: Sequence[Candidate]) -> str:
    """Return why it repeats another, in whichever workspace and split: a test must not ask what training asks."""
    near = next((other for other in kept if likeness(one.question, other.question) >= ALIKE), None)
    return f"a near-duplicate of {near.question!r}" if near else ""


def _weak(one: Candidate, neighbours: Sequence[Candidate], skill: str) -> str:
    if not one.is_checked:
        return ""
    others = [goal_of(other, skill) for other in neighbours if other.workspace == one.workspace]
    accepted = accepts_wrong(goal_of(one, skill), others)
    return f"its check accepts {accepted}" if accepted else ""
