"""The goal families of `tests`: which function makes a test fail."""

from skillstill_training.authoring import Family

from .families import drafts, plans

FAMILIES = (
    Family(
        "named", "the function that makes the test {test} fail; handed back if the test passes",
        drafts.named, plans.blame, hard=True,
    ),
    Family(
        "printed", "the function that makes a test fail, from the end of what pytest printed",
        drafts.printed, plans.blame, hard=True,
    ),
)  # fmt: skip
