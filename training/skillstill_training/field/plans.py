"""Plans: what somebody who knows the answer to a field question would do with a skill's tools, and say then."""

import re
from collections.abc import Mapping
from pathlib import Path

from skillstill.skills.skill import Skill, Subagent
from skillstill.types import Frozen, ToolCall

from skillstill_training.authoring.goal import FieldSplit
from skillstill_training.authoring.translation import translated
from skillstill_training.field.question import FOLDER
from skillstill_training.util.jsonl import read_lines

RECEIPT = re.compile(r"\br\d+\b")


class Plan(Frozen):
    """The calls and the answer. The calls that the skill's runs begin with are none of them.

    `tried`: somebody who did not know the answer made these calls.
    `opening_calls`: how many calls the run began with whose receipts the answer names; None: as many as the default's.
    """

    question: str
    calls: tuple[ToolCall, ...]
    answer: str
    tried: bool = False
    opening_calls: int | None = None

    def opening_calls_in(self, subagent: Subagent) -> int:
        """Return how many receipts stand before that of the first call."""
        return int(subagent.opening is not None) if self.opening_calls is None else self.opening_calls


def plan_for(skill: Skill, plan: Plan) -> Plan:
    """Return the plan in the calls of this skill's tools, which may be those of another size than the default's.

    What its runs begin with stands for a look that none of them can take. The answer names the receipts anew.
    """
    tools = [tool.schema for tool in skill.tools]
    made = [translated(call, tools) for call in plan.calls]
    after, receipts = skill.subagent.opening_calls, dict[str, str]()
    for number, call in enumerate(made, 1 + plan.opening_calls_in(skill.subagent)):
        after += call is not None
        receipts[f"r{number}"] = f"r{after}" if call else "r1"
    answer = RECEIPT.sub(lambda found: receipts.get(found[0], found[0]), plan.answer)
    return plan.model_copy(update={"calls": tuple(filter(None, made)), "answer": answer})


def load_plans(skill_folder: Path, split: FieldSplit) -> Mapping[str, Plan]:
    """Return the plans of a split by question, none if nobody wrote any."""
    file = plans_file(skill_folder, split)
    return {plan.question: plan for plan in read_lines(file, Plan)} if file.is_file() else {}


def plans_file(skill_folder: Path, split: FieldSplit) -> Path:
    return skill_folder / FOLDER / "plans" / f"{split}.jsonl"
