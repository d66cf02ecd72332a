"""`skillstill top`: what each serving process of this user on this machine does, as they publish it themselves."""

import json
import time
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.live import Live
from rich.text import Text

from skillstill.util.counter_files import published
from skillstill.util.counters import Counters, EngineCounters, RunCounters
from skillstill.util.text import one_line

SECONDS = 1.0  # between looks: as often as a process publishes
NOBODY = "no process serves here; an MCP client starts `skillstill serve`"
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_out = Console(soft_wrap=True, highlight=False, markup=False)


def show(*, once: bool, as_json: bool) -> None:
    """Print it again and again on a terminal, until interrupted; once in a pipe, as JSON, or if asked for."""
    if as_json:
        print(json.dumps([one.model_dump(mode="json") for one in published()], ensure_ascii=False))
    elif once or not _out.is_terminal:
        _out.print(page(published()))
    else:
        _watch()


def _watch() -> None:
    try:
        with Live(page(published()), auto_refresh=False, console=Console(highlight=False)) as live:
            while True:
                time.sleep(SECONDS)
                live.update(page(published()), refresh=True)
    except KeyboardInterrupt:
        return


def page(found: Sequence[Counters]) -> Text:
    """Return some lines for each process."""
    lines = [line for one in found for line in _process(one)]
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines or [Text(NOBODY)])


def _process(one: Counters) -> Iterator[Text]:
    since, clock = _duration(one.seconds), one.started.astimezone()
    yield Text(f"process {one.process}  since {clock:%Y-%m-%d %H:%M} ({since})  {_megabytes(one.memory_bytes)}", "bold")
    for engine in one.engines:
        yield from map(Text, _engine(engine))
    width = max(map(len, one.subagents), default=0)
    for name, runs in one.subagents.items():
        yield Text(f"  {one_line(name, 30):{width}}  {_runs(runs)}", "" if runs.running or runs.waiting else "dim")
    if not one.subagents:
        yield Text("  no run yet", "dim")


def _engine(one: EngineCounters) -> Iterator[str]:
    """Yield lines that a narrow terminal shows, too."""
    yield f"  {one_line(one.base, 40)} as {one_line(one.form, 20)}: {one.slots_used} of {one.slots} slots in use"
    yield f"    last ten seconds: {one.tokens_per_second:.1f} tokens a second, at work {one.busy_share:.0%} of the time"
    found = _share(one.reused, one.read + one.reused)
    yield f"    tokens: {one.read:,} read, {one.reused:,} found in caches ({found}), {one.written:,} written"
    batches = max(1, one.batches)
    yield f"    batches: {one.batches:,}, of {one.tokens / batches:.1f} tokens and {one.parts / batches:.1f} runs each"


def _runs(runs: RunCounters) -> str:
    always = (
        f"{runs.running} under way  {runs.waiting} waiting  {runs.answered} answered  "
        f"{runs.escalate} handed back  {runs.failed} failed"
    )
    memory = f"  {runs.remembered} from memory" if runs.remembered else ""
    return always + memory + (f"  {runs.stopped} stopped" if runs.stopped else "")


def _share(part: int, whole: int) -> str:
    return f"{part / max(1, whole):.0%}"


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.0f} MB"


def _duration(seconds: float) -> str:
    """Return how long that is in its largest unit: 3 min."""
    return next((f"{seconds // size:.0f} {unit}" for size, unit in UNITS if seconds >= size), f"{seconds:.0f} s")
