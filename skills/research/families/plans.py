"""Plans: find the passage among the first five, or look again in other words, and quote its line as it was shown."""

from collections.abc import Sequence

from skillstill_training.authoring import Goal, OracleContext, Plan, SeenResult, call

from .rewording import SMALL


def quote(goal: Goal, context: OracleContext) -> Plan:
    """Quote the line that shows the passage and holds the words that answer."""
    seen = [context.opening]
    context.met(len(context.opening.places))
    if context.detour("miss"):
        seen.append((yield call("search", pattern=_telling(goal))))
    if not (line := _answering(goal, seen)):
        seen.append((yield call("passages", text=_telling(goal))))
    if not (line := _answering(goal, seen)) and (name := str(goal.facts.get("name", ""))):
        seen.append((yield call("search", pattern=name)))
    if not (line := _answering(goal, seen)):
        raise LookupError("no result shows the passage")
    return line


def compare(goal: Goal, context: OracleContext) -> Plan:
    """Quote one passage for each of the two."""
    seen = [context.opening]
    found = [_inside(span, "", seen) for span in _gold(goal)]
    for at, name in enumerate((goal.facts["name"], goal.facts["other"])):
        if not found[at]:
            seen.append((yield call("passages", text=str(name))))
            found[at] = _inside(_gold(goal)[at], "", seen)
    if not all(found):
        raise LookupError("no result shows both passages")
    return "\n".join(found)


def quote_or_hand_back(goal: Goal, context: OracleContext) -> Plan:
    """Quote the passage, or hand the question back with what comes nearest if no document has the name."""
    if goal.check.kind != "declined":
        return (yield from quote(goal, context))
    name = str(goal.facts["name"])
    seen = yield call("search", pattern=name)
    if seen.places:
        raise LookupError(f"{name} is there")
    nearest = " and ".join(f"{span.path}:{span.first}" for span in context.opening.places[:2])
    return f"escalate: the documentation does not mention {name}" + (f"; nearest are {nearest}." if nearest else ".")


def decline(goal: Goal, context: OracleContext) -> Plan:
    yield from ()
    return "escalate: documentation can be looked up here, and nothing else be done."


def _answering(goal: Goal, seen: Sequence[SeenResult]) -> str:
    return _inside(_gold(goal)[0], str(goal.facts.get("key", "")), seen)


def _inside(span: Sequence[str | int], key: str, seen: Sequence[SeenResult]) -> str:
    """Return the first line that shows a place of these lines and holds the words; empty if none does."""
    path, first, last = str(span[0]), int(span[1]), int(span[2])
    for result in seen:
        for line in result.lines:
            place, _, text = line.partition(": ")
            shown, _, number = place.rpartition(":")
            if shown == path and number.isdigit() and first <= int(number) <= last and _squeeze(key) in _squeeze(text):
                return line
    return ""


def _gold(goal: Goal) -> list[Sequence[str | int]]:
    spans = goal.facts["spans"]
    assert isinstance(spans, list)
    return spans  # type: ignore[return-value]


def _telling(goal: Goal) -> str:
    """Return the name that the question is about, or its telling words."""
    said = " ".join(goal.words.values())
    words = [word for word in said.split() if word.lower() not in SMALL]
    return " ".join(words[:6])


def _squeeze(text: str) -> str:
    return " ".join(text.replace("`", "").split())
