"""Loghub's templates: which lines of a log are of one event (logpai/loghub, the samples of 2,000 lines).

Its labels hold no questions, so there are two fixed forms: how many lines a template has, and which ones. The systems
that training or validation has seen are left out, and with BGL and Thunderbird all samples that label anomalies.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.benchmarks.benchmark import Task, standard
from skillstill_training.benchmarks.gold import facts_gold, score_by_gold
from skillstill_training.benchmarks.pinned import Pinned

REPOSITORY, COMMIT = "https://github.com/logpai/loghub", "dd61d0952749ee7963bde24220d1be5ede023033"
SYSTEMS = ("Android", "Apache", "Linux", "Spark", "Zookeeper")
COUNT = "How many lines match the template `{template}`? Each <*> stands for any text."
LINES = "Which lines match the template `{template}`? Each <*> stands for any text."
FEW = range(1, 6)  # lines of an event that somebody would want to see listed


def log_of(system: str) -> Pinned:
    """Return the sample of a system: `SYSTEM_2k.log`."""
    return Pinned(REPOSITORY, COMMIT, (f"/{system}/{system}_2k.log",), system)


LABELS = Pinned(
    REPOSITORY,
    COMMIT,
    tuple(f"/{system}/{system}_2k.log_structured.csv" for system in SYSTEMS),
    "",
    "3aae7624d615bdbf9c55587491a8bc2a44dd4e976374dbb18b743d220a71be36",
)
LOGS = {system: log_of(system) for system in SYSTEMS}


@dataclass
class LoghubTemplates:
    """A task for each template: its lines if they are few, else how many they are."""

    labels: Pinned = LABELS
    logs: Mapping[str, Pinned] = field(default_factory=lambda: LOGS)
    name: str = "loghub"
    skill: str = "logs"
    licence: str = "free for research"
    version: str = LABELS.version

    def sources(self) -> tuple[Pinned, ...]:
        return tuple(self.logs.values())

    def tasks(self) -> Iterator[Task]:
        folder = self.labels.folder()
        events = {
            f"{self.name}/{system}/{at}": (system, template, lines)
            for system in self.logs
            for at, (template, lines) in enumerate(_events(folder / system / f"{system}_2k.log_structured.csv").items())
        }
        for id, (system, template, lines) in standard(events):
            few = len(lines) in FEW
            yield Task(
                id=id,
                prompt=(LINES if few else COUNT).format(template=template),
                folder=str(self.logs[system].folder()),
                skill=self.skill,
                gold=list(lines) if few else facts_gold((str(len(lines)),)).model_dump(mode="json"),
            )

    def score(self, task: Task, answer: str) -> float:
        if isinstance(task.gold, list):
            return float(_lines_named(answer) == set(task.gold))
        return score_by_gold(task, answer)


def _events(file: Path) -> Mapping[str, Sequence[int]]:
    """Return the numbers of the lines by template."""
    events: dict[str, list[int]] = {}
    with file.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            events.setdefault(row["EventTemplate"], []).append(int(row["LineId"]))
    return events


def _lines_named(answer: str) -> set[int]:
    """Return the lines of the places in an answer; those of its bare numbers if it names no place.

    A line that is quoted may hold what looks like a place: `/0:0:0:0:2181`.
    """
    attempt = Attempt.of_text("", answer)
    if places := [span for span in attempt.places if span.path.endswith(".log")]:
        return {line for span in places for line in range(span.first, span.last + 1)}
    return {int(number) for number in attempt.numbers if number.isdigit()}
