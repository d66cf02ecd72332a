"""Servers as a pool: which adapter is asked for, what holds a turn to its grammar, who answers when one fails."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest
from skillstill.chat.likelihood import ranking_prompt
from skillstill.errors import BaseError, ModelError, UsageError
from skillstill.models import backends
from skillstill.models.pool import RemoteModels
from skillstill.models.scripted import ScriptedModel
from skillstill.runtime import Runtime
from skillstill.skills.registry import Registry
from skillstill.tools import TOOLS
from skillstill.types import DialectName, Message, ModelSpec, Scorer, SecondThoughts, Trace

from tests.scenes import HANGS, SHOP, ScriptedModels
from tests.server.models.openai_server import CHAT, Hangs, HangsUp, OpenAiServer, Said, text, turn
from tests.server.models.peers import BASE, speak_llama, speak_vllm, vllm_prompts, vllm_refuses, vllm_turn

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("as_shipped")]
ADAPTER = "explore@7e4be70029f6"
ASKED = (Message(role="system", content="explore"), Message(role="user", content="Where is Cart defined?"))
SCHEMAS = [TOOLS[name].schema for name in ("list", "find", "search")]
FIND = ["#", "find", "\n", ">", "search", "\n", "pattern", ":", " Cart"]
CLAIM = "Cart is defined at shop/cart.py:18."
Make = Callable[[], OpenAiServer]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Start a server."""
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(backends, "FIRST", 0.01)  # seconds that a failing one is set aside
    with ExitStack() as stack:
        yield lambda: stack.enter_context(OpenAiServer())


def spec(name: str = "explore", dialect: DialectName = DialectName.LINES) -> ModelSpec:
    entry = Registry().entry(name).entry
    return ModelSpec(base=entry.base, adapter=entry.adapter, dialect=dialect)


async def taken(models: RemoteModels, of: ModelSpec | None = None) -> Message:
    """One turn of a run."""
    with anyio.fail_after(HANGS):
        async with models.lease(of or spec()) as model:
            return await model.complete(ASKED, SCHEMAS, max_tokens=50)


async def run(models: RemoteModels) -> Trace:
    with anyio.fail_after(HANGS):
        return await Runtime(Registry(), models, remembers=False).run("explore", "Where is Cart defined?", SHOP)


# Which adapter


@pytest.mark.parametrize("name", [ADAPTER, "7e4be70029f6", "team-explore-7e4be70029f68538"])
async def test_vllm_is_asked_for_the_adapter_by_its_name(make: Make, name: str) -> None:
    server = speak_vllm(make(), "other@0123456789ab", name)
    server.says(vllm_turn(FIND))
    await taken(RemoteModels(server.url))
    assert server.requests[0]["model"] == name


async def test_llama_server_is_asked_for_the_adapter_by_its_number(make: Make) -> None:
    server = speak_llama(make(), "0123456789ab.gguf", "7e4be70029f6.gguf")
    server.says(text("#find\n>search\npattern: Cart"))
    await taken(RemoteModels(server.url))
    assert server.requests[0]["lora"] == [{"id": 0, "scale": 0.0}, {"id": 1, "scale": 1.0}]


async def test_a_stock_model_is_asked_for_without_an_adapter(make: Make) -> None:
    vllm, llama = speak_vllm(make(), ADAPTER), speak_llama(make(), "7e4be70029f6.gguf")
    for server in (vllm, llama):
        server.says(turn("Here."))
        await taken(RemoteModels(server.url), spec(dialect=DialectName.HERMES))
        assert server.paths == [CHAT]
    assert vllm.requests[0]["model"] == BASE
    assert llama.requests[0]["lora"] == [{"id": 0, "scale": 0.0}]


async def test_a_model_that_the_address_names_is_taken_at_its_word(make: Make) -> None:
    """It may have the adapter merged into it."""
    server = speak_vllm(make())
    server.says(vllm_turn(FIND))
    await taken(RemoteModels(f"{server.url}#explore-merged"))
    assert server.requests[0]["model"] == "explore-merged"


async def test_a_server_without_the_adapter_says_how_to_start_it_and_another_one_answers(make: Make) -> None:
    bare, full = speak_vllm(make(), "other@0123456789ab"), speak_vllm(make(), ADAPTER)
    with pytest.raises(ModelError, match=r"is a vLLM without the adapter 7e4be70029f6: start it with --lora-modules"):
        await taken(RemoteModels(bare.url))
    full.says(vllm_turn(FIND), vllm_turn(FIND))
    models = RemoteModels([bare.url, full.url])
    await taken(models)
    await taken(models)
    assert (bare.requests, len(full.requests)) == ([], 2)
    assert bare.looks.count("/health") == 2, "it is well, and not asked again at once what it is"


# Grammars and what the model thought


async def test_vllm_writes_freely_and_a_turn_that_keeps_the_grammar_is_taken(make: Make) -> None:
    server = speak_vllm(make(), ADAPTER)
    server.says(vllm_turn(FIND))
    message = await taken(RemoteModels(server.url))
    assert message.calls[0].arguments == {"pattern": "Cart"}
    assert "structured_outputs" not in server.requests[0]
    tokens = [one.token for one in message.decisions]
    assert tokens == ["#", "find", "\n", ">", "search", " Cart", "<|im_end|>"], "the others were forced"


async def test_a_turn_that_breaks_the_grammar_is_written_again_within_it(make: Make) -> None:
    server = speak_vllm(make(), ADAPTER)
    server.says(vllm_turn(["The", " concept", " of"]), vllm_turn(FIND, logprob=0.0))
    message = await taken(RemoteModels(server.url))
    assert message.calls[0].arguments == {"pattern": "Cart"}
    assert server.requests[1]["structured_outputs"]["grammar"].startswith("start: intent? (call")
    assert message.decisions == (), "behind a mask, everything looks sure"
    assert message.usage
    assert message.usage.completion == 22, "both were written"


async def test_a_vllm_that_takes_no_grammar_leaves_the_turn_as_it_is(make: Make) -> None:
    server = speak_vllm(make(), ADAPTER)
    server.says(vllm_turn([">", "launch"]), vllm_refuses("Grammar error: at 1(8): unknown name"))
    message = await taken(RemoteModels(server.url))
    assert [call.name for call in message.calls] == ["launch"], "the loop tells the model that there is no such tool"


async def test_vllm_s_second_thoughts_keep_the_grammar(make: Make) -> None:
    server = speak_vllm(make(), ADAPTER)
    server.says(vllm_turn(FIND), vllm_turn([*FIND, "s"]))
    async with RemoteModels(server.url).lease(spec()) as model:
        await model.complete(ASKED, SCHEMAS, max_tokens=50)
        assert isinstance(model, SecondThoughts)
        other = await model.reconsider()
    assert other
    assert other.calls[0].arguments == {"pattern": "Carts"}
    assert server.requests[1]["temperature"] > 0
    assert "structured_outputs" in server.requests[1]


async def test_a_llama_server_without_llguidance_is_never_sent_a_grammar_that_would_end_it(make: Make) -> None:
    server = speak_llama(make(), "7e4be70029f6.gguf", grammar="root ::= object")
    server.says(text("#find\n>search\npattern: Cart"))
    async with RemoteModels(server.url).lease(spec()) as model:
        await model.complete(ASKED, SCHEMAS, max_tokens=50)
        assert not isinstance(model, Scorer)
    assert "grammar" not in server.requests[0]
    assert "%llguidance" not in json.dumps(server.requests)


async def test_a_llama_server_with_llguidance_holds_the_turn_to_its_grammar(make: Make) -> None:
    server = speak_llama(make(), "7e4be70029f6.gguf", grammar='%llguidance {}\nstart: %json {"type":"object"}')
    server.says(text("#find\n>search\npattern: Cart"))
    await taken(RemoteModels(server.url))
    grammar = server.requests[0]["grammar"]
    assert grammar.startswith("%llguidance {}\nstart: turn <|im_end|>\nturn: intent? (call")


async def test_vllm_tells_how_probable_a_text_is_after_passages(make: Make) -> None:
    server = speak_vllm(make(), ADAPTER)
    server.says(vllm_prompts([-9, -9, -1, -2], [-9, -0.5, -0.25]))
    async with RemoteModels(server.url).lease(spec()) as model:
        assert isinstance(model, Scorer)
        found = await model.likelihoods("no room", ["12 MB free", "login refused"])
    assert (found.after, found.tokens) == ((-3.0, -0.75), 99), "of the last two tokens, as many as the text has"
    sent = server.requests[0]
    assert (sent["model"], sent["prompt_logprobs"], sent["max_tokens"]) == (BASE, 0, 1)
    read, said = ranking_prompt("12 MB free", "no room")
    assert sent["prompt"][0].endswith(read + said)


# Several servers


async def test_a_run_goes_to_the_server_with_the_fewest_runs_and_stays_there(make: Make) -> None:
    one, other = speak_vllm(make(), ADAPTER), speak_vllm(make(), ADAPTER)
    models = RemoteModels([one.url, other.url])
    for server in (one, other):
        server.says(vllm_turn(FIND), vllm_turn(FIND))
    async with models.lease(spec()) as first, models.lease(spec()) as second:
        for model in (first, second, first, second):
            await model.complete(ASKED, SCHEMAS, max_tokens=50)
    assert (len(one.requests), len(other.requests)) == (2, 2)


async def test_a_server_that_is_not_well_is_left_alone_for_a_while_that_grows(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "FIRST", 30.0)
    sick, well = make(), speak_vllm(make(), ADAPTER)
    sick.pages["/health"] = Said("", 503)
    models = RemoteModels([sick.url, well.url])
    for _ in range(3):
        well.says(vllm_turn(FIND))
        await taken(models)
    assert sick.looks == ["/health"]
    rests = []
    for _ in range(3):
        models.backends[0].note_failure(ModelError("again"))
        rests.append(round(models.backends[0].cooldown))
    assert rests == [60, 120, 240]


@pytest.mark.parametrize("failure", [HangsUp(), Said("", 503), Said("", 429), Said("no JSON"), vllm_refuses("no", 404)])
async def test_a_turn_that_fails_is_asked_for_at_another_server_and_the_trace_says_so(
    make: Make, failure: Said | HangsUp
) -> None:
    one, other = speak_vllm(make(), ADAPTER), speak_vllm(make(), ADAPTER)
    one.says(vllm_turn(FIND), failure)
    other.says(vllm_turn(list(CLAIM)))
    trace = await run(RemoteModels([one.url, other.url]))
    assert trace.report.evidence == ("shop/cart.py:18",)
    assert trace.model == f"endpoint:{one.url}, then endpoint:{other.url}"
    assert other.requests[0]["prompt"] == one.requests[1]["prompt"]


@pytest.mark.parametrize("failure", [HangsUp(), Said("", 503), Said("", 429, headers={"Retry-After": "0.01"})])
async def test_the_only_server_is_asked_again_if_its_failure_may_pass(make: Make, failure: Said | HangsUp) -> None:
    server = speak_vllm(make(), ADAPTER)
    server.says(failure, failure, vllm_turn(FIND))
    assert (await taken(RemoteModels(server.url))).calls
    assert len(server.requests) == 3


async def test_the_only_server_is_not_asked_for_ever(make: Make) -> None:
    server = speak_vllm(make(), ADAPTER)
    server.says(*[Said("", 503)] * 3)
    with pytest.raises(ModelError, match=r"answered 503: nothing$"):
        await taken(RemoteModels(server.url))


@pytest.mark.parametrize("status", [400, 401, 404, 422])
async def test_what_will_not_pass_is_not_asked_again(make: Make, status: int) -> None:
    server = speak_vllm(make(), ADAPTER)
    server.says(vllm_refuses("no", status))
    with pytest.raises(ModelError, match=f"answered {status}: no"):
        await taken(RemoteModels(server.url))


async def test_a_server_that_hangs_is_left_for_another_one(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillstill.models.pool.WITH_OTHERS", 0.2)
    hung, well = speak_vllm(make(), ADAPTER), speak_vllm(make(), ADAPTER)
    hung.says(Hangs())
    well.says(vllm_turn(FIND))
    assert (await taken(RemoteModels([hung.url, well.url]))).calls


async def test_without_any_server_the_run_is_answered_here(make: Make) -> None:
    here = ScriptedModels(ScriptedModel([CLAIM]))
    models = RemoteModels(["http://127.0.0.1:9", "http://127.0.0.1:10"], here=here)
    async with models.lease(spec()) as model:
        assert (await model.complete(ASKED, SCHEMAS, max_tokens=50)).content == CLAIM
    assert here.specs == [spec()]
    assert models.label(spec()) == f"endpoint:http://127.0.0.1:9, endpoint:http://127.0.0.1:10, {spec().base.source}"


async def test_if_nobody_can_answer_each_says_why(make: Make) -> None:
    bare = speak_vllm(make())

    class Missing(ScriptedModels):
        def lease(self, spec: ModelSpec):  # type: ignore[no-untyped-def]
            raise BaseError("no model runs on this machine")

    models = RemoteModels(["http://127.0.0.1:9", bare.url], here=Missing(ScriptedModel([])))
    trace = await run(models)
    assert trace.report.status == "failed"
    for said in ("no answer from http://127.0.0.1:9", "is a vLLM without the adapter", "no model runs on this machine"):
        assert said in trace.report.answer


async def test_each_server_is_sent_its_own_key(make: Make) -> None:
    one, other = speak_vllm(make(), ADAPTER), speak_vllm(make(), ADAPTER)
    one.says(Said("", 503))
    other.says(vllm_turn(FIND))
    await taken(RemoteModels([one.url, other.url], "first second"))
    assert (one.keys, other.keys) == (["Bearer first"], ["Bearer second"])
    with pytest.raises(UsageError, match="SKILLSTILL_ENDPOINT_KEY holds 3 keys for 2 endpoints"):
        RemoteModels([one.url, other.url], "first second third")


async def test_a_server_of_another_kind_is_asked_as_it_always_was(make: Make, tmp_path: Path) -> None:
    server = make()
    server.says(text("#find\n>search\npattern: Cart"))
    await taken(RemoteModels(f"{server.url}#tiny"))
    assert server.requests[0].keys() == {"model", "temperature", "prompt", "max_tokens", "stop", "logprobs"}
