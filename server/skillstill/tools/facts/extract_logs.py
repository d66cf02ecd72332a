"""What a log says as a whole, quoted as an answer: how many entries, from when to when, of which levels.

Of 145 training questions that count, or are about a log as such, this with the likeliest line is a right answer to 54;
the likeliest lines alone are to 39. The weights of the chance were learned on them by a logistic regression
(docs/experiments.md).
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from skillstill.facts.index import FactIndex
from skillstill.facts.locate.places import Place
from skillstill.facts.locate.question import chat_words, last_question, stop_words
from skillstill.facts.locate.stems import stems_in
from skillstill.tools.facts.extract import JOINED, ExtractiveAnswer, probability
from skillstill.tools.facts.extract_lines import SECONDS, LinesOf, quote, told_alike

LEVELS = 6
WHOLE = "select entries, first_time, last_time from log_files where path = {path} and entries > 0"
PATHS = "select path from log_files where entries > 0"
COUNTS = (
    "select level, count(*) from entries where path = {path} and level is not null group by level order by 2 desc, 1"
)
COUNTED = re.compile(r"\bhow (?:many|often)\b|\bnumber of\b|\bcount\b", re.IGNORECASE)
AND = re.compile(JOINED, re.IGNORECASE)
OF_WHOLE = 0.6  # of the words of a question have to be about logs as such
WORDS = frozenset(
    stems_in(
        "log logs file files entry entries line lines record message event error warning warn info debug level"
        " severity begin start end stop cover span period range time date day earliest latest first last total"
        " altogether overall whole number count many often long far back until logged written"
    )
)
BIAS, LINES, SHARE, SEVERAL = -0.70, 1.19, 0.44, -0.80


def extract_log(
    question: str, index: FactIndex, places: Sequence[Place], lines: ExtractiveAnswer | None, lines_of: LinesOf
) -> ExtractiveAnswer | None:
    """Return the first place and the log that it is in as a whole; None if it is in none, or nobody asks for that.

    If the question names a log, that is the one.
    `lines` is what the likeliest lines say: the likelier they are right, the likelier this is the log that is meant.
    """
    asked = last_question(question)
    share, named = _share(asked), _named_log(asked, index)
    place = next((each for each in places if _is_line(each) and named in ("", each.path)), None)
    path = named or (place.path if place else "")
    if not path or not lines or not (COUNTED.search(asked) or share >= OF_WHOLE):
        return None
    if not (whole := told_log(index, path)):
        return None
    logit = BIAS + LINES * lines.chance + SHARE * share + SEVERAL * bool(AND.search(asked))
    likeliest = [quote(place, lines_of(path)), *told_alike(place)] if place else []
    return ExtractiveAnswer(
        answer="\n".join([*likeliest, whole]),
        context="",
        places=(f"{path}:{place.line}" if place else path,),
        chance=round(probability(logit), 3),
        source="the likeliest log as a whole",
    )


def _named_log(asked: str, index: FactIndex) -> str:
    """Return the log whose file a question names; nothing if it names none, or several."""
    if not _has_logs(index):
        return ""
    paths = [path for (path,) in index.ask(PATHS).rows]
    named = [path for path in paths if re.search(rf"(?<![\w.-]){re.escape(PurePosixPath(path).name)}(?![\w-])", asked)]
    return named[0] if len(named) == 1 else ""


def _has_logs(index: FactIndex) -> bool:
    return any(table.name == "log_files" for table in index.tables)


def _is_line(place: Place) -> bool:
    return place.line > 0 and not place.is_column


def _share(asked: str) -> float:
    """Return the share of a question's words that are about logs as such."""
    idle = stop_words() | chat_words()
    words = [word for word in stems_in(asked) if word not in idle]
    return sum(word in WORDS for word in words) / max(1, len(words))


def told_log(index: FactIndex, path: str) -> str:
    """Return how many entries a log has, from when to when, and how many of each level; empty if it has none."""
    if not _has_logs(index):
        return ""
    at = "'" + path.replace("'", "''") + "'"
    counts = index.ask(COUNTS.format(path=at)).rows[:LEVELS]
    levels = f"; {', '.join(f'{level} {count:,}' for level, count in counts)}" if counts else ""
    for entries, first, last in index.ask(WHOLE.format(path=at)).rows:
        times = f", {first[:SECONDS]} to {last[:SECONDS]}" if first else ""
        return f"{path}: {entries:,} entries{times}{levels}"
    return ""
