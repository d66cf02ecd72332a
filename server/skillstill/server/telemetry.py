"""The counters as OpenTelemetry metrics, if its API is there and the user runs an SDK: we send nothing ourselves.

    opentelemetry-instrument skillstill serve

Names and attributes are those of the semantic conventions for generative AI and for processes (both in development,
1.44) as far as they go: tokens and memory. The rest begins with `skillstill`. Each is read when the SDK asks for it.
"""

from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING

from skillstill.util.counters import Counters, EngineCounters

# It takes a thirtieth of a second to import, and what needs it has time.
if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

Numbers = Iterator[tuple[float, dict[str, str]]]
UNDER_WAY, ENDED = ("waiting", "running"), ("answered", "escalate", "failed", "stopped")


def register(look: Callable[[], Counters], provider: "MeterProvider | None" = None) -> None:
    """Let an SDK ask for the counters. Nothing happens if there is no API."""
    try:
        from opentelemetry.metrics import Observation, get_meter
    except ImportError:
        return
    meter = get_meter("skillstill", version("skillstill"), meter_provider=provider)

    def asking(numbers: Callable[[Counters], Numbers]) -> "Callable[[CallbackOptions], Iterator[Observation]]":
        return lambda _: (Observation(number, attributes) for number, attributes in numbers(look()))

    for kind, name, unit, numbers, description in INSTRUMENTS:
        getattr(meter, f"create_observable_{kind}")(name, [asking(numbers)], unit, description)


def _tokens(count: Callable[[EngineCounters], float]) -> Callable[[Counters], Numbers]:
    """Return a function that yields a count of tokens of each base, with the attributes that the conventions want."""
    said = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "llama.cpp", "gen_ai.token.modality": "text"}
    return _engines(count, **said)


def _engines(count: Callable[[EngineCounters], float], **said: str) -> Callable[[Counters], Numbers]:
    def numbers(counters: Counters) -> Numbers:
        sums: dict[str, float] = {}
        for one in counters.engines:  # one base may be there with several lengths of context
            sums[one.base] = sums.get(one.base, 0) + count(one)
        yield from ((number, {**said, "gen_ai.request.model": base}) for base, number in sums.items())

    return numbers


def _runs(*states: str) -> Callable[[Counters], Numbers]:
    def numbers(counters: Counters) -> Numbers:
        for name, runs in counters.subagents.items():
            for state in states:
                yield getattr(runs, state), {"gen_ai.agent.name": name, "skillstill.run.state": state}

    return numbers


def _memory(counters: Counters) -> Numbers:
    yield counters.memory_bytes, {}


def _uptime(counters: Counters) -> Numbers:
    yield counters.seconds, {}


USAGE = "gen_ai.client.inference.usage"
INSTRUMENTS: tuple[tuple[str, str, str, Callable[[Counters], Numbers], str], ...] = (
    ("counter", f"{USAGE}.input_tokens", "{token}", _tokens(lambda one: one.read + one.reused), "Tokens of prompts"),
    (
        "counter",
        f"{USAGE}.cache_read.input_tokens",
        "{token}",
        _tokens(lambda one: one.reused),
        "Those found in caches",
    ),
    ("counter", f"{USAGE}.output_tokens", "{token}", _tokens(lambda one: one.written), "Tokens that were written"),
    ("counter", "skillstill.runs", "{run}", _runs(*ENDED), "Runs that ended"),
    ("up_down_counter", "skillstill.runs.active", "{run}", _runs(*UNDER_WAY), "Runs that wait or work"),
    ("counter", "skillstill.runs.remembered", "{run}", _runs("remembered"), "Runs answered from memory"),
    ("counter", "skillstill.engine.batches", "{batch}", _engines(lambda one: one.batches), "Batches"),
    ("counter", "skillstill.engine.batch.tokens", "{token}", _engines(lambda one: one.tokens), "Tokens in batches"),
    ("counter", "skillstill.engine.busy.time", "s", _engines(lambda one: one.busy_seconds), "Time it worked"),
    ("up_down_counter", "skillstill.engine.slots.limit", "{slot}", _engines(lambda one: one.slots), "Slots"),
    ("up_down_counter", "skillstill.engine.slots.usage", "{slot}", _engines(lambda one: one.slots_used), "Used slots"),
    ("up_down_counter", "process.memory.usage", "By", _memory, "Memory in use"),
    ("gauge", "process.uptime", "s", _uptime, "How long it has been serving"),
)
