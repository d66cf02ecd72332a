"""How one of several is chosen: by what a list shows of it, by reading one after the other, by what surrounds a hit."""

from collections.abc import Generator

from skillstill.types import ToolCall
from skillstill_training.goal import Goal
from skillstill_training.plan import Hand, Plan, Seen, call

from .names import as_identifier, as_said, spoken
from .plans import absent, look_up, name, place


def by_signature(goal: Goal, hand: Hand) -> Plan:
    """Which one is meant shows in the list."""
    seen = yield call("outline", target=as_said(goal.words["name"]))
    hand.met(len(seen.places))
    return f"`{name(goal)}` is defined at {place(goal, seen)}."


def by_body(goal: Goal, hand: Hand) -> Plan:
    """Each is read in the order of the list, until one is as the question says."""
    seen = yield call("outline", target=as_said(goal.words["name"]))
    hand.met(len(seen.places))
    where = place(goal, seen)
    for one in seen.places:
        yield call("read", path=one.path, line=one.first)
        if f"{one.path}:{one.first}" == where:
            break
    return f"`{name(goal)}` is defined at {where}."


def callers(goal: Goal, hand: Hand) -> Plan:
    wanted = as_identifier(goal.words["name"])
    seen = yield call("search", pattern=f"{wanted}(")
    if seen.text.startswith("no hits"):
        return (yield from _absent_after(goal, seen))
    return f"`{wanted}` is called at {spoken(_shown(goal, seen))}."


def importers(goal: Goal, hand: Hand) -> Plan:
    wanted = as_identifier(goal.words["name"])
    seen = yield call("search", pattern=f"import .*{wanted}")
    if seen.text.startswith("no hits"):
        return (yield from _absent_after(goal, seen))
    return f"`{wanted}` is imported at {spoken(_shown(goal, seen))}."


def _absent_after(goal: Goal, seen: Seen) -> Plan:
    """The answer that a name is not there, after one search that found nothing."""
    other = yield call("outline", target=as_said(goal.words["name"]))
    return f"There is no `{goal.words['name']}` ({seen.id}, {other.id} found nothing)."


def _shown(goal: Goal, seen: Seen) -> list[str]:
    """The goal's places as the result shows them. Raises LookupError where one is missing."""
    places = goal.facts["places"]
    wanted = {tuple(one) for one in places if isinstance(one, list)} if isinstance(places, list) else set()
    shown = [f"{one.path}:{one.first}" for one in seen.places if (one.path, one.first) in wanted]
    if len(shown) < len(wanted):
        raise LookupError(f"{len(wanted) - len(shown)} of {len(wanted)} places are not shown")
    return shown


def tests(goal: Goal, hand: Hand) -> Plan:
    """In the folder where tests usually are; where there is none, in the one that the list shows."""
    wanted = as_identifier(goal.words["name"])
    folder = "tests"
    seen = yield call("search", pattern=f"{wanted}(", path=folder)
    if seen.text.startswith("no such path"):
        yield call("list")
        folder = str(goal.facts["folder"])
        seen = yield call("search", pattern=f"{wanted}(", path=folder)
    if seen.text.startswith("no hits"):
        other = yield call("search", pattern=wanted, path=folder)
        return f"No test uses `{wanted}` ({seen.id}, {other.id} found nothing)."
    if len(seen.places) > int(str(goal.facts["right"])):
        hand.met(len(seen.places))
    return f"`{wanted}` is tested at {place(goal, seen)}."


def needle(goal: Goal, hand: Hand) -> Plan:
    """The most telling word, narrowed where it stands in too many places; then the lines around the likeliest hit."""
    seen = yield from _searched(goal, hand)
    hit = _hit(goal, seen)
    if goal.facts["hit"] == goal.facts["line"]:
        return f"That is `{name(goal)}` at {hit}."
    yield from _wrong_turn(seen, hit, hand)
    around = yield call("read", path=goal.facts["hit_path"], line=goal.facts["hit"])
    if _shows(goal, around):
        return f"That is `{name(goal)}` at {goal.facts['path']}:{goal.facts['line']}."
    return f"That is done at {hit}."


def _searched(goal: Goal, hand: Hand) -> Generator[ToolCall, Seen, Seen]:
    """The last of the goal's searches; now and then one comes first for a word that is nowhere."""
    if goal.facts["weak"] and hand.detour("miss"):
        yield call("search", pattern=goal.facts["weak"])
    steps = goal.facts["steps"]
    seen = Seen("", "")
    for step in steps if isinstance(steps, list) else ():
        pattern, path = step if isinstance(step, list) else ("", "")
        seen = yield call("search", pattern=pattern, **({"path": path} if path else {}))
    hand.met(int(str(goal.facts["candidates"])))
    return seen


def _hit(goal: Goal, seen: Seen) -> str:
    """`path:line` of the goal's hit. Raises LookupError where the result does not show it."""
    hit = f"{goal.facts['hit_path']}:{goal.facts['hit']}"
    if all(f"{one.path}:{one.first}" != hit for one in seen.places):
        raise LookupError(f"{hit} is not shown")
    return hit


def _wrong_turn(seen: Seen, right: str, hand: Hand) -> Plan:
    """Now and then another hit is read first."""
    others = [one for one in seen.places if f"{one.path}:{one.first}" != right]
    if others and hand.detour("wrong"):
        yield call("read", path=others[0].path, line=others[0].first)
    return ""


def _shows(goal: Goal, around: Seen) -> bool:
    """Whether the lines that were read hold the beginning of the function."""
    return any(line.startswith(f"{goal.facts['line']}: ") for line in around.lines)


def change(goal: Goal, hand: Hand) -> Plan:
    seen = yield from _searched(goal, hand)
    hit = _hit(goal, seen)
    yield from _wrong_turn(seen, hit, hand)
    yield call("read", path=goal.facts["hit_path"], line=goal.facts["hit"])
    return f"That belongs in {hit}."


def other_definition(goal: Goal, hand: Hand) -> Plan:
    look = yield from look_up(goal.words["name"])
    if look.seen is None:
        return absent(goal.words["name"], look)
    return f"`{name(goal)}` is defined at {place(goal, look.seen)}."


def offscope(goal: Goal, hand: Hand) -> Plan:
    yield from ()
    return "escalate: this needs more than reading the code, and I can only look."
