"""The ids of requests, jobs and things that entries of logs share.

A model points at an entry and the tool finds what belongs to it, because small models copy ids wrongly: see "logs 5" in
docs/experiments.md.
"""

import re
from collections import Counter
from collections.abc import Collection

from skillstill.errors import Refusal
from skillstill.tools.logs.files import LogEntry, Logs

OFTEN = 50  # entries that have an id: it is a thread or a host, if the entry also has something rarer
# Dates, times and versions are no ids, nor are numbers that measure something.
TIMES = re.compile(
    r"\d{2,4}[-/]\d{1,2}[-/]\d{1,4}T?|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d+(?:\.\d+)+"
)
UNITS = r"\s*(?:%|[mµun]?s\b|[kMGT]?i?B\b|bytes\b|seconds\b|minutes\b|hours\b|entries\b|records\b|rows\b)"
MIXED = re.compile(r"[A-Za-z].*\d|\d.*[A-Za-z]")
NUMBERED = re.compile(r"[A-Za-z][A-Za-z_-]*\d{1,2}")
WORD = re.compile(rf"[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?(?!{UNITS})(?![\w-])")


def related_pattern(place: str, logs: Logs) -> re.Pattern[str]:
    """Return a pattern of the ids of the entry at `path:line`. Raise Refusal if there is no entry or it has no id."""
    entry = entry_at(place, logs)
    if entry is None:
        raise Refusal(f"related: {place!r} is no entry: give the path:line of one")
    ids = _ids(entry.text)
    if not ids:
        raise Refusal("related: that entry names nothing by an id: give a pattern from it")
    return _ids_pattern(_rare_ids(ids, logs) if len(ids) > 1 else ids)


def entry_at(place: str, logs: Logs) -> LogEntry | None:
    """Return the entry at `path:line`, or None if there is none."""
    path, _, line = place.rpartition(":")
    if not line.isdecimal() or all(log.path != path for log in logs.files):
        return None
    number = int(line)
    inside = (entry for entry in logs.entries() if entry.path == path and entry.first <= number <= entry.last)
    return next(inside, None)


def _ids(text: str) -> Collection[str]:
    """Return the words of letters and digits, as `tx-4ca48f`, and numbers of five digits; if none, numbers of four."""
    words = WORD.findall(TIMES.sub(" ", text))
    telling = [word for word in words if _is_mixed(word) or (word.isdigit() and len(word) >= 5)]
    return dict.fromkeys(telling or [word for word in words if word.isdigit() and len(word) == 4])


def _is_mixed(word: str) -> bool:
    """Return whether a word has letters and digits, and is not one of many that are numbered, as `node-2` is."""
    return len(word) >= 6 and MIXED.search(word) is not None and not NUMBERED.fullmatch(word)


def _rare_ids(ids: Collection[str], logs: Logs) -> Collection[str]:
    """Return the ids that few entries have, or the rarest if none is rare."""
    pattern, counts = _ids_pattern(ids), Counter[str]()
    for entry in logs.entries():
        counts.update({*pattern.findall(entry.text)})
    return [id_ for id_ in ids if counts[id_] <= OFTEN] or [min(ids, key=lambda id_: counts[id_])]


def _ids_pattern(ids: Collection[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, ids))})(?![\w-])")
