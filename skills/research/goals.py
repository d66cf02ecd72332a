"""The goal families of `research`: questions that a passage of a project's documentation answers."""

from skillstill_training.authoring import Family

from .families import drafts, plans

FAMILIES = (
    Family("option", "the option, setting or name that does what {does} says", drafts.options, plans.quote, hard=True),
    Family(
        "default", "the default of an option; handed back if the documentation does not have it",
        drafts.defaults, plans.quote_or_hand_back,
    ),
    Family(
        "meaning", "what an option or name means; handed back if the documentation does not have it",
        drafts.meanings, plans.quote_or_hand_back,
    ),
    Family("effect", "what happens under a condition", drafts.effects, plans.quote, hard=True),
    Family("howto", "a passage that says how to do something", drafts.tasks, plans.quote, hard=True),
    Family("requires", "what something needs", drafts.needs, plans.quote, hard=True),
    Family(
        "difference", "one passage for each of two things that are compared",
        drafts.differences, plans.compare, hard=True,
    ),
    Family("beyond", "work that looking into documentation cannot do; handed back", drafts.beyond, plans.decline),
    Family(
        "since", "the version that brought something; handed back if the documentation does not have it",
        drafts.versions, plans.quote_or_hand_back, held_out=True,
    ),
)  # fmt: skip
