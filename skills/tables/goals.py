"""The goal families of `tables`: questions that SQL can answer from the tables of a workspace.

The slots in `means`: {many} and {parents} are plurals, {one} and {parent} singulars. {condition} reads like
`with status open`, `whose price is over 5` or `(price > 5)` and follows the plural that it limits. In top_k, having and
not_exists, {many} may already contain one. {what} reads like `average price (2 decimals)`, in group also `count`.
"""

from skillstill_training.authoring import Family

from .families import ambiguities, one_table, plans, relations
from .families.draft_parts import draw_drafts

FAMILIES = (
    Family(
        "lookup",
        "one {column} of the {one} called {name}: that value; or that there is no such {one}, or no such {column}",
        draw_drafts(one_table.lookup),
        plans.lookup_answer,
    ),
    Family(
        "filter_count",
        "how many {many} meet a {condition}: the number",
        draw_drafts(one_table.filter_count),
        plans.count_answer,
    ),
    Family(
        "aggregate",
        "{what}, such as `average price (2 decimals)`, of the {many} that meet a {condition}: the number; "
        "or that no row has that value",
        draw_drafts(one_table.aggregate),
        plans.measure_answer,
    ),
    Family(
        "group",
        "{what} for each {column} of the {many}: a row for each",
        draw_drafts(one_table.group),
        plans.rows_answer,
    ),
    Family(
        "top_k",
        "the {count} {many} with the {order} (highest or lowest) {column}, each together with that {column}, in order",
        draw_drafts(one_table.top_k),
        plans.rows_answer,
    ),
    Family(
        "distinct",
        "which different values of {column} the {many} that meet a {condition} have: all of them",
        draw_drafts(one_table.distinct),
        plans.list_answer,
    ),
    Family(
        "literal",
        "as aggregate ({what} of {many} that meet a {condition}), with a value that is stored in another spelling",
        draw_drafts(one_table.literal),
        plans.measure_answer,
        hard=True,
    ),
    Family(
        "dates",
        "how many {many} meet a {condition} on a date",
        draw_drafts(one_table.dates),
        plans.count_answer,
        hard=True,
    ),
    Family(
        "having",
        "which values of {column} have more than {bound} {many}: all of them",
        draw_drafts(one_table.having),
        plans.list_answer,
        hard=True,
    ),
    Family(
        "share",
        "which percentage of all {many} meet a {condition}, to one decimal (say so)",
        draw_drafts(one_table.share),
        plans.percent_answer,
        hard=True,
    ),
    Family(
        "superlative",
        "the {column} whose {many} have the {order} (such as `highest average`) {measure}: its name",
        draw_drafts(one_table.superlative),
        plans.best_answer,
        hard=True,
    ),
    Family(
        "join",
        "how many {many} belong to {parents} that meet a {condition}: the number",
        draw_drafts(relations.join),
        plans.count_answer,
        hard=True,
    ),
    Family(
        "join_aggregate",
        "{what} of the {many} that belong to {parents} that meet a {condition}: the number",
        draw_drafts(relations.join_aggregate),
        plans.measure_answer,
        hard=True,
    ),
    Family(
        "not_exists",
        "which {parents} have no {many} at all: their names",
        draw_drafts(relations.not_exists),
        plans.list_answer,
        hard=True,
    ),
    Family(
        "follow",
        "how many {many} the {parent} called {name} has: the number; or that there is no such {parent}",
        draw_drafts(relations.follow),
        plans.follow_answer,
        hard=True,
    ),
    Family(
        "owner",
        "the {column} of the {parent} that the {one} with the number {key} belongs to; or that there is no such {one}",
        draw_drafts(relations.owner),
        plans.owner_answer,
        hard=True,
    ),
    Family(
        "which_table",
        "the {column} of {name}, without a word on what kind of thing or person that is; or that there is no {name}",
        draw_drafts(ambiguities.which_table),
        plans.which_table_answer,
        hard=True,
    ),
    Family(
        "pick",
        "the {column} of the {one} with {part} in the name whose {by} is {clue}: that value; or that there is none",
        draw_drafts(ambiguities.pick),
        plans.pick_answer,
        hard=True,
    ),
    Family(
        "pick_count",
        "how many {many} the {one} with {part} in the name whose {by} is {clue} has; or that there is no such {one}",
        draw_drafts(ambiguities.pick_count),
        plans.pick_answer,
        hard=True,
    ),
    Family(
        "offscope",
        "something that reading tables cannot do with the {many}, one {one} or {column}: change, send, draw, foretell",
        draw_drafts(one_table.offscope),
        plans.decline,
    ),
    Family(
        "distinct_count",
        "how many different values of {column} occur among the {many} that meet a {condition}: the number",
        draw_drafts(one_table.distinct_count),
        plans.distinct_count_answer,
        held_out=True,
    ),
)
