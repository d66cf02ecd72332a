"""Feedback as field questions of a user's own: half of them are learned from, the other half decides about a release.

The half is drawn by a hash of the folder and the question, that of the first one for a follow-up: it never changes, so
nothing that was learned from is ever asked at a gate.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from skillstill.run.evidence import CITATION, DENIES, LOCATION, QUOTED_LINE
from skillstill.run.feedback import Feedback
from skillstill.skills.skill import Skill
from skillstill.types import ToolCall, Trace

from skillstill_training.authoring.goal import Split
from skillstill_training.field.draft import missing_places
from skillstill_training.field.plans import Plan
from skillstill_training.field.question import FORM, FieldQuestion, Gold
from skillstill_training.field.ways import find_way, try_plan
from skillstill_training.util.hashes import hash_parts
from skillstill_training.workspaces import Source, pinned

OWN = "own-"  # begins the names of workspaces that feedback is about
QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"")
NUMBER = re.compile(r"(?<![\w./:-])\d[\d,]*(?:\.\d+)?(?![\w./:-])")
SHORT = 5  # words of an answer that is one fact as a whole
NOT_JUDGED, NO_FOLDER, NOT_DERIVED = "no program can judge it", "its folder is gone", "no way leads to it"


@dataclass(frozen=True, slots=True)
class OwnQuestions:
    """What feedback becomes: `lessons` with a plan each, questions `asked` at the gate, the folders of both.

    left_out   how many pieces of feedback became nothing, by reason
    """

    lessons: Sequence[tuple[FieldQuestion, Plan]]
    asked: Sequence[FieldQuestion]
    sources: Sequence[Source]
    left_out: Mapping[str, int]


async def own_questions(skill: Skill, feedback: Iterable[Feedback], traces: Iterable[Trace]) -> OwnQuestions:
    """Return what the feedback on a skill becomes; the last word on a question counts.

    A lesson needs a way to what is right: the calls of a run of the same question, made again and judged, else a word
    of the question that leads to the place that was named. Raise WorkspaceSourceError if a folder cannot be copied.
    """
    last = {_key(one): one for one in feedback}
    runs = [trace for trace in traces if trace.skill == skill.name and trace.report.status == "answered"]
    lessons, asked, left_out = [], [], Counter[str]()
    for one in last.values():
        question = _question(one)
        if isinstance(question, str):
            left_out[question] += 1
        elif split_of(one) == "validation":
            asked.append(question)
        elif plan := await _derived(skill, question, one, runs):
            lessons.append((question, plan))
        else:
            left_out[NOT_DERIVED] += 1
    names = {question.workspace for question in (*asked, *(question for question, _ in lessons))}
    folders = {_workspace(one): one for one in last.values()}
    sources = [pinned(_source(name, folders[name])) for name in sorted(names)]
    return OwnQuestions(lessons, asked, sources, left_out)


def split_of(feedback: Feedback) -> Split:
    """Return the half that a question belongs to, for ever."""
    first = feedback.prompt.partition("\n\n")[0]
    drawn = hashlib.sha256(f"{feedback.workspace}\0{_plain(first)}".encode("utf-8", "replace")).digest()
    return "train" if drawn[0] % 2 else "validation"


def gold_of(feedback: Feedback) -> Gold | None:
    """Return what is right as a program can judge it; None if it cannot.

    Facts are what stands in quotation marks, else numbers, else an answer of a few words, but nothing of a quoted line.
    Places are asked for if there is no fact.
    """
    text = feedback.right.strip()
    places = tuple(dict.fromkeys([*(found[0] for found in LOCATION.finditer(text)), *feedback.places]))
    places = tuple(place for place in places if ":" in place)
    if DENIES.match(text):
        return Gold(outcome="absent", answer=text)
    facts = tuple((fact,) for fact in _facts(QUOTED_LINE.sub(" ", LOCATION.sub("", CITATION.sub("", text)))))
    try:
        return Gold(outcome="answer", answer=text, facts=facts, places=places, places_asked="none" if facts else "any")
    except ValidationError:
        return None


def _facts(text: str) -> Sequence[str]:
    quoted = [one for pair in QUOTED.findall(text) for one in pair if one.strip()]
    numbers = NUMBER.findall(text)
    bare = re.sub(r"\(\s*\)", "", text).strip(" \t\n.,;:()")
    whole = [bare] if bare and len(bare.split()) <= SHORT else []
    return [fact for fact in dict.fromkeys(quoted or numbers or whole) if len(fact) <= FORM]


def _question(feedback: Feedback) -> FieldQuestion | str:
    """Return the question, or why there is none."""
    root, gold = Path(feedback.workspace), gold_of(feedback)
    if not root.is_dir():
        return NO_FOLDER
    if gold is None or next(missing_places(gold, root), ""):
        return NOT_JUDGED
    number = int(hash_parts(feedback.prompt)[:8], 16)
    checked = "agreed" if feedback.verdict == "right" else "settled"
    return FieldQuestion(
        id=f"{_workspace(feedback)}/{number}",
        role="a user",
        prompt=feedback.prompt,
        gold=gold,
        how="feedback",
        checked=checked,
    )


async def _derived(skill: Skill, question: FieldQuestion, feedback: Feedback, runs: Sequence[Trace]) -> Plan | None:
    """Return the first plan whose calls, made in the folder, bear out an answer that is right; those of runs first."""
    for calls, answer in _ways(feedback, runs):
        plan = Plan(
            question=question.id, calls=calls, answer=answer, tried=True, opening_calls=skill.subagent.opening_calls
        )
        if (await try_plan(skill, question, plan, Path(feedback.workspace)))[0]:
            return plan
    return await find_way(skill, question, Path(feedback.workspace))


def _ways(feedback: Feedback, runs: Sequence[Trace]) -> Iterator[tuple[tuple[ToolCall, ...], str]]:
    if feedback.verdict == "right" and feedback.calls:
        yield feedback.calls, feedback.right
    for run in runs:
        if (run.workspace, _plain(run.prompt)) == (feedback.workspace, _plain(feedback.prompt)):
            yield tuple(call for message in run.messages for call in message.calls), run.report.answer


def _source(name: str, feedback: Feedback) -> Source:
    return Source(name=name, split=split_of(feedback), source=f"folder:{feedback.workspace}")


def _workspace(feedback: Feedback) -> str:
    """Return the name of the folder, another one in each half."""
    return f"{OWN}{split_of(feedback)}-{hash_parts(feedback.workspace)[:8]}"


def _key(feedback: Feedback) -> tuple[str, str]:
    return feedback.workspace, _plain(feedback.prompt)


def _plain(prompt: str) -> str:
    return " ".join(prompt.casefold().split())
