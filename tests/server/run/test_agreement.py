"""An answer and runs drawn by chance that are asked the same: how many agree, and what that says of it."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import pytest
from skillstill.errors import ModelError
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run.agreement import is_same, with_agreement
from skillstill.run.finish import UNSURE, finish
from skillstill.run.loop import Brief, run
from skillstill.skills.calibration import FEATURES, Calibration
from skillstill.skills.registry import Registry
from skillstill.skills.skill import Skill
from skillstill.types import Decision, Message, Model, ModelSpec, OnStep, Report, Step, Trace
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

    def __init__(self, runs: Iterable[Iterable[Message | str | Exception]]) -> None:
        self.runs: Iterator[Iterable[Message | str | Exception]] = iter(runs)
        self.seeds: list[int | None] = []

    def lease(self, spec: ModelSpec) -> AbstractAsyncContextManager[Model]:
        self.seeds.append(spec.seed)
        return nullcontext(ScriptedModel(next(self.runs)))

    def label(self, spec: ModelSpec) -> str:
        return "drawn"


async def asked(
    skill: Skill,
    shop: Workspace,
    said: Iterable[Message | str],
    drawn: Drawn,
    calibration: Calibration | None = None,
    on_step: OnStep | None = None,
) -> Trace:
    brief = Brief(skill, "Where is Cart?", system=skill.subagent.system)
    trace = await run(brief, nullcontext(ScriptedModel(said)), shop)
    spec = ModelSpec(base=skill.subagent.base)
    return await with_agreement(trace, brief, drawn, spec, shop, calibration, on_step=on_step)


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
        ({"agreed": 5}, 0),
        ({"agreed": 2, "bias": -3.0}, 0),
        ({"agreed": 2, "threshold": 0.4}, 0),
    ],
    ids=[
        "as many as it takes",
        "however many agree, it is unsure",
        "more than are drawn",
        "most likely wrong",
        "sure already",
    ],
)
async def test_only_runs_are_drawn_that_a_calibration_has_a_use_for(
    shop: Workspace, changed: dict[str, float | None], runs: int
) -> None:
    drawn = Drawn([[LOOK, CLAIM]] * 4)
    await asked(drawing(4), shop, [TOLD, CLAIM], drawn, NEVER.model_copy(update=changed))
    assert len(drawn.seeds) == runs


async def test_a_drawn_run_that_cannot_be_had_says_nothing(shop: Workspace) -> None:
    lost = ModelError("the server is gone")
    assert (await asked(drawing(3), shop, [LOOK, CLAIM], Drawn([[lost]]))).agreed is None
    assert (await asked(drawing(3), shop, [LOOK, CLAIM], Drawn([[LOOK, CLAIM], [lost]]))).agreed == 1


async def test_drawn_runs_have_the_seconds_that_are_left_of_the_answer_s(shop: Workspace) -> None:
    skill = drawing(3)
    limits = skill.subagent.limits.model_copy(update={"seconds": 1e-9})
    spent = skill.model_copy(update={"subagent": skill.subagent.model_copy(update={"limits": limits})})
    trace = await asked(skill, shop, [LOOK, CLAIM], Drawn([[LOOK, OTHER]]))
    drawn = Drawn([])
    brief = Brief(spent, "Where is Cart?", system=skill.subagent.system)
    again = await with_agreement(trace, brief, drawn, ModelSpec(base=skill.subagent.base), shop)
    assert (again, drawn.seeds) == (trace, [])


async def test_who_waits_is_told_of_each_drawn_run(shop: Workspace) -> None:
    told = []

    async def on_step(step: Step) -> None:
        told.append(step.note)

    await asked(drawing(2), shop, [LOOK, CLAIM], Drawn([[LOOK, CLAIM]] * 2), on_step=on_step)
    assert told == ["asked again, 1 of at most 2", "asked again, 2 of at most 2"]


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
        ("Cuba and Peru (r3).", "Peru and Cuba (r1).", True),
        ("Cuba and Peru (r3).", "Cuba (r3).", False),
        ("Cuba (r3).", "There is none (r2): no row has Cuba.", False),
        ("Shipped (r3).", "Not shipped (r3).", False),
        ("504 are shipped (r3).", "504 are not shipped (r3).", False),
        ("lowest 3, highest 5 (r3).", "lowest 5, highest 3 (r3).", False),
        ("-5 (r3).", "−5 (r3).", True),
        ("504 (r3).", "There are 504 products in 3 files (r1).", False),
        ("-5 (r3).", "5 (r3).", False),
        ("(r3).", "Cuba (r3).", False),
    ],
)
def test_answers_are_the_same_if_they_have_the_same_numbers_and_words_and_none_denies_what_the_other_says(
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
