"""The reader of logs: entries, what their messages hold, and the files themselves."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillstill.facts.reader import Facts, Gap, Source
from skillstill.facts.readers.logs.detect import detect
from skillstill.facts.readers.logs.entries import Entries
from skillstill.facts.readers.logs.heads import Head, LineReader
from skillstill.facts.readers.logs.messages import Messages
from skillstill.facts.readers.logs.nested import unnest
from skillstill.facts.readers.logs.stream import COLOUR, PACKED, Bytes, chunks, last_line, open_bytes, unpack_head
from skillstill.facts.table import FactColumn, FactTable

ENTRIES = FactTable(
    "entries",
    "entries of logs, with the lines that continue them, such as stack traces",
    (
        FactColumn(
            "time", "text", "YYYY-MM-DD HH:MM:SS[.ffffff] on the clock of the log; without a year MM-DD HH:MM:SS"
        ),
        FactColumn("zone", "word", "of the time, as +01:00, if the log tells it"),
        FactColumn("level", "word", values=("TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")),
        FactColumn("component", "word", "logger, program or module that wrote it"),
        FactColumn("message", "excerpt", spare="body"),
        FactColumn("template", "word", "the message with <*> for what varies"),
        FactColumn("host", "word"),
        FactColumn("pid", "integer"),
        FactColumn("thread", "word"),
        FactColumn("body", "text", "the message if the file is compressed or UTF-16, or the message escaped"),
    ),
    ("time", "level", "component", "template"),
)
FIELDS = FactTable(
    "fields",
    "what the messages of logs hold: addresses, users, statuses, durations, pairs, keys of JSON",
    (
        FactColumn(
            "kind", "word", "ip user status id duration_ms url method path port exception host number value ..."
        ),
        FactColumn("name", "word", "of a pair or a key; the word before a number"),
        FactColumn("value", "word"),
        FactColumn("number", "real"),
    ),
    ("kind", "name", "value"),
)
FILES = FactTable(
    "log_files",
    "logs as a whole",
    (
        FactColumn("format", "word", "of most lines"),
        FactColumn("entries", "integer"),
        FactColumn("unread", "integer", "lines that no format fits"),
        FactColumn("first_time"),
        FactColumn("last_time"),
        FactColumn("encoding", "word"),
    ),
)
_CERTAIN = re.compile(
    r"(?:.*\.log(?:[._-]?\d[\w.-]*|\.old|\.bak)?|.*[._-]log|(?:sys|auth|mail|kern|daemon)log(?:[._-]\d+)?"
    r"|catalina\.out|(?:.*[_.-])?(?:access|error)_log(?:[._-][\w-]*\d[\w.-]*)?|.*\.log[._-][\w.-]*?\d)",
    re.IGNORECASE,
)
_PROBABLE = re.compile(
    r"(?:.*\.(?:out|err|trace|jsonl|ndjson|journal|txt\.\d+)|messages|secure|maillog|cron|debug|dmesg|boot|user|daemon|local\d)(?:[._-]\d+)?",
    re.IGNORECASE,
)
_NEVER = re.compile(
    r".*\.(?:csv|tsv|md|rst|adoc|html?|xml|svg|ya?ml|toml|ini|cfg|conf|sql|diff|patch|srt|vtt|tex|ipynb|lock|properties"
    r"|py|pyi|js|jsx|mjs|ts|tsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|pl|sh|ps1|lua|swift|scala|r|jl|tar|zip|tgz)",
    re.IGNORECASE,
)
_LOOSE = frozenset(("time", "name_time", "level", "syslog_untagged", "uvicorn", "python_plain", "compose"))
_OBJECTS = frozenset(("json", "logfmt"))
_HEAD_LINES = 40
_LEAST_LINES = 3
_SURE, _LIKELY = 0.7, 0.4  # of the first lines begin an entry
_BINARY = re.compile(rb"[\0-\x08\x0e-\x1a]")
_WINDOW, _WINDOWS = 64 * 1024, 32


@dataclass(frozen=True, slots=True)
class LogReader:
    """Reads logs line by line, whatever their size."""

    name: str = "logs"
    version: int = 1
    tables: tuple[FactTable, ...] = (ENTRIES, FIELDS, FILES)

    def takes(self, name: str, head: bytes) -> bool:
        bare = PACKED.sub("", name)
        if _NEVER.fullmatch(bare):
            return False
        if _CERTAIN.fullmatch(bare):
            return True
        return looks_like_log(unpack_head(head), _LIKELY if _PROBABLE.fullmatch(bare) else _SURE)

    def read(self, source: Source) -> Iterator[Facts]:
        data = open_bytes(source)
        lines = _sample(data, source.size)
        readers = unnest(detect(source.name, lines, "cp1252" if data.encoding == "cp1252" else "utf-8"), lines)
        if not readers:
            yield _unknown(data)
            return
        entries = Entries(readers, _learn(readers, lines), data.raw)
        cut = False
        for place, text, too_long in chunks(data, readers[0].cut, readers[0].end):
            entries.add(place, text)
            cut |= too_long
            yield _facts(entries)
        yield _facts(entries, final=True)
        yield _summary(entries, data, cut)


def _sample(data: Bytes, size: int) -> list[str]:
    """Return lines from everywhere in the file. They tell the encoding too."""
    parts = data.windows(_WINDOW, _WINDOWS, size)
    if data.encoding == "utf-8" and data.raw and not all(map(_is_utf8, parts)):
        data.encoding = "cp1252"
    texts = [part.decode("latin-1") for part in parts]
    if any("\x1b[" in text for text in texts):
        data.coloured, data.raw = True, False
        texts = [COLOUR.sub("", text) for text in texts]
    return [line for text in texts for line in text.split("\n")]


def _is_utf8(part: bytes) -> bool:
    """Return whether what is not ASCII is UTF-8, in most lines that are text."""
    if part.isascii():
        return True
    text = b"\n".join(line for line in part.split(b"\n")[:-1] if not line.isascii() and not _BINARY.search(line))
    high = sum(byte >= 0x80 for byte in text)
    return 3 * text.decode("utf-8", "replace").count("\ufffd") <= high


def looks_like_log(head: bytes, share: float) -> bool:
    """Return whether that share of the first lines begin like entries of a format that is no guess."""
    if b"\0" in head[:1_000]:
        return False
    lines = [line for line in head.decode("latin-1").split("\n")[:-1] if line.strip() and not line[0].isspace()]
    lines = lines[:_HEAD_LINES]
    if len(lines) < _LEAST_LINES:
        return False
    best = next(iter(detect("", lines)), None)
    if best is None or best.name in _LOOSE or not best.has_time:
        return False
    found = [head for head in best.scan("".join(f"{line}\n" for line in lines)) if isinstance(head, Head)]
    if best.name in _OBJECTS:  # data with times look the same but for levels
        found = [head for head in found if head.level]
    return sum(head.height for head in found) >= share * len(lines)


def _learn(readers: Sequence[LineReader], lines: Sequence[str]) -> Messages:
    """Return templates that the sample shows."""
    messages = Messages()
    for head in readers[0].scan("\n".join(lines) + readers[0].end):
        if isinstance(head, Head) and not head.told:
            messages.learn(head.message)
    messages.forget()
    readers[0].restart()
    return messages


def _facts(entries: Entries, final: bool = False) -> Facts:
    rows, fields = entries.take(final)
    return Facts({"entries": rows, "fields": fields})


def _unknown(data: Bytes) -> Facts:
    """Return the row of a file whose format is not known."""
    unread = sum(text.count("\n") for _, text, _ in chunks(data, last_line, "\n"))
    gaps = (Gap("lines that no format fits", "entries"), Gap("lines that no format fits", "fields")) if unread else ()
    return Facts({"log_files": [(0, 0, None, 0, unread, None, None, data.encoding)]}, gaps)


def _summary(entries: Entries, data: Bytes, cut: bool) -> Facts:
    tally, main = entries.tally, entries.readers[0]
    row = (0, 0, main.name, tally.entries, tally.unread, tally.first, tally.last, data.encoding)
    return Facts({"log_files": [row]}, tuple(_gaps(entries, data, cut)))


def _gaps(entries: Entries, data: Bytes, cut: bool) -> Iterator[Gap]:
    tally, main = entries.tally, entries.readers[0]
    if tally.unread:
        yield Gap("lines that no format fits", "entries")
    if tally.levels < tally.entries:
        yield Gap("level in some entries only" if tally.levels else "no level in this format", "entries", "level")
    if not main.has_time:
        yield Gap("no time in this format", "entries", "time")
    if main.lacks:
        yield Gap(f"no {main.lacks} in times", "entries", "time")
    if len(tally.zones) > 1:
        yield Gap("times of several zones, as written", "entries", "time")
    if entries.messages.is_full:
        yield Gap("thousands of templates: rare ones are first words", "entries", "template")
    if cut:
        yield Gap("lines longer than 1 MB are cut", "entries")
    if data.broken:
        yield Gap(data.broken)


LOGS = LogReader()
