"""Benchmarks: tasks from a pinned repository, and scorers that tell gold from wrong answers of the same shape.

The repositories are small ones with the layout of the real ones, written here.
"""

import json
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from skillstill.errors import UsageError, WorkspaceSourceError
from skillstill_training.benchmarks import BENCHMARKS, Task, find
from skillstill_training.benchmarks.aitqa import AitQa
from skillstill_training.benchmarks.benchmark import STANDARD, PinnedBenchmark, standard
from skillstill_training.benchmarks.code_search import CodeSearch, read_android, read_annotations
from skillstill_training.benchmarks.geography import DATABASE, Geography
from skillstill_training.benchmarks.loghub import LoghubTemplates
from skillstill_training.benchmarks.logqa import LogQuestions
from skillstill_training.benchmarks.measure import BenchmarkScore, measure, reply, stored_scores
from skillstill_training.benchmarks.pinned import Pinned
from skillstill_training.benchmarks.seen import seen_by
from skillstill_training.cli.benchmarks import benchmarks
from skillstill_training.field.arms import Asked, FieldRow
from skillstill_training.field.judge import FieldAnswer
from skillstill_training.run.scorecard import FieldArmName, Interval

from tests.scenes import write

LOG = "".join(f"10:0{at} INFO store: {text}\n" for at, text in enumerate(["took 19 ms", "took 7 ms", "disk full"]))
HANDED_BACK = "I cannot answer this: no tool shows it."
HOME = "https://github.com/ann/tool"


def committed(root: Path, files: dict[str, str]) -> str:
    """The commit of a repository that holds these files and what is in the folder already."""
    write(root, files)
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    for arguments in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "data")):
        subprocess.run(["git", "-C", str(root), *arguments], check=True)
    return subprocess.run(
        ["git", "-C", str(root), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def geography(tmp_path: Path) -> Geography:
    root = tmp_path / "sql"
    (root / "data").mkdir(parents=True)
    with closing(sqlite3.connect(root / "data" / DATABASE)) as database, database:
        database.execute("create table city (name text, state text, people int)")
        rows = [("oslo", "norway", 700), ("bergen", "norway", 290), ("malmo", "sweden", 350)]
        database.executemany("insert into city values (?, ?, ?)", rows)
    entry = {
        "sentences": [
            {"question-split": "test", "text": "which cities are in state0", "variables": {"state0": "norway"}},
            {"question-split": "test", "text": "which cities are in state0", "variables": {"state0": "norway"}},
            {"question-split": "test", "text": "which cities are in state0", "variables": {"state0": "chile"}},
            {"question-split": "train", "text": "name the cities of state0", "variables": {"state0": "sweden"}},
        ],
        "sql": ['SELECT name FROM city WHERE state = "state0" ;'],
        "variables": [{"name": "state0", "example": "sweden"}],
    }
    commit = committed(root, {"data/geography.json": json.dumps([entry])})
    return Geography(
        Pinned(str(root), commit, ("/data/geography.json",), "data"),
        Pinned(str(root), commit, (f"/data/{DATABASE}",), "data"),
    )


def aitqa(tmp_path: Path) -> AitQa:
    table = {"id": "tab-0", "column_header": [["2017"], ["At year end", "2018"]], "row_header": [["Costs:", "Fuel"]]}
    question = {"table_id": "tab-0", "question": "What was spent on fuel in 2018?", "answers": ["$5,813"]}
    files = {
        "raw_data/aitqa_tables.jsonl": lines(table | {"data": [["$4,100", "$5,813"]]}),
        "raw_data/aitqa_questions.jsonl": lines(question),
    }
    root = tmp_path / "aitqa"
    return AitQa(Pinned(str(root), committed(root, files), ("/raw_data/*",), "raw_data"))


def log_questions(tmp_path: Path) -> LogQuestions:
    asked = [
        {"Question": "How long did the last step take?", "Answer": "19 ms"},
        {"Question": "What is the level INFO of?", "Answer": "INFO"},
    ]
    root = tmp_path / "logqa"
    commit = committed(root, {"data/Spark/qa.json.test": lines(*asked), "Spark/Spark_2k.log": LOG})
    questions = Pinned(str(root), commit, ("/data/Spark/qa.json.test",), "data/Spark")
    return LogQuestions("logqa", questions, Pinned(str(root), commit, ("/Spark/Spark_2k.log",), "Spark"))


def loghub(tmp_path: Path) -> LoghubTemplates:
    texts = ["took <*> ms"] * 7 + ["disk full"] * 2
    labels = "LineId,EventTemplate\n" + "".join(f"{at},{text}\n" for at, text in enumerate(texts, 1))
    root = tmp_path / "loghub"
    commit = committed(root, {"Disk/Disk_2k.log": LOG, "Disk/Disk_2k.log_structured.csv": labels})
    log = Pinned(str(root), commit, ("/Disk/Disk_2k.log",), "Disk")
    return LoghubTemplates(Pinned(str(root), commit, ("/Disk/Disk_2k.log_structured.csv",)), {"Disk": log})


def code_search(tmp_path: Path, name: str) -> CodeSearch:
    host, root = tmp_path / "host", tmp_path / "search"
    tool = committed(host / "ann" / "tool", {"src/io.py": "def load():\n    return 1\n" * 40})
    place, other = f"{HOME}/blob/{tool}/src/io.py#L21-L22", f"https://github.com/bob/gone/blob/{tool}/a.py#L1-L2"
    rated = "".join(f"Python,read a file,{url},{good},\n" for url, good in ((place, 3), (place, 0), (other, 3)))
    files = {
        "resources/annotationStore.csv": "Language,Query,GitHubUrl,Relevance,Notes\n" + rated,
        "data/287_android_questions.json": json.dumps([{"question": "read a file", "examples_url": [place, other]}]),
        "listed.toml": f'[{name}]\n"ann/tool" = "{tool}"\n',
    }
    top, read = ("resources", read_annotations) if name == "codesearchnet" else ("data", read_android)
    data = Pinned(str(root), committed(root, files), (f"/{top}/*",), top)
    return CodeSearch(name, "MIT", data, read, host=str(host), listed=root / "listed.toml")


Scene = Callable[[Path], PinnedBenchmark]
SCORED: list[tuple[Scene, str, list[str], list[str]]] = [
    (
        geography,
        "which cities are in norway",
        ["They are oslo, bergen (r2).", "oslo | 1\nbergen | 2", "The cities of Norway are Bergen and Oslo."],
        ["They are oslo, malmo (r2).", "oslo", "They are oslo, bergen, malmo (r2).", "malmo; trondheim"],
    ),
    (
        aitqa,
        "What was spent on fuel in 2018?",
        ["$5,813", "It was 5813 (r1).", "Fuel cost $5,813 million."],
        ["$4,100", "5,814", "It was 58.13 (r1)."],
    ),
    (
        log_questions,
        "How long did the last step take?",
        ["19 ms", "It took 19 ms (Spark_2k.log:1).", "19"],
        ["7 ms", "Spark_2k.log:19", "It took 190 ms."],
    ),
    (
        lambda folder: code_search(folder, "codesearchnet"),
        "read a file",
        ["src/io.py:21-22", "`load` does that, see src/io.py:21."],
        [
            "src/io.py:23-24",
            "src/io.py:20",
            "src/other.py:21-22",
            "\n".join(f"src/io.py:{at}" for at in range(1, 80, 8)),
        ],
    ),
    (
        lambda folder: code_search(folder, "android-search"),
        "read a file",
        ["src/io.py:21-22"],
        ["src/io.py:60-61", "src/io.js:21-22"],
    ),
    (
        loghub,
        "How many lines match the template `took <*> ms`? Each <*> stands for any text.",
        ["There are 7 (r1).", "7"],
        ["There are 8 (r1).", "Disk_2k.log:7"],
    ),
    (
        loghub,
        "Which lines match the template `disk full`? Each <*> stands for any text.",
        ["Disk_2k.log:8, Disk_2k.log:9", "Disk_2k.log:8-9", "Lines 8 and 9.", "Disk_2k.log:8-9: at /0:0:0:21"],
        ["Disk_2k.log:8", "Disk_2k.log:7-9", "Lines 8 and 10.", "1"],
    ),
]


@pytest.mark.parametrize(("scene", "prompt", "right", "wrong"), SCORED)
def test_gold_is_worth_one_and_wrong_answers_of_its_shape_nothing(
    tmp_path: Path, scene: Scene, prompt: str, right: list[str], wrong: list[str]
) -> None:
    benchmark = scene(tmp_path)
    (task,) = [task for task in benchmark.tasks() if task.prompt == prompt]
    assert {answer: benchmark.score(task, answer) for answer in right} == dict.fromkeys(right, 1.0)
    nothing = [*wrong, "", " \n", HANDED_BACK, prompt]
    assert {answer: benchmark.score(task, answer) for answer in nothing} == dict.fromkeys(nothing, 0.0)


def test_a_task_says_where_its_folder_is(tmp_path: Path) -> None:
    (task,) = aitqa(tmp_path).tasks()
    (file,) = Path(task.folder).iterdir()
    assert file.name == "tab-0.csv"
    assert file.read_text(encoding="utf-8") == 'Item,2017,At year end / 2018\nCosts: / Fuel,"$4,100","$5,813"\n'


def test_questions_come_once_and_only_those_that_can_be_scored(tmp_path: Path) -> None:
    assert [task.prompt for task in geography(tmp_path).tasks()] == ["which cities are in norway"]
    assert [task.prompt for task in log_questions(tmp_path).tasks()] == ["How long did the last step take?"]


def test_the_standard_run_is_the_same_each_time_and_not_the_first_ones() -> None:
    items = {f"x/test/{at}": at for at in range(1_000)}
    drawn = list(standard(items))
    assert len(drawn) == STANDARD
    assert drawn == list(standard(dict(reversed(items.items()))))
    assert max(at for _, at in drawn) > 900


def test_files_that_are_not_the_pinned_ones_are_refused(tmp_path: Path) -> None:
    commit = committed(tmp_path / "data", {"a.txt": "a"})
    with pytest.raises(WorkspaceSourceError, match="expected files with sha256 000"):
        Pinned(str(tmp_path / "data"), commit, sha256="0" * 64).folder()


def test_a_folder_that_a_skill_trains_on_is_told(tmp_path: Path) -> None:
    source = (
        '[[workspace]]\nname = "a"\nsplit = "{}"\nsource = "git:https://github.com/ann/tool@{}"\nkeep = ["/a.log"]\n'
    )
    write(tmp_path, {"logs/field/sources.toml": source.format("train", "0" * 40)})
    write(tmp_path, {"logs/sources.toml": source.format("validation", "1" * 40).replace("a.log", "b.log")})
    whole, b, c = (Pinned(HOME, "2" * 40, keep) for keep in ((), ("/b.log",), ("/c.log",)))
    assert seen_by(tmp_path, [c, whole]) == "trained on"
    assert seen_by(tmp_path, [b]) == "validated on"
    assert seen_by(tmp_path, [c, Pinned("https://github.com/ann/tools", "2" * 40)]) == "no"


def test_all_benchmarks_can_be_found_and_each_skill_has_two() -> None:
    assert all(find(name).name == name for name in BENCHMARKS)
    skills = [one.skill for one in BENCHMARKS.values()]
    assert all(skills.count(skill) >= 2 for skill in ("explore", "logs", "tables"))
    with pytest.raises(UsageError, match="expected one of codesearchnet"):
        find("spider")


class InTurn:
    """An arm that gives its answers in turn, and counts how often it is asked."""

    name: FieldArmName = "ours"
    label, key = "in turn", "k"

    def __init__(self, *answers: FieldAnswer) -> None:
        self.answers, self.asked = answers, 0

    async def solve(self, asked: Asked, root: Path) -> FieldRow:
        self.asked += 1
        answer = self.answers[self.asked % len(self.answers)]
        return FieldRow(question=asked.id, prompt=asked.prompt, answer=answer, seconds=2)


class Numbers:
    """A benchmark of ten questions, whose answers are their numbers."""

    name, skill, licence, version = "numbers", "tables", "MIT", "1"

    def tasks(self) -> Iterator[Task]:
        for at in range(10):
            yield Task(id=f"numbers/{at}", prompt=f"say {at}", folder="/", skill="tables", gold=at)

    def score(self, task: Task, answer: str) -> float:
        return float(answer == str(task.gold))


class Listed(Numbers):
    """One whose answers may be lists."""

    def score(self, task: Task, answer: str) -> float:
        return float(str(task.gold) in answer.split("\n"))


def test_many_places_of_evidence_make_a_right_answer_no_list(tmp_path: Path) -> None:
    benchmark = log_questions(tmp_path)
    (task,) = benchmark.tasks()
    places = tuple(f"Spark_2k.log:{at}" for at in range(1, 12))
    answer = FieldAnswer(status="answered", text="It took 19 ms.", places=places)
    assert benchmark.score(task, reply(answer)) == 1


@pytest.mark.anyio
async def test_what_a_lead_quotes_counts_as_led(tmp_path: Path) -> None:
    arm = InTurn(FieldAnswer(status="escalate", text="see the places", leads=("spark.log:7",), quoted=("0", "1", "2")))
    (score,) = await measure(Listed(), "tables", [arm], None, tmp_path)
    assert (score.score.value, score.led.value) == (0, 0.3)


@pytest.mark.anyio
async def test_scores_come_with_an_interval_and_a_second_run_asks_only_what_is_new(tmp_path: Path) -> None:
    arm = InTurn(FieldAnswer(status="answered", text="3"), FieldAnswer(status="escalate", text="3", leads=("4",)))
    (score,) = await measure(Numbers(), "tables", [arm], 5, tmp_path)
    assert (score.tasks, score.score.value, score.answered, score.seconds) == (5, 0.2, 0.4, 2)
    assert score.led.low <= score.led.value == 0.4 <= score.led.high
    (score,) = await measure(Numbers(), "tables", [arm], None, tmp_path)
    assert (score.tasks, arm.asked) == (10, 10)
    assert stored_scores(tmp_path) == {("numbers", "tables", "ours"): score}


def test_all_are_listed_without_a_network_and_with_the_scores_that_are_filed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    share = Interval(value=0.5, low=0.25, high=0.75)
    score = BenchmarkScore(
        benchmark="aitqa", version="1", skill="tables", arm="ours", label="ours", tasks=30, folders=9, score=share,
        led=share, answered=1, seconds=2,
    )  # fmt: skip
    write(tmp_path, {"aitqa/tables.ours.json": score.model_dump_json()})
    assert benchmarks(results=tmp_path, json=True) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert listed.keys() == BENCHMARKS.keys()
    assert listed["aitqa"]["licence"] == "CDLA-Sharing-1.0"
    assert {one["seen"] for one in listed.values()} == {"no"}
    assert listed["aitqa"]["scores"] == [score.model_dump(mode="json")]
    benchmarks(results=tmp_path)
    assert "50% (25% to 75%), n 30" in capsys.readouterr().out


def test_all_benchmarks_are_asked_of_all_skills_that_are_named_and_stand_in_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = {one.name: one for one in (log_questions(tmp_path / "a"), aitqa(tmp_path / "b"))}
    for name in set(BENCHMARKS) - set(small):
        monkeypatch.delitem(BENCHMARKS, name)
    for name, one in small.items():
        monkeypatch.setitem(BENCHMARKS, name, one)
    asked = {"skill": "logs, tables", "everything": True, "arms": "baseline,retrieval", "results": tmp_path / "out"}
    assert benchmarks(**asked) == 0  # type: ignore[arg-type]
    table = capsys.readouterr().out.partition(" score")[2].splitlines()
    assert [line.split()[:2] for line in table[1:]] == [
        [name, arm] for name in ("logqa", "aitqa") for arm in ("baseline", "retrieval")
    ]
    assert table[0].split() == ["arm", "logs", "tables"]
    assert all(line.count("n 1") == 2 for line in table[1:])


def test_one_benchmark_and_all_of_them_cannot_both_be_meant() -> None:
    with pytest.raises(UsageError, match="say either logqa or --all"):
        benchmarks("logqa", everything=True)
