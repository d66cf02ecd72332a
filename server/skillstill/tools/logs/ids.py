"""What ties entries of logs to each other: the ids of requests, jobs and things that they name.

A small model copies an id wrongly, or takes another number of the line for it (docs/experiments.md). So it points at an
entry, and the tool finds what belongs to it.
"""

import re
from collections import Counter
from collections.abc import Collection

from skillstill.errors import Refusal
from skillstill.tools.logs.files import Entry, Logs

OFTEN = 50  # entries that have it: a thread or a host, where the entry also has something rarer
# Dates, times and versions are no ids, nor are numbers that measure something.
TIMES = re.compile(
    r"\d{2,4}[-/]\d{1,2}[-/]\d{1,4}T?|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d+(?:\.\d+)+"
)
UNITS = r"\s*(?:%|[mµun]?s\b|[kMGT]?i?B\b|bytes\b|seconds\b|minutes\b|hours\b|entries\b|records\b|rows\b)"
MIXED = re.compile(r"[A-Za-z].*\d|\d.*[A-Za-z]")
NUMBERED = re.compile(r"[A-Za-z][A-Za-z_-]*\d{1,2}")
WORD = re.compile(rf"[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?(?!{UNITS})(?![\w-])")


def tie(place: str, logs: Logs) -> re.Pattern[str]:
    """Finds the ids of the entry at `path:line`, in other entries too. Raises Refusal where it has none."""
    entry = entry_at(place, logs)
    if entry is None:
        raise Refusal(f"related: {place!r} is no entry: give the path:line of one")
    found = _ids(entry.text)
    if not found:
        raise Refusal("related: that entry names nothing by an id: give a pattern from it")
    return _pattern(_rare(found, logs) if len(found) > 1 else found)


def entry_at(place: str, logs: Logs) -> Entry | None:
    """The entry that stands at `path:line`."""
    path, _, line = place.rpartition(":")
    if not line.isdecimal() or all(log.path != path for log in logs.files):
        return None
    number = int(line)
    return next((one for one in logs.entries() if one.path == path and one.first <= number <= one.last), None)


def _ids(text: str) -> Collection[str]:
    """Words of letters and digits, `tx-4ca48f`, and numbers of five digits; without either, numbers of four."""
    words = WORD.findall(TIMES.sub(" ", text))
    telling = [word for word in words if _is_mixed(word) or (word.isdigit() and len(word) >= 5)]
    return dict.fromkeys(telling or [word for word in words if word.isdigit() and len(word) == 4])


def _is_mixed(word: str) -> bool:
    """Not one of many that are numbered, as `node-2` is."""
    return len(word) >= 6 and MIXED.search(word) is not None and not NUMBERED.fullmatch(word)


def _rare(found: Collection[str], logs: Logs) -> Collection[str]:
    """Those that few entries have; the rarest, where none is rare."""
    pattern, counts = _pattern(found), Counter[str]()
    for entry in logs.entries():
        counts.update({*pattern.findall(entry.text)})
    return [one for one in found if counts[one] <= OFTEN] or [min(found, key=lambda one: counts[one])]


def _pattern(found: Collection[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, found))})(?![\w-])")
