"""What the index could not read of a workspace, as a result tells it."""

from collections.abc import Iterator

from skillstill.facts.ask import FactRows
from skillstill.tools.kit.tool import Line

UNSEEN = 3  # reasons why a result may lack something that are told


def unseen_lines(found: FactRows) -> Iterator[Line]:
    """Yield a line for each reason why files were not read."""
    for one in found.unseen[:UNSEEN]:
        yield Line(f"(Not seen: {one.reason}, {one.files:,} file{'s' * (one.files != 1)}.)")


def why_unseen(found: FactRows) -> str:
    """Return why a row that is not there proves nothing; empty if all files were read."""
    return "; ".join(one.reason for one in found.unseen)
