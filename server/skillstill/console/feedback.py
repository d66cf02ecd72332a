"""`skillstill feedback`: what a person types, and what is said back. Only typer is loaded here, as in `cli`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from skillstill.console.options import Json, run_ids

if TYPE_CHECKING:
    from skillstill.run.failures import FailureClass
    from skillstill.run.feedback import Feedback
    from skillstill.types import Trace

SHOWN = 5  # runs of a class, the latest


def feedback(
    run: Annotated[
        str,
        typer.Argument(help="A run id, the beginning of one, or `last`. Without: what failed.", autocompletion=run_ids),
    ] = "",
    verdict: Annotated[str, typer.Argument(help="right or wrong.")] = "",
    right: Annotated[str, typer.Argument(help="What is right, with its place if you know it.")] = "",
    json: Json = False,
) -> int:
    """Say whether a run was right, for `skillstill retrain` to learn from; without arguments, list what failed.

    Example: skillstill feedback last wrong "it is 0.5 s, shop/retry.py:14"
    """
    from skillstill.run import store
    from skillstill.run.failures import failures
    from skillstill.run.feedback import all_feedback, give_feedback

    if run:
        _tell(give_feedback(store.load(run), verdict, right), as_json=json)
    else:
        _list(failures(store.readable(), all_feedback()), as_json=json)
    return 0


def _tell(given: "Feedback", *, as_json: bool) -> None:
    if as_json:
        typer.echo(given.model_dump_json())
    else:
        typer.echo(f"kept here: {given}")


def _list(found: "Mapping[FailureClass, Sequence[Trace]]", *, as_json: bool) -> None:
    import json

    from skillstill.util.text import one_line

    if as_json:
        typer.echo(json.dumps({kind.value: [run.run for run in runs] for kind, runs in found.items()}))
        return
    if not found:
        typer.echo("no stored run failed")
    for kind, runs in found.items():
        typer.echo(f"{kind.value}: {len(runs)}")
        for run in runs[-SHOWN:]:
            typer.echo(f"  {run.run[:12]}  {one_line(run.skill, 20)}  {one_line(run.prompt, 70)}")
        if len(runs) > SHOWN:
            typer.echo(f"  … {len(runs) - SHOWN} more: --json lists all")
