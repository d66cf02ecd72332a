"""The plan: the line of the suspect that is to blame, which the call shows that each run begins with."""

from skillstill_training.authoring import Goal, Locations, OracleContext, Plan


def blame(goal: Goal, context: OracleContext) -> Plan:
    """Return the line that shows the function; hand back a test that passes. Raise LookupError if it is no suspect."""
    yield from ()
    seen = context.opening
    if not isinstance(goal.check, Locations):
        return f"escalate: {goal.facts['test']} passes, nothing is to blame ({seen.id})."
    (gold,) = goal.check.gold
    suspects = [one for one in seen.places if one.path == gold.path and gold.first <= one.first <= gold.last]
    if not suspects:
        raise LookupError("it is not among the suspects")
    return seen.line_of(suspects[0].path, suspects[0].first)
