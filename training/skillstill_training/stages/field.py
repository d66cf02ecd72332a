"""`skillstill field SKILL`: ask the arms natural questions about real folders, and judge what they say.

The result is a score for people and programs, `SPLIT.json`, and a page to read each run, `SPLIT.html`.
"""

from pathlib import Path

from skillstill.types import Models

from skillstill_training.field.measure import FieldOptions, FieldSet, FieldTest, Subject, measure_in_field
from skillstill_training.field.runs import OnField
from skillstill_training.report.field_page import write_field_page
from skillstill_training.util.jsonl import write_text


async def ask_field(
    skill_folder: Path,
    subject: Subject,
    questions: FieldSet,
    results: Path,
    options: FieldOptions,
    *,
    models: Models | None = None,
    on_progress: OnField = lambda progress: None,
) -> FieldTest:
    """Measure the arms and write score and page into the folder `results`. Raise as `measure_in_field` does."""
    test = await measure_in_field(
        skill_folder, subject, questions, results, options, models=models, on_progress=on_progress
    )
    write_text(results / f"{options.split}.json", test.result.model_dump_json(indent=1) + "\n")
    write_field_page(results, test)
    return test
