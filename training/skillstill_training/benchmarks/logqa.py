"""Questions about log files of Loghub that other people wrote: LogQA asks for a value in one line, LogSay for counts,
sums and extremes over many lines.

The workspace is the log itself, from Loghub. Both also ask about HDFS and OpenSSH, which our validation and our
training have seen: only Spark is used.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from skillstill_training.benchmarks.benchmark import Task, standard
from skillstill_training.benchmarks.gold import facts_gold, score_by_gold
from skillstill_training.benchmarks.loghub import log_of
from skillstill_training.benchmarks.pinned import Pinned

LOGQA = Pinned(
    "https://github.com/LogQA-dataset/LogQA",
    "6100aebb42d9b322e64ac41bf9d06369b4e4cdfa",
    ("/data/Spark/qa.json.test",),
    "data/Spark",
    "d0486ec49d6d4c8eaed105e39165f6cfb643d27e9a865204e612bc5cbba1ded0",
)
LOGSAY = Pinned(
    "https://github.com/xichie/LogReasoning",
    "bf603e15d63d7ea9adb0cf5ee7bf852561c1858d",
    ("/logs/Spark/spark_multihop_qa_test.json",),
    "logs/Spark",
    "62046daa52a57867e957eb518773291f7a36155f84caf2a1d55985d1838d31d5",
)
LOG = log_of("Spark")
UNIT = re.compile(r"(?<=\d) [A-Za-z]+$")


@dataclass
class LogQuestions:
    """The test questions about a system's log, each once. What a question itself tells is left out."""

    name: str
    questions: Pinned
    log: Pinned = LOG
    skill: str = "logs"
    licence: str = "not stated"
    version: str = ""

    def __post_init__(self) -> None:
        self.version = self.questions.version

    def sources(self) -> tuple[Pinned, ...]:
        return (self.log,)

    def tasks(self) -> Iterator[Task]:
        tasks = {task.id: task for task in self._all() if not self.score(task, task.prompt)}
        return (task for _, task in standard(tasks))

    def score(self, task: Task, answer: str) -> float:
        return score_by_gold(task, answer)

    def _all(self) -> Iterator[Task]:
        folder = str(self.log.folder())
        (file,) = self.questions.folder().iterdir()
        entries = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        answers = {one["Question"].strip(): one["Answer"] for one in entries}
        for at, (question, answer) in enumerate(answers.items()):
            gold = facts_gold(_forms(answer)).model_dump(mode="json")
            yield Task(id=f"{self.name}/test/{at}", prompt=question, folder=folder, skill=self.skill, gold=gold)


def _forms(answer: str | float) -> tuple[str, ...]:
    """Return the answer, it without the punctuation around it (`failed:`), and a number without its unit (`19 ms`)."""
    text = str(int(answer)) if isinstance(answer, float) and answer.is_integer() else str(answer).strip()
    number = UNIT.sub("", text)
    return tuple(dict.fromkeys(form for form in (text, text.strip("[]:;,. "), number) if form))


def logqa() -> LogQuestions:
    return LogQuestions("logqa", LOGQA)


def logsay() -> LogQuestions:
    return LogQuestions("logsay", LOGSAY)
