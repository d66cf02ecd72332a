"""Numbers as people and models write them: `1,204`, `12.5 %`, `-3e4`, also with a typographic minus."""

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, DecimalException

MINUS = "\u2212"
NUMBER = re.compile(r"(?<![\w.])[-+\u2212]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w]|\.\d|,\d{3}(?!\d))")
ROUNDED = 2  # decimals, at least, of a number that may stand for a longer one


def numbers_in(text: str) -> tuple[str, ...]:
    """Return the numbers that stand by themselves in the text, as they are written."""
    return tuple(NUMBER.findall(text))


def is_number(text: str) -> bool:
    return NUMBER.fullmatch(text.strip().rstrip("%").strip()) is not None


def same_number(stated: str, gold: str) -> bool:
    """Return whether both are equal, or `stated` is `gold` rounded to at least ROUNDED decimals.

    A last 0 may be left out.

    A half goes up or to the even digit: tools and people do either.
    """
    one, other = _decimal(stated), _decimal(gold)
    if one is None or other is None:
        return False
    return one == other or one in _roundings(other, max(-int(one.as_tuple().exponent), ROUNDED))


def _roundings(number: Decimal, decimals: int) -> set[Decimal]:
    """Return nothing if that takes more digits than a decimal has: a model that repeats itself writes a thousand."""
    try:
        last = Decimal(1).scaleb(-decimals)
        return {number.quantize(last, rounding) for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN)}
    except DecimalException:
        return set()


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text.strip().rstrip("%").strip().replace(",", "").replace(MINUS, "-"))
    except DecimalException:
        return None
