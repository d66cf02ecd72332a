"""Why goals and traces were dropped, counted by kind."""

import re

from skillstill.util.text import shorten


def kind_of(reason: str) -> str:
    """Return a reason without what differs from goal to goal, so that like ones are counted together."""
    general = re.sub(r"'[^']*'|\"[^\"]*\"", "…", reason.partition(": ")[0].partition(" (")[0])
    return shorten(re.sub(r"\d+", "…", general), 80) or "no reason given"
