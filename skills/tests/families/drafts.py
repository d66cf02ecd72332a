"""Drafts of questions about failing tests: the mutant of the workspace is to blame."""

from collections.abc import Iterator
from random import Random

from pydantic import JsonValue, TypeAdapter
from skillstill_training.authoring import BuiltWorkspace, Declined, Draft, Locations, Span

from .mentions import Definition, Mentions, mentions_of

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
    """Yield drafts without words, for tests from which names lead to the mutant."""
    mutant = Facts.validate_python(built.notes["mutant"])
    gold = Span(path=str(mutant["path"]), first=int(mutant["first"]), last=int(mutant["last"]))
    mentions = mentions_of(built.root)
    for failure in Failures.validate_python(built.notes["failures"]):
        broke = mentions.around(str(failure["path"]), int(failure["line"]))
        starts = [one for one in (broke, _test(mentions, str(failure["test"]))) if one]
        ways = ((start, mentions.chain(start, gold)) for start in starts)
        if found := next(((start, way) for start, way in ways if way is not None), None):
            start, way = found
            chain: JsonValue = [one.place for one in way]
            facts = {**failure, "at_place": start == broke, "chain": chain}
            yield Draft(check=Locations(gold=(gold,), precision=1.0), facts=facts)


def _test(mentions: Mentions, test: str) -> Definition | None:
    """Return the function of a test: `tests/test_cart.py::TestCart::test_total`."""
    path, *_, name = test.split("::")
    return next((one for one in mentions.by_path[path] if one.name == name), None)
