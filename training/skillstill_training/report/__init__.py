"""`report.html` of a run: what its adapter is worth, how that was measured, and how to measure it again."""

from skillstill_training.report.report_page import draw_curves, write_report

__all__ = ["draw_curves", "write_report"]
