"""Options that several rooms' commands take, worded once. Only typer is loaded here, as in `cli`."""

from pathlib import Path
from typing import Annotated

import typer

RegistryFile = Annotated[
    Path | None, typer.Option("--registry", help="A registry.json that comes first, like SKILLSTILL_REGISTRY.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value for a program.")]
