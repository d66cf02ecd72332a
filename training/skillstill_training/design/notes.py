"""`design.md`: why a designed skill is as it is, for the person who has to look at it before it is trained."""

from collections import Counter
from collections.abc import Iterator

from skillstill.util.text import one_line

from skillstill_training.design.draft import Design
from skillstill_training.design.servers import mapped_servers

SHOWN = 6
REJECTED = 200  # questions that are listed
LINE = 160


def design_md(design: Design) -> str:
    return "\n".join(_lines(design)) + "\n"


def _lines(design: Design) -> Iterator[str]:
    found = design.assessment
    yield f"# How {design.name} was designed\n"
    reasons = "; ".join(f"{reason.text} (line {reason.line})" for reason in found.reasons[:SHOWN])
    yield f"Assessed as: {found.verdict}. {reasons}"
    yield from ("", "Missing:", *(f"- {text}" for text in found.missing)) if found.missing else ()
    yield f"\nTools: {', '.join(design.tools)}" + _uncovered(design)
    yield from _servers(design)
    if made := [one.name for one in design.workspaces if one.made_by]:
        yield f"\n## Workspaces that a model made\n\nFigures in these are not figures of real files: {', '.join(made)}"
    if design.families:
        yield f"\n## Families borrowed from {design.lender}\n"
        yield from (f"- `{one.name}`: {one_line(one.means, LINE)} ({one.why})" for one in design.families)
    if design.declared:
        yield "\n## Declared kinds\nThe gold of each is a query over the facts of a workspace.\n"
        yield from (f"- `{one.name}`: {one_line(one.means, LINE)}" for one in design.declared.kinds)
    yield from _rubric(design)
    yield from _proposed(design)
    yield from _listed("Dropped: they yield nothing here", design.dropped)
    yield from _listed("Rejected questions", design.rejected[:REJECTED])


def _servers(design: Design) -> Iterator[str]:
    kept, left_out = mapped_servers(design.definition)
    if kept:
        yield "\n## MCP servers, in a sandbox\nNone reaches a host, unless you name it under `hosts`.\n"
        yield from (f"- {one.name}: {one.line}" for one in kept)
    yield from _listed("MCP servers left out", left_out)


def _uncovered(design: Design) -> str:
    tools = design.assessment.tools.uncovered
    return f". Nothing of ours does what these do: {', '.join(tools)}" if tools else ""


def _rubric(design: Design) -> Iterator[str]:
    if design.rubric:
        yield f"\n## Rubric\nNothing verifies its answers: {design.judge} judges them, after it refused spoiled ones.\n"
        yield from (f"- {one_line(one.asks, LINE)} ({one_line(one.source, LINE)})" for one in design.rubric.criteria)


def _proposed(design: Design) -> Iterator[str]:
    if design.proposed:
        yield "\n## Families that a model proposed\n"
        refuses = "" if design.rubric else ", and each check refuses wrong answers"
        yield f"It solved each question at least twice{refuses}.\n"
    counts = Counter(one.topic for one in design.proposed)
    yield from (f"- {one_line(topic, LINE)}: {count}" for topic, count in counts.items())
    if design.soft:
        yield "\n## Soft\nNo check can judge these; they are in soft.jsonl, and no goal is made of them.\n"
        yield from (f"- {one_line(one.question, LINE)} ({one.agreed} of {one.attempts} agree)" for one in design.soft)


def _listed(title: str, rows: tuple[tuple[str, str], ...]) -> Iterator[str]:
    if rows:
        yield f"\n## {title}\n"
        yield from (f"- {one_line(name, LINE)}: {one_line(why, LINE)}" for name, why in rows)
