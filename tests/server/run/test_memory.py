"""Answers that are remembered: given again at once while they are true, and never after."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from mcp import Client
from skillstill.contract import serving_hash
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import leads, memory, store
from skillstill.run.feedback import all_feedback
from skillstill.runtime import Runtime
from skillstill.server import build
from skillstill.skills.registry import Registry
from skillstill.types import Message, ModelFile, Trace
from skillstill.util.storage import state_folder

from tests.scenes import HANGS, ROOT, UNTRAINED, ScriptedModels, write

pytestmark = pytest.mark.anyio
LOOK = call("search", pattern="class Cart")
FOUND = "Cart is defined in cart.py:1."
ABSENT = "There is none (r1 found nothing)."
REMEMBERED = "what it rests on has not changed"


class Shop:
    """A folder, and a release that is asked about it again and again."""

    def __init__(self, folder: Path) -> None:
        self.root = write(folder / "shop", {"cart.py": "class Cart(dict): ...\n", "other.py": "x = 1\n"})
        self.registry = released(folder)

    async def ask(
        self, turns: Iterable[Message | str], question: str = "Where is Cart?", *, remembers: bool = True
    ) -> Trace:
        """Ask a model that takes these turns, if it is asked at all."""
        runtime = Runtime(self.registry, ScriptedModels(ScriptedModel([*turns])), remembers=remembers)
        return await runtime.run("explore", question, self.root)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def released(folder: Path) -> Registry:
    """A registry whose one entry is a release, with an adapter that nobody loads."""
    document = json.loads(UNTRAINED.read_text(encoding="utf-8"))
    explore = Registry().entry("explore")
    adapter = ModelFile(source="file:adapter.gguf", sha256="0" * 64)
    digest = serving_hash(explore.skill(), explore.entry.base, adapter)
    document["entries"][0] |= {"state": "released", "adapter": adapter.model_dump(), "serving_hash": digest}
    (folder / "skills").symlink_to(ROOT / "skills")
    (folder / "registry.json").write_text(json.dumps(document), encoding="utf-8")
    return Registry(folder / "registry.json")


async def test_the_same_question_is_answered_at_once_and_says_so(shop: Shop) -> None:
    first = await shop.ask([LOOK, FOUND])
    again = await shop.ask([])
    assert again.report.answer == first.report.answer
    assert again.report.evidence == first.report.evidence
    assert REMEMBERED in again.report.text
    assert REMEMBERED not in first.report.text
    assert (again.run, again.tally.tokens) == (first.run, 0)


async def test_another_question_is_another_answer(shop: Shop) -> None:
    await shop.ask([LOOK, FOUND])
    assert REMEMBERED not in (await shop.ask([LOOK, FOUND], "Where is Cart defined?")).report.text


async def test_a_change_that_touches_an_answer_forgets_it(shop: Shop) -> None:
    await shop.ask([LOOK, FOUND])
    write(shop.root, {"cart.py": "\nclass Cart(dict): ...\n"})
    changed = await shop.ask([LOOK, "Cart is defined in cart.py:2."])
    assert changed.report.answer == "Cart is defined in cart.py:2."
    assert REMEMBERED not in changed.report.text


async def test_a_change_elsewhere_keeps_it(shop: Shop) -> None:
    await shop.ask([LOOK, FOUND])
    write(shop.root, {"other.py": "x = 2\n"})
    assert REMEMBERED in (await shop.ask([])).report.text


async def test_an_absence_is_forgotten_once_there_is_one(shop: Shop) -> None:
    nothing = call("search", pattern="class Basket")
    await shop.ask([nothing, ABSENT], "Where is Basket?")
    assert REMEMBERED in (await shop.ask([], "Where is Basket?")).report.text
    write(shop.root, {"new.py": "class Basket: ...\n"})
    found = await shop.ask([nothing, "Basket is defined in new.py:1."], "Where is Basket?")
    assert found.report.answer == "Basket is defined in new.py:1."


async def test_a_count_is_forgotten_once_it_is_another(shop: Shop) -> None:
    listing = call("find", glob="*.py")
    await shop.ask([listing, "2 files (r1)."], "How many Python files?")
    write(shop.root, {"third.py": ""})
    assert (await shop.ask([listing, "3 files (r1)."], "How many Python files?")).report.answer == "3 files (r1)."


async def test_a_file_that_changes_back_gives_the_old_answer(shop: Shop) -> None:
    await shop.ask([LOOK, FOUND])
    write(shop.root, {"cart.py": "\nclass Cart(dict): ...\n"})
    await shop.ask([LOOK, "Cart is defined in cart.py:2."])
    write(shop.root, {"cart.py": "class Cart(dict): ...\n"})
    assert (await shop.ask([LOOK, FOUND])).report.answer == FOUND


async def test_it_can_be_switched_off(shop: Shop) -> None:
    await shop.ask([LOOK, FOUND], remembers=False)
    assert REMEMBERED not in (await shop.ask([LOOK, FOUND])).report.text
    assert REMEMBERED not in (await shop.ask([LOOK, FOUND], remembers=False)).report.text


async def test_what_is_forgotten_is_asked_anew(shop: Shop) -> None:
    await shop.ask([LOOK, FOUND])
    assert memory.forget_answers() == 1
    assert REMEMBERED not in (await shop.ask([LOOK, FOUND])).report.text


async def test_a_damaged_memory_costs_no_answer(shop: Shop) -> None:
    await shop.ask([LOOK, FOUND])
    (state_folder() / memory.FILE).write_bytes(b"not a database" * 100)
    assert (await shop.ask([LOOK, FOUND])).report.answer == FOUND
    await shop.ask([LOOK, FOUND])
    assert REMEMBERED in (await shop.ask([])).report.text


async def test_a_failure_is_not_remembered(shop: Shop) -> None:
    failed = await shop.ask([])
    assert failed.report.status == "failed"
    assert (await shop.ask([LOOK, FOUND])).report.answer == FOUND


async def test_a_hand_over_whose_leads_came_too_late_says_so_and_is_not_remembered(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leads, "SECONDS", 0.0)
    late = await shop.ask(["escalate: I cannot tell"])
    assert (late.report.leads, leads.LATE in late.report.said) == ((), True)
    monkeypatch.setattr(leads, "SECONDS", HANGS)
    in_time = await shop.ask(["escalate: I cannot tell"])
    assert in_time.report.leads[0].path == "cart.py"
    assert leads.LATE not in in_time.report.said
    assert REMEMBERED in (await shop.ask([])).report.text


async def test_an_answer_from_memory_is_the_last_run(shop: Shop) -> None:
    first = await shop.ask([LOOK, FOUND])
    other = await shop.ask([LOOK, FOUND], "Where is Cart defined?")
    for file in store.trace_files():
        os.utime(file, (file.stat().st_mtime - 60,) * 2)
    assert store.load("last") == other
    await shop.ask([])
    assert store.load("last") == first, "as it was, without the note that it is remembered"


async def test_an_answer_from_memory_is_the_last_run_of_a_client(shop: Shop) -> None:
    runtime = Runtime(shop.registry, ScriptedModels(ScriptedModel([LOOK, FOUND, LOOK, FOUND])))
    async with Client(build(runtime, shop.root), mode="2026-07-28") as client:
        for question in ("Where is Cart?", "Where is Cart defined?", "Where is Cart?"):
            await client.call_tool("explore", {"prompt": question})
        await client.call_tool("feedback", {"verdict": "right"})
    assert [kept.prompt for kept in all_feedback()] == ["Where is Cart?"]


async def test_a_folder_that_takes_too_long_to_look_at_is_asked_anew(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillstill.tools.kit.indexing.STATE_BYTES", 10)
    await shop.ask([LOOK, FOUND])
    assert REMEMBERED not in (await shop.ask([LOOK, FOUND])).report.text
