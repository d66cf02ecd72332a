"""Cards: goals and their traces as plain data for `page.js`, shortened to fit into a page."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from skillstill.types import Message, ToolCall, Trace
from skillstill.util.text import clean

from skillstill_training.authoring.goal import Goal
from skillstill_training.authoring.oracle import SeenResult
from skillstill_training.report.page.gold import describe_gold
from skillstill_training.teachers import TraceRow
from skillstill_training.util.reasons import kind_of

Card = dict[str, Any]
RESULT = 4_000  # characters of a tool's result that are shown: about the maximum of a tool
RESULTS = 9_000_000  # characters of all results: a browser opens such a page in a second or two


def build_cards(goals: Sequence[Goal], rows: Sequence[TraceRow]) -> list[Card]:
    """Return a card for each goal in their order, with its traces, without invisible characters."""
    by_goal: Mapping[str, list[TraceRow]] = defaultdict(list)
    for row in rows:
        by_goal[row.goal].append(row)
    width = _result_width(rows)
    return [_clean(_goal_card(goal, [_trace_card(row, width) for row in by_goal.get(goal.id, ())])) for goal in goals]


def _result_width(rows: Sequence[TraceRow]) -> int:
    """Return how many characters of each result are shown. In a large run they are fewer than RESULT."""
    traces = [row.trace for row in rows if row.trace]
    lengths = [len(message.content) for trace in traces for message in trace.messages if message.role == "tool"]
    width = RESULT
    while sum(min(length, width) for length in lengths) > RESULTS:
        width //= 2
    return width


def _goal_card(goal: Goal, traces: list[Card]) -> Card:
    kept = goal.model_dump(
        include={"id", "family", "split", "workspace", "wording", "prompt", "calls", "hits", "answer"}
    )
    return {**kept, "absent": goal.absent, "gold": asdict(describe_gold(goal.check)), "traces": traces}


def _trace_card(row: TraceRow, width: int) -> Card:
    kept = row.model_dump(include={"sample", "teacher", "kept", "reason", "verified", "detours", "judged"})
    return {
        **kept,
        "kind": "" if row.kept else kind_of(row.reason),
        **(_run_fields(row.trace, width) if row.trace else {}),
    }


def _run_fields(trace: Trace, width: int) -> Card:
    report, tally = trace.report, trace.tally
    return {
        "status": report.status,
        "answer": report.answer,
        "evidence": report.evidence,
        "calls": len(trace.receipts),
        "tokens": tally.tokens,
        "steps": list(_steps(trace, width)),
    }


def _steps(trace: Trace, width: int) -> Iterator[Card]:
    """Yield the calls, results and texts between the question and the report."""
    refused = {receipt.id for receipt in trace.receipts if receipt.refused}
    for message in trace.messages[2:]:  # after the system line and the prompt
        if message.role == "tool":
            seen = SeenResult.of(message)
            left = max(0, len(seen.text) - width)
            yield {"id": seen.id, "got": seen.text[:width], "left": left, "refused": seen.id in refused}
        else:
            yield from _turn_steps(message, trace.report.answer)


def _turn_steps(message: Message, answer: str) -> Iterator[Card]:
    words = message.content.strip()
    if words and clean(words) != answer:  # which is shown as the answer
        yield {"said": words, "malformed": message.malformed or ""}
    yield from ({"call": format_call(call)} for call in message.calls)


def format_call(call: ToolCall) -> str:
    """Format a call: `tool(name="value")`."""
    arguments = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items())
    return f"{call.name}({', '.join(arguments)})"


def _clean(value: Any) -> Any:
    """Return the value with `clean` applied to each text in it."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(key): _clean(one) for key, one in value.items()}
    return [_clean(one) for one in value] if isinstance(value, list | tuple) else value
