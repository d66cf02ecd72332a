"""What a person sees of `skillstill design`: each family with why it is there and its goals, then what to type next."""

import json

from rich.console import Console
from rich.table import Table
from rich.text import Text
from skillstill.util.text import one_line

from skillstill_training.authoring.goal import SPLITS
from skillstill_training.design.draft import Design
from skillstill_training.design.made import MadeSkill
from skillstill_training.design.proofs import by_family

REJECTED = 12  # questions that are told; all of them are in design.md
WIDTH = 100
_out = Console(soft_wrap=True, highlight=False, markup=False)
_err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


def print_step(text: str) -> None:
    """Print one line of what a teacher is doing."""
    _err.print(Text(one_line(text, 2 * WIDTH)))


def print_plan(design: Design) -> None:
    """Print, before any workspace is fetched, the model that was made for the borrowed families, and what follows."""
    count = len(design.families)
    if design.lender and count:
        print_step(f"our own {design.lender} already is a model for all {count} families that are borrowed from it;")
        print_step(f'try it first: skillstill run {design.lender} "QUESTION" --workspace FOLDER')
    print_step(f"drafting {design.name}: workspaces are prepared, then goals are drawn; the first may take minutes")


def print_design(made: MadeSkill, few: int, *, as_json: bool) -> None:
    if as_json:
        return _out.print(json.dumps(_summary(made), indent=2, ensure_ascii=False))
    design, counts = made.design, by_family(made.proven.goals)
    _say(f"{design.name}: {design.assessment.verdict}" + (f", like our own {design.lender}" if design.lender else ""))
    _say(f"tools: {', '.join(design.tools)}")
    table = Table("family", *SPLITS, "why", box=None)
    topics = {one.family: one.topic for one in design.proposed}
    why = {one.name: one.why for one in design.families} | {
        name: f"proposed: {topic}" for name, topic in topics.items()
    }
    why |= {one.name: "declared in kinds.toml" for one in design.declared.kinds} if design.declared else {}
    for name, reason in why.items():
        table.add_row(name, *(str(counts.get(name, {}).get(split, 0)) for split in SPLITS), one_line(reason, WIDTH))
    _out.print(table)
    _tell_left_out(made)
    if design.rubric:
        _say(f"{len(design.rubric.criteria)} criteria in rubric.toml judge its answers: nothing verifies them")
    _say(f"{len(made.proven.goals)} goals proven" if few else "nothing was proven: --few 0")
    return None


def print_next(made: MadeSkill) -> None:
    """Print what to type next."""
    _say(f"{made.folder}: look at design.md, then type `skillstill goals {made.folder} --few 5`")


def _tell_left_out(made: MadeSkill) -> None:
    design = made.design
    for name, why in design.dropped:
        _say(f"dropped {name}: {why}")
    for question, why in design.rejected[:REJECTED]:
        _say(f"rejected {one_line(question, WIDTH)}: {why}")
    if (more := len(design.rejected) - REJECTED) > 0:
        _say(f"rejected {more} more: see design.md")
    if design.soft:
        _say(f"{len(design.soft)} questions are soft: attempts agree, no check judges them, no goal is made of them")
    if design.definition.licence.derived_works != "allowed":
        name = design.definition.licence.name or "no licence was found"
        _say(f"its licence does not clearly allow derived works ({name}): ask its author before you publish a model")


def _summary(made: MadeSkill) -> dict[str, object]:
    design = made.design
    return {
        "folder": str(made.folder),
        "name": design.name,
        "verdict": design.assessment.verdict,
        "lender": design.lender,
        "tools": design.tools,
        "uncovered": design.assessment.tools.uncovered,
        "families": {one.name: one.why for one in design.families},
        "proposed": [one.model_dump(mode="json") for one in design.proposed],
        "soft": [one.model_dump(mode="json") for one in design.soft],
        "rubric": [one.model_dump() for one in design.rubric.criteria] if design.rubric else [],
        "dropped": dict(design.dropped),
        "rejected": [list(one) for one in design.rejected],
        "goals": by_family(made.proven.goals),
        "licence": design.definition.licence.model_dump(),
    }


def _say(text: str) -> None:
    _out.print(Text(text))
