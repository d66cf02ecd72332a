"""The teachers, whose traces a student learns from: plans, a model behind an endpoint, the user's own transcripts."""

from skillstill_training.teachers.teacher import (
    FIELD,
    RECORDED,
    ConstructedTeacher,
    CriterionVerdict,
    Sample,
    Teacher,
    TraceRow,
    Verified,
)

__all__ = ["FIELD", "RECORDED", "ConstructedTeacher", "CriterionVerdict", "Sample", "Teacher", "TraceRow", "Verified"]
