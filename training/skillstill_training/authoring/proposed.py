"""Goal families that are data: questions that a model has proposed, each with the check that has been tried on it.

`skillstill design --teacher` writes them; a designed skill's goals.py says `proposed_families(Path(__file__).parent)`.
They have no plan: a model teacher solves their goals, and a check keeps its traces. They count as hard, for each is
asked in words of its own. A question without a check is judged by the skill's rubric, as that is when goals are made.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

from pydantic import Field
from skillstill.errors import GoalsError
from skillstill.types import Frozen

from skillstill_training.authoring.checks import Check
from skillstill_training.authoring.families import Family
from skillstill_training.authoring.goal import Draft, Split
from skillstill_training.authoring.rubric import FILE as RUBRIC
from skillstill_training.authoring.rubric import load_rubric
from skillstill_training.util.jsonl import read_lines
from skillstill_training.workspaces import BuiltWorkspace

FILE = "proposed.jsonl"
# What a question is said in. It brings its own words: these only keep those of a test out of training.
TRAIN_WORDINGS = (
    "{question}", "Please tell me: {question}", "I would like to know this. {question}", "{question} Thanks!",
    "Next question: {question}", "{question} Look it up, please.", "For the record: {question}",
    "{question} Say where you saw it.", "Help me with this one: {question}", "question: {question}",
)  # fmt: skip
TEST_WORDINGS = (
    "One more thing: {question}", "{question} A short answer will do.", "Could you find out? {question}",
    "Somebody has asked me: {question}", "{question} (with evidence)",
)  # fmt: skip


class Proposed(Frozen):
    """A question about one workspace, an answer that is right, and the check that accepts it. `topic`: its family.

    check   None: the skill's rubric judges it
    """

    family: str = Field(pattern=r"^[a-z][a-z_]{0,39}$")
    topic: str
    workspace: str
    split: Split
    question: str
    answer: str
    check: Check | None


def read_proposed(skill: Path) -> Sequence[Proposed]:
    """Raise StageError if the file cannot be read; nothing if there is none."""
    return read_lines(skill / FILE, Proposed) if (skill / FILE).exists() else ()


def proposed_families(skill: Path) -> tuple[Family, ...]:
    """Return a family for each topic. Raise StageError; GoalsError for a rubric that is missing or wrong."""
    found: dict[str, list[Proposed]] = {}
    rubric = load_rubric(skill)
    for one in read_proposed(skill):
        if one.check is None and rubric is None:
            raise GoalsError(f"{skill / RUBRIC} is missing: it judges what {FILE} asks without a check")
        found.setdefault(one.family, []).append(one)
    return tuple(
        Family(name, f"proposed: {ones[0].topic}", _drafts(ones, rubric), hard=True) for name, ones in found.items()
    )


def _drafts(proposed: Sequence[Proposed], rubric: Check | None) -> Callable[[BuiltWorkspace, Random], Iterable[Draft]]:
    def drafts(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
        mine = [one for one in proposed if one.workspace == built.name]
        for one in rng.sample(mine, len(mine)):
            check = one.check or rubric
            assert check
            yield Draft(check=check, words={"question": one.question})

    return drafts
