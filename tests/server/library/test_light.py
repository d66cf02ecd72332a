"""What reads and searches other people's skills needs no model, and no program that runs one."""

import subprocess
import sys
from pathlib import Path

import pytest

BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "llama_cpp":
            raise ModuleNotFoundError(f"{name} is not installed", name=name)
sys.meta_path.insert(0, Blocked())
from skillstill import cli
cli.main()
"""
SKILL = (
    "---\nname: log-triage\ndescription: Finds the first failing component in service logs.\n---\nReport path:line.\n"
)


@pytest.mark.parametrize("command", [["assess", "skill"], ["import", "skill"], ["search", "service logs"]])
def test_a_library_is_read_searched_and_judged_without_llama_cpp(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "skill").mkdir()
    (tmp_path / "skill" / "SKILL.md").write_text(SKILL, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_a_run_without_llama_cpp_says_what_to_install(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, "run", "explore", "Where is it?"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert (
        "without llama_cpp: type `pip install 'skillstill[embedded]'`, or name a server with --endpoint" in done.stdout
    )
