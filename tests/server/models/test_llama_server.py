"""The releases behind a real llama-server: what they say there and here, and what happens when it goes."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
from skillstill import chat
from skillstill.errors import ModelError
from skillstill.models.pool import LocalModels, LocalOptions, RemoteModels
from skillstill.models.sources import locate
from skillstill.runtime import Runtime
from skillstill.skills.registry import ENVIRONMENT, Registry
from skillstill.types import DialectName, Message, Models, ModelSpec, Scorer, Step, Trace

from tests.scenes import HANGS, SHOP
from tests.server.models.llama_server import llama_server

if TYPE_CHECKING:
    from subprocess import Popen

pytest.importorskip("xllamacpp")
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("as_shipped", "no_proxy")]
QUESTIONS = ["Where is Cart defined?", "default of attempts in retry", "Is there a function called launch_rocket?"]
SURE, NEAR = 0.05, 0.6  # of a probability, of a log-likelihood: another build of llama.cpp rounds otherwise


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture(scope="module")
def adapters(noise: Path) -> list[Path]:
    """One full of noise, which comes first, and that of `explore`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(ENVIRONMENT, raising=False)
        adapter = Registry().entry("explore").entry.adapter
    assert adapter
    return [noise, locate(adapter, offline=True)]


@pytest.fixture(scope="module")
def url(adapters: list[Path]) -> Iterator[str]:
    with llama_server(*adapters) as (url, _):
        yield url


@pytest.fixture(scope="module")
def here() -> LocalModels:
    return LocalModels(LocalOptions(offline=True, threads=1))


def spec(name: str) -> ModelSpec:
    entry = Registry().entry(name).entry
    return ModelSpec(base=entry.base, adapter=entry.adapter, dialect=DialectName.LINES)


async def run(models: Models, question: str = QUESTIONS[0], *, name: str = "explore") -> Trace:
    with anyio.fail_after(HANGS):
        return await Runtime(Registry(), models, remembers=False).run(name, question, SHOP)


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_release_does_there_what_it_does_here_and_is_as_sure(
    url: str, here: LocalModels, question: str
) -> None:
    there, ours = await run(RemoteModels(url), question), await run(here, question)
    assert there.report.answer == ours.report.answer
    assert [one.calls for one in there.messages] == [one.calls for one in ours.messages]
    assert [len(one.decisions) for one in there.messages] == [len(one.decisions) for one in ours.messages]
    assert there.confidence == pytest.approx(ours.confidence, abs=SURE)
    assert there.model == f"endpoint:{url}"


async def test_a_later_turn_finds_the_earlier_ones_in_the_server_s_memory(url: str) -> None:
    trace = await run(RemoteModels(url))
    assert trace.tally.turns > 1
    assert trace.tally.reused_tokens > 0


async def test_a_subagent_whose_adapter_the_server_lacks_says_what_to_type(url: str) -> None:
    trace = await run(RemoteModels(url), "How many errors are there?", name="logs")
    assert trace.report.status == "failed"
    assert f"{url} is a llama-server without the adapter 28f61c2609d5: start it with --lora" in trace.report.answer


async def test_a_subagent_whose_adapter_the_server_lacks_is_answered_here(url: str, here: LocalModels) -> None:
    async with RemoteModels(url, here=here).lease(spec("logs")) as model:
        turn = await model.complete([Message(role="user", content="How many errors?")], [], max_tokens=4)
        assert turn.usage
        assert model.label == here.label(spec("logs"))  # type: ignore[attr-defined]


async def test_a_text_is_as_probable_there_as_here(url: str, here: LocalModels) -> None:
    passages, found = ["store: volume /data has 12 MB free", "mail: refused the login"], []
    for models in (RemoteModels(url), here):
        async with models.lease(spec("explore")) as model:
            assert isinstance(model, Scorer)
            found.append(await model.likelihoods("no room left", passages))
    there, ours = (one.after for one in found)
    assert there == pytest.approx(ours, abs=NEAR)
    assert there[0] > there[1]


async def test_a_stock_model_is_asked_without_any_adapter(url: str) -> None:
    said = []
    for models in (RemoteModels(url), RemoteModels(f"{url}#any")):
        stock = ModelSpec(base=spec("explore").base)
        async with models.lease(stock) as model:
            said.append(await model.complete([Message(role="user", content="Say hello.")], [], max_tokens=12))
    assert said[0].content
    assert ">" not in said[0].content
    assert said[0].content == said[1].content


async def test_a_turn_that_it_holds_to_the_grammar_has_an_end(url: str) -> None:
    """What llama-server itself takes for the end of a text is not the token that our turns end with."""
    from skillstill.tools import TOOLS

    schemas = [TOOLS[name].schema for name in ("list", "find", "search")]  # not those that explore was taught with
    async with RemoteModels(url).lease(spec("explore")) as model:
        turn = await model.complete(
            [Message(role="system", content="explore"), Message(role="user", content=QUESTIONS[0])],
            schemas,
            max_tokens=120,
        )
    assert not turn.truncated
    assert turn.malformed is None
    assert turn.calls[0].name in {"list", "find", "search"}
    assert chat.END not in turn.content


class Killing:
    """Ends the server's process when it has answered once."""

    def __init__(self, process: "Popen[str]") -> None:
        self.process = process

    async def __call__(self, step: Step) -> None:
        if step.number:
            self.process.kill()
            self.process.wait()


async def test_a_run_whose_server_goes_is_finished_elsewhere(adapters: list[Path], url: str, here: LocalModels) -> None:
    expected = await run(here)
    for rest, end in (([url], f"endpoint:{url}"), ([], here.label(spec("explore")))):
        with llama_server(*adapters) as (dying, process):
            models = RemoteModels([dying, *rest], here=here)
            runtime = Runtime(Registry(), models, remembers=False)
            trace = await runtime.run("explore", QUESTIONS[0], SHOP, Killing(process))
        assert trace.report == expected.report
        assert trace.model == f"endpoint:{dying}, then {end}"


async def test_a_run_whose_only_server_goes_fails_in_one_sentence(adapters: list[Path]) -> None:
    with llama_server(*adapters) as (dying, process):
        runtime = Runtime(Registry(), RemoteModels(dying), remembers=False)
        trace = await runtime.run("explore", QUESTIONS[0], SHOP, Killing(process))
    assert trace.report.status == "failed"
    assert f"no answer from {dying}" in trace.report.answer
    with pytest.raises(ModelError, match="no answer from"):
        async with RemoteModels(dying).lease(spec("explore")):
            raise AssertionError("nobody is there")
