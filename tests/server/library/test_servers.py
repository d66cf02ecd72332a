"""MCP servers that a definition may use: read from its front matter and from `.mcp.json` files; none is started."""

import json
from pathlib import Path
from typing import Any

from skillstill.library.scanning import scan

from tests.scenes import write

GIT = {"command": "uvx", "args": ["mcp-server-git==1.2.3", "--repository", "."], "env": {"TOKEN": "hunter2"}}
REMOTE = {"type": "http", "url": "https://mcp.example.com"}


def agent(*lines: str) -> str:
    return "\n".join(("---", "name: one", "description: Does one.", *lines, "---", "Body."))


def servers(folder: Path, files: dict[str, str]) -> dict[str, Any]:
    """The servers of the only agent, as their fields that are not empty."""
    found = scan(write(folder, files), "source").definitions
    return {one.name: one.model_dump(exclude_defaults=True, exclude={"name"}) for one in found[0].servers}


def test_a_plugin_s_file_names_the_servers_of_its_agents_without_their_secrets(tmp_path: Path) -> None:
    files = {"p/.mcp.json": json.dumps({"mcpServers": {"git": GIT, "far": REMOTE}}), "p/agents/one.md": agent()}
    found = servers(tmp_path, files)
    args = ("mcp-server-git==1.2.3", "--repository", ".")
    assert found["git"] == {"command": "uvx", "args": args, "environment": ("TOKEN",)}
    assert found["far"] == {"url": "https://mcp.example.com"}
    assert "hunter2" not in str(found)


def test_an_agent_has_the_servers_whose_tools_it_declares(tmp_path: Path) -> None:
    file = json.dumps({"git": GIT, "other": GIT, "far": REMOTE})
    declared = agent("tools: Read, mcp__git__git_log, mcp__plugin_p_other")
    found = servers(tmp_path, {".mcp.json": file, "agents/one.md": declared})
    assert {name: one.get("tools") for name, one in found.items()} == {"git": ("git_log",), "other": None}


def test_an_agent_may_bring_servers_or_name_those_of_the_file(tmp_path: Path) -> None:
    file = json.dumps({"git": GIT, "far": REMOTE})
    own = agent("mcpServers:", "  mine:", "    command: uvx", "    args: [mine@1.0]")
    assert list(servers(tmp_path / "own", {".mcp.json": file, "agents/one.md": own})) == ["mine"]
    named = agent("mcpServers:", "  - git")
    assert list(servers(tmp_path / "named", {".mcp.json": file, "agents/one.md": named})) == ["git"]


def test_a_file_that_changes_is_read_again_and_one_that_is_broken_names_none(tmp_path: Path) -> None:
    files = {"p/.mcp.json": json.dumps({"git": GIT}), "p/agents/one.md": agent()}
    before = scan(write(tmp_path, files), "source")
    write(tmp_path, {"p/.mcp.json": '{"git": {"command": 1, "args": "x"}, "odd": 3}'})
    after = scan(tmp_path, "source", unchanged=before.folders)
    assert [one.command for one in after.definitions[0].servers] == ["1"]
    for broken in ("{", "[]", "[" * 100_000, '{"mcpServers": []}'):
        write(tmp_path, {"p/.mcp.json": broken})
        assert scan(tmp_path, "source").definitions[0].servers == ()
