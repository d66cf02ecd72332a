"""The two test programs of the protocol's authors: the conformance suite and the Inspector's command line."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.counterparts import installed, node, run, server_command, server_environment

STABLE, ALPHA = "conformance", "conformance-alpha"  # 0.1.16; 0.2.0-alpha.12, which knows 2026-07-28 and tasks
EXPECTED_FAILURES = Path(__file__).with_name("expected_failures.yml")
SUITES = [(STABLE, "2025-11-25"), (ALPHA, "2025-11-25"), (ALPHA, "2026-07-28")]
TASKS = {  # scenarios of the extension, and how many checks each has
    "lifecycle": 9,
    "capability-negotiation": 5,
    "wire-fields": 4,
    "request-headers": 5,
    "dispatch-and-envelope": 9,
    "request-state-removal": 3,
}
CALL = ["--method", "tools/call", "--tool-name", "explore", "--tool-arg", "prompt=Where is Cart?"]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a run of the suite says about itself. `expected` failed or warned, as expected_failures.yml says."""

    scenarios: int
    expected: int
    checks: int


def suite(name: str, revision: str, url: str, output: Path) -> Counts:
    """Every scenario of a revision; one that fails unexpectedly, or passes unexpectedly, is an AssertionError."""
    options = ["--suite", "all", "--spec-version", revision, "--expected-failures", str(EXPECTED_FAILURES)]
    said = _conformance(name, url, output, *options)
    total = re.search(r"^Total: (\d+) passed", said, re.MULTILINE)
    assert total, said
    return Counts(
        scenarios=len(re.findall(r"^[✓✗] ", said, re.MULTILINE)),
        expected=len(re.findall(r"^  ~ ", said, re.MULTILINE)),
        checks=int(total[1]),
    )


def tasks_scenario(name: str, url: str, output: Path) -> tuple[int, int]:
    """Checks that passed, and all of them."""
    said = _conformance(ALPHA, url, output, "--scenario", f"tasks-{name}")
    found = re.search(r"^Passed: (\d+)/(\d+), 0 failed, 0 warnings", said, re.MULTILINE)
    assert found, said
    return int(found[1]), int(found[2])


def _conformance(name: str, url: str, output: Path, *options: str) -> str:
    program = installed(f"{name}/dist/index.js")
    done = run([node(), program, "server", "--url", url, "-o", str(output), *options], seconds=180)
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-4_000:]
    return done.stdout


@dataclass(frozen=True, slots=True)
class Inspector:
    """The Inspector with one server: over stdio, or at a URL with a token."""

    server: dict[str, Any]
    folder: Path

    def result(self, *arguments: str, era: str = "modern") -> Any:
        """That of a method, which must come without a failure."""
        config = self.folder / "inspector.json"
        config.write_text(json.dumps({"mcpServers": {"skills": self.server}}), encoding="utf-8")
        program = [node(), installed(".bin/mcp-inspector"), "--cli", "--config", str(config), "--server", "skills"]
        options = ["--protocol-era", era, "--format", "json", "-q"]
        done = run([*program, *options, *arguments], seconds=60, env={"MCP_INSPECTOR_SECRET_STORE": "memory"})
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)["result"]


def over_stdio(folder: Path, workspace: Path) -> Inspector:
    command, *arguments = server_command(workspace)
    environment = {**server_environment(), "HOME": str(folder)}
    return Inspector({"command": command, "args": arguments, "env": environment}, folder)


def over_http(folder: Path, url: str, headers: dict[str, str]) -> Inspector:
    return Inspector({"type": "http", "url": url, "headers": headers}, folder)


def load(requests: int, concurrency: int) -> Sequence[str]:
    return [*CALL, "--load", "--load-requests", str(requests), "--load-concurrency", str(concurrency)]
