"""What the README says can be typed, and what it shows is so."""

import re
import runpy
import shlex

import pytest
from skillstill.cli import app
from typer.main import get_command

from tests.scenes import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]


def test_its_generated_parts_are_up_to_date() -> None:
    written = runpy.run_path(str(ROOT / "scripts" / "readme"))["written"]
    assert written(README) == README, "type scripts/readme"


@pytest.mark.parametrize("line", [line for line in COMMANDS if "skillstill" in line and "pip" not in line])
def test_its_commands_parse(line: str) -> None:
    words = shlex.split(line)
    arguments = words[len(words) - words[::-1].index("skillstill") :]
    group = get_command(app)
    command = group.commands[arguments[0]]  # type: ignore[attr-defined]
    command.make_context(arguments[0], arguments[1:])


def test_ci_runs_its_test_command() -> None:
    assert "scripts/test" in COMMANDS
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == "exec scripts/test"


def test_every_file_that_it_names_is_there() -> None:
    tree = README.split("## Where things are")[1].split("```")[1]
    folder = ROOT
    for line in tree.strip().splitlines():
        names = re.findall(r"[\w/]+(?:\.py|\.json|/)(?=\s|$)", line.split("   ")[0] if line[0] != " " else line[:31])
        for name in names:
            here = (folder if line.startswith(" ") else ROOT) / name
            assert here.exists(), here
        if not line.startswith(" ") and names[0].endswith("/"):
            folder = ROOT / names[0]


def test_its_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_it_holds_no_placeholder() -> None:
    assert not re.findall(r"@[A-Z]+@", README)
