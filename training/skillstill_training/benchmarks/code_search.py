"""Questions of people who looked for code, with the function that somebody judged to be the answer.

Both data sets name functions by addresses of GitHub, with the commit and the lines. The workspace is the repository at
that commit. A function that nobody judged counts as wrong, so that figures are a lower bound. Only
the repositories in code_search.toml are used, for each of them is cloned.
"""

import csv
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from skillstill.types import Frozen

from skillstill_training.benchmarks.benchmark import Task, standard
from skillstill_training.benchmarks.gold import score_by_place
from skillstill_training.benchmarks.pinned import Pinned

ADDRESS = re.compile(r"https://github\.com/([^/]+/[^/]+)/blob/([0-9a-f]{40})/(.+)#L(\d+)-L(\d+)")
GOOD = 2  # of 3: "strong match" and "exact match"
CODESEARCHNET = Pinned(
    "https://github.com/github/CodeSearchNet",
    "106e827405c968597da938f6b373d30183918869",
    ("/resources/annotationStore.csv",),
    "resources",
    "01da7a9009cebe7bafbd6bd1770b4144386abe407abd349645efc0767bce158b",
)
ANDROID = Pinned(
    "https://github.com/facebookresearch/Neural-Code-Search-Evaluation-Dataset",
    "e3d1b6e6b869b6853d11ecc9469618e1d27a7713",
    ("/data/287_android_questions.json",),
    "data",
    "7ff3712031196019ee043a3497d2becc67e197e646a4fbbe466106b9bcc8ba05",
)
REPOSITORIES = Path(__file__).with_suffix(".toml")


class Found(Frozen):
    """A function that answers a query: the repository, its commit, and the place in it."""

    query: str
    repository: str
    commit: str
    place: str


@dataclass
class CodeSearch:
    """A task for each query and repository; each function that was judged good for it is right."""

    name: str
    licence: str
    data: Pinned
    read: Callable[[Path], Iterator[tuple[str, str]]]
    host: str = "https://github.com"
    skill: str = "explore"
    version: str = ""
    listed: Path = REPOSITORIES

    def __post_init__(self) -> None:
        self.version = self.data.version

    def sources(self) -> tuple[Pinned, ...]:
        return tuple(self._pinned(repository, commit) for repository, commit in self._listed().items())

    def tasks(self) -> Iterator[Task]:
        for id, found in standard(self._by_task()):
            folder = self._pinned(found[0].repository, found[0].commit).folder()
            gold = list(dict.fromkeys(one.place for one in found))  # several annotators may have judged it
            yield Task(id=id, prompt=found[0].query, folder=str(folder), skill=self.skill, gold=gold)

    def score(self, task: Task, answer: str) -> float:
        return score_by_place(task, answer, cast("list[str]", task.gold))

    def _listed(self) -> Mapping[str, str]:
        """Return the commits by repository."""
        commits: dict[str, str] = tomllib.loads(self.listed.read_text(encoding="utf-8"))[self.name]
        return commits

    def _pinned(self, repository: str, commit: str) -> Pinned:
        return Pinned(f"{self.host}/{repository}", commit)

    def _by_task(self) -> Mapping[str, list[Found]]:
        """Return what was found by task. Tasks are counted within a repository: a longer list changes no id."""
        repositories: dict[str, dict[str, list[Found]]] = {}
        for one in self._found():
            repositories.setdefault(one.repository, {}).setdefault(one.query, []).append(one)
        return {
            f"{self.name}/{repository.replace('/', '.')}/{at}": found
            for repository, queries in repositories.items()
            for at, found in enumerate(queries.values())
        }

    def _found(self) -> Iterator[Found]:
        commits = self._listed()
        for query, address in self.read(self.data.folder()):
            if (parts := ADDRESS.fullmatch(address)) and commits.get(parts[1]) == parts[2]:
                yield Found(
                    query=query, repository=parts[1], commit=parts[2], place=f"{parts[3]}:{parts[4]}-{parts[5]}"
                )


def read_annotations(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the queries and addresses of CodeSearchNet that an annotator found good."""
    with (folder / "annotationStore.csv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            if int(row["Relevance"]) >= GOOD:
                yield row["Query"], row["GitHubUrl"]


def read_android(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the titles of Stack Overflow questions, and the addresses of methods that do what their answers do."""
    for entry in json.loads((folder / "287_android_questions.json").read_text(encoding="utf-8")):
        for address in entry["examples_url"]:
            yield entry["question"], address


def codesearchnet() -> CodeSearch:
    return CodeSearch("codesearchnet", "MIT", CODESEARCHNET, read_annotations)


def android_search() -> CodeSearch:
    return CodeSearch("android-search", "CC-BY-NC-4.0", ANDROID, read_android)
