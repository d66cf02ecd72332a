"""Plans: what somebody who knows the answer to a field question would do with a skill's tools, and say then."""

from collections.abc import Mapping
from pathlib import Path

from skillstill.types import Frozen, ToolCall

from skillstill_training.authoring.goal import FieldSplit
from skillstill_training.field.question import FOLDER
from skillstill_training.util.jsonl import read_lines


class Plan(Frozen):
    """The calls and the answer. The call that the skill's runs begin with is none of them.

    `tried`: somebody who did not know the answer made these calls.
    """

    question: str
    calls: tuple[ToolCall, ...]
    answer: str
    tried: bool = False


def load_plans(skill_folder: Path, split: FieldSplit) -> Mapping[str, Plan]:
    """Return the plans of a split by question, none if nobody wrote any."""
    file = plans_file(skill_folder, split)
    return {plan.question: plan for plan in read_lines(file, Plan)} if file.is_file() else {}


def plans_file(skill_folder: Path, split: FieldSplit) -> Path:
    return skill_folder / FOLDER / "plans" / f"{split}.jsonl"
