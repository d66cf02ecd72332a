"""`skillstill assess`: what a person is told before any work is put into a skill."""

import json as encoding
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillstill.text import clean

if TYPE_CHECKING:
    from skillstill.library.assessing import Assessment, Reason
    from skillstill.library.definition import Definition

SHOWN = 8  # reasons of one verdict


def assess(
    skill: Annotated[
        str, typer.Argument(help="A SKILL.md folder, an agent file, a folder of many, or an imported name.")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON value for a program.")] = False,
) -> int:
    """Say whether a skill can be distilled, why, and what is missing for it. Nothing of it is run.

    Example: skillstill assess .claude/agents/code-explorer.md
    """
    from skillstill.library.assessing import assess

    found = _definitions(skill)
    assessed = [assess(definition) for definition in found]
    if json:
        values = [one.model_dump(mode="json") for one in assessed]
        typer.echo(encoding.dumps(values[0] if len(values) == 1 else values, indent=2, ensure_ascii=False))
    elif len(assessed) == 1:
        _tell(assessed[0])
    else:
        _tell_many(found, assessed)
    return 0


def _definitions(skill: str) -> Sequence["Definition"]:
    """Raises LibraryError where there is neither such a path with a definition in it nor such a name."""
    from skillstill.errors import LibraryError
    from skillstill.library.catalogue import Catalogue
    from skillstill.library.scanning import scan

    path = Path(skill).expanduser()
    if not path.exists():
        return [Catalogue().get(skill)]
    scanned = scan(path, str(path))
    if not scanned.definitions:
        why = f": {scanned.refused[0].reason}" if scanned.refused else ""
        raise LibraryError(
            f"{path} holds no skill, agent or command{why}; give a folder with a SKILL.md or an agent file"
        )
    return scanned.definitions


def _tell(one: "Assessment") -> None:
    _say(f"{one.name}: {one.verdict}")
    for reason in one.reasons[:SHOWN]:
        _say(f"  {_place(reason):>9}  {'but ' if reason.weight < 0 else ''}{reason.text}")
        _say(f"             {reason.quote}")
    if one.missing:
        _say("missing:")
    for sentence in one.missing:
        _say(f"  {sentence}")
    if one.archetype != "none":
        _say(f"nearest of ours: {one.archetype}, with {', '.join(one.tools.ours)}")


def _place(reason: "Reason") -> str:
    return f"line {reason.line}" if reason.line else "files"


def _tell_many(found: Sequence["Definition"], assessed: Sequence["Assessment"]) -> None:
    from skillstill.library.assessing import VERDICTS

    for definition, one in zip(found, assessed, strict=True):
        _say(f"{one.verdict:22}  {one.archetype:8}  {definition.origin.path}")
    counts = Counter(one.verdict for one in assessed)
    _say(", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS))


def _say(text: str) -> None:
    typer.echo(clean(text))
