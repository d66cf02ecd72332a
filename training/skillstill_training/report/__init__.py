"""The pages of a run: `report.html` with the results of an evaluation, `index.html` with goals and traces."""

from skillstill_training.report.report_page import draw_curves, write_report

__all__ = ["draw_curves", "write_report"]
