"""The goal families of this skill: questions whose answers SQL works out of the tables of a workspace.

Of the slots in `means`: {many}, {parents} are plurals, {one}, {parent} a singular; {condition} reads like `with status
open`, `whose price is over 5` or `(price > 5)` and stands right behind the plural that it limits; {many} may already
hold one in top_k, having and not_exists; {what} reads like `average price (2 decimals)`, in group also `count`.
"""

from skillstill_training.authoring import Family

from .families import ambiguous, plans, related, single
from .families.drafting import drawn

FAMILIES = (
    Family(
        "lookup",
        "one {column} of the {one} called {name}: that value; or that there is no such {one}, or no such {column}",
        drawn(single.lookup),
        plans.looked_up,
    ),
    Family("filter_count", "how many {many} meet a {condition}: the number", drawn(single.filter_count), plans.counted),
    Family(
        "aggregate",
        "{what}, such as `average price (2 decimals)`, of the {many} that meet a {condition}: the number; "
        "or that no row has that value",
        drawn(single.aggregate),
        plans.valued,
    ),
    Family("group", "{what} for each {column} of the {many}: a row for each", drawn(single.group), plans.tabled),
    Family(
        "top_k",
        "the {count} {many} with the {order} (highest or lowest) {column}, each together with that {column}, in order",
        drawn(single.top_k),
        plans.tabled,
    ),
    Family(
        "distinct",
        "which different values of {column} the {many} that meet a {condition} have: all of them",
        drawn(single.distinct),
        plans.listed,
    ),
    Family(
        "literal",
        "as aggregate ({what} of {many} that meet a {condition}), with a value that is stored in another spelling",
        drawn(single.literal),
        plans.valued,
        hard=True,
    ),
    Family("dates", "how many {many} meet a {condition} on a date", drawn(single.dates), plans.counted, hard=True),
    Family(
        "having",
        "which values of {column} have more than {bound} {many}: all of them",
        drawn(single.having),
        plans.listed,
        hard=True,
    ),
    Family(
        "share",
        "which percentage of all {many} meet a {condition}, to one decimal (say so)",
        drawn(single.share),
        plans.percent,
        hard=True,
    ),
    Family(
        "superlative",
        "the {column} whose {many} have the {order} (such as `highest average`) {measure}: its name",
        drawn(single.superlative),
        plans.best,
        hard=True,
    ),
    Family(
        "join",
        "how many {many} belong to {parents} that meet a {condition}: the number",
        drawn(related.join),
        plans.counted,
        hard=True,
    ),
    Family(
        "join_aggregate",
        "{what} of the {many} that belong to {parents} that meet a {condition}: the number",
        drawn(related.join_aggregate),
        plans.valued,
        hard=True,
    ),
    Family(
        "not_exists",
        "which {parents} have no {many} at all: their names",
        drawn(related.not_exists),
        plans.listed,
        hard=True,
    ),
    Family(
        "follow",
        "how many {many} the {parent} called {name} has: the number; or that there is no such {parent}",
        drawn(related.follow),
        plans.followed,
        hard=True,
    ),
    Family(
        "owner",
        "the {column} of the {parent} that the {one} with the number {key} belongs to; or that there is no such {one}",
        drawn(related.owner),
        plans.owned,
        hard=True,
    ),
    Family(
        "which_table",
        "the {column} of {name}, without a word on what kind of thing or person that is; or that there is no {name}",
        drawn(ambiguous.which_table),
        plans.sought,
        hard=True,
    ),
    Family(
        "pick",
        "the {column} of the {one} with {part} in the name whose {by} is {clue}: that value; or that there is none",
        drawn(ambiguous.pick),
        plans.picked,
        hard=True,
    ),
    Family(
        "pick_count",
        "how many {many} the {one} with {part} in the name whose {by} is {clue} has; or that there is no such {one}",
        drawn(ambiguous.pick_count),
        plans.picked,
        hard=True,
    ),
    Family(
        "offscope",
        "something that reading tables cannot do with the {many}, one {one} or {column}: change, send, draw, foretell",
        drawn(single.offscope),
        plans.declined,
    ),
    Family(
        "distinct_count",
        "how many different values of {column} occur among the {many} that meet a {condition}: the number",
        drawn(single.distinct_count),
        plans.different,
        held_out=True,
    ),
)
