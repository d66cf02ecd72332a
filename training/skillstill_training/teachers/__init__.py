"""Who solves goals so that a student can learn from it: plans, a model behind an endpoint, the user's own record."""

from skillstill_training.teachers.teacher import ConstructedTeacher, Teacher, TraceRow, Verified

__all__ = ["ConstructedTeacher", "Teacher", "TraceRow", "Verified"]
