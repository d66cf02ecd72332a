"""A stranger's skill becomes a folder that can be trained, by rules alone; or it is refused with its reasons."""

import json
from pathlib import Path

import anyio
import pytest
from skillstill.errors import GoalsError, WorkspaceSourceError
from skillstill.skills.skill import load_skill
from skillstill_training.authoring.families import load_families, load_wordings
from skillstill_training.design.borrowing import lender
from skillstill_training.design.family_choice import table
from skillstill_training.evaluation.baseline import load_baseline
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import load_recipe
from skillstill_training.stages.goals import make_goals
from skillstill_training.workspaces import build_workspace, load_sources

from tests.training.design.scenes import EXPLORER, LOGS, SETTINGS, TASTE, Run, projects


def test_an_agent_s_file_becomes_a_skill_whose_goals_are_proven_in_the_user_s_own_folders(
    design: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "code-tracer"
    code, out, _ = design(EXPLORER, "-o", str(folder), *projects(tmp_path / "src"), "--json")
    told = json.loads(out)
    assert (code, told["verdict"], told["lender"]) == (0, "verifiable", "explore")
    assert told["tools"] == ["list", "find", "search", "outline", "read"]
    assert told["uncovered"] == ["WebFetch"]
    assert set(told["goals"]["definition"].values()) == {2}
    assert told["families"]["callers"].startswith("line 3: ")
    assert "line" in told["families"]["raises"]
    made = anyio.run(
        lambda: make_goals(
            folder, RunFolder(tmp_path / "runs" / "1"), recipe=load_recipe(folder).changed(few=1), offline=True
        )
    )
    assert {goal.family for goal in made.goals} == set(told["families"])
    assert {goal.skill for goal in made.goals} == {"code-tracer"}


def test_its_text_stays_as_it_is_behind_a_front_matter_that_is_valid(design: Run, tmp_path: Path) -> None:
    folder = tmp_path / "code-tracer"
    design(EXPLORER, "-o", str(folder), *projects(tmp_path / "src"), "--few", "0")
    skill = load_skill(folder)
    assert skill.description.startswith("Traces execution paths: finds where")
    assert skill.instructions.startswith(EXPLORER.split("---\n")[2].strip())
    assert "the place (path:line) of a function" in skill.instructions
    assert len(skill.subagent.system) <= 120
    head = (folder / "SKILL.md").read_text(encoding="utf-8").split("---\n")[1]
    assert "title: Code Tracer" in head
    assert "path: agent.md" in head


def test_a_skill_like_one_of_ours_borrows_its_families_words_workspaces_and_baseline(
    design: Run, logs: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "outage-reader"
    code, _, _ = design(LOGS, "-o", str(folder), "--few", "0")
    names = [family.name for family in load_families(folder)]
    assert (code, {"burst", "deploy", "level_count"} <= set(names), "several" in names) == (0, True, False)
    assert set(load_wordings(folder, "test", load_families(folder))) == set(names)
    root = build_workspace(load_sources(folder)[0], folder, offline=True).root
    assert load_baseline(folder)("How many errors are there?", root) == load_baseline(logs)(
        "How many errors are there?", root
    )


def test_the_model_that_there_is_for_borrowed_families_is_named_first_with_what_to_type(
    design: Run, logs: Path, tmp_path: Path
) -> None:
    code, out, told = design(LOGS, "-o", str(tmp_path / "outage-reader"), "--few", "0", "--json")
    lines = told.splitlines()
    assert (code, json.loads(out)["lender"]) == (0, "logs")
    assert lines[0].startswith(f"our own logs already is a model for all {len(json.loads(out)['families'])} families")
    assert lines[1] == 'try it first: skillstill run logs "QUESTION" --workspace FOLDER'
    assert lines[2].startswith("drafting outage-reader: ")


def test_what_it_borrows_is_refused_when_it_has_changed_since(design: Run, logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "outage-reader"
    design(LOGS, "-o", str(folder), "--few", "0")
    with (logs / "families" / "plans.py").open("a", encoding="utf-8") as file:
        file.write("LATER = 1\n")
    with pytest.raises(GoalsError, match="the skill logs has changed since this skill was designed"):
        load_families(folder)
    with pytest.raises(WorkspaceSourceError, match="the skill logs has changed since this skill was designed"):
        build_workspace(load_sources(folder)[0], folder, offline=True)


@pytest.mark.parametrize(("text", "own", "workspaces"), [(EXPLORER, True, 1), (LOGS, False, 8)])
def test_it_asks_for_as_many_validation_goals_as_a_confidence_takes(
    design: Run, tmp_path: Path, text: str, own: bool, workspaces: int
) -> None:
    folder = tmp_path / "designed"
    design(text, "-o", str(folder), *(projects(tmp_path / "src") if own else ()), "--few", "0")
    recipe = load_recipe(folder)
    trained = [family.name for family in load_families(folder) if not family.held_out]
    assert sum(recipe.goals.wanted(name, "validation") for name in trained) >= recipe.evaluate.calibration == 400
    assert all(recipe.goals.wanted(name, "train") for name in trained)
    assert recipe.evaluate.workspaces == workspaces, "of three folders, the last is the test's"


def test_families_that_yield_nothing_in_the_user_s_folders_are_dropped_and_told(design: Run, tmp_path: Path) -> None:
    folder = tmp_path / "code-tracer"
    text = EXPLORER.replace("- Follow", "- In Rust and in Go too, follow")
    _, out, _ = design(text, "-o", str(folder), *projects(tmp_path / "src"), "--few", "1", "--json")
    told = json.loads(out)
    assert "yields no goal" in told["dropped"]["definition_other"]
    assert "definition_other" not in {family.name for family in load_families(folder)}
    assert "definition_other: the family" in (folder / "design.md").read_text(encoding="utf-8")


def test_what_no_program_can_judge_is_refused_with_its_reasons_and_nothing_is_written(
    design: Run, tmp_path: Path
) -> None:
    code, out, err = design(TASTE, "-o", str(tmp_path / "pages"))
    assert (code, out, (tmp_path / "pages").exists()) == (1, "", False)
    assert "tasteful-pages cannot be distilled as it is: not verifiable (line 3: " in err
    assert "it lacks a result that a program can check" in err


@pytest.mark.parametrize(
    ("text", "name", "folders", "said"),
    [
        (EXPLORER, "explore", 6, "explore is the name of a bundled skill"),
        (EXPLORER, "Code Tracer", 6, "expected a-z, 0-9 and single hyphens"),
        (EXPLORER, "tracer", 4, "expected three or more, got 2"),
        (LOGS, "outage-reader", 6, "let a model propose some (--teacher URL#MODEL)"),
        (SETTINGS, "settings-finder", 0, "resembles none of our skills: name three or more folders"),
        (EXPLORER, "src", 6, "is there already"),
    ],
)
def test_what_is_missing_for_a_draft_is_said_in_a_sentence(
    design: Run, tmp_path: Path, text: str, name: str, folders: int, said: str
) -> None:
    code, _, err = design(text, "-o", str(tmp_path / name), *projects(tmp_path / "src")[:folders])
    assert (code, said in err) == (64, True), err


@pytest.mark.parametrize(("folders", "said"), [(0, "name three or more folders"), (4, "three or more, got 2")])
def test_all_that_is_missing_for_a_draft_is_said_at_once(design: Run, tmp_path: Path, folders: int, said: str) -> None:
    code, _, err = design(SETTINGS, "-o", str(tmp_path / "settings-finder"), *projects(tmp_path / "src")[:folders])
    assert (code, said in err, "declare kinds of questions (--kinds kinds.toml), or let" in err) == (64, True, True)


def test_a_refusal_says_also_that_folders_are_needed(design: Run, tmp_path: Path) -> None:
    _, _, err = design(TASTE, "-o", str(tmp_path / "pages"))
    assert "(--kinds kinds.toml); that takes three or more folders that it works on (--workspace)" in err


@pytest.mark.parametrize("skill", ["explore", "logs", "tables"])
def test_the_table_of_cues_knows_every_family_of_our_own_skills(skill: str) -> None:
    families = load_families(lender(skill))
    assert set(table()[skill]) == {family.name for family in families}
    core = [family for family in families if table()[skill][family.name].always]
    assert any(family.held_out for family in core)
    assert any("declined" in table()[skill][family.name].answers for family in core)
