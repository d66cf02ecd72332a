"""What would become of a skill: can a small model learn it, and can a program tell whether it did it right?"""

from skillstill.library.assessing.assessor import (
    DECIDED_BY,
    MISSING,
    VERDICTS,
    Assessment,
    AssessmentReason,
    Verdict,
    assess,
)

__all__ = ["DECIDED_BY", "MISSING", "VERDICTS", "Assessment", "AssessmentReason", "Verdict", "assess"]
