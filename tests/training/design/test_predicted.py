"""What `assess` predicts is what a distillation then has: of each definition, by the same draft as `distil`'s."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from skillstill.errors import GateError, UsageError
from skillstill.library.assessing import assess
from skillstill.library.definition import Definition
from skillstill.library.lookup import definitions_of
from skillstill_training.design.declared import Declared, read_declared
from skillstill_training.design.draft import draft_design

from tests.scenes import write
from tests.server.library.test_assess import ANALYST
from tests.training.cli.test_distil import KINDS
from tests.training.design.scenes import EXPLORER, LOGS, SETTINGS, TASTE, services

RELEASES = """\
---
name: release-review
description: Reviews configuration files for mistakes before a release.
tools: Read, Grep, Glob
---
Give each finding a severity, and the file path and line where it stands.
"""
TICKETS = """\
---
name: ticket-keeper
description: Creates and updates Jira issues through the tracker's API.
---
An API key is required: set JIRA_TOKEN first.
"""
HELP = """\
---
name: export-help
description: Show the help of the export tool.
---
## Usage

Print what stands here.

## Arguments

None.
"""


@pytest.fixture
def folders(tmp_path: Path) -> Sequence[Path]:
    return [Path(root) for root in services(tmp_path / "src")[1::2]]


@pytest.fixture
def declared(tmp_path: Path) -> Declared:
    return read_declared(write(tmp_path / "declared", {"kinds.toml": KINDS}) / "kinds.toml")


def definition_of(text: str, folder: Path) -> Definition:
    (one,) = definitions_of(str(write(folder / "agents", {"one.md": text}) / "one.md"))
    return one


@pytest.mark.parametrize(("text", "lender"), [(EXPLORER, "explore"), (LOGS, "logs"), (ANALYST, "tables")])
def test_a_program_means_that_the_families_of_that_skill_are_borrowed(text: str, lender: str, tmp_path: Path) -> None:
    definition = definition_of(text, tmp_path)
    check, drawn = assess(definition).check, draft_design(definition, "one")
    assert (check.by, check.lender) == ("program", lender) == ("program", drawn.lender)
    assert drawn.families


@pytest.mark.parametrize(("text", "by"), [(SETTINGS, "kinds"), (RELEASES, "agreement")])
def test_kinds_and_agreement_mean_that_it_is_distilled_with_these_about_own_folders_and_not_without(
    text: str, by: str, folders: Sequence[Path], declared: Declared, tmp_path: Path
) -> None:
    definition = definition_of(text, tmp_path)
    assert assess(definition).check.by == by
    for own in ((), folders):
        with pytest.raises(UsageError, match="name three or more folders" if not own else "declare kinds of questions"):
            draft_design(definition, "one", own)
    with_it = declared if by == "kinds" else None
    drawn = draft_design(definition, "one", folders, with_it, has_teacher=by == "agreement")
    assert (drawn.lender, drawn.families, drawn.declared) == ("", (), with_it)


@pytest.mark.parametrize("text", [TASTE, TICKETS, HELP])
def test_none_means_that_it_is_refused_even_with_folders_and_a_teacher(
    text: str, folders: Sequence[Path], declared: Declared, tmp_path: Path
) -> None:
    definition = definition_of(text, tmp_path)
    assert assess(definition).check.by == "none"
    with pytest.raises(GateError, match="unless you declare what can be asked of it"):
        draft_design(definition, "one", folders, has_teacher=True)
    assert draft_design(definition, "one", folders, declared).declared, "what its user declares is asked all the same"
