"""What goals must be like before they are frozen: hard enough, and without a way for tests to leak into training."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from skillstill.errors import GateError

from skillstill_training.authoring.families import Family, Wordings
from skillstill_training.authoring.goal import Goal, Split
from skillstill_training.run.recipe import Band, Shares
from skillstill_training.sampling.wording import normal
from skillstill_training.workspaces import BuiltWorkspace, Source

DEEP = 3  # dependent calls
SMALL = 200  # bytes; smaller files are alike everywhere
SHARED = 0.02  # the largest share of a test workspace's files that training may hold too: licences, vendored helpers


def shares(goals: Sequence[Goal], families: Sequence[Family]) -> Mapping[str, float]:
    """Return the measures that a recipe bounds, each as a share of the goals of one split."""
    hard = {family.name for family in families if family.hard}
    measures: Mapping[str, Callable[[Goal], bool]] = {
        "deep": lambda goal: goal.calls >= DEEP,
        "several": lambda goal: goal.hits > 1,
        "absent": lambda goal: goal.absent,
        "hard": lambda goal: goal.family in hard,
    }
    return {name: sum(map(holds, goals)) / max(1, len(goals)) for name, holds in measures.items()}


def check_shares(goals: Sequence[Goal], families: Sequence[Family], bounds: Shares, split: Split) -> None:
    """Raise GateError: which share of which split, and what the recipe wants."""
    for name, share in shares(goals, families).items():
        band: Band = getattr(bounds, name)
        if not band.least <= share <= band.most:
            raise GateError(
                f"{share:.0%} of the {len(goals)} {split} goals are {name}; the recipe wants {band.least:.0%} to "
                f"{band.most:.0%}: change how many goals each family gets ([goals.families] in recipe.toml)"
            )


def check_origins(
    train: Wordings, test: Wordings, workspaces: Sequence[BuiltWorkspace], sources: Sequence[Source]
) -> None:
    """Raise GateError if wordings or workspaces of a test serve training too."""
    _refuse([*_wordings(train, test), *_sources(sources), *_files(workspaces)])


def check_prompts(goals: Sequence[Goal]) -> None:
    """Raise GateError if what a test asks can be learned by heart in training."""
    _refuse(list(_prompts(goals)))


def check_judged(goals: Sequence[Goal]) -> None:
    """Raise GateError if some answers are verified and others merely judged: no figure would be of one kind."""
    judged = sum(goal.is_judged for goal in goals)
    if 0 < judged < len(goals):
        raise GateError(
            f"a rubric judges {judged} of the {len(goals)} goals, and programs check the others: such figures do not "
            "mix, so make two skills of it"
        )


def _refuse(leaks: Sequence[str]) -> None:
    if leaks:
        raise GateError(f"{len(leaks)} leaks from test to training; the first: {leaks[0]}")


def _prompts(goals: Sequence[Goal]) -> Iterator[str]:
    trained = {normal(goal.prompt) for goal in goals if goal.split == "train" and not goal.absent}
    for goal in goals:
        if goal.split != "train" and normal(goal.prompt) in trained:
            yield f"the {goal.split} prompt {goal.prompt!r} is one of training"


def _wordings(train: Wordings, test: Wordings) -> Iterator[str]:
    for family, texts in test.items():
        known = {_without_slots(text) for text in train.get(family, ())}
        for text in texts:
            if _without_slots(text) in known:
                yield f"the test wording {text!r} of {family} is one of training"


def _without_slots(wording: str) -> str:
    return normal(re.sub(r"\{\w+\}", " slot ", wording))


def _sources(sources: Sequence[Source]) -> Iterator[str]:
    """Yield the same package in two splits, if only in another version or treatment.

    Or the same content, by its pin.
    """
    split_of: dict[str, str] = {}
    for source in sources:
        names = [_package(source.source)] if source.source else []
        for name in [*names, *([f"the content {source.sha256}"] if source.sha256 else [])]:
            if split_of.setdefault(name, source.split) != source.split:
                yield f"{name} serves {split_of[name]} and {source.split}"
                break


def _package(source: str) -> str:
    """Return a source without its version, as names of packages are compared."""
    match source.partition(":")[0]:
        case "pypi":
            return re.sub(r"[-_.]+", "-", source.partition("==")[0].lower())
        case "debian":
            return source.partition("=")[0]
        case "git":
            return source.rpartition("@")[0]  # an address may hold an @ of its own
    return source


def _files(workspaces: Sequence[BuiltWorkspace]) -> Iterator[str]:
    trained = {digest for one in workspaces if one.split == "train" for digest in _digests(one.root)}
    for built in workspaces:
        digests = _digests(built.root) if built.split == "test" else []
        shared = sum(digest in trained for digest in digests)
        if shared > max(1, SHARED * len(digests)) or 0 < len(digests) == shared:
            yield f"{shared} of the {len(digests)} files of {built.name} are in a training workspace"


def _digests(root: Path) -> list[bytes]:
    files = [file for file in root.rglob("*") if file.is_file() and file.stat().st_size >= SMALL]
    return [hashlib.sha256(file.read_bytes()).digest() for file in files if "license" not in file.name.lower()]
