"""The goals of `tests`: a package with one mistake, made and found in a real sandbox."""

import ast
from pathlib import Path
from random import Random

import pytest
from skillstill.errors import WorkspaceSourceError
from skillstill.sandbox.choice import ENVIRONMENT
from skillstill.skills.skill import load_skill
from skillstill_training.authoring.families import load_families, load_wordings, slots
from skillstill_training.authoring.goal import Goal
from skillstill_training.evaluation.baseline import load_baseline
from skillstill_training.run.recipe import SpeechConfig
from skillstill_training.sampling.goal_builder import GoalBuilder
from skillstill_training.sampling.sampler import accepts_wrong
from skillstill_training.workspaces import BuiltWorkspace, Source
from skillstill_training.workspaces.steps import run_steps
from skillstill_training.workspaces.steps.notes import read_notes, write_notes

from skills.tests.generator.operators import functions_of, mutations_of
from tests.scenes import ROOT, write
from tests.server.sandbox.conftest import inner_pytest
from tests.training.skills.proofs import prove_drafts

__all__ = ["inner_pytest"]
pytestmark = pytest.mark.anyio
FOLDER = ROOT / "skills" / "tests"
FAMILIES = load_families(FOLDER)
WORDINGS = load_wordings(FOLDER, "train", FAMILIES)
BUILDER = GoalBuilder(load_skill(FOLDER), SpeechConfig(loose=0, typo=0, scoped=0), seed=1)
CART = """def net(prices):
    return sum(prices) + fee(prices)


def fee(prices):
    return 5 if len(prices) < 3 else 0
"""
TESTS = """import cart


def test_net():
    assert cart.net([10, 20]) == 35


def test_fee():
    assert cart.fee([1, 2, 3]) == 0


def test_import():
    assert cart
"""


@pytest.fixture(autouse=True)
def in_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, "bubblewrap")


def mutated(root: Path, tests: str = TESTS) -> BuiltWorkspace:
    """Return the package with a mistake."""
    root.chmod(0o755)
    tree = write(root / "tree", {"cart.py": CART, "tests/test_cart.py": tests})
    write_notes(tree, {})
    run_steps(Source(name="cart", split="train", steps=("mutate",)), FOLDER, tree)
    return BuiltWorkspace("cart", "train", tree, read_notes(tree))


@pytest.fixture(scope="module")
def workspace(inner_pytest: None, tmp_path_factory: pytest.TempPathFactory) -> BuiltWorkspace:
    return mutated(tmp_path_factory.mktemp("cart"))


async def proven_goals(workspace: BuiltWorkspace, family: str) -> list[Goal]:
    one = next(one for one in FAMILIES if one.name == family)
    return await prove_drafts(one.drafts(workspace, Random(1)), one, workspace, BUILDER, WORDINGS[family])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a < b", {"return a <= b", "return None"}),
        ("return a is not b", {"return a is b", "return None"}),
        ("if not a: b()", {"if a: b()"}),
        ("a = b and c", {"a = b or c"}),
        ("a[1] = 'é' + b", {"a[2] = 'é' + b", "a[1] = 'é' - b"}),
        ("f(a, b, c=d)", {"f(b, a, c=d)"}),
        ("return", set()),
        ("f(*a, b)", set()),
        ("a = f'{b + 1}'", set()),
    ],
)
def test_an_operator_makes_one_small_mistake(body: str, expected: set[str]) -> None:
    source = f"def f(a, b):\n    {body}\n"
    (function,) = functions_of(ast.parse(source))
    made = {one.of(source.encode()).decode() for one in mutations_of(function, source.encode())}
    assert made == {f"def f(a, b):\n    {text}\n" for text in expected}


def test_one_function_differs_and_a_test_that_passed_fails(workspace: BuiltWorkspace) -> None:
    mutant, failures = workspace.notes["mutant"], workspace.notes["failures"]
    assert isinstance(mutant, dict)
    assert isinstance(failures, list)
    before, after = CART.split("\n"), (workspace.root / "cart.py").read_text(encoding="utf-8").split("\n")
    (changed,) = [at for at, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new]
    assert changed in range(int(str(mutant["first"])), int(str(mutant["last"])) + 1)
    failing = {str(one["test"]) for one in failures if isinstance(one, dict)}
    assert failing <= {"tests/test_cart.py::test_net", "tests/test_cart.py::test_fee"}
    assert workspace.notes["passing"] not in failing


async def test_the_plan_finds_the_function_and_hands_back_a_test_that_passes(workspace: BuiltWorkspace) -> None:
    proven = await proven_goals(workspace, "named")
    assert {goal.check.kind for goal in proven} == {"locations", "declined"}
    for goal in proven:
        assert not accepts_wrong(goal, proven)
        assert goal.answer.startswith("escalate:") == (goal.check.kind == "declined")


async def test_a_question_may_be_what_pytest_printed_without_its_time(workspace: BuiltWorkspace) -> None:
    goal, *_ = await proven_goals(workspace, "printed")
    assert "FAILED tests/test_cart.py::test_" in goal.prompt
    assert " in 0." not in goal.prompt
    assert goal.answer.startswith("cart.py:")


async def test_the_baseline_blames_the_innermost_frame_or_what_the_test_names(tmp_path: Path) -> None:
    answer = load_baseline(FOLDER)
    tree = write(tmp_path, {"cart.py": CART, "tests/test_cart.py": TESTS})
    frames = "tests/test_cart.py:5: in test_net\ncart.py:2: in net\ncart.py:6: in fee\nE   TypeError"
    assert answer(frames, tree) == "cart.py:5: fee"
    assert answer("why does tests/test_cart.py::test_net fail", tree) == "cart.py:1: net"
    assert answer("it fails", tree).startswith("escalate:")


@pytest.mark.usefixtures("inner_pytest")
def test_a_package_whose_tests_fail_as_they_are_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceSourceError, match="its tests do not pass as they are"):
        mutated(tmp_path, tests=TESTS.replace("35", "36"))


@pytest.mark.usefixtures("inner_pytest")
def test_a_package_whose_tests_notice_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceSourceError, match=r"none of \d+ mutants fails 1 to 8 tests of it"):
        mutated(tmp_path, tests="import cart\n\n\ndef test_import():\n    assert cart\n")


@pytest.mark.parametrize("kind", ["train", "test"])
def test_wordings_use_the_slot_of_their_family(kind: str) -> None:
    for family, wordings in load_wordings(FOLDER, kind, FAMILIES).items():
        assert len(set(wordings)) == len(wordings) >= (25 if kind == "train" else 15)
        assert {slot for text in wordings for slot in slots(text)} == {"test" if family == "named" else "output"}
