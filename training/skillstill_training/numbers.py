"""Numbers as people and models write them: `1,204`, `12.5 %`, `-3e4`."""

import re
from decimal import Decimal, InvalidOperation

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w]|\.\d|,\d{3}(?!\d))")
ROUNDED = 2  # decimals, at least, of a number that may stand for a longer one


def numbers_in(text: str) -> tuple[str, ...]:
    """Those that stand by themselves in the text, as they are written."""
    return tuple(NUMBER.findall(text))


def is_number(text: str) -> bool:
    return NUMBER.fullmatch(text.strip().rstrip("%").strip()) is not None


def same_number(stated: str, gold: str) -> bool:
    """Equal, or `stated` is `gold` rounded to no fewer than ROUNDED decimals, a last 0 left out or not."""
    one, other = _decimal(stated), _decimal(gold)
    if one is None or other is None:
        return False
    decimals = -int(one.as_tuple().exponent)
    return one in {other, round(other, max(decimals, ROUNDED))}


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text.strip().rstrip("%").strip().replace(",", ""))
    except InvalidOperation:
        return None
