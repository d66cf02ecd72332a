"""The script without a model: frozen, judged by the same checks, measured family by family."""

import re
from pathlib import Path

import pytest
from skillstill.errors import GateError, StageError, UsageError
from skillstill_training.authoring import reading
from skillstill_training.cli.data import baseline
from skillstill_training.evaluation.baseline import baseline_hash, freeze_baseline, load_baseline, measure_baseline
from skillstill_training.run.folder import RunFolder
from skillstill_training.workspaces import workspace_roots

from tests.scenes import ROOT

pytestmark = pytest.mark.anyio


async def test_a_baseline_is_measured_by_family_with_equal_weight(settings: Path, frozen: RunFolder) -> None:
    goals = [goal for goal in frozen.frozen_goals() if goal.split == "test"]
    roots = workspace_roots(settings, {"chrome"})
    standing = await measure_baseline(load_baseline(settings), goals, roots)
    assert standing.asked == {"direct": 8, "linked": 8, "beyond": 8, "again": 4}
    assert standing.solved["linked"] == 8
    assert standing.solved["beyond"] < 8  # it does not know the words of the tests
    mean = sum(standing.solved[family] / asked for family, asked in standing.asked.items()) / 4
    assert standing.success == mean


async def test_a_baseline_that_raises_has_not_solved_that_goal(settings: Path, frozen: RunFolder) -> None:
    def broken(prompt: str, root: Path) -> str:
        raise KeyError(prompt)

    goals = [goal for goal in frozen.frozen_goals() if goal.split == "validation"]
    standing = await measure_baseline(broken, goals, workspace_roots(settings, {"cobalt"}))
    assert standing.success == 0
    assert set(standing.reasons.values()) == {f"the baseline raised KeyError: {goal.prompt!r}" for goal in goals}


def test_a_baseline_that_was_changed_after_it_was_frozen_is_refused(settings: Path) -> None:
    file = settings / "baseline.py"
    file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(GateError, match="or the training wordings are not those that were frozen"):
        load_baseline(settings)


def written(settings: Path, text: str) -> None:
    (settings / "baseline.py").write_text(text, encoding="utf-8")
    freeze_baseline(settings)


def test_a_baseline_may_define_dataclasses(settings: Path) -> None:
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    written(settings, f"{head}@dataclass\nclass Hit:\n    line: int\ndef answer(prompt, root):\n    return 'yes'\n")
    assert load_baseline(settings)("?", settings) == "yes"


@pytest.mark.parametrize(
    ("text", "said"), [("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"), ("x = 1", "'answer'")]
)
def test_a_baseline_that_cannot_be_used_says_why(settings: Path, text: str, said: str) -> None:
    written(settings, text)
    with pytest.raises(StageError, match=f"cannot be used: .*{said}"):
        load_baseline(settings)


def test_an_empty_pin_freezes_nothing(settings: Path) -> None:
    (settings / "baseline.sha256").write_text("", encoding="utf-8")
    with pytest.raises(GateError, match="or the training wordings are not those that were frozen"):
        load_baseline(settings)


def test_a_split_that_does_not_exist_is_refused_with_those_that_do(settings: Path) -> None:
    with pytest.raises(UsageError, match="--split is one of train, validation, test, not 'valid'"):
        baseline(str(settings), split="valid")


def test_a_skill_without_a_baseline_says_what_to_write(settings: Path) -> None:
    (settings / "baseline.sha256").unlink()
    with pytest.raises(StageError, match=r"write baseline.py with `answer\(prompt, root\)`"):
        load_baseline(settings)


def test_a_baseline_is_frozen_together_with_the_wordings_it_knows(settings: Path) -> None:
    wordings = settings / "wordings" / "train.toml"
    wordings.write_text(wordings.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    with pytest.raises(GateError):
        load_baseline(settings)
    freeze_baseline(settings)
    assert load_baseline(settings)("Set x to 5.", settings).startswith("escalate:")


@pytest.mark.parametrize("skill", ["explore", "logs", "tables", "history", "config", "tests"])
def test_a_bundled_baseline_is_the_one_that_was_frozen(skill: str) -> None:
    load_baseline(ROOT / "skills" / skill)  # raises where it is another


@pytest.mark.parametrize("name", ["explore", "logs", "tables", "history", "config", "tests"])
def test_a_bundled_baseline_imports_nothing_of_ours_but_the_reading_of_workspaces(name: str) -> None:
    for file in (ROOT / "skills" / name).glob("baseline*.py"):
        imported = re.findall(r"^\s*(?:from|import) (skillstill[\w.]*)", file.read_text(encoding="utf-8"), re.MULTILINE)
        own = {f"skillstill_baseline_{name}_{part}" for part in ("index", "search", "words")}
        pages = {f"skillstill_training.authoring.{page}" for page in ("reading", "kind_baseline")}
        assert set(imported) <= {*pages, *own}


def test_a_baseline_is_another_one_if_its_workspaces_are_read_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    before = baseline_hash(ROOT / "skills" / "logs")
    monkeypatch.setattr(reading, "template", str.upper)
    reading.reading_hash.cache_clear()
    after = baseline_hash(ROOT / "skills" / "logs")
    reading.reading_hash.cache_clear()
    assert after != before
