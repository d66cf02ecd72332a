"""The values of the stage `goals`: what a family drafts, and the goal that is made of it and frozen."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, JsonValue
from skillstill.errors import GateError
from skillstill.types import Frozen

from skillstill_training.authoring.checks import Check

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
FieldSplit = Literal[Split, "plain"]
FIELD_SPLITS: tuple[FieldSplit, ...] = (*SPLITS, "plain")


class Draft(Frozen):
    """What a family knows of one goal before it has words.

    words   what fills the slots of a wording, said exactly
    loose   those of them that people also say loosely: in another case, with spaces, without the class
    hidden  what the prompt must not contain, for it would give the answer away
    facts   the truth that a plan may steer by
    pair    drafts that share it get the same wording: something that is there, and its like that is not
    scope   a folder or file that the question may be limited to
    """

    check: Check
    words: Mapping[str, str] = {}
    loose: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    facts: Mapping[str, JsonValue] = {}
    pair: str = ""
    scope: str = ""


class Goal(Frozen):
    """A prompt in a workspace and the machine test of its answer.

    `calls` is the number of calls of the shortest plan, each of which needs what the one before it showed; `hits` is
    how many candidates its most crowded result left to choose from. Both are measured by executing that plan.
    `also` are other ways to ask the same, in training wordings: whoever learns from it may be asked so.
    """

    id: str = Field(pattern=r"^[0-9a-f]{16}$")
    skill: str
    family: str
    split: Split
    workspace: str
    wording: str
    prompt: str
    also: tuple[str, ...] = ()
    check: Check
    words: Mapping[str, str] = {}
    facts: Mapping[str, JsonValue] = {}
    calls: int = Field(ge=0)
    hits: int = Field(ge=0)
    answer: str

    @property
    def absent(self) -> bool:
        """Return whether it has no answer in the workspace."""
        return self.check.kind in {"absent", "declined"}

    @property
    def is_judged(self) -> bool:
        """Return whether a teacher judges its answers by a rubric: nothing verifies them."""
        return self.check.kind == "rubric"


def check_verifiable(goals: Sequence[Goal]) -> None:
    """Raise GateError if a rubric judges one of the goals: a figure would be called verified that is not."""
    if any(goal.is_judged for goal in goals):
        raise GateError(
            "a rubric judges these goals, and no program can: there is nothing to verify, and nothing to register; "
            "`skillstill judge` tells what a judge makes of them"
        )


def goal_id(family: str, workspace: str, prompt: str, check: Check) -> str:
    """Return the same for the same question in the same workspace."""
    parts = json.dumps([family, workspace, prompt, check.model_dump()], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()[:16]
