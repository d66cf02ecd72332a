"""The goals of `tables`: in a small folder of tables, each family's plan finds what its check accepts."""

import csv
import itertools
import json
import sqlite3
import tomllib
from pathlib import Path
from random import Random
from typing import Any

import pytest
from skillstill.skills.skill import load_skill
from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import judge
from skillstill_training.authoring.families import Family, load_families, load_wordings, slots
from skillstill_training.authoring.goal import Draft, Goal
from skillstill_training.episode import execute, oracle_context
from skillstill_training.run.recipe import SpeechConfig
from skillstill_training.sampling.goal_builder import GoalBuilder
from skillstill_training.workspaces import BuiltWorkspace, load_sources
from skillstill_training.workspaces.steps import run_steps
from skillstill_training.workspaces.steps.notes import write_notes

from tests.training.skills.proofs import once, prove_drafts

FOLDER = Path(__file__).parents[3] / "skills" / "tables"
FAMILIES = load_families(FOLDER)
WORDINGS = load_wordings(FOLDER, "train", FAMILIES)
SKILL = load_skill(FOLDER)
PLAIN = GoalBuilder(SKILL, SpeechConfig(loose=0, typo=0, scoped=0), seed=1)
SPEECH = GoalBuilder(SKILL, SpeechConfig(loose=0.5, typo=0.2), seed=1)
DRAFTS = 8  # of each family in each test
HELD_OUT = "How many different {column} values do the {many} {condition} have?"

FIRST, LAST = ("Ada", "Bo", "Cleo", "Dov", "Eva", "Finn"), ("Lund", "Marsh", "Noor", "Quill")
PEOPLE = [f"{first} {last}" for at, first in enumerate(FIRST) for last in LAST[at % 2 :]]
CITIES = ("Oslo", "Bergen", "Tromso")
STATES = ("OPEN", "ON_HOLD", "SHIPPED")


def state(at: int) -> str:
    """Return a state: half of the orders are open, a sixth is shipped."""
    return STATES[(0, 0, 0, 1, 1, 2)[at % 6]]


def day(at: int) -> str:
    return f"202{at % 3}-0{at % 9 + 1}-15"


def column(kind: str, said: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "said": said, **more}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> BuiltWorkspace:
    """Customers and their orders in a database, the staff in a CSV file."""
    root = tmp_path_factory.mktemp("desk")
    customers = [(at, name, CITIES[at % 3], f"555-{at:04}") for at, name in enumerate(PEOPLE, 1)]
    orders = [(100 + at, 1 + (at * at + at // 4) % 18, state(at), 10 + at * 13 % 97, day(at)) for at in range(60)]
    with sqlite3.connect(root / "desk.db") as connection:
        connection.execute("CREATE TABLE customers (customer_id INTEGER, name TEXT, city TEXT, phone TEXT)")
        columns = "order_id INTEGER, customer_id INTEGER, status TEXT, order_value INTEGER, order_date TEXT"
        connection.execute(f"CREATE TABLE orders ({columns})")
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", customers)
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", orders)
    connection.close()
    with (root / "staff.csv").open("w", encoding="utf-8", newline="") as text:
        staff = [(f"{name[:-1]}x", f"777-{at:04}", f"{at / 2}") for at, name in enumerate(PEOPLE, 1)]
        csv.writer(text).writerows([("staff_name", "phone", "hours"), *staff])
    return BuiltWorkspace("desk", "train", root, {"tables": NOTED})


NOTED: dict[str, Any] = {
    "customers": {
        "one": "customer",
        "many": "customers",
        "lacks": ["shoe size"],
        "key": "customer_id",
        "label": "name",
        "path": "desk.db",
        "columns": {
            "customer_id": column("key", "customer id"),
            "name": column("label", "name"),
            "city": column("category", "city", unused=["Bodo"]),
            "phone": column("text", "phone"),
        },
    },
    "orders": {
        "one": "order",
        "many": "orders",
        "lacks": [],
        "key": "order_id",
        "label": "",
        "path": "desk.db",
        "columns": {
            "order_id": column("key", "order id"),
            "customer_id": column("refers", "customer id", refers=["customers", "customer_id"]),
            "status": column("category", "status", unused=["LOST"]),
            "order_value": column("measure", "order value"),
            "order_date": column("date", "order date"),
        },
    },
    "staff": {
        "one": "employee",
        "many": "employees",
        "lacks": [],
        "key": "",
        "label": "staff_name",
        "path": "staff.csv",
        "columns": {
            "staff_name": column("label", "staff name"),
            "phone": column("text", "phone"),
            "hours": column("measure", "hours"),
        },
    },
}


def drafts(family: Family, built: BuiltWorkspace, seed: int = 1) -> list[Draft]:
    return list(itertools.islice(family.drafts(built, Random(seed)), DRAFTS))


@once
async def goals(family: Family, built: BuiltWorkspace, builder: GoalBuilder = PLAIN) -> list[Goal]:
    return await prove_drafts(drafts(family, built), family, built, builder, WORDINGS.get(family.name, (HELD_OUT,)))


families = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@pytest.mark.anyio
@families
async def test_each_family_has_goals_whose_plan_passes_their_check(family: Family, desk: BuiltWorkspace) -> None:
    assert len(await goals(family, desk)) >= 3


@pytest.mark.anyio
@families
async def test_plans_hold_in_loose_words_with_typos_and_with_every_detour(family: Family, desk: BuiltWorkspace) -> None:
    for goal in await goals(family, desk, SPEECH):
        trace, judgement = await execute(
            goal, family, SKILL, desk.root, oracle_context(goal, 1, {"wrong": 1, "astray": 1, "look": 1})
        )
        assert judgement.passed, (trace.prompt, trace.report.answer, judgement.why)


@pytest.mark.anyio
@families
async def test_an_empty_answer_and_a_list_of_everything_fail(family: Family, desk: BuiltWorkspace) -> None:
    everything = "\n".join([*PEOPLE, *CITIES, *STATES, "Bodo LOST", *map(str, range(1, 120))])
    for goal in await goals(family, desk):
        for answer in ("", everything):
            assert not judge(goal.check, Attempt.of_text(goal.prompt, answer)).passed, goal.prompt


@pytest.mark.anyio
@families
async def test_the_answers_of_other_goals_fail(family: Family, desk: BuiltWorkspace) -> None:
    made = await goals(family, desk)
    for goal, other in itertools.permutations(made, 2):
        if goal.check != other.check and goal.answer.split("(")[0] != other.answer.split("(")[0]:
            assert not judge(goal.check, Attempt.of_text(goal.prompt, other.answer)).passed, (goal.answer, other.answer)


@pytest.mark.parametrize("family", [one for one in FAMILIES if not one.held_out], ids=lambda family: family.name)
def test_there_are_many_wordings_and_they_use_only_the_words_that_drafts_have(
    family: Family, desk: BuiltWorkspace
) -> None:
    wordings = WORDINGS[family.name]
    known = drafts(family, desk)[0].words.keys()
    assert len(set(wordings)) >= 25
    assert [one for one in wordings if slots(one) - known] == []


def test_wordings_leave_out_no_word_that_the_answer_depends_on(desk: BuiltWorkspace) -> None:
    """Except for declined work, and for the rows of `group`, which every table of one kind shares."""
    for family in FAMILIES:
        if family.name in WORDINGS and family.name != "offscope":
            known = drafts(family, desk)[0].words.keys()
            assert [one for one in WORDINGS[family.name] if known - slots(one) - {"one", "many", "parent"}] == []


def test_what_is_absent_stands_nowhere_and_shares_its_wording_with_something_there(desk: BuiltWorkspace) -> None:
    stored = json.dumps([PEOPLE, CITIES, STATES]).lower()
    twins = 0
    for family in FAMILIES:
        for there, absent in itertools.pairwise(itertools.islice(family.drafts(desk, Random(2)), 30)):
            if absent.check.kind == "absent" and there.pair == absent.pair:
                twins += 1
                assert there.check.kind != "absent"
                changed = [value for slot, value in absent.words.items() if value != there.words[slot]]
                assert changed
                assert "part" in absent.words or not [one for one in changed if f'"{one.lower()}"' in stored]
    assert twins > 20


@pytest.mark.anyio
@families
async def test_no_plan_asks_what_the_tools_refuse(family: Family, desk: BuiltWorkspace) -> None:
    """A student would learn such queries too: a seventh of the runs of tables 5 contained one."""
    for goal in await goals(family, desk):
        for rates in ({"look": 0.0}, {"look": 1.0}):
            trace, judgement = await execute(goal, family, SKILL, desk.root, oracle_context(goal, 1, rates))
            assert not [one for one in trace.receipts if one.refused]
            assert judgement.passed


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["join", "join_aggregate"])
async def test_what_rows_belong_to_is_joined_by_the_tool(name: str, desk: BuiltWorkspace) -> None:
    family = next(family for family in FAMILIES if family.name == name)
    for goal in await goals(family, desk):
        trace, _ = await execute(goal, family, SKILL, desk.root, oracle_context(goal, 0))
        assert " join " not in str(goal.facts["query"])
        assert "joined " in trace.messages[-2].content


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["pick", "pick_count"])
async def test_of_several_namesakes_only_the_one_that_is_meant_is_shown(name: str, desk: BuiltWorkspace) -> None:
    family = next(family for family in FAMILIES if family.name == name)
    for goal in await goals(family, desk):
        trace, _ = await execute(goal, family, SKILL, desk.root, oracle_context(goal, 0))
        shown = [one.content.split(": ")[1] for one in trace.messages if one.role == "tool"]
        assert ("1 rows" in shown) == (not goal.absent)


@pytest.mark.anyio
async def test_a_value_in_another_spelling_costs_a_look_at_how_it_is_stored(desk: BuiltWorkspace) -> None:
    literal = next(family for family in FAMILIES if family.name == "literal")
    found = [goal for goal in await goals(literal, desk) if not goal.absent]
    assert {goal.calls for goal in found} <= {3, 4}
    assert not any("ON_HOLD" in goal.prompt for goal in found)


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["pick", "pick_count", "which_table"])
async def test_some_goals_leave_several_candidates(name: str, desk: BuiltWorkspace) -> None:
    family = next(family for family in FAMILIES if family.name == name)
    assert all(goal.hits >= 2 for goal in await goals(family, desk))


def test_the_same_seed_invents_the_same_files(tmp_path: Path) -> None:
    source = next(one for one in load_sources(FOLDER) if one.name == "shop")
    made = []
    for name in ("one", "other"):
        (root := tmp_path / name / "tree").mkdir(parents=True)
        write_notes(root, {})
        run_steps(source, FOLDER, root)
        made.append({file.relative_to(root): file.read_bytes() for file in root.rglob("*") if file.is_file()})
    assert made[0] == made[1]


def test_no_domain_and_no_name_of_one_split_stands_in_another() -> None:
    specs = [tomllib.loads(file.read_text("utf-8")) for file in sorted((FOLDER / "domains").glob("*.toml"))]
    for one, other in itertools.combinations(specs, 2):
        assert set(one) & set(other) == {"vocabulary"}
        for kind in ("first", "last", "adjective", "noun"):
            assert not set(one["vocabulary"][kind]) & set(other["vocabulary"][kind])


def test_there_are_enough_workspaces_of_each_split() -> None:
    splits = [source.split for source in load_sources(FOLDER)]
    assert splits.count("train") >= 8
    assert splits.count("validation") >= 4
    assert splits.count("test") >= 8
