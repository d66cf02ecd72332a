"""The goals of `logs`: in a small system of services, each family's plan finds what its check accepts."""

import itertools
from pathlib import Path
from random import Random

import pytest
from skillstill.skills.skill import load_skill
from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import judge
from skillstill_training.authoring.families import Family, load_families, load_wordings, slots
from skillstill_training.authoring.goal import SPLITS, Draft, Goal, Split
from skillstill_training.episode import execute, oracle_context
from skillstill_training.run.recipe import SpeechConfig
from skillstill_training.sampling.goal_builder import GoalBuilder
from skillstill_training.workspaces import BuiltWorkspace, Source, load_sources
from skillstill_training.workspaces.steps import run_steps
from skillstill_training.workspaces.steps.notes import read_notes, write_notes

from tests.training.skills.proofs import once, prove_drafts

FOLDER = Path(__file__).parents[3] / "skills" / "logs"
FAMILIES = load_families(FOLDER)
WORDINGS = load_wordings(FOLDER, "train", FAMILIES)
SKILL = load_skill(FOLDER)
PLAIN = GoalBuilder(SKILL, SpeechConfig(loose=0, typo=0, scoped=0), seed=1)
SPEECH = GoalBuilder(SKILL, SpeechConfig(loose=0.5, typo=0.2), seed=1)
DRAFTS = 8  # of each family in each test
HELD_OUT = "Where is the first error of any service after the last start of {component}?"
MACHINE = [  # of a machine that starts; the last word before the colon is the component
    "Sep 25 02:33:18 host01 systemd[1]: Stopped cron.service - Regular background program.",
    "Sep 25 02:33:19 host01 sshd[912]: Received signal 15; terminating.",
    "Sep 25 02:33:29 host01 kernel: CPPC is off",
    "                               Please enable it",
    "Sep 25 02:33:30 host01 systemd[1]: Started ssh.service.",
    "Sep 25 02:33:31 host01 sshd[1045]: Server listening on 0.0.0.0 port 22.",
    "Sep 25 02:33:32 host01 chronyd[511]: Selected source 192.0.2.1",
]


def make_workspace(tmp_path: Path, step: str, seed: int, split: Split = "train") -> BuiltWorkspace:
    """Return the workspace that a step makes from the logs in the folder."""
    (root := tmp_path / "tree").mkdir(parents=True, exist_ok=True)
    write_notes(root, {})
    run_steps(Source.model_validate({"name": "w", "split": split, "steps": [step], "seed": seed}), FOLDER, root)
    return BuiltWorkspace("w", split, root, read_notes(root))


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> BuiltWorkspace:
    return make_workspace(tmp_path_factory.mktemp("services"), "train_landscape", 103)


@pytest.fixture
def machine(tmp_path: Path) -> BuiltWorkspace:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "boot.log").write_text("\n".join(MACHINE) + "\n", encoding="utf-8")
    return make_workspace(tmp_path, "system_log", 0)


def drafts(family: Family, built: BuiltWorkspace, count: int = DRAFTS) -> list[Draft]:
    return list(itertools.islice(family.drafts(built, Random(1)), count))


@once
async def goals(family: Family, built: BuiltWorkspace, builder: GoalBuilder = PLAIN) -> list[Goal]:
    return await prove_drafts(drafts(family, built), family, built, builder, WORDINGS.get(family.name, (HELD_OUT,)))


families = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@pytest.mark.anyio
@families
async def test_each_family_has_goals_whose_plan_passes_their_check(family: Family, services: BuiltWorkspace) -> None:
    found = await goals(family, services)
    assert found
    assert all(goal.calls <= 5 for goal in found)


@pytest.mark.anyio
@families
async def test_plans_hold_in_loose_words_with_typos_and_with_every_detour(
    family: Family, services: BuiltWorkspace
) -> None:
    for goal in await goals(family, services, SPEECH):
        trace, judgement = await execute(
            goal, family, SKILL, services.root, oracle_context(goal, 1, {"miss": 1, "wrong": 1})
        )
        assert judgement.passed, (trace.prompt, trace.report.answer, judgement.why)


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["follow", "victim", "request_failure"])
async def test_from_entry_to_entry_a_plan_points_and_copies_no_id(name: str, services: BuiltWorkspace) -> None:
    family = next(family for family in FAMILIES if family.name == name)
    for goal in await goals(family, services):
        trace, _ = await execute(goal, family, SKILL, services.root, oracle_context(goal, 0))
        first, *others = [one for one in trace.receipts if one.tool == "entries"]
        assert all(one.arguments["related"] in first.excerpt + others[0].excerpt for one in others)
        assert others or goal.absent


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["match", "several"])
async def test_a_description_is_handed_on_as_it_was_given_and_what_it_means_comes_first(
    name: str, services: BuiltWorkspace
) -> None:
    family = next(family for family in FAMILIES if family.name == name)
    for goal in await goals(family, services):
        trace, _ = await execute(goal, family, SKILL, services.root, oracle_context(goal, 0))
        (receipt,), shown = trace.receipts, trace.messages[3].content.split("\n")
        assert receipt.arguments["meaning"] in goal.prompt
        assert goal.absent or shown[1].startswith(f"{goal.facts['place']}: ")


@pytest.mark.anyio
@families
async def test_an_empty_answer_and_a_list_of_everything_fail(family: Family, services: BuiltWorkspace) -> None:
    paths = [*services.root.rglob("*.log")]
    lines = {file: file.read_text(encoding="utf-8").splitlines() for file in paths}
    everything = "\n".join(
        f"{file.relative_to(services.root)}:{at}" for file in paths for at in range(1, len(lines[file]) + 1)
    )
    listed = "\n".join(line for file in paths for line in lines[file])
    for goal in await goals(family, services):
        for answer in ("", everything, listed):
            assert not judge(goal.check, Attempt.of_text(goal.prompt, answer)).passed, goal.prompt


@pytest.mark.anyio
@families
async def test_the_answers_of_other_goals_fail(family: Family, services: BuiltWorkspace) -> None:
    for goal, other in itertools.permutations(await goals(family, services), 2):
        if goal.check != other.check:
            assert not judge(goal.check, Attempt.of_text(goal.prompt, other.answer)).passed, (goal.answer, other.answer)


@pytest.mark.anyio
async def test_a_right_answer_in_other_words_passes(services: BuiltWorkspace) -> None:
    said = {"frame": "The exception came out of {function}(), see the trace.", "victim": "user number {user}"}
    for family in FAMILIES:
        for goal in await goals(family, services) if family.name in said else ():
            answer = said[family.name].format_map(goal.facts)
            assert judge(goal.check, Attempt.of_text(goal.prompt, answer)).passed, answer


@pytest.mark.anyio
async def test_the_log_of_a_machine_yields_goals_without_levels(machine: BuiltWorkspace) -> None:
    asked = {family.name: await goals(family, machine) for family in FAMILIES}
    assert {name for name, made in asked.items() if made} == {"first", "last", "component_count", "offscope"}
    there = [goal for goal in asked["component_count"] if not goal.absent and goal.words["component"] == "sshd"]
    assert [goal.answer for goal in there] == ["2 × sshd, first system.log:2"]


def test_a_line_of_another_form_makes_a_machine_log_unfit(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "boot.log").write_text("nothing like it\n", encoding="utf-8")
    with pytest.raises(Exception, match="line 1 has another form"):
        make_workspace(tmp_path, "system_log", 0)


def test_what_is_absent_stands_nowhere_and_shares_its_wording_with_something_there(services: BuiltWorkspace) -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in services.root.rglob("*.log")).lower()
    twins = 0
    for family in FAMILIES:
        for one, other in itertools.pairwise(drafts(family, services, 60)):
            if one.pair and one.pair == other.pair and {one.check.kind, other.check.kind} > {"absent"}:
                twins += 1
                absent = one if one.check.kind == "absent" else other
                for slot in {"request", "object"} & absent.words.keys():
                    assert absent.words[slot].lower() not in text
    assert twins > 10


@pytest.mark.parametrize("split", SPLITS)
def test_the_same_seed_makes_the_same_logs(tmp_path: Path, split: Split) -> None:
    first, second = (make_workspace(tmp_path / name, f"{split}_landscape", 7, split) for name in ("one", "two"))
    texts = [{file.name: file.read_text("utf-8") for file in one.root.rglob("*.log")} for one in (first, second)]
    assert texts[0] == texts[1]
    assert first.notes == second.notes
    assert sum(text.count("\n") for text in texts[0].values()) > 300


def test_no_two_splits_share_a_message_or_a_name(tmp_path: Path) -> None:
    kinds = []
    for split in SPLITS:
        known = make_workspace(tmp_path / split, f"{split}_landscape", 3, split).notes["entries"]
        assert isinstance(known, list)
        kinds.append(
            {(row[5], row[6]) for row in known if isinstance(row, list) and row[6] not in ("200", "503", "enter")}
        )
    assert not kinds[0] & kinds[1] | kinds[0] & kinds[2] | kinds[1] & kinds[2]


@pytest.mark.parametrize("family", [one for one in FAMILIES if not one.held_out], ids=lambda family: family.name)
def test_there_are_many_wordings_and_they_use_only_the_words_that_drafts_have(
    family: Family, services: BuiltWorkspace
) -> None:
    wordings = WORDINGS[family.name]
    known = drafts(family, services, 1)[0].words.keys()
    assert len(set(wordings)) >= 25
    assert [one for one in wordings if slots(one) - known] == []
    assert [one for one in wordings if known - slots(one) - {"entry", "entries"}] == []


def test_exactly_one_family_is_held_out_and_at_least_half_are_hard() -> None:
    assert [family.name for family in FAMILIES if family.held_out] == ["after"]
    assert 2 * sum(family.hard for family in FAMILIES) >= len(FAMILIES)


def test_there_are_workspaces_enough_and_those_for_tests_are_new() -> None:
    sources = load_sources(FOLDER)
    counted = {split: sum(one.split == split for one in sources) for split in ("train", "validation", "test")}
    assert counted["train"] >= 8
    assert counted["validation"] >= 4
    assert counted["test"] >= 8
    assert all(one.source is None or str(one.first_uploaded) > "2024-10" for one in sources if one.split == "test")
