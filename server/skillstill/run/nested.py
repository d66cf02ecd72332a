"""Calls that a script makes: executed like a model's, filed under the script's receipt, and shown to the script alone.

Only what the script's value shows is evidence. A place that one of its calls has shown and the value does not name was
seen by nobody who could judge it.
"""

import time
from collections.abc import Sequence
from typing import Protocol

from skillstill.errors import Refusal
from skillstill.run.box import Box
from skillstill.run.evidence import invented_place, shown_paths, shown_places
from skillstill.run.record import Record, receipt_of, without_echo
from skillstill.tools import Result
from skillstill.types import Receipt, Scorer, Span, ToolCall, ToolSchema


class OnCall(Protocol):
    async def __call__(self, *, call: ToolCall, receipt: Receipt) -> None: ...


class NestedCalls:
    """The other tools of a run (kit/tool.py: Functions), for the one named `caller`, which may make `most` calls."""

    def __init__(
        self, box: Box, record: Record, caller: str, most: int, scorer: Scorer | None, on_call: OnCall
    ) -> None:
        self.receipts: list[Receipt] = []
        self._shown: list[str] = []  # the results, without what only repeats the call
        self._box, self._name, self._caller = box, record.next_id, caller
        self._most, self._scorer, self._on_call = most, scorer, on_call

    @property
    def schemas(self) -> Sequence[ToolSchema]:
        return [tool.schema for name, tool in self._box.tools.items() if name != self._caller]

    async def call(self, call: ToolCall) -> Result:
        if len(self.receipts) >= self._most:
            raise Refusal(f"no more than {self._most} calls are left in this run")
        began = time.monotonic()
        try:
            result, refusal = await self._box.call(call.name, call.arguments, self._scorer), None
        except Refusal as error:
            result, refusal = Result.of_text(str(error)), error
        await self._file(call, result, refused=refusal is not None, seconds=time.monotonic() - began)
        if refusal:
            raise refusal
        return result

    async def _file(self, call: ToolCall, result: Result, *, refused: bool, seconds: float) -> None:
        name = f"{self._name}.{len(self.receipts) + 1}"
        receipt = receipt_of(name, call.name, call.arguments, result, refused=refused, seconds=seconds)
        self.receipts.append(receipt)
        if not refused:
            self._shown.append(without_echo(result.text, call.arguments))
        await self._on_call(call=call, receipt=receipt)

    def shown_places(self, text: str) -> Sequence[Span]:
        good = [receipt for receipt in self.receipts if not receipt.refused]
        if wrong := invented_place(text, good, self._shown):
            raise Refusal(f"the value names {wrong}, which none of the script's calls has shown")
        return [*shown_places(text, good), *(Span(path=path) for path in shown_paths(text, good))]
