"""Formats of logs, as data: a name, a regular expression with named groups, and the shapes of its time.

Named groups are the columns of an entry: `time` (with `frac` and `zone`), `level`, `component`, `host`, `pid`,
`thread`, `priority` (the number of syslog) and `message`, which reaches to the end of the line. A group such as `pid2`
stands in for `pid`. Groups `f_NAME` become fields.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from skillstill.facts.readers.logs.times import SHAPES, pattern

_NAMES = {
    "CRITICAL": "CRITICAL CRIT FATAL EMERGENCY EMERG ALERT PANIC DISASTER",
    "ERROR": "ERROR ERR SEVERE FAILURE",
    "WARNING": "WARNING WARN",
    "INFO": "INFO INFORMATION INFORMATIONAL NOTICE NOTE LOG CONFIG SYSTEM AUDIT",
    "DEBUG": "DEBUG DEBUG1 DEBUG2 DEBUG3 DEBUG4 DEBUG5 FINE DBG",
    "TRACE": "TRACE VERBOSE FINER FINEST TRC",
}
LEVELS = {name: level for level, names in _NAMES.items() for name in names.split()} | {"INF": "INFO", "WRN": "WARNING"}
_LETTERS = {"F": "CRITICAL", "A": "CRITICAL", "E": "ERROR", "W": "WARNING", "I": "INFO", "D": "DEBUG", "V": "TRACE"}
_LEVEL_MARKS = {".": "DEBUG", "-": "DEBUG", "*": "INFO", "#": "WARNING"}  # of Redis
SEVERITIES = ("CRITICAL", "CRITICAL", "CRITICAL", "ERROR", "WARNING", "INFO", "INFO", "DEBUG")  # of syslog, by number
ALL_LEVELS: Mapping[str, str] = LEVELS | _LETTERS | _LEVEL_MARKS

_WORDS = "|".join(sorted((name for name in LEVELS if name not in ("SYSTEM", "CONFIG", "AUDIT")), key=len, reverse=True))
_MACROS = {
    "level": rf"(?P<level>(?i:{_WORDS}|SYSTEM|CONFIG|AUDIT))(?![\w-])",
    "upper": rf"(?P<level>{_WORDS})(?![\w-])",
    "anycase": rf"(?P<level2>(?i:{_WORDS}))(?=[ \t:|,;\]-]|$)",
    "UPPER": rf"(?P<level3>{_WORDS})(?![\w-])",
    "letter": r"(?P<level>[VDIWEFA])",
    "pid": r"(?P<pid>\d{1,10})",
    "host": r"(?P<host>(?!\[)\S{1,255})",
    "component": r"(?P<component>[^\s:\[\]]{1,200})",
    "dotted": r"(?P<component>[A-Za-z_][\w.$/-]{0,200})",
    "thread": r"(?P<thread>[^\]\n]{0,200})",
    "message": r"(?P<message>[^\n]*)",
    "eol": r"\r?\n",
    "pri": r"(?:<(?P<priority>\d{1,3})>)?",
    # What may stand between a time and a level, in any order: a thread in brackets, a process, a name.
    "leads": (
        r"(?:(?:[\[{(](?P<thread>[^\[\](){}\n]{1,80})[\])}]|(?P<pid>\d{1,10})(?![\w.])|(?P<component>[A-Za-z_][\w.$/@+#:-]{0,99}))"
        r"[\s|:,-]++){0,3}?"
    ),
    # What may stand between a level and the message: process, thread, name before a colon or a dash.
    "after": (
        r"(?:(?P<pid2>\d{1,10})(?: ---)?[ \t|]+(?=\S))?(?:\[(?P<thread2>[^\]\n]{1,80})\][ \t|:-]*)?"
        r"(?:(?P<component2>(?:[A-Za-z_][\w$-]*[.:$/]|(?=[a-z_]|\w+[a-z][A-Z]|[A-Z]\w*\.))[\w.$/@:-]{0,100}?)"
        r"(?:\(\d+\))?(?: *: | +- | *\| ?|\] |: *(?=\n|$)))?"
    ),
}
_DATED = tuple(name for name in SHAPES if name not in ("epoch", "clock", "klog", "thunderbird", "clf_fraction"))
_SETS = {"dated": _DATED, "any": (*_DATED, "epoch", "clock")}


@dataclass(frozen=True, slots=True)
class Format:
    """A format of log lines.

    pattern      a regular expression; `{time}` and the other names in braces are written out from tables
    shapes       shapes that its time may have; none if it has no time
    continues    lines that do not fit belong to the entry before them; else only indented ones do
    height       lines of one entry; 0 if it has as many as the pattern takes
    loose        groups are guesses: the name in brackets is a component if there is no other
    nested       the message is an entry of another format
    told         the groups tell all that the message holds
    fields       names of the fields `f_0`, `f_1`, ..., if they cannot be names of groups
    """

    name: str
    pattern: str
    shapes: tuple[str, ...] = ()
    continues: bool = True
    height: int = 1
    loose: bool = False
    nested: bool = False
    told: bool = False
    fields: tuple[str, ...] = ()

    def field(self, group: str) -> str:
        return self.fields[int(group)] if self.fields else group

    def expand(self, shape: str) -> str:
        """Return the regular expression of a line, for one shape of time."""
        return _write_out(self.pattern.replace("{time}", pattern(shape) if shape else ""))


def _write_out(text: str) -> str:
    return re.sub(r"\{([A-Za-z]+)\}", lambda match: _MACROS[match[1]], text)


@cache
def all_formats() -> tuple[Format, ...]:
    """Return the formats of the table."""
    table = tomllib.loads(files(__package__).joinpath("formats.toml").read_text(encoding="utf-8"))
    return tuple(Format(name, row.pop("pattern"), _shapes(row.pop("times", ())), **row) for name, row in table.items())


def _shapes(times: str | list[str]) -> tuple[str, ...]:
    return _SETS[times] if isinstance(times, str) else tuple(times)
