"""Which check would judge the answers if a definition were distilled today: the most trusted one that fits it.

`skillstill distil` refuses what is predicted `none` here, so that both always say the same.
"""

from collections.abc import Mapping
from typing import Literal

from skillstill.library.assessing.cover import NO_ARCHETYPE, Archetype, Cover
from skillstill.library.assessing.verdict import FIT, Verdict
from skillstill.types import Frozen

# program     the programs of the skill of ours that it resembles, in that skill's workspaces
# kinds       queries over the user's own folders, as soon as the user declares them in a kinds.toml
# agreement   what a teacher proposes about the user's own folders, and solves again in independent attempts
# rubric      nothing verifies: a teacher draws criteria from the skill's text, and judges each answer by them
# none        `distil` refuses it, unless its user declares kinds all the same
CheckedBy = Literal["program", "kinds", "agreement", "rubric", "none"]
CHECKS: tuple[CheckedBy, ...] = ("program", "kinds", "agreement", "rubric", "none")
Lack = Literal["execution", "tools", "service", "judgement", "form"]
WHY_NONE: Mapping[Verdict, Lack] = {
    "needs a remote service": "service",
    "compile to a script": "judgement",
    "not verifiable": "form",
}
REFUSED: Mapping[Lack, str] = {
    "service": "none: it needs a service that is not on this machine",
    "judgement": "none: a script does it without a model",
    "form": "none: its answers have no form that a program can check",
}
LEFT_OUT: Mapping[Lack, str] = {
    "execution": "what it executes or changes is not asked",
    "tools": "what needs tools that ours lack is not asked",
}


class PredictedCheck(Frozen):
    """The check. Attempts that merely agree never make a goal: what a teacher proposes has a check of its own as well.

    lender   the skill of ours whose programs check; empty if none do
    lacks    with `none`, why there is no check; else what stays out of the questions, if anything does
    """

    by: CheckedBy
    lender: Archetype = ""
    lacks: Lack | None = None

    @property
    def text(self) -> str:
        """Return a few words for a person or a model."""
        if self.by == "none" and self.lacks:
            return REFUSED[self.lacks]
        return "; ".join([self._needs, *([LEFT_OUT[self.lacks]] if self.lacks else [])])

    @property
    def _needs(self) -> str:
        match self.by:
            case "program":
                return f"programs of our own {self.lender}"
            case "kinds":
                return "a program, if you declare kinds of questions about your folders (kinds.toml)"
            case "rubric":
                return "a teacher's judgement by a rubric of its text, about your folders (--teacher): not verified"
            case _:
                return "agreement of a teacher's attempts about your folders (--teacher)"


def predict(verdict: Verdict, archetype: Archetype, tools: Cover, *, is_judgeable: bool = False) -> PredictedCheck:
    """Return the check for a definition with that verdict, which resembles that skill of ours.

    A query gives what can be known beforehand. Of a result that can only be checked in part, a teacher has to find what
    can be asked. A text that no program can check may still say what a good one is: then it `is_judgeable`.
    """
    if verdict == "not verifiable" and is_judgeable:
        return PredictedCheck(by="rubric", lacks=_lack(tools))
    if verdict not in FIT:
        return PredictedCheck(by="none", lacks=WHY_NONE[verdict])
    lacks = _lack(tools)
    if archetype != NO_ARCHETYPE:
        return PredictedCheck(by="program", lender=archetype, lacks=lacks)
    return PredictedCheck(by="kinds" if verdict == "verifiable" else "agreement", lacks=lacks)


def _lack(tools: Cover) -> Lack | None:
    if tools.acts:
        return "execution"
    return "tools" if tools.uncovered else None
