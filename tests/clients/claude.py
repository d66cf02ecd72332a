"""Drives the real Claude Code: in a jail, with a home of its own, against a script instead of a model."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.clients.counterparts import eventually, installed, lacking, lines, run, server_command, server_environment
from tests.clients.messages_api import Turn
from tests.scenes import ROOT

SERVER = "skills"
KEY = "sk-scripted-and-worth-nothing"
QUIET = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}


def calling(*prompts: str, tool: str = "explore") -> Turn:
    """A model's turn that calls one tool of ours, once for each prompt."""
    return {"calls": [{"name": f"mcp__{SERVER}__{tool}", "input": {"prompt": prompt}} for prompt in prompts]}


@dataclass(frozen=True, slots=True)
class Claude:
    """One client in one folder: its home, its project, and what it and our server left behind."""

    folder: Path
    project: Path

    @property
    def server_log(self) -> list[dict[str, Any]]:
        """Requests and runs of our server."""
        return lines(self.folder / "server.jsonl")

    @property
    def events(self) -> list[str]:
        """Their names: methods of requests; `begin` and `end` or `cancelled` of runs."""
        return [line["event"] for line in self.server_log]

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What the model was sent, leaving out titles and the like."""
        return [request for request in lines(self.folder / "requests.jsonl") if request.get("tools")]

    @property
    def results(self) -> list[str]:
        """What the model read as tool results, each once, in order."""
        blocks = [
            block
            for request in self.requests
            for message in request["messages"]
            for block in (message["content"] if isinstance(message["content"], list) else [])
        ]
        found = {block["tool_use_id"]: block["content"] for block in blocks if block["type"] == "tool_result"}
        return [_text(content) for content in found.values()]

    def server(self, *options: str) -> list[str]:
        """How to start our server, with its log in our folder."""
        return server_command(self.project, "--log", str(self.folder / "server.jsonl"), *options)

    def configure(self, *options: str) -> list[str]:
        """Claude Code's arguments for our server alone, over stdio."""
        command, *arguments = self.server(*options)
        return self._configured({"command": command, "args": arguments, "env": server_environment()})

    def configure_http(self, token: str) -> list[str]:
        """The same over HTTP; the jail knows the URL."""
        return self._configured(
            {"type": "http", "url": "${SKILLS_URL}", "headers": {"Authorization": f"Bearer {token}"}}
        )

    def _configured(self, server: dict[str, Any]) -> list[str]:
        config = self.folder / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {SERVER: {**server, "alwaysLoad": True}}}), encoding="utf-8")
        allowed = ["--permission-mode", "default", "--allowedTools", f"mcp__{SERVER}"]
        return ["--mcp-config", str(config), "--strict-mcp-config", *allowed]

    def run(
        self, *arguments: str, turns: Sequence[Turn] = (), beside: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """One run from start to end, perhaps with a server in the same jail."""
        return run(self.jailed(arguments, turns, beside), seconds=120, env={"PYTHONPATH": str(ROOT)})

    def jailed(self, arguments: Sequence[str], turns: Sequence[Turn], beside: Sequence[str] = ()) -> list[str]:
        """The command that runs Claude Code with these arguments in a new jail."""
        plan = {
            "command": [installed(".bin/claude"), *arguments],
            "environment": self._environment(),
            "folder": str(self.project),
            "beside": beside,
            "turns": turns or [{"text": "nobody should have asked"}],
            "requests": str(self.folder / "requests.jsonl"),
        }
        (self.folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        return [*offline(), sys.executable, "-m", "tests.clients.jail", str(self.folder / "plan.json")]

    def _environment(self) -> dict[str, str]:
        """All of it: nothing is inherited."""
        home = self.folder / "home"
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        own = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude"), "CLAUDE_CODE_TMPDIR": str(home / "tmp")}
        terminal = {"PATH": os.defpath, "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        return {**own, **terminal, **QUIET, "ANTHROPIC_API_KEY": KEY}

    def introduce(self) -> None:
        """Answer beforehand what an interactive session asks at its first start: theme, key, trust in the folder."""
        config = self.folder / "home" / ".claude" / ".claude.json"
        config.parent.mkdir(parents=True, exist_ok=True)
        known = {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(self.project): {"hasTrustDialogAccepted": True}},
        }
        config.write_text(json.dumps(known), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Terminal:
    """A tmux server with one window."""

    socket: Path

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def shows(self, text: str) -> None:
        """Wait until the screen does. A failure's captured output ends with what it showed instead."""
        try:
            eventually(lambda: text in self.screen(), f"{text!r} on the screen")
        except pytest.fail.Exception:
            print(self.screen())
            raise

    def ask(self, prompt: str) -> None:
        """Type a prompt, and send it once it stands there: pasted text that ends in Enter is not always sent."""
        self._tmux("send-keys", "-l", prompt)
        self.shows(prompt)
        self.press("Enter")

    def _tmux(self, *arguments: str) -> str:
        return run(["tmux", "-S", str(self.socket), *arguments], seconds=20).stdout


@contextmanager
def session(claude: Claude, turns: Sequence[Turn], *arguments: str) -> Iterator[Terminal]:
    """An interactive Claude Code that knows our tools and is ready for a prompt; gone in the end."""
    if shutil.which("tmux") is None:
        lacking("tmux is not installed")
    claude.introduce()
    terminal = Terminal(claude.folder / "tmux")
    tmux = ["tmux", "-S", str(terminal.socket), "-f", os.devnull]
    size = ["-x", "160", "-y", "50"]
    run(
        [*tmux, "new-session", "-d", *size, *claude.jailed(arguments, turns)], seconds=20, env={"PYTHONPATH": str(ROOT)}
    )
    pid = int(run([*tmux, "display-message", "-p", "#{pid}"], seconds=20).stdout)
    try:
        terminal.shows("❯")
        eventually(lambda: "tools/list" in claude.events, "a client that asks for our tools")
        yield terminal
    finally:
        run([*tmux, "kill-server"], seconds=20)
        eventually(lambda: not _alive(pid), "the end of tmux")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def offline() -> list[str]:
    """A network of its own, and processes of its own, which all end with the first of them."""
    if shutil.which("unshare") is None:
        lacking("unshare is not installed: Claude Code is only run where it has no network")
    who = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", *who, "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if run([*command, "true"], seconds=20).returncode:
        lacking("this user may not make a network namespace")
    return command


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
