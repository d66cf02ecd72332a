"""`skillstill search`: what a person types, and what is said back."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillstill.console.options import Json, Project, RegistryFile
from skillstill.util.text import clean

if TYPE_CHECKING:
    from skillstill.library.searching.found import FindResult, FoundDefinition, FoundSubagent


def search(
    task: Annotated[str, typer.Argument(help="What you need, in a few words or a sentence.")],
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many to show of each.")] = 5,
    workspace: Project = Path(),
    registry: RegistryFile = None,
    json: Json = False,
) -> int:
    """Find what there is for a task: subagents first, then imported skills that one could be made of.

    Example: skillstill search "web design"
    """
    from skillstill.library.catalogue import Catalogue
    from skillstill.library.searching.found import find
    from skillstill.skills.registry import Registry

    catalogue = Catalogue()
    found = find(task, Registry(registry, workspace.expanduser()), catalogue, limit)
    typer.echo(found.model_dump_json() if json else clean("\n".join(_print_found(found, catalogue.exists))))
    return 0


def _print_found(found: "FindResult", filled: bool) -> Iterator[str]:
    from skillstill.library.catalogue.embeddings import MISSING

    for subagent in found.subagents:
        yield from _subagent(subagent)
    for definition in found.definitions:
        yield from _definition(definition)
    if not filled:
        yield "Your library is empty: `skillstill import` brings in skills and subagents from a folder or a repository."
    elif not found.definitions:
        yield "Nothing in your library fits."
    if not found.by_meaning:
        yield f"({MISSING})"


def _subagent(one: "FoundSubagent") -> Iterator[str]:
    solved = f", {one.measured.verified}" if one.measured else ""
    yield f"{one.name}  subagent, {'released' if one.released else 'not trained yet'}{solved}"
    yield f"  {one.description}"
    yield f"  {one.why}"


def _definition(one: "FoundDefinition") -> Iterator[str]:
    terms = "" if one.licence.derived_works == "allowed" else f", derived works {one.licence.derived_works}"
    variants = f", {one.variants} variant{'s' * (one.variants > 1)}" if one.variants else ""
    suspicious = ", suspicious" if one.suspicious else ""
    yield f"{one.name}  {one.kind}, {one.verdict}, {one.licence.name or 'no licence'}{terms}{variants}{suspicious}"
    yield f"  {one.description}"
    yield f"  {one.why}"
    yield f"  {one.key[:12]}  {one.source}  {one.path}"
