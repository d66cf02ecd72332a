"""The releases that ship: whole, fresh, measured, and at work on a small tree with the real model."""

import json
import socket

import pytest
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.models.sources import locate
from skillstill.runtime import Runtime, check_fresh
from skillstill.skills.registry import ListedEntry, Registry, bundled

from tests.scenes import SHOP
from tests.server.models.conftest import FormFiles

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("as_shipped")]
LARGEST = 10_000_000  # bytes of an adapter
ANSWERED = [
    ("Where is Cart defined?", "shop/cart.py:18: class Cart (to line 36)"),
    ("what does OutOfStock inherit from", "shop/errors.py:8: class OutOfStock(ShopError) (to line 11)"),
    ("default of attempts in retry", "It is 4 (shop/retry.py:20)."),
    ("Is there a function called launch_rocket?", "There is none (r1 found nothing)."),
]


def released() -> list[ListedEntry]:
    registry = Registry()
    return [one for one in registry.entries() if one.origin.parent == bundled() and one.entry.state == "released"]


async def test_each_release_is_fresh_and_has_its_scorecard_and_an_adapter_that_is_small_enough() -> None:
    assert "explore" in [one.entry.name for one in released()]
    for listed in released():
        check_fresh(listed, listed.skill())
        assert listed.entry.adapter
        file = locate(listed.entry.adapter, offline=True)  # and is the one of that hash
        assert file.stat().st_size < LARGEST
        card = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        assert card["verdict"] == "released"
        assert all(gate["passed"] for gate in card["gates"])


@pytest.fixture
def runtime(form: FormFiles) -> Runtime:
    return Runtime(Registry(), LocalModels(LocalOptions(offline=True, threads=1)))


@pytest.mark.parametrize(("question", "answer"), ANSWERED)
async def test_explore_answers_from_what_it_has_looked_up(runtime: Runtime, question: str, answer: str) -> None:
    report = (await runtime.run("explore", question, SHOP)).report
    assert report.status == "answered"
    assert report.answer.split("\n")[0] == answer


async def test_explore_hands_back_what_takes_more_than_looking(runtime: Runtime) -> None:
    report = (await runtime.run("explore", "please rename Cart to Basket", SHOP)).report
    assert report.status == "escalate"
    assert report.answer.startswith("escalate: the model handed it back: this needs more than reading the code")


async def test_a_run_connects_to_nothing(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[object] = []
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, lambda *arguments: reached.append(arguments))
    assert (await runtime.run("explore", ANSWERED[0][0], SHOP)).report.status == "answered"
    assert not reached
