"""The results of a comparison: its figures as JSON, and a page. Both are written anew from the stored outcomes."""

from pathlib import Path

from skillstill_training.compare.page import write_comparison
from skillstill_training.compare.running import Comparison
from skillstill_training.compare.summary import Summary, summarize
from skillstill_training.util.jsonl import write_text


def write_results(comparison: Comparison) -> tuple[Summary, Path]:
    """Return the figures of what is done so far, and where the page is. Raise StageError."""
    who, benchmark, rows = comparison.orchestrator.name, comparison.benchmark, comparison.finished()
    summary = summarize(benchmark.name, benchmark.version, who, rows)
    page = comparison.folder / f"{who}.html"
    write_text(page.with_suffix(".json"), summary.model_dump_json(indent=1) + "\n")
    write_comparison(page, summary, comparison.tasks, rows)
    return summary, page
