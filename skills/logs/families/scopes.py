"""Scopes of questions, in words and as tool arguments: a file, a stretch of time, or everything."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from skillstill_training.authoring import Split

from .record import LogRecord, RecordEntry, clock

STEPS = (300, 600, 900, 1_800, 3_600)  # seconds that the ends of a window are multiples of
SHORTEST = 3_600  # seconds that a log must span to be divided
NARROW = 0.3  # of the windows: short ones, some of which are empty
WHOLE = 0.3  # of the scopes: everything
UNSAID = 0.6  # of those: without words for it
TRAIN_PHRASES = (
    "in all",
    "in total",
    "overall",
    "altogether",
    "in the logs",
    "in these logs",
    "anywhere",
    "in any file",
)
TEST_PHRASES = (  # by another author, for the test
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
EVERYWHERE: dict[Split, tuple[str, ...]] = {"train": TRAIN_PHRASES, "validation": TRAIN_PHRASES, "test": TEST_PHRASES}


@dataclass(frozen=True, slots=True)
class LogScope:
    """A limit of a question. `phrase` follows its words: "in api.log", "between 10:00 and 10:30"."""

    phrase: str
    arguments: dict[str, str] = field(default_factory=dict)
    path: str = ""
    since: int = 0
    until: int = 86_400

    def contains(self, entry: RecordEntry) -> bool:
        return (not self.path or entry.path == self.path) and self.since <= entry.second < self.until

    def is_clear(self, entries: Sequence[RecordEntry]) -> bool:
        """Return whether it makes no difference if the scope includes the minute of its end."""
        return not any(self.until <= entry.second < self.until + 60 for entry in entries)


def scopes(log: LogRecord, split: Split, rng: Random, files: bool = True) -> Iterator[LogScope]:
    """Yield scopes without end: some of everything; of the others half of files, if `files` and if there are several.

    A log of a few minutes has none.
    """
    first, last = log.entries[0].second, log.entries[-1].second
    while last - first > SHORTEST:
        if rng.random() < WHOLE:
            yield LogScope("" if rng.random() < UNSAID else rng.choice(EVERYWHERE[split]))
        elif files and len(log.files) > 1 and rng.random() < 0.5:
            path = rng.choice(log.files)
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
    phrase = f"between {since} and {until}" if form == 2 else f"from {since} to {until}"
    return LogScope(phrase, {"since": since, "until": until}, since=one, until=other)
