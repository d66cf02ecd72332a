"""Codex, Gemini CLI and the packer of MCP bundles, real and offline: what we write is what they read."""

import json
import shlex
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from skillstill.clients import bundle
from skillstill.clients.client import serving
from skillstill.clients.others import CODEX, GEMINI

from tests.clients.claude import offline
from tests.clients.counterparts import installed, node, run

pytestmark = pytest.mark.clients


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def said(program: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What a program says in a home of its own and without a network."""
    command = [*offline(), node(), installed(f".bin/{program}"), *arguments]
    return run(command, seconds=120, cwd=cwd)


def codex_list(project: Path) -> Any:
    done = said("codex", "mcp", "list", "--json", cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_codex_reads_the_server_the_time_limits_and_then_nothing(project: Path, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text("# mine\n[mcp_servers.other]\ncommand = 'x'\n", encoding="utf-8")
    CODEX.install("user", project, workspace=project)
    ours = next(server for server in codex_list(project) if server["name"] == "skillstill")
    assert [ours["transport"]["command"], *ours["transport"]["args"]] == [*serving(project)]
    assert (ours["startup_timeout_sec"], ours["tool_timeout_sec"]) == (30, 600)
    CODEX.uninstall("user", project)
    assert [server["name"] for server in codex_list(project)] == ["other"]


def test_codex_writes_what_the_snippet_says_and_we_take_it_out(project: Path, home: Path) -> None:
    line = next(line for line in CODEX.snippet("user", project).splitlines() if line.startswith("codex "))
    assert said(*shlex.split(line), cwd=project).returncode == 0
    assert CODEX.install("user", project).did == "updated"
    assert CODEX.uninstall("user", project).did == "removed"
    assert "skillstill" not in (home / ".codex" / "config.toml").read_text(encoding="utf-8")


def test_gemini_reads_the_server(project: Path, home: Path) -> None:
    (home / ".gemini").mkdir()
    trusted = json.dumps({str(project): "TRUST_FOLDER"})
    (home / ".gemini" / "trustedFolders.json").write_text(trusted, encoding="utf-8")
    (project / ".gemini").mkdir()
    (project / ".gemini" / "settings.json").write_text('{ // mine\n  "ui": {}\n}\n', encoding="utf-8")
    GEMINI.install("project", project, workspace=project)
    done = said("gemini", "mcp", "list", cwd=project)
    ours = next(line for line in (done.stdout + done.stderr).splitlines() if "skillstill" in line)
    assert shlex.join(serving(project)) in ours
    assert "Connected" in ours, "it has started the real server"


def test_gemini_writes_what_the_snippet_says(project: Path) -> None:
    said_of_it = GEMINI.snippet("project", project, workspace=project)
    line = next(line for line in said_of_it.splitlines() if line.startswith("gemini "))
    assert said(*shlex.split(line), cwd=project).returncode == 0
    assert GEMINI.install("project", project, workspace=project).did == "unchanged"


def test_the_bundle_is_valid_and_unpacks(tmp_path: Path) -> None:
    bundle.write(tmp_path / "out")
    done = said("mcpb", "unpack", str(tmp_path / "out" / bundle.BUNDLE), str(tmp_path / "in"), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(tmp_path / "out" / bundle.BUNDLE) as archive:
        assert {file.name for file in (tmp_path / "in").iterdir()} == set(archive.namelist())
    done = said("mcpb", "validate", str(tmp_path / "in" / "manifest.json"), cwd=tmp_path)
    assert "Manifest schema validation passes" in done.stdout, done.stdout + done.stderr
