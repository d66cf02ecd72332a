"""How often the router chooses rightly: in the folder that a question is about, in a mixed one, and of strangers."""

import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from skillstill.errors import StageError
from skillstill.routing.candidates import Candidate
from skillstill.routing.folder import Kind, count_kinds
from skillstill.routing.model import RoutingModel
from skillstill.routing.router import choose

from skillstill_training.evaluation.resampling import ClusteredValue, bootstrap_mean
from skillstill_training.field.question import FOLDER
from skillstill_training.routing.examples import Example
from skillstill_training.run.scorecard import Interval
from skillstill_training.workspaces import workspace_roots

MIXED: Mapping[Kind, int] = {"code": 100, "logs": 100, "tables": 100}
Where = Literal["own", "mixed"]
Kinds = Mapping[Kind, int]


@dataclass(frozen=True, slots=True)
class Routed:
    """An example, where it was asked, and the subagent that was chosen; empty: none."""

    example: Example
    where: Where
    chosen: str

    @property
    def right(self) -> bool:
        return self.chosen == self.example.subagent


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The share of `n` examples that were routed rightly, with a 95 % interval over groups."""

    of: str
    n: int
    share: Interval


def folder_kinds(skills: Sequence[Path], examples: Sequence[Example]) -> Mapping[str, Kinds]:
    """Return what the folders of the questions hold, by skill and folder. Raise WorkspaceSourceError."""
    found = {}
    for skill in skills:
        names = {one.group for one in examples if one.subagent == skill.name}
        for name, root in workspace_roots(skill / FOLDER, names, offline=True).items():
            found[f"{skill.name}/{name}"] = count_kinds(root)
    return found


def route_all(
    model: RoutingModel, candidates: Sequence[Candidate], examples: Sequence[Example], folders: Mapping[str, Kinds]
) -> Sequence[Routed]:
    """Return each example in its own folder, a task that none fits in one drawn by its text; then all in a mixed one.

    Raise StageError if a folder is missing.
    """
    drawn = sorted(folders)
    routed = []
    for one in examples:
        key = f"{one.subagent}/{one.group}" if one.subagent else drawn[zlib.crc32(one.task.encode()) % len(drawn)]
        if key not in folders:
            raise StageError(f"the folder {key} of a question is missing")
        places: tuple[tuple[Where, Kinds], ...] = (("own", folders[key]), ("mixed", MIXED))
        for where, kinds in places:
            routed.append(Routed(one, where, choose(model, one.task, candidates, kinds).subagent))
    return routed


def stranger(one: Candidate) -> Candidate:
    """Return the subagent as if nothing had been learned of it but its texts."""
    return replace(one, is_learned=False)


def accuracies(routed: Sequence[Routed]) -> Iterator[Accuracy]:
    """Yield the accuracy for each place and subagent, and of all."""
    for where in ("own", "mixed"):
        here = [one for one in routed if one.where == where]
        for name in sorted({one.example.subagent for one in here}):
            yield _accuracy(f"{where}: {name or 'none fits'}", [one for one in here if one.example.subagent == name])
        yield _accuracy(f"{where}: all", here)


def by_source(routed: Sequence[Routed]) -> Iterator[Accuracy]:
    """Yield the accuracy of refusals by the source of the tasks that none fits; commits of all repositories as one."""
    beyond = [one for one in routed if not one.example.subagent and one.where == "own"]
    for source in sorted({_source(one) for one in beyond}):
        yield _accuracy(source, [one for one in beyond if _source(one) == source])


def _source(one: Routed) -> str:
    return "commits" if one.example.group.endswith(" commits") else one.example.group


def _accuracy(of: str, routed: Sequence[Routed]) -> Accuracy:
    """Tasks that none fits are groups of their own: they have a source in common, and nothing else."""
    values = [
        ClusteredValue(one.example.group if one.example.subagent else one.example.task, "all", float(one.right))
        for one in routed
    ]
    return Accuracy(of, len(routed), bootstrap_mean(values))


def milliseconds(route: Callable[[str], object], tasks: Sequence[str]) -> float:
    """Return the median time of a task."""
    times = []
    for task in tasks:
        began = time.perf_counter()
        route(task)
        times.append(time.perf_counter() - began)
    return 1_000 * sorted(times)[len(times) // 2]
