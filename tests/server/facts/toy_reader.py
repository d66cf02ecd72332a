"""A reader for tests: each line `word: text` of a .toy file is a fact. Some words make it misbehave."""

import os
import time
from collections.abc import Iterator

from skillstill.facts.reader import Facts, Gap, Source, Unreadable
from skillstill.facts.table import FactColumn, FactTable

LINES = FactTable(
    "lines",
    "a line of a toy",
    (FactColumn("word", "word"), FactColumn("text"), FactColumn("whole", "excerpt"), FactColumn("color", "word")),
    ("word",),
)


class ToyReader:
    name = "toy"
    version = 1
    tables = (LINES,)

    def takes(self, name: str, head: bytes) -> bool:
        return name.endswith(".toy")

    def read(self, source: Source) -> Iterator[Facts]:
        at = 0
        for number, line in enumerate(source.stream, 1):
            word, _, text = line.decode("utf-8", "replace").strip().partition(": ")
            yield self._facts(number, word, text, (at, len(line.rstrip())))
            at += len(line)

    def _facts(self, number: int, word: str, text: str, place: tuple[int, int]) -> Facts:
        if word == "hang":
            time.sleep(300)
        if word == "crash":
            os._exit(7)
        if word == "fail":
            raise ValueError(text)
        if word == "set":
            return Facts({"lines": [(number, number, word, {text}, place, None)]})  # type: ignore[list-item]
        if word == "half":
            text = "\ud800"
        if word == "unreadable":
            raise Unreadable(text)
        gaps = (Gap("toys have no colors", "lines", "color"),)
        return Facts({"lines": [(number, number, word, text, place, None)]}, gaps)


TOY = ToyReader()
