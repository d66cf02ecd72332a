"""`skillstill import` and `export-skill`: what a person types, is asked, and is told."""

import json as encoding
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillstill.console.options import Json
from skillstill.util.text import clean, one_line

if TYPE_CHECKING:
    from skillstill.library.definition import Definition
    from skillstill.library.importer import ImportSummary

FAILED = 1
SHOWN = 20  # suspicious definitions and refusals that are shown in full
FINDINGS = 8  # repairs and broken rules: a report, and a large library has thousands


def import_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="PATH|GIT_URL", help="A folder, a file, a folder of repositories, or a repository's address."
        ),
    ],
    accept_suspicious: Annotated[
        bool, typer.Option("--accept-suspicious", help="Keep what holds hidden characters or speaks to a model.")
    ] = False,
    json: Json = False,
) -> int:
    """Read other people's skills, subagents and commands into the library. Nothing of them is run.

    Example: skillstill import ~/.claude
    """
    from skillstill.errors import LibraryError
    from skillstill.library.catalogue import Catalogue
    from skillstill.library.catalogue.blobs import Blobs
    from skillstill.library.importer import ImportSummary, import_source
    from skillstill.library.scanning.fetch import sources

    catalogue, blobs, done = Catalogue(), Blobs(), list[ImportSummary]()
    with sources(what) as found:
        for source in found:
            try:
                done.append(
                    import_source(source, catalogue, blobs, lambda seen: _is_accepted(seen, accept_suspicious, json))
                )
            except LibraryError as error:  # one that cannot be read does not stop the others
                if len(found) == 1:
                    raise
                done.append(ImportSummary(source=source.name, error=str(error)))
            if not json:
                _tell(done[-1])
    if json:
        typer.echo(encoding.dumps([one.model_dump(mode="json") for one in done], indent=2))
    elif len(done) > 1:
        _tell_all(done)
    return 0 if any(not one.error for one in done) else FAILED


def export_skill(
    name: Annotated[str, typer.Argument(help="Its name, or the first eight or more characters of its key.")],
    folder: Annotated[Path, typer.Argument(help="The folder to write it into.")] = Path(),
) -> int:
    """Write an imported skill, subagent or command again, byte for byte as its author wrote it.

    Example: skillstill export-skill code-explorer .claude/agents
    """
    from skillstill.library.catalogue import Catalogue
    from skillstill.library.catalogue.blobs import Blobs
    from skillstill.library.exporter import export

    typer.echo(clean(str(export(Catalogue().get(name), folder.expanduser(), Blobs()))))
    return 0


def _is_accepted(seen: "Sequence[Definition]", accept: bool, json: bool) -> bool:
    """Show what is suspicious, always. Return whether the flag, or a person at a terminal, accepts it."""
    asked = not (accept or json) and sys.stdin.isatty() and sys.stdout.isatty()
    fate = "none of them kept yet" if asked else "none of them kept; --accept-suspicious keeps them"
    if not json:
        _show(seen, "kept, as --accept-suspicious says" if accept else fate)
    return typer.confirm(f"Keep these {len(seen)} as well?", default=False) if asked else accept


def _show(seen: "Sequence[Definition]", fate: str) -> None:
    typer.echo(f"{len(seen)} suspicious, {fate}:")
    for one in seen[:SHOWN]:
        for finding in one.suspicions[:3]:
            typer.echo(
                f"  {_counts_text(one.origin.path)}:{finding.line}: {finding.kind}: {_counts_text(finding.text)}"
            )
    if len(seen) > SHOWN:
        typer.echo(f"  and {len(seen) - SHOWN} more")


def _tell(one: "ImportSummary") -> None:
    if one.error:
        typer.echo(f"{_counts_text(one.source)}: {_counts_text(one.error)}")
        return
    at = f" at {one.commit[:12]}" if one.commit else ""
    typer.echo(f"{_counts_text(one.source)}{at}: {_many(one.kinds) or _nothing(one)} in {one.seconds:.1f} s")
    typer.echo(f"  {one.new} new, {one.changed} changed, {one.known} as they were, {one.gone} gone")
    _tell_counts(one)
    _tell_first(one.findings, FINDINGS)
    _tell_first(one.refusals, SHOWN)


def _nothing(one: "ImportSummary") -> str:
    if one.known:
        return "nothing new to read"
    return "nothing that could be kept" if one.refusals else "no skill, subagent or command found"


def _tell_first(told: Sequence[tuple[str, str]], shown: int) -> None:
    for place, why in told[:shown]:
        typer.echo(f"  {_counts_text(place)}: {_counts_text(why)}")
    if len(told) > shown:
        typer.echo(f"  and {len(told) - shown} more, all of them with --json")


def _tell_counts(one: "ImportSummary") -> None:
    licences = {f"derived works {terms}": count for terms, count in one.licences.items()} | dict(one.share_alike)
    lines = {
        "licences": licences,
        "repaired": one.repaired,
        "lint": one.lint,
        "suspicious": {"kept": one.suspicious} if one.suspicious else {},
        "scripts, never run": {"definitions with some": one.scripts} if one.scripts else {},
        "refused": one.refused,
    }
    for what, counts in lines.items():
        if counts:
            typer.echo(f"  {what}: {_counts(counts)}")


def _tell_all(done: "Sequence[ImportSummary]") -> None:
    from collections import Counter

    kinds, refused = Counter[str](), Counter[str]()
    for one in done:
        kinds.update(one.kinds)
        refused.update(one.refused)
    failed = sum(bool(one.error) for one in done)
    unread = f", {failed} could not be read" if failed else ""
    typer.echo(f"{len(done)} sources{unread}: {_many(kinds) or 'nothing new'}; refused: {_counts(refused) or 'none'}")


def _many(kinds: Mapping[str, int]) -> str:
    return _counts({kind if count == 1 else f"{kind}s": count for kind, count in kinds.items()})


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {_counts_text(name)}" for name, count in counts.items())


def _counts_text(text: str) -> str:
    return one_line(text, 200)
