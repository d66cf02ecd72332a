"""The stage that makes goals: what it freezes, and what it refuses."""

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from skillstill.errors import GateError, GoalsError, WorkspaceSourceError
from skillstill_training.authoring.goal import Goal, Split
from skillstill_training.episode import execute
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import load_recipe
from skillstill_training.sampling import goal_builder
from skillstill_training.sampling.gates import check_origins
from skillstill_training.stages.goals import make_goals
from skillstill_training.workspaces import BuiltWorkspace, Source

from tests.scenes import write

pytestmark = pytest.mark.anyio


def change(skill: Path, file: str, old: str, new: str) -> None:
    text = (skill / file).read_text(encoding="utf-8")
    assert old in text
    (skill / file).write_text(text.replace(old, new), encoding="utf-8")


async def refused(skill: Path, folder: RunFolder) -> str:
    with pytest.raises((GateError, GoalsError, WorkspaceSourceError)) as caught:
        await make_goals(skill, folder)
    assert not (folder.path / "frozen.json").exists()
    return str(caught.value)


async def test_every_family_has_proven_goals_in_every_split_and_a_held_out_one_in_tests_alone(
    settings: Path, folder: RunFolder
) -> None:
    made = await make_goals(settings, folder)
    counted = Counter((goal.family, goal.split) for goal in made.goals)
    assert counted["direct", "train"] == counted["linked", "train"] == 16
    assert (counted["again", "train"], counted["again", "validation"], counted["again", "test"]) == (0, 0, 4)
    assert all(goal.answer for goal in made.goals)
    assert {goal.calls for goal in made.goals if goal.family == "linked"} == {2}
    assert made.run.frozen_goals() == made.goals


async def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(settings: Path, folder: RunFolder) -> None:
    await make_goals(settings, folder)
    again, other = RunFolder(folder.path.with_name("2")), RunFolder(folder.path.with_name("3"))
    await make_goals(settings, again)
    await make_goals(settings, other, recipe=load_recipe(settings).changed(seed=2))
    assert folder.goals.read_bytes() == again.goals.read_bytes()
    assert folder.goals.read_bytes() != other.goals.read_bytes()


async def test_wordings_are_split_too_and_what_is_there_and_what_is_not_share_them(
    settings: Path, folder: RunFolder
) -> None:
    made = await make_goals(settings, folder)
    used = {split: {goal.wording for goal in made.goals if goal.split == split} for split in ("train", "validation")}
    assert used["train"].isdisjoint(used["validation"])
    tests = Counter(goal.wording.split("/")[0] for goal in made.goals if goal.split == "test")
    assert tests["test"] > tests["train"] > 0
    absent = {goal.wording for goal in made.goals if goal.check.kind == "absent" and goal.split == "train"}
    assert absent <= {goal.wording for goal in made.goals if goal.check.kind == "value" and goal.split == "train"}


async def test_goals_that_were_changed_after_they_were_frozen_are_refused(settings: Path, folder: RunFolder) -> None:
    await make_goals(settings, folder)
    folder.goals.write_text(folder.goals.read_text(encoding="utf-8").replace("train", "test", 1), encoding="utf-8")
    with pytest.raises(GateError, match="was changed after it was frozen"):
        folder.frozen_goals()


async def test_a_family_that_yields_nothing_is_named_with_the_reasons(settings: Path, folder: RunFolder) -> None:
    change(settings, "goals.py", "by way of", "secretly by way of `nowhere.ini:9` and")
    told = await refused(settings, folder)
    assert "the family 'linked' yields no goal for the split 'train' in copper, nickel" in told
    assert "nowhere.ini:9, which no tool has shown" in told


async def test_a_check_that_accepts_wrong_answers_makes_no_goal(settings: Path, folder: RunFolder) -> None:
    change(settings, "goals.py", "Value(gold=known[key])", 'Members(gold=("is",))')
    change(settings, "goals.py", "    Declined,\n", "    Declined,\n    Members,\n")
    made = await make_goals(settings, folder)
    reasons = Counter(dict(made.tallies[0].dropped))
    assert any(reason.startswith("its check accepts the answer") for reason in reasons)
    assert all(goal.check.kind == "absent" for goal in made.goals if goal.family == "direct")


async def test_a_prompt_that_gives_the_answer_away_makes_no_goal(settings: Path, folder: RunFolder) -> None:
    change(
        settings,
        "goals.py",
        'Draft(words={"key": key}, check=Declined())',
        'Draft(words={"key": key}, check=Declined(), hidden=(key,))',
    )
    assert "the prompt gives away" in await refused(settings, folder)


async def test_a_test_wording_that_training_has_is_a_leak(settings: Path, folder: RunFolder) -> None:
    change(settings, "wordings/test.toml", "current {key}", "value of  {key} ?")
    assert "the test wording 'value of  {key} ?' of direct is one of training" in await refused(settings, folder)


async def test_a_workspace_of_training_under_another_name_is_a_leak(settings: Path, folder: RunFolder) -> None:
    text = (settings / "sources.toml").read_text(encoding="utf-8")
    first, last = text.split("[[workspace]]")[1], text.split("[[workspace]]")[4]
    twin = first.replace("copper", "chrome").replace('"train"', '"test"')
    (settings / "sources.toml").write_text(text.replace(last, twin), encoding="utf-8")
    assert "leak" in await refused(settings, folder)


def source(split: Split, source: str | None = None, sha256: str | None = None) -> Source:
    return Source(name=split, split=split, source=source, sha256=sha256, steps=("make",))


@pytest.mark.parametrize(
    ("train", "test"),
    [
        (source("train", "pypi:zope.interface==5"), source("test", "pypi:Zope_Interface==6#wheel")),
        (source("train", "debian:shop=1-1"), source("test", "debian:shop=2-1")),
        (source("train", f"git:git@host:a/b.git@{'a' * 40}"), source("test", f"git:git@host:a/b.git@{'b' * 40}")),
        (source("train", None, "a" * 64), source("test", None, "a" * 64)),
        (source("train", "folder:a", "a" * 64), source("test", "folder:b", "a" * 64)),
    ],
)
def test_the_same_package_and_the_same_content_are_leaks(train: Source, test: Source) -> None:
    with pytest.raises(GateError, match="serves train and test"):
        check_origins({}, {}, [], [train, test])


def test_two_repositories_of_one_server_are_none() -> None:
    sources = [source("train", f"git:git@host:a/b.git@{'a' * 40}"), source("test", f"git:git@host:a/c.git@{'a' * 40}")]
    check_origins({}, {}, [], sources)


def test_a_test_workspace_of_one_file_that_training_has_is_a_leak(tmp_path: Path) -> None:
    train = write(tmp_path / "train", {"a.log": "x" * 300, "b.log": "y" * 300})
    test = write(tmp_path / "test", {"c.log": "x" * 300})
    with pytest.raises(GateError, match="1 of the 1 files of test are in a training workspace"):
        check_origins(
            {}, {}, [BuiltWorkspace("train", "train", train, {}), BuiltWorkspace("test", "test", test, {})], []
        )


async def test_a_mix_that_is_too_easy_is_refused_with_its_share(settings: Path, folder: RunFolder) -> None:
    change(settings, "recipe.toml", "hard = { least = 0.2 }", "hard = { least = 0.9 }")
    assert "33% of the 48 train goals are hard; the recipe wants 90% to 100%" in await refused(settings, folder)
    assert folder.goals.exists()  # to look at


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("goals.py", "FAMILIES = (", "NAMES = (", "expected FAMILIES"),
        ("goals.py", "from collections", "from nowhere", "cannot be imported: ModuleNotFoundError"),
        ("goals.py", '"linked", "The', '"direct", "The', "two families are called 'direct'"),
        ("wordings/train.toml", "linked = [", "lost = [", "no wordings for the family 'linked'"),
        ("wordings/test.toml", "current {key}", "current {kee}", "has the slot 'kee'"),
        ("wordings/train.toml", "direct = [", "direct = {", "cannot be read as TOML"),
        ("recipe.toml", "[goals]", "[goals]\nseen = 1", "goals.seen"),
        ("recipe.toml", "again = { test", "agian = { test", "[goals.families] names 'agian'"),
        ("recipe.toml", "train = 16", "train = -16", "goals.per_family.train"),
        ("wordings/train.toml", "value of {key}", "value of {}", "'value of {}': braces hold the name of a slot"),
        ("wordings/train.toml", "value of {key}", "value of { {key}", "braces hold the name of a slot, like {key}"),
        ("goals.py", "in rng.sample(sorted(links)", "in rng.sample(links[0]", "'linked' break off in copper: KeyError"),
        ("sources.toml", 'split = "validation"', 'split = "train"', "no workspace for the split 'validation'"),
        ("sources.toml", 'sha256 = "fec5', 'sha256 = "0000', "copper"),
    ],
)
async def test_what_an_author_gets_wrong_is_said_in_a_sentence(
    settings: Path, folder: RunFolder, file: str, old: str, new: str, said: str
) -> None:
    change(settings, file, old, new)
    assert said in await refused(settings, folder)


async def test_a_workspace_in_which_nothing_is_found_is_named(settings: Path, folder: RunFolder) -> None:
    change(
        settings,
        "goals.py",
        "    known: dict[str, str] = built.notes",
        '    if built.name == "nickel":\n        return\n    known: dict[str, str] = built.notes',
    )
    assert (await make_goals(settings, folder)).idle == ("nickel",)


def execute_and_note(ran: list[str]) -> Callable[..., Awaitable[Any]]:
    """As it is, and which goals it was asked for."""

    async def noted(goal: Goal, *others: Any) -> Any:
        ran.append(goal.id)
        return await execute(goal, *others)

    return noted


async def test_a_draw_that_was_broken_off_runs_no_plan_twice_and_ends_with_the_same_bytes(
    settings: Path, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    draw = anyio.CancelScope()

    async def counted(goal: Goal, *others: Any) -> Any:
        if len(ran) >= 30:
            draw.cancel()
        await anyio.lowlevel.checkpoint()
        ran.append(goal.id)
        return await execute(goal, *others)

    monkeypatch.setattr(goal_builder, "execute", counted)
    with draw:
        await make_goals(settings, folder)
    first, ran[:] = set(ran[:24]), []  # without those that may have been in flight
    assert draw.cancelled_caught
    monkeypatch.setattr(goal_builder, "execute", execute_and_note(ran))
    await make_goals(settings, folder)
    assert first.isdisjoint(ran)
    ran.clear()
    again = RunFolder(folder.path.with_name("2"))
    await make_goals(settings, again)
    assert (ran, again.goals.read_bytes()) == ([], folder.goals.read_bytes())


async def test_another_text_of_the_skill_is_proven_anew(settings: Path, folder: RunFolder) -> None:
    await make_goals(settings, folder)
    change(settings, "goals.py", "It is {value}, by way", "It is {value}, along the way")
    made = await make_goals(settings, RunFolder(folder.path.with_name("2")))
    assert all("along the way" in goal.answer for goal in made.goals if goal.family == "linked")
