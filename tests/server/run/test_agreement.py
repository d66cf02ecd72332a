"""An answer and runs drawn by chance that are asked the same: how many agree, and what that says of it."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import pytest
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run.agreement import is_same, with_agreement
from skillstill.run.finish import UNSURE, finish
from skillstill.run.loop import Brief, run
from skillstill.skills.calibration import FEATURES, Calibration
from skillstill.skills.registry import Registry
from skillstill.skills.skill import Skill
from skillstill.types import Decision, Message, Model, Report, Trace
from skillstill.workspace import Workspace

from tests.scenes import write

pytestmark = pytest.mark.anyio
CLAIM = "Cart is defined in cart.py:1."
OTHER = "Cart is defined in cart.py:3."
LOOK = call("search", pattern="class Cart")
ABSENT = call("search", pattern="class Basket")
EVEN = (0.0,) * len(FEATURES)
NEVER = Calibration(means=EVEN, scales=(1.0,) * len(FEATURES), weights=EVEN, bias=0.0, threshold=1.0)
TOLD = LOOK.model_copy(update={"decisions": (Decision(token="x", logprob=-3.0),)})


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    return Workspace(write(tmp_path, {"cart.py": "class Cart(dict):\n    pass\nclass Cart2(Cart): ...\n"}))


def drawing(draws: int) -> Skill:
    skill = Registry().entry("explore").skill()
    return skill.model_copy(update={"subagent": skill.subagent.model_copy(update={"draws": draws})})


class Drawn:
    """Leases a model for each drawn run, and remembers the seeds."""

    def __init__(self, runs: Iterable[Iterable[Message | str]]) -> None:
        self.runs: Iterator[Iterable[Message | str]] = iter(runs)
        self.seeds: list[int] = []

    def __call__(self, seed: int) -> AbstractAsyncContextManager[Model]:
        self.seeds.append(seed)
        return nullcontext(ScriptedModel(next(self.runs)))


async def asked(
    skill: Skill,
    shop: Workspace,
    said: Iterable[Message | str],
    drawn: Drawn,
    calibration: Calibration | None = None,
) -> Trace:
    brief = Brief(skill, "Where is Cart?", system=skill.subagent.system)
    trace = await run(brief, nullcontext(ScriptedModel(said)), shop)
    return await with_agreement(trace, brief, drawn, shop, calibration)


async def test_runs_are_drawn_until_one_says_something_else(shop: Workspace) -> None:
    drawn = Drawn([[LOOK, "In cart.py:1: Cart is defined."], [LOOK, CLAIM], [LOOK, OTHER], [LOOK, CLAIM]])
    trace = await asked(drawing(4), shop, [LOOK, CLAIM], drawn)
    assert (trace.agreed, len(set(drawn.seeds))) == (2, 3), "each by a chance of its own"
    assert trace.report.answer == CLAIM
    assert trace.tally.turns == 2 + 3 * 2, "what they cost is part of what the answer cost"


async def test_the_same_question_draws_the_same_runs(shop: Workspace) -> None:
    first, again = (Drawn([[LOOK, CLAIM]] * 2) for _ in range(2))
    for drawn in (first, again):
        await asked(drawing(2), shop, [LOOK, CLAIM], drawn)
    assert first.seeds == again.seeds


@pytest.mark.parametrize(
    ("draws", "said"),
    [
        (0, [LOOK, CLAIM]),
        (4, ["escalate: I cannot tell"]),
        (4, [ABSENT, "There is none (r1)."]),
        (4, [LOOK, "0 baskets (r1)."]),
    ],
    ids=["its skill asks for none", "handed back", "says that there is none", "counts none"],
)
async def test_no_run_is_drawn_if_it_could_not_make_the_answer_sure(
    shop: Workspace, draws: int, said: list[Message | str]
) -> None:
    drawn = Drawn([])
    trace = await asked(drawing(draws), shop, said, drawn)
    assert (trace.agreed, drawn.seeds) == (None, [])


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        ({"agreed": 2}, 2),
        ({"agreed": None}, 0),
        ({"agreed": 2, "bias": -3.0}, 0),
        ({"agreed": 2, "threshold": 0.4}, 0),
    ],
    ids=["as many as it takes", "however many agree, it is unsure", "most likely wrong", "sure already"],
)
async def test_only_runs_are_drawn_that_a_calibration_has_a_use_for(
    shop: Workspace, changed: dict[str, float | None], runs: int
) -> None:
    drawn = Drawn([[LOOK, CLAIM]] * 4)
    await asked(drawing(4), shop, [TOLD, CLAIM], drawn, NEVER.model_copy(update=changed))
    assert len(drawn.seeds) == runs


async def test_a_drawn_run_that_takes_more_turns_is_not_followed_to_its_end(shop: Workspace) -> None:
    wanders = [call("search", pattern=f"way {number}") for number in range(8)]
    trace = await asked(drawing(1), shop, [LOOK, CLAIM], Drawn([[*wanders, CLAIM]]))
    assert (trace.agreed, trace.tally.turns) == (0, 2 + 3)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("504 (r3).", "There are 504 products (r1).", True),
        ("Cuba, 1,204 (r3).", "1,204 in cuba (r3, r4)", True),
        ("Cuba, 1,204 (r3).", "Cuba, 1,205 (r3).", False),
        ("Cuba (r3).", "Peru (r3).", False),
        ("Cuba and Peru (r3).", "Cuba and Chile (r3).", False),
        ("504 (r3).", "There are 504 products in 3 files (r1).", False),
        ("-5 (r3).", "5 (r3).", False),
        ("(r3).", "Cuba (r3).", False),
    ],
)
def test_answers_are_the_same_if_one_says_all_of_the_other_with_the_same_numbers(
    one: str, other: str, same: bool
) -> None:
    said = [Report(status="answered", answer=text) for text in (one, other)]
    assert is_same(*said) is is_same(*reversed(said)) is same


@pytest.mark.parametrize(("enough", "warned"), [(2, False), (3, True), (None, True)])
async def test_an_answer_needs_no_warning_if_enough_drawn_runs_agree(
    shop: Workspace, enough: int | None, warned: bool
) -> None:
    trace = await asked(drawing(2), shop, [TOLD, CLAIM], Drawn([[LOOK, CLAIM]] * 2))
    finished = finish(trace, NEVER.model_copy(update={"agreed": enough}))
    assert (UNSURE in finished.report.notes) is warned
