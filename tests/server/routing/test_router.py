"""Routing: the right subagent for a task by its words and the folder, or none; strangers by their texts alone."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from skillstill.routing.experience import Count, experience, forget_experience, remember
from skillstill.routing.folder import count_kinds, kinds_of
from skillstill.routing.model import FILE, read_model, routing_model, write_model
from skillstill.routing.router import NO_SUBAGENT, NOT_ASKED, Router
from skillstill.skills.registry import Registry, user_registry
from skillstill.util.storage import state_folder

from tests.scenes import ROOT, write

CODE = {"shop/cart.py": "", "shop/stock.py": "", "README.md": ""}
LOGS = {"logs/app.log": "", "logs/app.log.1": ""}
TABLES = {"orders.csv": "", "shop.db": ""}
pytestmark = pytest.mark.usefixtures("as_shipped")


def routed(task: str, folder: Path) -> str:
    return Router(Registry()).route(task, folder).subagent


@pytest.mark.parametrize(
    ("task", "subagent"),
    [
        ("which function parses the config file and where is it called?", "explore"),
        ("how many ERROR lines per service between 10:00 and 11:00", "logs"),
        ("average price of all orders by customer, top 5", "tables"),
    ],
)
def test_in_a_folder_of_everything_the_words_decide(task: str, subagent: str, tmp_path: Path) -> None:
    assert routed(task, write(tmp_path, CODE | LOGS | TABLES)) == subagent


@pytest.mark.parametrize(("files", "subagent"), [(CODE, "explore"), (LOGS, "logs"), (TABLES, "tables")])
def test_of_an_open_question_the_folder_decides(files: dict[str, str], subagent: str, tmp_path: Path) -> None:
    assert routed("how many are there of payment, and which comes first?", write(tmp_path, files)) == subagent


@pytest.mark.parametrize(
    "task",
    [
        "Write an email to the team about the release.",
        "translate this sentence into French",
        "Refactor the payment module and add unit tests",
        "recommend a movie for tonight",
    ],
)
def test_a_chore_is_for_none_and_the_reason_says_so(task: str, tmp_path: Path) -> None:
    choice = Router(Registry()).route(task, write(tmp_path, CODE))
    assert (choice.subagent, choice.reason) == ("", NOT_ASKED)


def test_files_that_no_subagent_reads_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_logs(monkeypatch, tmp_path / "registry")
    choice = Router(Registry()).route("how many orders are there?", write(tmp_path / "data", TABLES))
    assert "tables" in choice.reason


def test_without_subagents_there_is_none(tmp_path: Path) -> None:
    class Empty(Registry):
        def entries(self) -> list[object]:  # type: ignore[override]
            return []

    assert Router(Empty()).route("where is it?", tmp_path).reason == NO_SUBAGENT


def only_logs(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the registry be one of `logs` alone."""
    document = json.loads((ROOT / "registry.json").read_text(encoding="utf-8"))
    entries = [entry for entry in document["entries"] if entry["name"] == "logs"]
    folder.mkdir()
    (folder / "registry.json").write_text(json.dumps({"version": 1, "entries": entries}), encoding="utf-8")
    (folder / "skills").mkdir()
    shutil.copytree(ROOT / "skills" / "logs", folder / "skills" / "logs")
    monkeypatch.setattr("skillstill.skills.registry.bundled", lambda: folder)


def test_a_subagent_of_the_user_is_found_by_its_texts(tmp_path: Path) -> None:
    folder = user_registry().parent / "skills" / "licences"
    text = "Answer one question about the licence and copyright of packages, which licence and who holds the copyright."
    write(
        folder,
        {
            "SKILL.md": f"---\nname: licences\ndescription: {text}\n---\n{text}\n",
            "subagent.toml": 'system = "licences"\ntools = ["find", "read"]\n[base]\nsource = "file:base.gguf"\n'
            f'sha256 = "{"0" * 64}"\n',
        },
    )
    entry = {
        "name": "licences", "title": "Licences", "description": text, "state": "untrained", "skill": "skills/licences",
        "base": {"source": "file:base.gguf", "sha256": "0" * 64},
    }  # fmt: skip
    user_registry().write_text(json.dumps({"version": 1, "entries": [entry]}), encoding="utf-8")
    project = write(tmp_path, CODE)
    assert routed("which licence has this package and who holds the copyright?", project) == "licences"
    assert routed("where is the class Cart defined?", project) == "explore"


def test_what_was_handed_back_in_a_folder_decides_a_close_case_there_alone(tmp_path: Path) -> None:
    here, elsewhere = write(tmp_path / "here", LOGS | TABLES), write(tmp_path / "there", LOGS | TABLES)
    task = "how many payments failed?"
    first = routed(task, here)
    for _ in range(20):
        remember(here, first, "escalate")
        remember(here, "tables" if first == "logs" else "logs", "answered")
    assert routed(task, here) != first
    assert routed(task, elsewhere) == first
    assert forget_experience(here) == 1
    assert routed(task, here) == first


def test_what_is_learned_of_a_folder_holds_no_path_and_no_failure(tmp_path: Path) -> None:
    remember(tmp_path, "logs", "failed")
    assert not experience(tmp_path)
    remember(tmp_path, "logs", "answered")
    assert experience(tmp_path) == {"logs": Count(answered=1)}
    assert str(tmp_path) not in (state_folder() / "delegated.json").read_text(encoding="utf-8")


def test_a_damaged_file_of_what_was_learned_is_begun_anew(tmp_path: Path) -> None:
    remember(tmp_path, "logs", "answered")
    (state_folder() / "delegated.json").write_text("{", encoding="utf-8")
    assert not experience(tmp_path)
    remember(tmp_path, "logs", "escalate")
    assert experience(tmp_path)["logs"].prior < 0


def test_all_is_forgotten_at_once(tmp_path: Path) -> None:
    assert forget_experience(None) == 0
    remember(tmp_path / "a", "logs", "answered")
    remember(tmp_path / "b", "logs", "answered")
    assert forget_experience(None) == 2
    assert not experience(tmp_path / "a")


@pytest.mark.parametrize(
    ("name", "folder", "kinds"),
    [
        ("cart.PY", "", {"code"}),
        ("app.log.2.gz", "", {"logs"}),
        ("exim", "logs", {"logs"}),
        ("CHANGELOG", "", set()),
        ("events.jsonl", "", {"logs", "tables"}),
        ("places.sqlite", "", {"tables"}),
        ("LICENSE", "", set()),
    ],
)
def test_a_name_tells_the_kind_of_a_file(name: str, folder: str, kinds: set[str]) -> None:
    assert kinds_of(name, folder) == kinds


def test_hidden_and_installed_files_and_links_do_not_count(tmp_path: Path) -> None:
    write(tmp_path, {".git/a.py": "", "node_modules/a.js": "", "src/a.py": ""})
    (tmp_path / "loop").symlink_to(tmp_path)
    assert count_kinds(tmp_path) == {"code": 1}


def test_the_model_is_small_and_is_written_again_byte_for_byte(tmp_path: Path) -> None:
    assert FILE.stat().st_size < 1_000_000
    write_model(read_model(FILE), copy := tmp_path / "router.bin", 0o644)
    assert copy.read_bytes() == FILE.read_bytes()


def test_any_task_has_finite_logits() -> None:
    for task in ("", "\0", "é" * 5_000, "?" * 9_000, "a\ud800b"):
        assert all(abs(logit) < 1e6 for logit in routing_model().logits(task).values())


def test_the_router_loads_no_parser_and_no_model_of_language() -> None:
    code = "import sys, skillstill.routing.router; print({'tree_sitter', 'llama_cpp', 'mcp'} & sys.modules.keys())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
