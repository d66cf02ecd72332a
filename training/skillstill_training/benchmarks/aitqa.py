"""AIT-QA: questions about tables in the annual reports of airlines, with cells as answers (IBM/AITQA).

Each table is written as a CSV file. A header of several levels becomes one text, its levels joined by ` / `.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from skillstill_training.benchmarks.benchmark import Task, standard
from skillstill_training.benchmarks.gold import facts_gold, score_by_gold
from skillstill_training.benchmarks.pinned import Pinned, written

DATA = Pinned(
    "https://github.com/IBM/AITQA",
    "0efa4da837884479754f76c31202bd27142c2406",
    ("/raw_data/*",),
    "raw_data",
    "4c3f179959f8d1b3f9824eafbd72225c0e60fb0478f2e0441a36dd0fd1cb9011",
)


@dataclass
class AitQa:
    """All questions: the repository has no splits."""

    data: Pinned = DATA
    name: str = "aitqa"
    skill: str = "tables"
    licence: str = "CDLA-Sharing-1.0"
    version: str = DATA.version

    def sources(self) -> tuple[Pinned, ...]:
        return (self.data,)

    def tasks(self) -> Iterator[Task]:
        folder = self.data.folder()
        tables = {one["id"]: one for one in _lines(folder / "aitqa_tables.jsonl")}
        questions = {f"{self.name}/all/{at}": one for at, one in enumerate(_lines(folder / "aitqa_questions.jsonl"))}
        for id, one in standard(questions):
            table = written({f"{one['table_id']}.csv": _csv(tables[one["table_id"]])})
            gold = facts_gold(*map(_forms, one["answers"])).model_dump(mode="json")
            yield Task(id=id, prompt=one["question"].strip(), folder=str(table), skill=self.skill, gold=gold)

    def score(self, task: Task, answer: str) -> float:
        return score_by_gold(task, answer)


def _lines(file: Path) -> Iterator[Any]:
    return (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip())


def _csv(table: Mapping[str, Any]) -> str:
    heads = [_joined(levels) for levels in table["column_header"]]
    sides = [_joined(levels) for levels in table["row_header"]]
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["Item", *heads] if sides else heads)
    for side, row in zip_longest(sides, table["data"], fillvalue=""):  # two of the tables lack rows
        rows.writerow([side, *row] if sides else row)
    return text.getvalue()


def _joined(levels: Sequence[str]) -> str:
    return " / ".join(" ".join(level.split()) for level in levels)


def _forms(cell: str) -> tuple[str, ...]:
    """Return a cell as it stands and as a number: `$5,813` is also 5,813, and `(654)` also -654 and a loss of 654."""
    bare = cell.replace("$", "").replace("%", "").replace("¢", "").strip()
    inner = bare.strip("()").strip() if bare.startswith("(") else bare
    negative = [f"-{inner}"] if inner != bare else []
    return tuple(dict.fromkeys([cell.strip(), bare, *negative, inner]))
