"""How sure a run can be: what its trace shows, and a calibration that makes a probability of that."""

import math
from collections.abc import Sequence

import anyio
import pytest
from pydantic import ValidationError
from skillstill.models.scripted import call
from skillstill.skills.calibration import FEATURES, Calibration, features, misuses, repeats
from skillstill.types import Decision, Message, Trace

from tests.scenes import SHOP, Scripted

NOTHING = (0.0,) * len(FEATURES)
ONES = (1.0,) * len(FEATURES)


def calibration(bias: float = 0.0, **weights: float) -> Calibration:
    slopes = tuple(weights.get(name, 0.0) for name in FEATURES)
    return Calibration(means=NOTHING, scales=ONES, weights=slopes, bias=bias)


def sure(turn: Message, *logprobs: float, overruled: int = 0) -> Message:
    """The turn as a model gave it whose free tokens had these log-probabilities, the first ones overruled."""
    decisions = (Decision(token="x", logprob=one, overruled=at < overruled) for at, one in enumerate(logprobs))
    return turn.model_copy(update={"decisions": tuple(decisions)})


def answer(text: str) -> Message:
    return Message(role="assistant", content=text)


def traced(scripted: Scripted, turns: Sequence[Message]) -> Trace:
    return anyio.run(scripted(turns).run, "explore", "Where is Cart?", SHOP)


SEARCH = call("search", pattern="class Cart")
FOUND = answer("`Cart` is defined at shop/cart.py:18 (r1).")


def test_a_run_shows_how_sure_each_turn_was_what_it_cites_and_what_went_wrong(scripted: Scripted) -> None:
    wrong = call("grep", pattern="Cart")
    turns = [sure(SEARCH, -0.5, -0.1, overruled=1), sure(wrong, -2.0), sure(SEARCH, -0.2), sure(FOUND, -0.4, -0.6)]
    trace = traced(scripted, turns)
    assert trace.report.status == "answered", trace.report.answer
    shown = dict(zip(FEATURES, features(trace), strict=True))
    assert shown == {
        "mean": pytest.approx(-3.8 / 6),
        "least": -2.0,
        "last mean": pytest.approx(-0.5),
        "last least": -0.6,
        "overruled": 1,
        "cited": len(trace.report.evidence),
        "turns": 4,
        "misused": 1,
        "repeated": 1,
        "length": math.log1p(len(trace.report.answer)),
        "intent": 0.0,
        "placed": 1.0,
    }
    assert (misuses(trace), repeats(trace)) == (1, 1)


def test_how_sure_a_run_was_of_what_is_asked_is_told_apart(scripted: Scripted) -> None:
    said = [("#", -0.1), ("definition", -0.7), ("\n", -0.2), (">outline", -3.0)]
    decisions = tuple(Decision(token=token, logprob=logprob) for token, logprob in said)
    looked = call("search", pattern="class Nobody").model_copy(update={"intent": "definition", "decisions": decisions})
    trace = traced(scripted, [looked, sure(answer("There is none (r1 found nothing)."), -0.4)])
    assert trace.report.status == "answered", trace.report.answer
    shown = dict(zip(FEATURES, features(trace), strict=True))
    assert (shown["intent"], shown["placed"]) == pytest.approx((-1.0, 0.0))


def test_a_model_that_tells_no_log_probabilities_shows_nothing_and_is_not_trusted(scripted: Scripted) -> None:
    trace = traced(scripted, [SEARCH, FOUND])
    assert features(trace) == ()
    assert calibration(bias=5).confidence(features(trace)) == 0


def test_a_call_that_cannot_be_read_is_misuse(scripted: Scripted) -> None:
    unreadable = Message(role="assistant", content=">search", malformed="no arguments")
    assert misuses(traced(scripted, [unreadable, SEARCH, FOUND])) == 1


def test_neither_clock_nor_machine_nor_schemas_change_how_sure_a_run_is(scripted: Scripted) -> None:
    turns = [sure(SEARCH, -0.5), sure(FOUND, -0.4)]
    one, two = traced(scripted, turns), traced(scripted, turns)
    assert one.run != two.run
    assert features(one) == features(two.model_copy(update={"tools": (), "workspace": "elsewhere"}))


def test_a_confidence_is_a_probability_that_never_reaches_its_ends() -> None:
    surest = (1e9,) * len(FEATURES)
    assert calibration().confidence(NOTHING) == 0.5
    assert calibration(mean=1).confidence((math.log(3), *NOTHING[1:])) == pytest.approx(0.75)
    assert 0 < calibration(mean=-1).confidence(surest) < calibration(mean=1).confidence(surest) < 1


def test_a_calibration_of_other_features_trusts_nothing() -> None:
    older = Calibration(means=(0.0,), scales=(1.0,), weights=(9.0,), bias=9)
    assert older.confidence(NOTHING) == 0


@pytest.mark.parametrize("scales", [(1.0,), (1.0, 0.0)])
def test_a_calibration_that_does_not_fit_together_is_refused(scales: tuple[float, ...]) -> None:
    with pytest.raises(ValidationError, match="expected"):
        Calibration(means=(0.0, 0.0), scales=scales, weights=(1.0, 1.0), bias=0)
