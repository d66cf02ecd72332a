"""`--make-workspaces`: what a person types for folders that the teacher makes, and what that may cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from skillstill.library.definition import Definition

    from skillstill_training.design.workspaces import MadeFolder

MadeWorkspaces = Annotated[
    int, typer.Option("--make-workspaces", min=0, max=100, help="Folders that the teacher makes in the sandbox.")
]


def made_folders(
    definition: "Definition", count: int, place: Path, teacher: str, price: str, budget: str, *, yes: bool
) -> "tuple[MadeFolder, ...]":
    """Return so many folders beside the skill's, made before or now.

    Raise UsageError without a model, BudgetSpent and TeacherError.
    """
    import anyio
    from skillstill.errors import UsageError

    from skillstill_training.cli import design_output, output
    from skillstill_training.cli.teachers import large_model
    from skillstill_training.design.draft import nearest_base
    from skillstill_training.design.workspace_making import make_workspaces
    from skillstill_training.teachers.forecast import FIRST
    from skillstill_training.teachers.ledger import Budget, Ledger, Price

    if not count:
        return ()
    if teacher == "constructed":
        raise UsageError("--make-workspaces needs a model that makes them: name it with --teacher")
    model, parsed = large_model(teacher), Price.parse(price) if price else None
    is_free = not model.receiver and parsed is None
    agrees = output.print_forecast if yes or is_free or count <= FIRST else output.asked_after_forecast()
    into = place.with_name(f"{place.name}.workspaces")
    with Ledger(into / "ledger.jsonl", parsed, Budget.parse(budget), model.tells_cost) as ledger:
        return anyio.run(
            lambda: make_workspaces(
                definition,
                count,
                into,
                model,
                ledger,
                base=nearest_base(),
                agrees=agrees,
                on_told=design_output.print_step,
            )
        )
