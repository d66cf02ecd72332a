"""Numbers as people write them: `1.234,56`, `1'234.50`, `(1,200)`, `$ 5`, `12 %`, `12 km`. A column has one form."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

BLANKS = " \u00a0\u202f\u2009"
APOSTROPHES = "'’"
_NUMERAL = rf"\d[\d.,{APOSTROPHES}{BLANKS}]*\d|\d|[.,]\d+|\d+[.,]"
_SIGN = "[-+\u2212]"
# Codes and abbreviations of money that stand before a number. Other letters before one make a code.
_MONEY = (
    "AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF INR JPY KRW MXN NOK NZD PLN RUB SEK SGD TRY USD ZAR "
    "US\\$ A\\$ C\\$ R\\$ S/ kr Kr Rs Rs\\. Fr\\. Ft zł Kč"
).replace(" ", "|")
_UNIT = r"[^\W\d_][\w./²³°%-]{0,11}|[%‰°′$€£¥₹][\w/]{0,4}"
NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>{_SIGN})?[{BLANKS}]?(?P<before>[^\w\s.,()+\-'\"/:#@*]{{1,2}}|{_MONEY})?"
    rf"[{BLANKS}]?(?P<inner>{_SIGN})?(?P<body>{_NUMERAL})(?P<power>[eE][+-]?\d{{1,3}})?"
    rf"[{BLANKS}]?(?P<after>{_UNIT})?(?P<close>\))?"
)
# A zip code, a telephone, a room or the beginning of a hash: as numbers they would be others.
CODE = re.compile(r"[+-]?0\d+|\+\d{8,}|\d+[eE]\d+")
MAX_DIGITS = 18  # that fit into 64 bits


@dataclass(frozen=True, slots=True)
class Marks:
    """How often the numerals of a column use points and commas in ways that have one meaning, or two."""

    decimal_point: float = 0
    decimal_comma: float = 0
    thousands_point: float = 0
    thousands_comma: float = 0
    unclear_point: float = 0
    unclear_comma: float = 0


@dataclass(frozen=True)
class NumberForm:
    """How a column writes numbers. `is_whole` if none has decimals."""

    is_whole: bool
    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""

    @property
    def kind(self) -> str:
        return "INTEGER" if self.is_whole else "REAL"

    @property
    def unit(self) -> str:
        return self.before or self.after

    @property
    def findings(self) -> tuple[str, ...]:
        marks = {",": "comma", ".": "point", " ": "blank", "'": "apostrophe"}
        found = ["decimal comma"] if self.decimal == "," and not self.is_whole else []
        return (*found, *([f"thousands {marks[self.thousands]}"] if self.thousands else []))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        group = {"": "", " ": f"[{BLANKS}]", "'": f"[{APOSTROPHES}]"}.get(self.thousands, re.escape(self.thousands))
        whole = rf"\d{{1,3}}(?:{group}\d{{2,3}})*{group}\d{{3}}|\d+" if group else r"\d+"
        decimals = "" if self.is_whole else rf"(?:{re.escape(self.decimal)}\d*)?(?:[eE][+-]?\d{{1,3}})?"
        leading = "" if self.is_whole else rf"|{re.escape(self.decimal)}\d+(?:[eE][+-]?\d{{1,3}})?"
        before, after = (f"(?:{re.escape(unit)})?" if unit else "" for unit in (self.before, self.after))
        return re.compile(
            rf"(\()?({_SIGN})?[{BLANKS}]?{before}[{BLANKS}]?({_SIGN})?((?:{whole}){decimals}{leading})[{BLANKS}]?{after}(\))?"
        )

    @cached_property
    def is_plain(self) -> bool:
        """Return whether Python reads the numbers as they are."""
        return self == NumberForm(self.is_whole)

    @cached_property
    def batch(self) -> re.Pattern[str]:
        """Match many plain numbers or nothings, each followed by NUL."""
        decimals = "" if self.is_whole else r"(?:\.\d*)?(?:[eE][+-]?\d{1,3})?"
        return re.compile(rf"(?:(?:-?(?:0|[1-9]\d{{0,17}}){decimals})?\0)*+", re.ASCII)

    def value(self, text: str) -> int | float | None:
        """Return the number, None if the text is none of this form."""
        match = self._pattern.fullmatch(text)
        if match is None or bool(match[1]) != bool(match[5]):
            return None
        numeral = match[4]
        if self.is_whole and CODE.fullmatch(numeral):
            return None
        if self.thousands:
            numeral = re.sub(rf"[{BLANKS}{APOSTROPHES}]", "", numeral).replace(self.thousands, "")
        negative = bool(match[1]) or "-" in (match[2], match[3]) or "\u2212" in (match[2], match[3])
        number: int | float = int(numeral) if self.is_whole else float(numeral.replace(self.decimal, "."))
        if isinstance(number, int) and number >= 10**MAX_DIGITS:
            return None
        return -number if negative else number


def infer_number(bag: Mapping[str, float], marks: Marks | None = None) -> NumberForm | None:
    """Return the form of most numbers in the bag of texts and their counts, None if there are none.

    `marks` are those of the whole file: they settle what one column leaves open.
    """
    matches = [(match, count) for text, count in bag.items() if (match := NUMBER.fullmatch(text))]
    if not matches:
        return None
    own = count_marks(bag)
    decimal, thousands = _separators(own, marks or Marks())
    bodies = [match["body"] for match, _ in matches]
    if not thousands:
        groups = ((" ", BLANKS), ("'", APOSTROPHES))
        thousands = next((mark for mark, signs in groups if _has_groups(bodies, signs, decimal)), "")
    is_whole = not any(match["power"] or decimal in match["body"] for match, _ in matches)
    return NumberForm(is_whole, decimal, thousands, _usual(matches, "before"), _usual(matches, "after"))


def count_marks(texts: Mapping[str, float]) -> Marks:
    """Return how the numerals among the texts use points and commas."""
    totals = dict.fromkeys(Marks.__slots__, 0.0)
    for text, count in texts.items():
        if match := NUMBER.fullmatch(text):
            for mark in _marks_of(match["body"]):
                totals[mark] += count
    return Marks(**totals)


def _marks_of(body: str) -> Iterable[str]:
    points, commas = body.count("."), body.count(",")
    if points and commas:
        last = "point" if body.rindex(".") > body.rindex(",") else "comma"
        return (f"decimal_{last}", f"thousands_{'comma' if last == 'point' else 'point'}")
    if not points and not commas:
        return ()
    sign, name = (".", "point") if points else (",", "comma")
    whole, *groups = body.split(sign)
    if len(groups) > 1:
        return (f"thousands_{name}",) if all(len(group) in (2, 3) for group in groups) else ()
    is_open = len(groups[0]) == 3 and 1 <= len(whole) <= 3 and not whole.startswith("0")
    return (f"{'unclear' if is_open else 'decimal'}_{name}",)


def _separators(own: Marks, file: Marks) -> tuple[str, str]:
    """Return the decimal sign and the thousands sign."""
    comma = own.decimal_comma + own.thousands_point
    point = own.decimal_point + own.thousands_comma
    if comma == point:
        comma, point = file.decimal_comma + file.thousands_point, file.decimal_point + file.thousands_comma
    if comma > point:
        return ",", "." if own.thousands_point or own.unclear_point else ""
    return ".", "," if own.thousands_comma or own.unclear_comma else ""


def _has_groups(bodies: Iterable[str], signs: str, decimal: str) -> bool:
    """Return whether a numeral has groups of three digits with these signs between them."""
    pattern = re.compile(rf"\d{{1,3}}(?:[{signs}]\d{{3}})+(?:{re.escape(decimal)}\d*)?")
    return any(pattern.fullmatch(body) for body in bodies)


def _usual(matches: Iterable[tuple[re.Match[str], float]], place: str) -> str:
    """Return what stands before or after most numbers: a sign of money, a unit, or nothing."""
    counts: dict[str, float] = {}
    for match, count in matches:
        counts[match[place] or ""] = counts.get(match[place] or "", 0) + count
    return max(counts, key=lambda unit: counts[unit])
