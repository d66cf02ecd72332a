"""All that a skill's goals.py and its families import: goals and their checks, oracles, workspaces.

`authoring.reading` adds readers of code, logs and tables for families, steps and baselines. A skill imports nothing
else of this package but for `workspaces`: it may change from release to release.
"""

from skillstill.types import Span, ToolCall

from skillstill_training.authoring.checks import Absent, Declined, Locations, Members, Quoted, Rows, Value
from skillstill_training.authoring.families import Family
from skillstill_training.authoring.goal import Draft, Goal, Split
from skillstill_training.authoring.numbers import same_number
from skillstill_training.authoring.oracle import OracleContext, Plan, SeenResult, call
from skillstill_training.workspaces import BuiltWorkspace

__all__ = [
    "Absent",
    "BuiltWorkspace",
    "Declined",
    "Draft",
    "Family",
    "Goal",
    "Locations",
    "Members",
    "OracleContext",
    "Plan",
    "Quoted",
    "Rows",
    "SeenResult",
    "Span",
    "Split",
    "ToolCall",
    "Value",
    "call",
    "same_number",
]
