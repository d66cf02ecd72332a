"""Stack traces as Python and Java print them."""

from collections.abc import Sequence
from random import Random

from .event import Service

OUTER = ("serve", "handle", "execute", "invoke_step", "with_retry", "process_item", "run_guarded")
DEEPEST = 6  # frames: two reads show all of them


def trace(service: Service, exception: str, text: str, functions: Sequence[str], rng: Random) -> tuple[str, ...]:
    """Return the lines of one trace. `functions` has the outermost first; the last one raised the exception."""
    outer = rng.sample(OUTER, rng.randint(1, DEEPEST - len(functions)))
    frames = [*sorted(outer, key=OUTER.index), *functions]
    return (
        _java(service, exception, text, frames, rng) if service.java else _python(service, exception, text, frames, rng)
    )


def _python(service: Service, exception: str, text: str, frames: Sequence[str], rng: Random) -> tuple[str, ...]:
    lines = ["Traceback (most recent call last):"]
    for name, called in zip(frames, [*frames[1:], ""], strict=True):
        module = rng.choice(("app", "core", "steps", "store"))
        lines += [f'  File "/srv/{service.said}/{module}.py", line {rng.randint(12, 480)}, in {name}']
        lines += [f"    return {called}(context)" if called else f"    raise {exception}(reason)"]
    return (*lines, f"{exception}: {text}")


def _java(service: Service, exception: str, text: str, frames: Sequence[str], rng: Random) -> tuple[str, ...]:
    package, _, name = service.component.rpartition(".")
    calls = [f"\tat {package}.{name}.{frame}({name}.java:{rng.randint(12, 480)})" for frame in reversed(frames)]
    if rng.random() < 0.5:
        return (f"{package}.{exception}: {text}", *calls)
    cut = rng.randint(1, len(calls) - 1)
    lead = f"{package}.StepFailed: see cause"
    return (lead, *calls[cut:], f"Caused by: {package}.{exception}: {text}", *calls[:cut], f"\t... {len(calls)} more")
