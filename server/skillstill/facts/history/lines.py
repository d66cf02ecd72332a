"""How many lines two versions of a file differ by, and how alike two files are."""

import re
from collections import Counter

BINARY_HEAD = 8_000  # bytes in which git looks for a NUL
MAX_LINES = 20_000  # lines on the shorter side: their bit sets take up to 25 MB
MAX_PAIRS = 400_000_000  # pairs of lines: about a tenth of a second

_PIECES = re.compile(rb"[^\n]{0,63}\n|[^\n]{1,64}")


def is_binary(data: bytes) -> bool:
    """Return whether git shows no lines of the file."""
    return b"\0" in data[:BINARY_HEAD]


def count_lines(data: bytes) -> int:
    """Return the number of lines, a last one without newline too."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def count_changed_lines(old: bytes, new: bytes) -> tuple[int, int] | None:
    """Return how many lines a smallest diff adds and removes, or None if that takes too long to say."""
    before, after = _differing_lines(old, new)
    common = set(before).intersection(after)
    kept = _longest_common([x for x in before if x in common], [x for x in after if x in common])
    return None if kept is None else (len(after) - kept, len(before) - kept)


def count_pieces(data: bytes) -> Counter[bytes]:
    """Return a file's lines, the long ones in pieces of 64 bytes, as git counts them to find renamed files."""
    return Counter(_PIECES.findall(data if is_binary(data) else data.replace(b"\r\n", b"\n")))


def similarity(old: Counter[bytes], new: Counter[bytes], larger: int) -> float:
    """Return which share of the larger file's bytes the two files share."""
    small, large = sorted((old, new), key=len)
    return sum(min(count, large[piece]) * len(piece) for piece, count in small.items() if piece in large) / larger


def _differing_lines(old: bytes, new: bytes) -> tuple[list[bytes], list[bytes]]:
    """Return the lines between those that both begin with and those that both end with."""
    start = _common_prefix(old, new)
    start = old.rfind(b"\n", 0, start) + 1
    old, new = old[start:], new[start:]
    end = _common_suffix(old, new)
    line = old.find(b"\n", len(old) - end)
    end = len(old) - line - 1 if end and line >= 0 else 0
    return _split(old[: len(old) - end]), _split(new[: len(new) - end])


def _common_prefix(old: bytes, new: bytes) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(old: bytes, new: bytes) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _split(data: bytes) -> list[bytes]:
    """Return the lines. A last one without newline is another line than the same with one."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [*lines, last + b"\n"] if last else lines


def _longest_common(old: list[bytes], new: list[bytes]) -> int | None:
    """Return how many lines the longest common subsequence has (Hyyrö 2004: a bit for each line, a step for each)."""
    short, long = sorted((old, new), key=len)
    if len(short) > MAX_LINES or len(short) * len(long) > MAX_PAIRS:
        return None
    places: dict[bytes, int] = {}
    for number, line in enumerate(short):
        places[line] = places.get(line, 0) | 1 << number
    everything = rest = (1 << len(short)) - 1
    for line in long:
        matched = rest & places[line]
        rest = (rest + matched | rest - matched) & everything
    return len(short) - rest.bit_count()
