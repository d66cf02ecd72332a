"""Drafts of questions about failing tests: the mutant of the workspace is to blame."""

from collections.abc import Iterator
from random import Random

from pydantic import TypeAdapter
from skillstill_training.authoring import BuiltWorkspace, Declined, Draft, Locations, Span

PASSING = 0.2  # how often a test that passes is asked for first, and so at all
LINES = 12  # of what pytest printed, at the end: what somebody copies
Facts = TypeAdapter(dict[str, str | int])
Failures = TypeAdapter(list[dict[str, str | int]])


def named(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield a draft for each failing test, by its name, and before or behind them one for a test that passes."""
    drafts = [one.model_copy(update={"words": {"test": str(one.facts["test"])}}) for one in _blamed(built)]
    if passing := str(built.notes["passing"]):
        fine = Draft(check=Declined(), words={"test": passing}, facts={"test": passing})
        drafts.insert(0 if rng.random() < PASSING else len(drafts), fine)
    yield from (one.model_copy(update={"pair": built.name}) for one in drafts)


def printed(built: BuiltWorkspace, rng: Random) -> Iterator[Draft]:
    """Yield a draft for each failing test, by the end of what pytest printed."""
    for draft in _blamed(built):
        lines = str(draft.facts["output"]).split("\n")[-LINES:]
        yield draft.model_copy(update={"words": {"output": "\n".join(lines)}})


def _blamed(built: BuiltWorkspace) -> Iterator[Draft]:
    """Yield a draft without words for each failing test."""
    mutant = Facts.validate_python(built.notes["mutant"])
    gold = Span(path=str(mutant["path"]), first=int(mutant["first"]), last=int(mutant["last"]))
    for failure in Failures.validate_python(built.notes["failures"]):
        facts = {"test": failure["test"], "output": failure["output"]}
        yield Draft(check=Locations(gold=(gold,), precision=1.0), facts=facts)
