"""Many runs on one base: batches are shared, what was read is found again, and one run's trouble is its own."""

import ctypes
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from skillstill import chat
from skillstill.errors import ModelError
from skillstill.models.engine import Engine, EngineOptions
from skillstill.models.llama import LlamaBase
from skillstill.models.prefixes import prefix_folder
from skillstill.tools import TOOLS
from skillstill.types import Adapter, Message

pytestmark = pytest.mark.anyio
SCHEMAS = [TOOLS["find"].schema]
QUESTIONS = ("Where is Cart?", "Which file holds tax?", "Who calls main?", "Is there a test of pay?")
LONG = "word " * 400


@pytest.fixture(scope="module")
def base(gguf_file: Path) -> Iterator[LlamaBase]:
    base = LlamaBase(gguf_file, EngineOptions(context=2_048, slots=4, threads=1))
    yield base
    base.engine.close()


def asked(question: str, system: str = "explore") -> tuple[Message, ...]:
    return Message(role="system", content=system), Message(role="user", content=question)


async def answer(
    base: LlamaBase, question: str, *, adapter: Adapter | None = None, system: str = "explore", tokens: int = 24
) -> Message:
    async with base.lease(adapter=adapter, dialect=chat.LINES) as model:
        return await model.complete(asked(question, system), SCHEMAS, max_tokens=tokens)


async def test_runs_that_share_batches_say_what_they_say_alone(base: LlamaBase, noise: Path) -> None:
    adapter = Adapter(path=noise, sha256="a" * 64)
    pairs = [(question, use) for question in QUESTIONS for use in (None, adapter)]
    alone = {pair: await answer(base, pair[0], adapter=pair[1]) for pair in pairs}
    together: dict[tuple[str, Adapter | None], Message] = {}

    async def one(pair: tuple[str, Adapter | None]) -> None:
        together[pair] = await answer(base, pair[0], adapter=pair[1])

    async with anyio.create_task_group() as group:
        for pair in pairs:
            group.start_soon(one, pair)
    assert {pair: turn.calls for pair, turn in together.items()} == {pair: turn.calls for pair, turn in alone.items()}


async def test_a_short_question_does_not_wait_for_a_long_one(base: LlamaBase) -> None:
    ended = []

    async def one(question: str) -> None:
        await answer(base, question, tokens=8)
        ended.append(question)

    async with anyio.create_task_group() as group:
        group.start_soon(one, LONG * 3)
        await anyio.sleep(0.3)
        group.start_soon(one, "Where is Cart?")
    assert ended == ["Where is Cart?", LONG * 3]


async def test_an_adapter_that_cannot_be_loaded_fails_its_own_run_alone(base: LlamaBase, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    ended = []

    async def one(adapter: Adapter | None) -> None:
        try:
            await answer(base, "Where is Cart?", adapter=adapter)
            ended.append("answered")
        except ModelError:
            ended.append("failed")

    async with anyio.create_task_group() as group:
        for adapter in (None, Adapter(path=broken, sha256="b" * 64), None):
            group.start_soon(one, adapter)
    assert sorted(ended) == ["answered", "answered", "failed"]


async def test_if_the_engines_thread_dies_its_runs_fail_and_the_next_one_works(base: LlamaBase) -> None:
    ended = []

    async def one(question: str) -> None:
        with pytest.raises(ModelError, match="the engine stopped"):
            await answer(base, question)
        ended.append(question)

    before = await answer(base, "Where is Cart?")
    async with anyio.create_task_group() as group:
        group.start_soon(one, LONG)
        group.start_soon(one, LONG * 2)
        await anyio.sleep(0.3)
        kill_engine()
    assert len(ended) == 2
    assert (await answer(base, "Where is Cart?")).calls == before.calls


def kill_engine() -> None:
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "skillstill engine"]
    assert ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit))


async def test_a_run_that_grows_keeps_what_it_has_read(base: LlamaBase) -> None:
    async with base.lease(dialect=chat.LINES) as model:
        first = await model.complete(asked(LONG), SCHEMAS, max_tokens=40)
        found = Message(role="tool", content=LONG)
        second = await model.complete((*asked(LONG), first, found), SCHEMAS, max_tokens=8)
    assert first.usage
    assert second.usage
    assert second.usage.reused > 400


def test_a_context_that_grows_keeps_its_threads(gguf_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillstill.models.engine.free_cores", lambda: 2)
    engine = Engine(gguf_file, EngineOptions(context=1_024))
    engine.settle_threads()
    engine.decode(engine.tokenize("word " * 600), 0, 0)
    threads = engine.threads
    engine.close()
    assert threads == 2


async def test_a_system_turn_that_another_run_has_read_is_not_read_again(base: LlamaBase) -> None:
    async with base.lease(dialect=chat.LINES) as one, base.lease(dialect=chat.LINES) as other:
        first = await one.complete(asked("Where is Cart?", LONG), SCHEMAS, max_tokens=24)
        second = await other.complete(asked("Where is Cart?", LONG), SCHEMAS, max_tokens=24)
    assert first.calls == second.calls
    assert second.usage
    assert second.usage.reused > 400


@pytest.mark.parametrize("damage", [b"", b"x" * 100])
async def test_a_new_process_finds_the_system_turn_on_disk_and_reads_it_anew_if_it_is_damaged(
    gguf_file: Path, damage: bytes
) -> None:
    turns = []
    for _ in range(2):
        fresh = LlamaBase(gguf_file, EngineOptions(context=1_024, threads=1))
        turns.append(await answer(fresh, "Where is Cart?", system=LONG))
        fresh.engine.close()
        (kept,) = prefix_folder().glob("*.kv")
        if damage:
            kept.write_bytes(kept.read_bytes()[:-100] + damage)
    assert turns[0].calls == turns[1].calls
    assert turns[0].usage
    assert turns[1].usage
    assert turns[0].usage.reused == 0
    assert (turns[1].usage.reused > 400) == (not damage)


async def test_an_adapter_that_many_others_have_pushed_out_of_memory_answers_as_before(
    base: LlamaBase, noise: Path
) -> None:
    several = [Adapter(path=noise, sha256=str(number) * 64) for number in range(6)]
    first, *others = [await answer(base, QUESTIONS[0], adapter=adapter) for adapter in several]
    again = await answer(base, QUESTIONS[0], adapter=several[0])
    assert {one.content for one in (first, *others)} == {again.content}
