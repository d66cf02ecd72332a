"""`skillstill assess`: what a person is told before any work is put into a skill."""

import json as encoding
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from skillstill.console.options import Json
from skillstill.util.text import clean

if TYPE_CHECKING:
    from skillstill.library.assessing import Assessment, AssessmentReason
    from skillstill.library.definition import Definition

SHOWN = 8  # reasons of one verdict


def assess(
    skill: Annotated[
        str, typer.Argument(help="A SKILL.md folder, an agent file, a folder of many, or an imported name.")
    ],
    json: Json = False,
) -> int:
    """Say whether a skill can be distilled, why, and what is missing for it. Nothing of it is run.

    Example: skillstill assess .claude/agents/code-explorer.md
    """
    from skillstill.library.assessing import assess
    from skillstill.library.lookup import definitions_of

    found = definitions_of(skill)
    assessed = [assess(definition) for definition in found]
    if json:
        values = [one.model_dump(mode="json") for one in assessed]
        typer.echo(encoding.dumps(values[0] if len(values) == 1 else values, indent=2, ensure_ascii=False))
    elif len(assessed) == 1:
        _tell(assessed[0])
    else:
        _tell_many(found, assessed)
    return 0


def _tell(one: "Assessment") -> None:
    _say(f"{one.name}: {one.verdict}")
    for reason in one.reasons[:SHOWN]:
        _say(f"  {_place(reason):>9}  {'but ' if reason.weight < 0 else ''}{reason.text}")
        _say(f"             {reason.quote}")
    _say(f"check: {one.check.text}")
    if one.missing:
        _say("missing:")
    for sentence in one.missing:
        _say(f"  {sentence}")
    if one.archetype != "none":
        _say(f"nearest of ours: {one.archetype}, with {', '.join(one.tools.ours)}")


def _place(reason: "AssessmentReason") -> str:
    return f"line {reason.line}" if reason.line else "files"


def _tell_many(found: Sequence["Definition"], assessed: Sequence["Assessment"]) -> None:
    from skillstill.library.assessing import CHECKS, VERDICTS

    for definition, one in zip(found, assessed, strict=True):
        _say(f"{one.verdict:22}  {one.check.by:9}  {one.archetype:8}  {definition.origin.path}")
    counts = Counter(one.verdict for one in assessed)
    _say(", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS))
    checks = Counter(one.check.by for one in assessed)
    _say(f"check: {', '.join(f'{checks[by]} {by}' for by in CHECKS)}")


def _say(text: str) -> None:
    typer.echo(clean(text))
