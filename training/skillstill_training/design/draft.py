"""A foreign skill as a draft of one of ours: which families, tools and workspaces; or why there can be none."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillstill.errors import GateError, UsageError
from skillstill.library.assessing import DECIDED_BY, MISSING, Assessment, assess
from skillstill.library.assessing.cover import lenders
from skillstill.library.definition import Definition
from skillstill.library.reading.naming import slug
from skillstill.skills.registry import bundled
from skillstill.skills.skill import McpServer, Subagent, load_skill
from skillstill.tools import TOOLS
from skillstill.types import ModelFile

from skillstill_training.authoring.checks import Judged
from skillstill_training.authoring.goal import SPLITS
from skillstill_training.authoring.proposed import Proposed
from skillstill_training.design.borrowing import lender, tools_of
from skillstill_training.design.declared import Declared
from skillstill_training.design.family_choice import ChosenFamily, choose
from skillstill_training.design.servers import mapped_servers
from skillstill_training.design.soft import Soft
from skillstill_training.design.workspaces import MadeFolder, declared_sources
from skillstill_training.workspaces import Source

LOOKING = ("list", "find", "search", "read")  # for a skill that resembles none of ours and names no tool
REASONS = 3
NEAREST = "explore"  # whose base and limits a skill gets that resembles none


@dataclass(frozen=True, slots=True)
class Design:
    """All that the folder is made of. `workspaces` are the user's own; without any, those of the lender serve.

    lender     the skill that it borrows from; empty if it resembles none
    declared   the kinds of questions that its user wrote down
    rubric     what a teacher has drawn from its text, if nothing else can tell a good answer; `judge` is that teacher
    dropped    families that were chosen and yield nothing, with the reason
    rejected   questions that a teacher proposed, with the reason
    """

    name: str
    definition: Definition
    assessment: Assessment
    lender: str
    families: tuple[ChosenFamily, ...]
    workspaces: tuple[Source, ...] = ()
    declared: Declared | None = None
    rubric: Judged | None = None
    judge: str = ""
    dropped: tuple[tuple[str, str], ...] = ()
    proposed: tuple[Proposed, ...] = ()
    soft: tuple[Soft, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """Return the tools that cover what it declares or needs, and those that the borrowed plans use."""
        wanted = {*self.assessment.tools.ours, *(self.lent.tools if self.lender else ())} or set(LOOKING)
        wanted |= {*self.declared.tools} if self.declared else set()
        return tuple(name for name in dict.fromkeys((*TOOLS, *self.brought)) if name in wanted)

    @property
    def is_askable(self) -> bool:
        """Return whether anything can be asked of it."""
        return bool(self.families or self.proposed or self.declared)

    @property
    def is_judged(self) -> bool:
        """Return whether a rubric judges its answers, because nothing verifies them."""
        return self.assessment.check.by == "rubric" and not self.declared

    @property
    def brought(self) -> tuple[str, ...]:
        """Return the tools that its lender brings."""
        return tools_of(self.lender) if self.lender else ()

    @property
    def servers(self) -> tuple[McpServer, ...]:
        """Return the MCP servers that it keeps."""
        return mapped_servers(self.definition)[0]

    @property
    def lent(self) -> Subagent:
        """Return the declaration whose base and limits it takes over."""
        return load_skill(lender(self.lender or NEAREST)).subagent

    def without(self, dropped: Sequence[tuple[str, str]]) -> "Design":
        """Return the design without those families, borrowed or proposed."""
        names: Collection[str] = {name for name, _ in dropped}
        return replace(
            self,
            families=tuple(one for one in self.families if one.name not in names),
            proposed=tuple(one for one in self.proposed if one.family not in names),
            dropped=(*self.dropped, *dropped),
        )


def draft_design(
    definition: Definition,
    name: str,
    folders: Sequence[Path] = (),
    declared: Declared | None = None,
    *,
    made: Sequence[MadeFolder] = (),
    has_teacher: bool = False,
) -> Design:
    """Return what can be drafted by rules alone, for own folders if there are any, or such as a model has made.

    `declared` kinds make a skill verifiable whatever its text says. `has_teacher`: a teacher will propose more, and
    judge if nothing can be verified.
    Raise GateError if the skill cannot be distilled, UsageError if something is missing for a draft.
    """
    _check_name(name)
    assessment = check_distillable(definition, declared, has_teacher=has_teacher)
    lent = "" if assessment.archetype == "none" else assessment.archetype
    families = choose(definition, assessment.archetype)
    steps = lenders()[lent].steps if lent else ()
    count = len(folders) + len(made)
    if count and not steps:
        families = ()  # they read notes that only generated workspaces have
    if lacking := "; ".join(_lacking(name, lent, count, is_askable=bool(families or has_teacher or declared))):
        raise UsageError(lacking)
    workspaces = declared_sources(folders, steps, made) if count else ()
    return Design(name, definition, assessment, lent, families, workspaces, declared)


def check_distillable(definition: Definition, declared: Declared | None, *, has_teacher: bool) -> Assessment:
    """Return the assessment of what can be distilled. Raise GateError for what cannot."""
    assessment = assess(definition)
    is_refused = assessment.check.by == "none" or (assessment.check.by == "rubric" and not has_teacher)
    if is_refused and not declared:
        raise GateError(_refusal(assessment))
    return assessment


def _lacking(name: str, lent: str, folders: int, *, is_askable: bool) -> Iterator[str]:
    """Yield all that its user has to name before anything can be drafted."""
    if not (lent or folders):
        yield f"{name} resembles none of our skills: name three or more folders that it works on (--workspace)"
    elif 0 < folders < len(SPLITS):
        yield f"training, validation and test need a folder each (--workspace): expected three or more, got {folders}"
    if not is_askable:
        yield (
            "no family of ours asks about such folders: declare kinds of questions (--kinds kinds.toml), or let a "
            "model propose some (--teacher URL#MODEL)"
        )


def nearest_base() -> ModelFile:
    """Return the base of a skill that resembles none of ours."""
    return load_skill(lender(NEAREST)).subagent.base


def _check_name(name: str) -> None:
    if not name or name != slug(name):
        raise UsageError(f"the folder's name is the skill's: expected a-z, 0-9 and single hyphens, got {name!r}")
    if (bundled() / "skills" / name).exists():
        raise UsageError(f"{name} is the name of a bundled skill: name another folder with -o")


def _refusal(assessment: Assessment) -> str:
    sides = DECIDED_BY[assessment.verdict]
    decided = [f"line {one.line}: {one.text}" for one in assessment.reasons if one.side in sides]
    reasons = "; ".join(decided[:REASONS]) or "too little speaks for a result that can be checked"
    sentence = f"{assessment.name} cannot be distilled as it is: {assessment.verdict} ({reasons})"
    unless = "unless you declare what can be asked of it (--kinds kinds.toml)"
    if assessment.check.by == "rubric":
        unless += ", or let a model judge its answers by a rubric (--teacher URL#MODEL), which verifies nothing"
    if assessment.archetype == "none":
        unless += "; that takes three or more folders that it works on (--workspace)"
    return f"{sentence}; it lacks {MISSING[assessment.verdict]}, {unless}"


def target(folder: Path) -> Path:
    """Return where a new skill may be written. Raise UsageError."""
    place = folder.expanduser().absolute()
    if place.exists():
        raise UsageError(f"{place} is there already: remove it, or name another folder with -o")
    return place
