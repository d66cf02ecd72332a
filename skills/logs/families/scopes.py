"""What a question is limited to, a file, a stretch of time or nothing, in words and as the arguments of a tool."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from skillstill_training.authoring import Split

from .record import LogRecord, RecordEntry, clock

STEPS = (300, 600, 900, 1_800, 3_600)  # seconds that the ends of a window are multiples of
SHORTEST = 3_600  # seconds that a log must span to be divided
NARROW = 0.3  # of the windows: short ones, some of which are empty
WHOLE = 0.3  # of the scopes: all there is
UNSAID = 0.6  # of those: nobody says so
LEARNED = ("in all", "in total", "overall", "altogether", "in the logs", "in these logs", "anywhere", "in any file")
OTHERS = (  # from another hand, for the test
    "across every file",
    "over the entire set of logs",
    "with all files taken together",
    "across everything we have",
    "looking at every log",
    "counting all the files",
    "throughout the whole log folder",
    "across the board",
    "in every log put together",
    "regardless of file",
)
SAYINGS: dict[Split, tuple[str, ...]] = {"train": LEARNED, "validation": LEARNED, "test": OTHERS}


@dataclass(frozen=True, slots=True)
class LogScope:
    """`said` follows the words of a question: "in api.log", "between 10:00 and 10:30"."""

    said: str
    arguments: dict[str, str] = field(default_factory=dict)
    path: str = ""
    since: int = 0
    until: int = 86_400

    def holds(self, entry: RecordEntry) -> bool:
        return (not self.path or entry.path == self.path) and self.since <= entry.second < self.until

    def is_clear(self, entries: Sequence[RecordEntry]) -> bool:
        """Whether it makes no difference if the minute that is named as the end belongs to it."""
        return not any(self.until <= entry.second < self.until + 60 for entry in entries)


def scopes(known: LogRecord, split: Split, rng: Random, files: bool = True) -> Iterator[LogScope]:
    """Endlessly: some of them all; of the others half files, where there are several and they are asked for.

    None of a log of a few minutes.
    """
    first, last = known.entries[0].second, known.entries[-1].second
    while last - first > SHORTEST:
        if rng.random() < WHOLE:
            yield LogScope("" if rng.random() < UNSAID else rng.choice(SAYINGS[split]))
        elif files and len(known.files) > 1 and rng.random() < 0.5:
            path = rng.choice(known.files)
            yield LogScope(f"in {path}", {"path": path}, path)
        else:
            yield _window(first, last, rng)


def _window(first: int, last: int, rng: Random) -> LogScope:
    step = rng.choice([one for one in STEPS if one * 2 <= last - first])
    ends = range(first // step * step + step, last // step * step + step * 2, step)
    one, other = sorted(rng.sample(ends, 2))
    if rng.random() < NARROW:
        other = one + min(STEPS)
    since, until = clock(one)[:5], clock(other)[:5]
    form = rng.randrange(4)
    if form == 0:
        return LogScope(f"after {since}", {"since": since}, since=one)
    if form == 1:
        return LogScope(f"before {until}", {"until": until}, until=other)
    said = f"between {since} and {until}" if form == 2 else f"from {since} to {until}"
    return LogScope(said, {"since": since, "until": until}, since=one, until=other)
