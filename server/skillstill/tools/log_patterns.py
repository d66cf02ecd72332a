"""What a pattern over logs repeats of what was said: whole names and words, none of those that only ask for entries."""

import json
import re
from collections.abc import Mapping

# `travel.berths` and `pg-7:5432` are one name each: half of one is found in other components' entries too.
CHUNK = re.compile(r"\w+(?:[-.]\w+|:\d+)*|\W")
ASKING = re.findall(
    r"\w+",
    "a an the any all error errors warning warnings warn entry entries line lines log logs message messages component"
    " components service services first last final latest newest since until before after",
)
QUOTED = re.compile(r"[\"'`](\w+)")


def said_patterns(said: str) -> Mapping[str, str]:
    """Of a Lark grammar, the stretches of what was said that name something. None begins with a word that only asks.

    Unless that word was quoted.
    """
    quoted = {word.casefold() for word in QUOTED.findall(said)}
    asking = "|".join(word for word in ASKING if word not in quoted)
    stretch = json.dumps({"substring_chunks": CHUNK.findall(said)})
    return {"PATTERN": rf"%regex {stretch} & ~/(?i:{asking})([^A-Za-z0-9_][^\n]*)?/"}
