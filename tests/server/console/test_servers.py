"""What the command line tells of a skill's MCP servers: what is declared, and what a server really offers."""

import json
from pathlib import Path

import pytest
from skillstill.console.doctor import check_servers
from skillstill.console.show import print_entries
from skillstill.sandbox.sandbox import Driver
from skillstill.skills.registry import ListedEntry, Registry

from tests.scenes import write
from tests.server.run.test_servers import SERVER, works
from tests.server.sandbox.conftest import driver

__all__ = ["driver", "works"]
SKILL = "---\nname: notes\ndescription: Finds notes.\n---\nFind notes.\n"
SETTINGS = """\
system = "notes"
tools = ["read"]

[base]
source = "file:nothing.gguf"
sha256 = "{sha256}"

[[mcp]]
name = "notes"
command = "python3"
args = ["-c", {code}, "/workspace"]
packages = ["mcp==2.3.0"]
"""


def entry(folder: Path, code: str) -> tuple[Registry, ListedEntry]:
    base = {"source": "file:nothing.gguf", "sha256": "0" * 64}
    named = {"name": "notes", "title": "Notes", "description": "Finds notes.", "state": "untrained"}
    settings = SETTINGS.format(sha256="0" * 64, code=json.dumps(code))
    files = {
        "registry.json": json.dumps({"entries": [{**named, "skill": "notes", "base": base}]}),
        "notes/SKILL.md": SKILL,
        "notes/subagent.toml": settings,
    }
    registry = Registry(write(folder, files) / "registry.json", folder)
    return registry, registry.entry("notes")


@pytest.mark.usefixtures("works")
def test_doctor_starts_the_servers_of_a_skill_and_tells_what_they_offer(tmp_path: Path, driver: Driver) -> None:
    _, listed = entry(tmp_path, SERVER.read_text(encoding="utf-8"))
    (check,) = check_servers(listed, driver.name)  # type: ignore[arg-type]
    assert (check.name, check.ok) == ("notes: MCP server notes", True)
    assert check.found.startswith("grep_notes, count, add, half, ")
    assert "left out: nested: its argument 'options' cannot be said, read: another tool has this name" in check.found
    assert "without an argument: half: options" in check.found


@pytest.mark.usefixtures("works")
def test_doctor_says_why_a_server_offers_nothing(tmp_path: Path, driver: Driver) -> None:
    _, listed = entry(tmp_path, "import nowhere")
    (check,) = check_servers(listed, driver.name)  # type: ignore[arg-type]
    assert not check.ok
    assert "ModuleNotFoundError: No module named 'nowhere'" in check.found


def test_without_a_sandbox_doctor_starts_none(tmp_path: Path) -> None:
    _, listed = entry(tmp_path, "raise SystemExit")
    (check,) = check_servers(listed, "none")
    assert check.ok
    assert check.found == "not started, so its tools are not offered (sandboxes are switched off)"


def test_a_list_of_entries_names_the_servers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    registry, _ = entry(tmp_path, "import this")
    print_entries(registry, as_json=False)
    line = "MCP server notes, in a sandbox: python3 -c 'import this' /workspace; packages: mcp==2.3.0"
    assert line in capsys.readouterr().out
