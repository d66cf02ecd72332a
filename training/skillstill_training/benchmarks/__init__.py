"""Public benchmarks: fetched when they are first asked for, never committed, each with its own scorer.

pinned repository -> tasks, each with a folder -> an arm's answer -> the benchmark's scorer -> a share with an interval
"""

from skillstill_training.benchmarks.benchmark import Benchmark, Task
from skillstill_training.benchmarks.registry import BENCHMARKS, find

__all__ = ["BENCHMARKS", "Benchmark", "Task", "find"]
