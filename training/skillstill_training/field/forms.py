"""Which form and which reader suit a skill: by the toolset that its tools come from."""

from skillstill.skills.skill import Skill
from skillstill.tools import BUNDLED

from skillstill_training.field.direct import Form
from skillstill_training.field.passage_form import PassageForm
from skillstill_training.field.retrieval import Reader, code_pieces, log_pieces, table_pieces
from skillstill_training.field.sql_form import SqlForm, open_data, open_logs


def form_of(skill: Skill) -> Form:
    """Return the form in which a stock model is asked: a query if the skill's tools read data, passages otherwise."""
    if _uses(skill, "tables"):
        return SqlForm(open_data)
    return SqlForm(open_logs) if _uses(skill, "logs") else PassageForm(code_pieces)


def reader_of(skill: Skill) -> Reader:
    """Return what makes pieces of a workspace for the retrieval arm."""
    if _uses(skill, "tables"):
        return table_pieces
    return log_pieces if _uses(skill, "logs") else code_pieces


def _uses(skill: Skill, toolset: str) -> bool:
    return not set(BUNDLED[toolset]).isdisjoint(skill.subagent.tools)
