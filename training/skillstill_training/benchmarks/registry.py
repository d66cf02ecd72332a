"""The benchmarks by name."""

from collections.abc import Mapping

from skillstill.errors import UsageError

from skillstill_training.benchmarks.aitqa import AitQa
from skillstill_training.benchmarks.benchmark import PinnedBenchmark
from skillstill_training.benchmarks.code_search import android_search, codesearchnet
from skillstill_training.benchmarks.geography import Geography
from skillstill_training.benchmarks.loghub import LoghubTemplates
from skillstill_training.benchmarks.logqa import logqa, logsay

ALL = (codesearchnet(), android_search(), logqa(), logsay(), LoghubTemplates(), Geography(), AitQa())
BENCHMARKS: Mapping[str, PinnedBenchmark] = {one.name: one for one in ALL}


def find(name: str) -> PinnedBenchmark:
    """Raise UsageError."""
    if name not in BENCHMARKS:
        raise UsageError(f"{name!r} is no benchmark: expected one of {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]
