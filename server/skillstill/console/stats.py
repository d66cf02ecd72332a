"""`skillstill stats`: what a person types. Only typer is loaded here, as in `cli`."""

from pathlib import Path
from typing import Annotated

import typer

from skillstill.console.options import Json


def stats(
    price: Annotated[
        str | None,
        typer.Option(metavar="IN[,OUT]", help="What a million tokens cost that your orchestrator reads, writes."),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page instead.")] = None,
    json: Json = False,
) -> int:
    """Show what the stored runs did by week and subagent, and the tokens that your orchestrator did not spend.

    Example: skillstill stats --price 3,15
    """
    from skillstill.console import savings

    savings.show(price, html, as_json=json)
    return 0
