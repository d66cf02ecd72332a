"""`skillstill design`: what a person types to make a folder that can be trained out of somebody's skill."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from skillstill.console.options import Json

from skillstill_training.cli.data import Offline, Rates, Spending

if TYPE_CHECKING:
    from skillstill.library.definition import Definition

    from skillstill_training.design.draft import Design
    from skillstill_training.design.made import MadeSkill, Propose
    from skillstill_training.design.proposals import ProposalLimits


ForeignSkill = Annotated[str, typer.Argument(help="A SKILL.md folder, an agent file, or an imported name.")]
OwnFolders = Annotated[
    list[Path] | None,
    typer.Option("--workspace", "-w", help="A folder that it works on; three or more, the last for the test."),
]
KindsFile = Annotated[
    Path | None,
    typer.Option("--kinds", help="A kinds.toml: questions that you declare, each with a query for what is right."),
]
Send = Annotated[bool, typer.Option("--send", help="Your folders may be sent to another machine.")]


def design(
    skill: ForeignSkill,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The new skill folder. Default: its name, here.")
    ] = None,
    workspace: OwnFolders = None,
    kinds: KindsFile = None,
    few: Annotated[
        int, typer.Option(min=0, help="Goals a family and split that are drawn to prove it; 0 proves nothing.")
    ] = 2,
    teacher: Annotated[
        str | None,
        typer.Option(help="A model to propose families: URL#MODEL, anthropic:MODEL, claude-code[:MODEL]."),
    ] = None,
    topics: Annotated[int, typer.Option(min=1, max=40, help="Topics that it is asked to propose.")] = 6,
    questions: Annotated[int, typer.Option(min=1, max=20, help="Questions for a topic and workspace.")] = 4,
    at_once: Annotated[int, typer.Option(min=1, max=64, help="Questions that it tries at the same time.")] = 2,
    price: Rates = "",
    budget: Spending = "",
    send: Send = False,
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Turn a skill into a folder that can be trained: tools, workspaces, goal families, each proven on real goals.

    Example: skillstill design .claude/agents/code-explorer.md -o skills/code-explorer
    """
    from skillstill_training.cli import design_output
    from skillstill_training.design.declared import read_declared
    from skillstill_training.design.draft import draft_design, target
    from skillstill_training.design.proposals import ProposalLimits

    definition = definition_of(skill)
    place = target(out or Path(definition.name))
    declared = read_declared(kinds.expanduser()) if kinds else None
    drawn = draft_design(definition, place.name, workspace or (), declared, has_teacher=bool(teacher))
    terms = ProposalLimits(topics, questions, at_once)
    proposer = proposer_at(teacher, price, budget, terms, own=bool(workspace), send=send, offline=offline)
    made = write_design(drawn, place, few, proposer, offline=offline)
    design_output.print_design(made, few, as_json=json)
    if not json:
        design_output.print_next(made)
    return 0


def write_design(drawn: "Design", place: Path, few: int, propose: "Propose | None", *, offline: bool) -> "MadeSkill":
    """Write the folder, and show how far it is. Raise StageError, and then nothing is written."""
    import anyio

    from skillstill_training.cli import design_output, output
    from skillstill_training.design.made import make

    design_output.print_plan(drawn)
    with output.sampling_progress() as listener:
        return anyio.run(
            lambda: make(
                drawn,
                place,
                few,
                propose=propose,
                offline=offline,
                on_workspace=listener.workspace,
                on_progress=listener.goals,
            )
        )


def proposer_at(
    address: str | None,
    price: str,
    budget: str,
    terms: "ProposalLimits | None" = None,
    *,
    own: bool,
    send: bool,
    offline: bool,
) -> "Propose | None":
    """Return what lets that teacher propose; None without one.

    Raise UsageError for its address, or if own folders may not be sent there.
    """
    from skillstill.skills.skill import load_skill

    from skillstill_training.cli import design_output
    from skillstill_training.cli.teachers import check_sending, large_model
    from skillstill_training.design.proposals import ProposalLimits, propose
    from skillstill_training.sampling.setup import workspaces_of
    from skillstill_training.teachers.ledger import Budget, Ledger, Price
    from skillstill_training.workspaces import load_sources

    if not address:
        return None
    model = large_model(address)
    if own:
        check_sending(model, send)
    parsed, spent, limits = Price.parse(price) if price else None, Budget.parse(budget), terms or ProposalLimits()

    async def proposer(design: "Design", folder: Path) -> "Design":
        workspaces = await workspaces_of(folder, load_sources(folder), offline=offline)
        with Ledger(folder / "ledger.jsonl", parsed, spent, model.tells_cost) as ledger:
            return await propose(
                design, load_skill(folder), workspaces, model, ledger, limits, design_output.print_step
            )

    return proposer


def definition_of(skill: str) -> "Definition":
    """Raise LibraryError if there is no such definition, UsageError if there are several."""
    from skillstill.errors import UsageError
    from skillstill.library.lookup import definitions_of

    every = definitions_of(skill)
    found = [one for one in every if one.origin.path.lower() == "skill.md"] or every
    if len(found) > 1:
        path = Path(skill).expanduser()
        raise UsageError(f"{path} holds {len(found)} definitions: name one, such as {path / found[0].origin.path}")
    return found[0]
