"""The baseline of the skill `config`: the likeliest declared kind, the slots that are said, the kind's own gold."""

from pathlib import Path

from skillstill_training.authoring.kind_baseline import answer_by_kinds

answer = answer_by_kinds(Path(__file__).parent)
