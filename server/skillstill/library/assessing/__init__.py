"""What would become of a skill: can a small model learn it, and can a program tell whether it did it right?"""

from skillstill.library.assessing.assessor import DECIDED_BY, MISSING, Assessment, AssessmentReason, assess
from skillstill.library.assessing.prediction import CHECKS, CheckedBy, PredictedCheck
from skillstill.library.assessing.verdict import VERDICTS, Verdict

__all__ = [
    "CHECKS",
    "DECIDED_BY",
    "MISSING",
    "VERDICTS",
    "Assessment",
    "AssessmentReason",
    "CheckedBy",
    "PredictedCheck",
    "Verdict",
    "assess",
]
