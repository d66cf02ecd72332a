"""The goal families of `logs`: questions about the logs of services, or of one machine."""

from skillstill_training.authoring import Family

from .families import aggregates, chain_plans, chains, lookups, meanings, plans

FAMILIES = (
    Family(
        name="first",
        means="the place of a component's first entry of a level, or that it has none",
        drafts=lookups.first,
        plan=plans.first,
    ),
    Family(
        name="last",
        means="the place of a component's last entry of a level, or that it has none",
        drafts=lookups.last,
        plan=plans.last,
    ),
    Family(
        name="component_count",
        means="how many entries of a level a component has, or that it has none",
        drafts=lookups.component_count,
        plan=plans.component_count,
    ),
    Family(
        name="level_count",
        means="how many entries of a level there are in a file, a stretch of time or all, or that there are none",
        drafts=aggregates.level_count,
        plan=plans.level_count,
    ),
    Family(
        name="earliest",
        means="the place of the first entry of a level in a file, a stretch of time or all, or that there is none",
        drafts=aggregates.earliest,
        plan=plans.earliest,
    ),
    Family(
        name="latest",
        means="the place of the last entry of a level in a file, a stretch of time or all, or that there is none",
        drafts=aggregates.latest,
        plan=plans.latest,
    ),
    Family(
        name="kinds",
        means="where each kind of message of a level begins in a file, a stretch of time or all, or that there is none",
        drafts=aggregates.kinds,
        plan=plans.kinds,
    ),
    Family(
        name="noisiest",
        means="the component with most entries of a level in a stretch of time or all",
        drafts=aggregates.noisiest,
        plan=plans.noisiest,
    ),
    Family(
        name="top_error",
        means="a place of a level's most frequent message, but for its numbers, in a file, a stretch of time or all",
        drafts=aggregates.top_error,
        plan=plans.top_error,
    ),
    Family(
        name="burst",
        means="the minute, HH:MM, with most entries of a level in a file, a stretch of time or all",
        drafts=aggregates.burst,
        plan=plans.burst,
    ),
    Family(
        name="request",
        means="all components that have an entry with a request id, or that the id is not there",
        drafts=lookups.request,
        plan=plans.request,
    ),
    Family(
        name="request_failure",
        means="the place of the first error of the request that brought an object (order, parcel, …), given the object",
        drafts=chains.request_failure,
        plan=chain_plans.request_failure,
        hard=True,
    ),
    Family(
        name="frame",
        means="the function in which the exception of a given second was raised: the stack trace's root cause",
        drafts=chains.frame,
        plan=chain_plans.frame,
        hard=True,
    ),
    Family(
        name="follow",
        means="the function in which the exception was raised that made a request end in a 503 at a given second",
        drafts=chains.follow,
        plan=chain_plans.follow,
        hard=True,
    ),
    Family(
        name="victim",
        means="the user whose request created the object that a job failed on at a given second",
        drafts=chains.victim,
        plan=chain_plans.victim,
        hard=True,
    ),
    Family(
        name="before",
        means="the place of the last warning, by anyone, before a component's first error since its last start",
        drafts=chains.before,
        plan=chain_plans.before,
        hard=True,
    ),
    Family(
        name="new_error",
        means="a place of the one error message that names a component only since its last start, not before",
        drafts=chains.new_error,
        plan=chain_plans.new_error,
        hard=True,
    ),
    Family(
        name="origin",
        means="the function in which another component failed just before one's first error since a given minute",
        drafts=chains.origin,
        plan=chain_plans.origin,
        hard=True,
    ),
    Family(
        name="deploy",
        means="the component with most errors since another one's last start",
        drafts=chains.deploy,
        plan=chain_plans.deploy,
        hard=True,
    ),
    Family(
        name="match",
        means="a place of the warning that is described without its words, or that there is none",
        drafts=meanings.match,
        plan=chain_plans.match,
        hard=True,
    ),
    Family(
        name="several",
        means="the one of the components that warn about a host whose trouble with it was of a kind",
        drafts=meanings.several,
        plan=chain_plans.several,
        hard=True,
    ),
    Family(
        name="offscope",
        means="work that no look at logs can do; to be handed back",
        drafts=meanings.offscope,
        plan=chain_plans.offscope,
        hard=True,
    ),
    Family(
        name="after",
        means="the place of the first error of all, of whichever component, after a component's last start",
        drafts=chains.after,
        plan=chain_plans.after,
        hard=True,
        held_out=True,
    ),
)
