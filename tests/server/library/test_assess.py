"""What becomes of a skill: the texts are ours, one for each verdict and for the borders between them."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillstill import cli
from skillstill.library.assessing import VERDICTS, Assessment, assess
from skillstill.library.assessing.signals import signals
from skillstill.library.definition import Definition, Origin
from skillstill.library.scanning import scan
from skillstill.tools import TOOLS
from skillstill.util.storage import data_folder

from tests.scenes import ROOT, write

FINDER = """\
---
name: definition-finder
description: Finds the files and functions that a question about a codebase is about.
tools: Read, Grep, Glob
---
Trace calls from the entry point to the place that does the work.

Report each place as file:line, and only what is there.
"""
TRIAGE = """\
---
name: night-watch
description: Reads service logs and reports which errors came first and how often each occurred.
tools: Read, Grep
---
Count each error once for a request, not once for a retry.
"""
ANALYST = """\
---
name: ask-the-tables
description: Answers a question in plain English with a SQL query over the tables at hand.
---
Look at the columns and rows first, then write the query.
"""
DEBUGGER = """\
---
name: bug-hunter
description: Finds the root cause of a failing test.
tools: Read, Grep, Bash
---
Start at the last frame of the stack trace that is ours.
"""
REVIEWER = """\
---
name: careful-reviewer
description: Reviews code for bugs and security problems.
tools: Read, Grep, Glob
---
Give each finding a severity, and the file path and line where it stands.
"""
TESTER = """\
---
name: test-writer
description: Writes unit tests for a module.
tools: Read, Write, Edit, Bash
---
All tests must pass before you are done.
"""
ADVISER = """\
---
name: brand-voice
description: Advice on brand, marketing and the tone of emails.
---
You are a senior brand strategist. Ask the user what they want to be known for.
"""
READER = """\
---
name: first-reader
description: Reads the README of a project as a newcomer would, and advises its authors in plain words.
tools: Read, Grep, Glob
---
You are a patient first reader. Say what somebody who is new here would miss.

- Always name the passage that you speak of.
- Never praise.
- Do not rewrite what is there.
"""
ARCHITECT = """\
---
name: blueprint
description: Designs the architecture of a feature, and plans its building.
tools: Read, Grep, Glob
---
You are a software architect. Weigh trade-offs and decide.
"""
PATTERNS = """\
---
name: cache-patterns
description: Patterns for caching, with best practices.
---
# Caching

```python
import functools
```
"""
ISSUES = """\
---
name: ticket-keeper
description: Creates and updates Jira issues through the tracker's API.
---
An API key is required: set JIRA_TOKEN first.
"""
CONNECTOR = """\
---
name: letters
description: Sorts the inbox.
tools: mcp__mailbox__list, mcp__mailbox__move
---
Move what is read.
"""
OPTIONAL = """\
---
name: profile
description: Profile a dataset to see its null rates, duplicates and column distributions.
---
If a warehouse is connected, query it. If a file is provided, read the file.

Count rows for each column.
"""
HELP = """\
---
description: Show the help of the export tool.
---
## Usage

Print what stands here.

## Arguments

None.
"""
WRAPPER = """\
---
name: rank
description: Rank features of a table by their score.
---
## Usage

```bash
python3 scripts/rank.py features.csv
```

## Scripts

- `scripts/rank.py`: ranks, always in the same way.
"""

EXPECTED = {
    "verifiable": (FINDER, TRIAGE, ANALYST, DEBUGGER, OPTIONAL),
    "partly verifiable": (REVIEWER, TESTER),
    "not verifiable": (ADVISER, ARCHITECT, PATTERNS),
    "needs a remote service": (ISSUES, CONNECTOR),
    "compile to a script": (HELP, WRAPPER),
}


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


Typed = Callable[..., Done]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """The console script with these arguments."""

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["skillstill", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return Done(int(left.value.code or 0), *capsys.readouterr())

    return run


def assessed(text: str, folder: Path) -> Assessment:
    (folder / "agents").mkdir(exist_ok=True)
    file = folder / "agents" / "one.md"
    file.write_text(text, encoding="utf-8")
    (definition,) = scan(file, "here").definitions
    return assess(definition)


@pytest.mark.parametrize(
    ("verdict", "text"), [(verdict, text) for verdict, texts in EXPECTED.items() for text in texts]
)
def test_each_kind_of_text_gets_its_verdict(verdict: str, text: str, tmp_path: Path) -> None:
    assert assessed(text, tmp_path).verdict == verdict


def test_every_reason_points_at_the_line_that_gave_it(tmp_path: Path) -> None:
    for text in (text for texts in EXPECTED.values() for text in texts):
        found = assessed(text, tmp_path)
        lines = text.splitlines()
        for reason in found.reasons:
            words = reason.quote.rstrip("…").split()[-1]
            assert words in lines[reason.line - 1].replace(",", " ") or "tools" in lines[reason.line - 1]


def test_what_decided_comes_first(tmp_path: Path) -> None:
    found = assessed(FINDER, tmp_path)
    assert found.reasons[0].side == "fact"
    assert [found.reasons[0].line, found.reasons[0].text] == [3, "it finds facts in local material"]


def test_a_text_that_says_nothing_is_not_verifiable(tmp_path: Path) -> None:
    found = assessed("---\nname: empty\ndescription: x\n---\n", tmp_path)
    assert (found.verdict, found.reasons) == ("not verifiable", ())
    assert "a result that a program can check" in found.missing[0]


@pytest.mark.parametrize(
    ("text", "archetype", "ours"),
    [
        (FINDER, "explore", ("list", "find", "search", "outline", "read")),
        (TRIAGE, "logs", ("search", "outline", "read", "tally", "entries")),
        (ANALYST, "tables", ("describe", "sql")),
    ],
)
def test_the_nearest_of_our_skills_and_the_tools_of_ours_that_do_it(
    text: str, archetype: str, ours: tuple[str, ...], tmp_path: Path
) -> None:
    found = assessed(text, tmp_path)
    assert (found.archetype, found.tools.ours) == (archetype, ours)
    assert set(found.tools.ours) <= set(TOOLS)


def gears(folder: Path, design: str) -> None:
    """A skill of the user's own, in the registry."""
    write(folder, {"gears/design.toml": design})
    entry = {"name": "gears", "title": "G", "description": "D", "state": "untrained", "skill": "gears",
             "base": {"source": "file:base.gguf", "sha256": "1" * 64}}  # fmt: skip
    write(data_folder(), {"registry.json": json.dumps({"version": 1, "entries": [entry]})})
    (data_folder() / "gears").symlink_to(folder / "gears")


def test_a_skill_of_ones_own_is_lent_as_soon_as_its_folder_says_what_it_is_for(tmp_path: Path) -> None:
    gears(tmp_path, "topics = '[a-z]'\ntools = ['list', 'turn']\n")
    found = assessed(FINDER, tmp_path)
    assert found.archetype == "gears"
    assert {"list", "turn"} <= set(found.tools.ours)


def test_a_design_toml_that_is_wrong_lends_nothing_and_breaks_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gears(tmp_path, "topics = '[a-z'\n")
    assert assessed(FINDER, tmp_path).archetype == "explore"
    assert "gears/design.toml is left out" in caplog.text


LOOK_UP = """\
---
name: handbook-lookup
description: Looks up an answer in the project's handbook.
tools: Read, Grep, Glob
---
You answer one question. Always cite path:line for each statement, and say so if the handbook is silent.
"""
ART = """\
---
name: generative-art
description: Create art with seeded randomness and interactive parameter exploration. Use it if users ask for code art.
---
Compose a philosophy first, then express it.
"""


def test_a_look_up_that_answers_with_places_is_verifiable_and_has_a_form(tmp_path: Path) -> None:
    found = assessed(LOOK_UP, tmp_path)
    assert found.verdict == "verifiable"
    assert not any("a form for its answer" in one for one in found.missing)


def test_a_verb_and_the_thing_that_it_is_about_stand_in_one_sentence(tmp_path: Path) -> None:
    assert assessed(ART, tmp_path).verdict == "not verifiable"


RUNNER = """\
---
name: suite-runner
description: Runs the test suite of a project and says which of its tests failed first.
---
Read setup.cfg for how they are started. Never change a file.
"""


def test_a_file_s_name_is_no_deed_and_to_run_tests_is_not_to_write_them(tmp_path: Path) -> None:
    says = {"it sets something up or converts it", "it writes tests, which can be run"}
    assert not says & {reason.text for reason in assessed(RUNNER, tmp_path).reasons}
    writer = RUNNER.replace("Runs the", "Writes the").replace("Read setup.cfg", "Set up setup.cfg")
    assert says <= {reason.text for reason in assessed(writer, tmp_path).reasons}


HANDBOOK = LOOK_UP.replace("Read, Grep, Glob", "Read, WebFetch")
FIXER = LOOK_UP.replace("Read, Grep, Glob", "Read, Bash(make:*)")


@pytest.mark.parametrize(
    ("text", "by", "lender", "lacks", "told"),
    [
        (FINDER, "program", "explore", None, "programs of our own explore"),
        (DEBUGGER, "program", "explore", "execution", "explore; what it executes or changes is not asked"),
        (LOOK_UP, "kinds", "", None, "a program, if you declare kinds of questions about your folders (kinds.toml)"),
        (HANDBOOK, "kinds", "", "tools", "what needs tools that ours lack is not asked"),
        (FIXER, "kinds", "", "execution", "what it executes or changes is not asked"),
        (REVIEWER, "agreement", "", None, "agreement of a teacher's attempts about your folders (--teacher)"),
        (ISSUES, "none", "", "service", "none: it needs a service that is not on this machine"),
        (WRAPPER, "none", "", "judgement", "none: a script does it without a model"),
        (READER, "rubric", "", None, "a teacher's judgement by a rubric of its text, about your folders"),
        (ADVISER, "none", "", "form", "none: its answers have no form that a program can check"),
    ],
)
def test_the_check_that_distilling_would_use_is_predicted_with_what_stays_out(
    text: str, by: str, lender: str, lacks: str | None, told: str, tmp_path: Path
) -> None:
    check = assessed(text, tmp_path).check
    assert (check.by, check.lender, check.lacks) == (by, lender, lacks)
    assert told in check.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Read, Grep, Glob", "Read, Write"),
        ("Reads the README", "Rewrites and publishes the README"),
        ("Reads the README of a project as a newcomer would, and advises its authors", "Patterns of README files"),
        ("- Never praise", "- Some praise"),
        ("the README of a project", "the mood of a person"),
    ],
    ids=["a tool acts", "an act is promised", "no look is promised", "too few demands", "no files"],
)
def test_a_rubric_needs_a_skill_that_only_looks_at_files_and_says_what_a_good_answer_is(
    old: str, new: str, tmp_path: Path
) -> None:
    assert old in READER
    check = assessed(READER.replace(old, new), tmp_path).check
    assert (check.by, check.lacks) == ("none", "form")


def test_programs_that_a_text_runs_without_declaring_a_tool_are_executed(tmp_path: Path) -> None:
    assert assessed(ANALYST + "\nRun `git log -1`.\n", tmp_path).check.lacks == "execution"


def test_tools_that_we_do_not_have_are_missing(tmp_path: Path) -> None:
    found = assessed(DEBUGGER, tmp_path)
    assert found.tools.uncovered == ("Bash",)
    assert "tools that we do not have: Bash" in found.missing


def test_programs_stand_in_for_tools_that_are_not_declared(tmp_path: Path) -> None:
    found = assessed(ANALYST + "\nRun `sqlite3 shop.db .schema`, then `git log -1`.\n", tmp_path)
    assert found.tools.used == ("sqlite3", "git")
    assert (found.tools.declared, found.tools.uncovered) == (False, ("git",))


def test_a_licence_that_forbids_derived_works_is_missing_whatever_the_verdict(tmp_path: Path) -> None:
    licensed = "---\nlicense: CC-BY-NC-ND-4.0\n"
    assert any("a licence" in sentence for sentence in assessed(FINDER.replace("---\n", licensed, 1), tmp_path).missing)
    allowed = FINDER.replace("---\n", "---\nlicense: MIT\n", 1)
    assert not any("a licence" in sentence for sentence in assessed(allowed, tmp_path).missing)


def test_a_text_without_a_licence_may_be_ones_own(tmp_path: Path) -> None:
    missing = assessed(FINDER, tmp_path).missing
    assert "a licence that allows derived works, unless the text is your own: found none" in missing


def test_a_person_reads_the_verdict_its_reasons_and_what_is_missing(tmp_path: Path, typed: Typed) -> None:
    (file := tmp_path / "finder.md").write_text(FINDER, encoding="utf-8")
    done = typed("assess", str(file))
    assert done.code == 0
    assert done.out.startswith("definition-finder: verifiable\n     line 3  it finds facts in local material\n")
    assert "\ncheck: programs of our own explore\n" in done.out
    assert "nearest of ours: explore, with list, find, search, outline, read" in done.out


def test_a_program_reads_the_same_as_json(tmp_path: Path, typed: Typed) -> None:
    (file := tmp_path / "finder.md").write_text(FINDER, encoding="utf-8")
    value = json.loads(typed("assess", str(file), "--json").out)
    assert (value["verdict"], value["archetype"]) == ("verifiable", "explore")
    assert value["check"] == {"by": "program", "lender": "explore", "lacks": None}
    assert Assessment.model_validate(value).scores["fact"] > 3


def test_a_folder_of_many_is_a_table_with_its_counts(tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "agents").mkdir()
    for name, text in {"finder": FINDER, "adviser": ADVISER}.items():
        (tmp_path / "agents" / f"{name}.md").write_text(text, encoding="utf-8")
    lines = typed("assess", str(tmp_path)).out.splitlines()
    assert lines[-2].startswith("1 verifiable, 0 partly verifiable, 1 not verifiable")
    assert lines[-1] == "check: 1 program, 0 kinds, 0 agreement, 0 rubric, 1 none"


def test_a_folder_without_a_skill_is_one_sentence(tmp_path: Path, typed: Typed) -> None:
    done = typed("assess", str(tmp_path))
    assert (done.code, done.out) == (1, "")
    assert "holds no skill, agent or command" in done.err


def test_an_imported_skill_is_assessed_by_its_name(tmp_path: Path, typed: Typed) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "finder.md").write_text(FINDER, encoding="utf-8")
    assert typed("import", str(tmp_path)).code == 0
    assert typed("assess", "definition-finder").out.startswith("definition-finder: verifiable")


def test_a_mistyped_path_is_told_to_be_neither_a_file_nor_in_the_library(tmp_path: Path, typed: Typed) -> None:
    done = typed("assess", "own/nope")
    assert (done.code, done.out) == (64, "")
    assert "there is no file or folder 'own/nope', and no definition called 'own/nope' is in the library" in done.err


def test_the_labels_name_files_and_hold_no_text_of_theirs() -> None:
    lines = (ROOT / "tests" / "server" / "library" / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len({row["sha256"] for row in rows}) == len(rows) == 152
    assert {row["label"] for row in rows} == set(VERDICTS)
    assert all(len(row["note"].split()) <= 12 for row in rows)
    assert sum(row["drawn"] == "at random" for row in rows) == 120


def test_every_word_of_the_table_is_filled_in() -> None:
    patterns = [pattern for signal in signals() for pattern in signal.patterns]
    assert patterns
    assert not [pattern for pattern in patterns if "{services}" in pattern or "{local_facts}" in pattern]


@given(body=st.text(max_size=2_000), tools=st.lists(st.text(max_size=20), max_size=5))
def test_any_text_gets_a_verdict_and_lines_that_exist(body: str, tools: list[str]) -> None:
    text = f"---\ndescription: d\n---\n{body}"
    origin = Origin(source="here", path="agents/one.md", sha256="0" * 64)
    definition = Definition(
        kind="agent", name="one", title="one", description="d", body=body, text=text, tools=tuple(tools), origin=origin
    )
    found = assess(definition)
    assert found.verdict in VERDICTS
    assert all(reason.line <= text.count("\n") + 1 for reason in found.reasons)
