"""`skillstill distil PATH`: from somebody's skill to a small model, with one plan before and one verdict after."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from skillstill.console.options import Json

from skillstill_training.cli.data import Offline, Rates, Runs, Spending, TeacherName, Yes
from skillstill_training.cli.design import ForeignSkill, KindsFile, OwnFolders, Send
from skillstill_training.cli.making import MadeWorkspaces, made_folders
from skillstill_training.cli.release import Larger, Minutes, RegistryFile

if TYPE_CHECKING:
    from skillstill_training.design.draft import Design

FEW = 2  # goals of a family and split that prove it before anything is trained


def distil(
    skill: ForeignSkill,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The skill folder to train. Default: its name, here.")
    ] = None,
    workspace: OwnFolders = None,
    kinds: KindsFile = None,
    make_workspaces: MadeWorkspaces = 0,
    teacher: TeacherName = "constructed",
    price: Rates = "",
    budget: Spending = "",
    send: Send = False,
    runs: Runs = Path("runs"),
    minutes: Minutes = None,
    larger: Larger = None,
    registry: RegistryFile = None,
    yes: Yes = False,
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Make a small model of any skill: a plan, the skill folder, goals, traces, training, figures, a verdict.

    It asks at a terminal whether to go on, and without one it needs --yes. Interrupted, the same command goes on.
    Exit code 2 without a release.

    Example: skillstill distil .claude/agents/release-notes.md --kinds kinds.toml -w ~/src/a -w ~/src/b -w ~/src/c
    """
    from skillstill_training.cli.design import definition_of, proposer_at, write_design
    from skillstill_training.cli.design_output import print_design
    from skillstill_training.cli.distil_output import print_plan
    from skillstill_training.cli.release import train
    from skillstill_training.design.declared import check_same, read_declared
    from skillstill_training.design.draft import check_distillable, draft_design

    definition = definition_of(skill)
    place = (out or Path(definition.name)).expanduser().absolute()
    declared = read_declared(kinds.expanduser()) if kinds else None
    if not place.exists():
        proposes = None if teacher == "constructed" else teacher
        check_distillable(definition, declared, has_teacher=bool(proposes))
        folders = made_folders(definition, make_workspaces, place, teacher, price, budget, yes=yes)
        drawn = draft_design(
            definition, place.name, workspace or (), declared, made=folders, has_teacher=bool(proposes)
        )
        print_plan(drawn, place, minutes, as_json=json)
        if not (yes or _agreed(drawn)):
            return 1
        proposer = proposer_at(proposes, price, budget, own=bool(workspace), send=send, offline=offline)
        made = write_design(drawn, place, FEW, proposer, offline=offline)
        if not json:
            print_design(made, FEW, as_json=False)
    elif declared:
        check_same(declared, place)
    return train(
        str(place), runs, teacher=teacher, price=price, budget=budget, yes=yes, minutes=minutes, larger=larger,
        registry=registry, offline=offline, json=json,
    )  # fmt: skip


def _agreed(drawn: "Design") -> bool:
    """Ask a person. Raise UsageError if nobody is at a terminal."""
    from skillstill.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError("whether to go on with this plan is asked at a terminal: without one, say --yes")
    return typer.confirm(f"Distil {drawn.name}?", default=True, err=True)
