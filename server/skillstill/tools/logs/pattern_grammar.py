"""What a pattern over logs repeats of what was said: whole names, and no words or signs that name nothing.

The words that only ask stand in stop_words.txt.
"""

import json
import re
from importlib.resources import files

from skillstill.types import Context, Rules

CHUNK = re.compile(r"\w+(?:\.\w+)*|\W")  # half of `travel.berths` is found in other components' entries too
ASKING = files(__package__).joinpath("stop_words.txt").read_text(encoding="utf-8").split()
QUOTED = re.compile(r"[\"'`“‘«](\w+)")
SIGN = r"[\s,;!?]"  # what may follow a word; `error-log` and `error.rate` are other words
TIME = rf"\d?\d:\d\d(:\d\d)?({SIGN}[^\n]*)?"  # of which `since` and `until` are made
NAMELESS = r"\s[^\n]*|[\W_]*"  # a blank is in every entry


def said_patterns(context: Context) -> Rules:
    """Return the terminal of a Lark grammar for stretches that begin with no word that only asks, no time, no blank.

    A word that was quoted is looked for itself; none ends with the comma behind it, none has no letter and no digit.
    """
    quoted = {word.casefold() for word in QUOTED.findall(context.text)}
    asking = "|".join(word for word in ASKING if word not in quoted)
    stretch = json.dumps({"substring_chunks": CHUNK.findall(context.text)})
    asked = rf"~/(?i:{asking})({SIGN}[^\n]*)?/ & ~/{TIME}/"
    return {"PATTERN": rf"%regex {stretch} & {asked} & ~/{NAMELESS}/ & ~/[^\n]*[,;]/"}
