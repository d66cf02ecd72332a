"""Verdicts, arms and figures as text: a percentage, an interval, a duration, a count."""

from collections.abc import Callable, Mapping

from skillstill_training.run.scorecard import ArmName, Interval, Verdict

VERDICT_TEXTS: Mapping[Verdict, str] = {
    "released": "every gate held, and the registry names it",
    "not better than its base": "nothing shows that it is better than the stock model; nothing is registered",
    "better as a plain script": "a script without a model does it as well; nothing is registered",
    "not verifiable": "a check or a comparison that it needs is missing or too small; nothing is registered",
    "parity failed": "what would ship is not what was trained; nothing is registered",
    "not good enough": "a gate did not hold; nothing is registered",
}

ARM_LABELS: Mapping[ArmName, str] = {
    "ours": "ours",
    "baseline": "plain script",
    "stock": "base, untrained",
    "larger": "larger model, untrained",
    "wrong": "wrong adapter",
    "teacher": "teacher",
}


def format_percent(share: float) -> str:
    """Format a share as a percentage. Only 1 becomes 100 %, and only 0 becomes 0 %."""
    if share in {0, 1}:
        return f"{share:.0%}"
    return f"{min(99, max(1, round(share * 100)))}%"


def format_points(difference: float) -> str:
    """Format percentage points with a sign, the minus as U+2212: `+12`, `−3`, `0`."""
    rounded = round(difference * 100)
    return f"{rounded:+d}".replace("-", "−") if rounded else "0"


def format_interval(interval: Interval, format: Callable[[float], str]) -> str:
    """Format both ends of an interval: `67% to 75%`."""
    return f"{format(interval.low)} to {format(interval.high)}"


def format_duration(seconds: float) -> str:
    """Format a duration: `20 ms`, `0.8 s`, `42 s`, `12 min`, `3.5 h`."""
    if seconds < 0.095:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def format_count(count: float) -> str:
    """Format the tick of an axis: `640`, `1,024`, `350k`, `1.2M`."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= max(size, 10_000):
            return f"{count / size:.3g}{letter}"
    return f"{count:,.10g}"
