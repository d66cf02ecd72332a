"""What README and docs say can be typed, and what they show is so."""

import re
import runpy
import shlex
from pathlib import Path

import pytest
from skillstill.cli import app
from typer.main import get_command

from tests.scenes import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = sorted((ROOT / "docs").glob("*.md"))
USING, ARCHITECTURE = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("using.md", "architecture.md"))
BLOCKS = re.findall(r"```sh\n(.*?)```", README + USING, re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "readme"))


@pytest.mark.parametrize("page", SCRIPT["PAGES"])
def test_its_generated_parts_are_up_to_date(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert SCRIPT["render"](page, text) == text, "type scripts/readme"


def test_a_first_visitor_reads_at_most_700_words() -> None:
    assert len(README.split()) <= 700


def test_the_glossary_has_at_most_30_words() -> None:
    assert 20 <= len(re.findall(r"^\| \w", ARCHITECTURE.split("## Glossary")[1], re.MULTILINE)) - 1 <= 30


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
    tree = ARCHITECTURE.split("## The rooms")[1].split("```")[1]
    folder = ROOT
    for line in tree.strip().splitlines():
        names = re.findall(r"[\w/]+(?:\.py|\.json|/)(?=\s|$)", line.split("   ")[0] if line[0] != " " else line[:31])
        for name in names:
            here = (folder if line.startswith(" ") else ROOT) / name
            assert here.exists(), here
        if not line.startswith(" ") and names[0].endswith("/"):
            folder = ROOT / names[0]


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS], ids=lambda page: page.name)
def test_its_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [one for one in targets if ":" not in one and not (page.parent / one).exists()] == []


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in DOCS if page.name != "README.md" and f"({page.name})" not in index] == []


def test_it_holds_no_placeholder() -> None:
    assert not re.findall(r"@[A-Z]+@", README)
