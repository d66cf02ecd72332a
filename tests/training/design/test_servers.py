"""MCP servers of a stranger's agent: those of pinned packages are kept, for a sandbox; of the others it is told why."""

from pathlib import Path

from skillstill.skills.skill import McpServer, load_skill

from tests.training.design.scenes import EXPLORER, Run, projects

SERVERS = """\
mcpServers:
  git:
    command: uvx
    args: [mcp-server-git@2026.10.19, --repository, .]
  Two Words:
    command: uvx
    args: [--from, "two[all]==2.0", twice, fast]
  loose:
    command: uvx
    args: [mcp-server-time]
  node:
    command: npx
    args: [-y, "@playwright/mcp@1.0.0"]
  far:
    url: https://mcp.example.com
  keyed:
    command: uvx
    args: [keyed==1.0]
    env: {TOKEN: hunter2}
"""


def test_servers_of_pinned_packages_are_kept_and_the_others_told(design: Run, tmp_path: Path) -> None:
    folder = tmp_path / "code-tracer"
    text = EXPLORER.replace("color: yellow\n", f"color: yellow\n{SERVERS}")
    code, _, _ = design(text, "-o", str(folder), *projects(tmp_path / "src"), "--few", "0")
    assert code == 0
    args = ("--repository", ".")
    assert load_skill(folder).subagent.mcp == (
        McpServer(name="git", command="mcp-server-git", args=args, packages=("mcp-server-git==2026.10.19",)),
        McpServer(name="two-words", command="twice", args=("fast",), packages=("two[all]==2.0",)),
    )
    told = (folder / "design.md").read_text(encoding="utf-8")
    assert "- git: mcp-server-git --repository .; packages: mcp-server-git==2026.10.19" in told
    assert "- loose: name one version of its package, as in mcp-server-time==1.2.3" in told
    assert "- node: npx is no program that runs a package of Python's index" in told
    assert "- far: it runs elsewhere, and no tool may leave this machine" in told
    assert "- keyed: it wants an environment (TOKEN), and none is handed in" in told
