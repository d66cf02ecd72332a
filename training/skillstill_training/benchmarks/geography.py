"""GeoQuery: questions about the states of the USA, with the SQL that answers them (jkkummerfeld/text2sql-data).

The workspace is the SQLite database. Gold is what the reference query yields on it: execution match.
"""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from skillstill_training.benchmarks.benchmark import Task, standard
from skillstill_training.benchmarks.gold import facts_gold, score_by_set
from skillstill_training.benchmarks.pinned import Pinned

REPOSITORY, COMMIT = "https://github.com/jkkummerfeld/text2sql-data", "5050bad2309a93636ea4788d3660c9202bf11e0e"
FILE, DATABASE = "geography.json", "geography-db.added-in-2020.sqlite"
QUESTIONS = Pinned(
    REPOSITORY, COMMIT, (f"/data/{FILE}",), "data", "f7eacd88a4b6ade1467ce8819d44136d821830d8c03c310f512883160c253e83"
)
DATA = Pinned(
    REPOSITORY,
    COMMIT,
    (f"/data/{DATABASE}",),
    "data",
    "1845d04427778a0d3eea2282583d4e2566af4eb9d82efb673309601dddd65046",
)

COMPARED = re.compile(r"(MAX|MIN)\(\s*\w+\.(HIGHEST|LOWEST)_ELEVATION")


@dataclass
class Geography:
    """The test questions, each once.

    Left out are those whose reference query fails, yields nothing or compares elevations, which the database holds as
    text: the highest point of the USA would be in Pennsylvania.
    """

    questions: Pinned = QUESTIONS
    database: Pinned = DATA
    name: str = "geography"
    skill: str = "tables"
    licence: str = "not stated"
    version: str = QUESTIONS.version

    def sources(self) -> tuple[Pinned, ...]:
        return (self.database,)

    def tasks(self) -> Iterator[Task]:
        entries = json.loads((self.questions.folder() / FILE).read_text(encoding="utf-8"))
        folder = self.database.folder()
        tests = ((one, entry) for entry in entries for one in entry["sentences"] if one["question-split"] == "test")
        asked = dict(_filled(sentence, entry) for sentence, entry in tests if not COMPARED.search(entry["sql"][0]))
        with closing(sqlite3.connect(f"{(folder / DATABASE).as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            values = {text: _values(database, query) for text, query in asked.items()}
        answerable = {f"{self.name}/test/{at}": text for at, text in enumerate(asked) if values[text]}
        for id, text in standard(answerable):
            gold = facts_gold(*((value,) for value in values[text])).model_dump(mode="json")
            yield Task(id=id, prompt=text, folder=str(folder), skill=self.skill, gold=gold)

    def score(self, task: Task, answer: str) -> float:
        return score_by_set(task, answer)


def _filled(sentence: Mapping[str, Any], entry: Mapping[str, Any]) -> tuple[str, str]:
    """Return the question and the first of its queries, their variables replaced by values."""
    values = {one["name"]: one["example"] for one in entry["variables"]} | {
        name: value for name, value in sentence["variables"].items() if value
    }
    text, query = sentence["text"], entry["sql"][0]
    for name in sorted(values, key=len, reverse=True):  # `state_name10` before `state_name1`
        text, query = text.replace(name, values[name]), query.replace(name, values[name])
    return text, query


def _values(database: sqlite3.Connection, query: str) -> Sequence[str]:
    """Return the distinct values that a query yields, none if it fails."""
    try:
        rows = database.execute(query).fetchall()
    except sqlite3.Error:
        return ()
    return list(dict.fromkeys(_plain(value) for row in rows for value in row if value is not None))


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
