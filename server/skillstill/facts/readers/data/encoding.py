"""Which encoding a text has.

A byte order mark or valid UTF-8 settles it. Else each candidate decodes the parts of a sample that are not ASCII, and
the one whose letters people write wins: an accented capital inside a lower-case word is what a wrong guess looks like.
Only ten letters may be there to tell, such as the names in a list: frequencies of languages need longer texts.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

LINES = 500  # of one chunk
SAMPLE = 30_000  # bytes with letters beyond ASCII, and what stands around them
CHUNK = 1 << 20
MOST_DAMAGE = 0.2  # of the bytes beyond ASCII mean nothing in a text that is UTF-8 all the same
LEAST_SCORE = 0.3  # of an encoding, or the text is like none of them
LAST_ASCII = 127
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before the one of UTF-16, with which it begins
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_WEST = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœ¿¡ºªÀÁÄÅÇÈÉÑÖÓÜØÚÍ"
_SIGNS = "£€°–—’‘“”«»©®™·•²³µ±×½¼§…´"
_CENTRAL = "áäčďéěíĺľňóôőöřŕšťúůüűýžąćęłńóśźżăâîşţđßÁČĎÉĚÍŇÓŘŠŤÚŮÝŽĄĆĘŁŃŚŹŻÖÜŐŰ"
_RUSSIAN = "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЁІЇЄ№"
_GREEK = "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΆΈΉΊΌΎΏ"
_HEBREW = "אבגדהוזחטיךכלםמןנסעףפץצקרשת"
_ARABIC = "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي"
# What is written in an encoding, and how likely it is before the text is seen.
CANDIDATES: tuple[tuple[str, str, float], ...] = (
    ("cp1252", _WEST + _SIGNS, 1.0),
    ("cp1250", _CENTRAL + _SIGNS.replace("£", ""), 0.9),
    ("cp1251", _RUSSIAN + "–—«»", 0.95),
    ("mac_roman", _WEST + _SIGNS, 0.8),
    ("cp850", _WEST, 0.8),
    ("cp1254", "çğıöşüÇĞİÖŞÜâîû", 0.9),
    ("koi8_r", _RUSSIAN, 0.85),
    ("cp866", _RUSSIAN, 0.85),
    ("iso8859_2", _CENTRAL, 0.85),
    ("cp1253", _GREEK, 0.95),
    ("cp1255", _HEBREW, 0.95),
    ("cp1256", _ARABIC, 0.95),
)
# Encodings of two bytes a letter: the standard that lists the letters in use, and the first bytes of its common ones.
DOUBLE: tuple[tuple[str, str, range, float], ...] = (
    ("cp932", "euc_jp", range(0xA1, 0xD0), 1.0),
    ("euc_jp", "euc_jp", range(0xA1, 0xD0), 0.99),
    ("gb18030", "gb2312", range(0xA1, 0xD8), 1.0),
    ("big5", "big5", range(0xA1, 0xC7), 0.98),
    ("cp949", "euc_kr", range(0xA1, 0xC9), 1.0),
)
_HIGH = re.compile(rb"[\x80-\xff]")
_INSIDE = "’'´"  # signs that stand between letters


@dataclass(slots=True)
class TextScan:
    """What a pass over all bytes of a text tells.

    is_damaged   some bytes mean nothing in its encoding
    longest      bytes of the longest line, at least
    is_plain     no NUL, and no carriage return but before a line feed, or instead of most of them
    """

    encoding: str = "utf-8"
    is_damaged: bool = False
    longest: int = 0
    is_plain: bool = True


def scan_text(stream: BinaryIO) -> TextScan:
    """Read the stream to its end."""
    head = stream.read(CHUNK)
    scan = TextScan(next((name for mark, name in MARKS.items() if head.startswith(mark)), "") or _wide(head[:4_096]))
    narrow = _NarrowScan()
    feeds = returns = nuls = line = 0
    chunk = head
    while chunk:
        if not scan.encoding:
            narrow.add(chunk)
        feeds += chunk.count(b"\n")
        returns += chunk.count(b"\r") - chunk.count(b"\r\n")
        nuls += chunk.count(0)
        line = _line_at_end(chunk, line, scan)
        chunk = stream.read(CHUNK)
    scan.is_plain = (not returns or returns > feeds) and (bool(scan.encoding.startswith("utf-16")) or not nuls)
    if not scan.encoding:
        scan.encoding, scan.is_damaged = narrow.encoding()
    return scan


def _line_at_end(chunk: bytes, line: int, scan: TextScan) -> int:
    """Return the length of the line that the chunk leaves open, which began `line` bytes before it."""
    sign = b"\n" if 2 * chunk.count(b"\n") >= chunk.count(b"\r") else b"\r"
    first = chunk.find(sign)
    scan.longest = max(scan.longest, line + (len(chunk) if first < 0 else first))
    return line + len(chunk) if first < 0 else len(chunk) - chunk.rfind(sign) - 1


def _wide(head: bytes) -> str:
    """Return UTF-16 if every other byte is NUL, as in ASCII text, else nothing."""
    half = len(head) // 2
    if half < 2 or head.count(0) < 0.8 * half:
        return ""
    return {True: "utf-16-le", False: "utf-16-be"}[head[1::2].count(0) > head[::2].count(0)]


def _high_lines(chunk: bytes) -> Iterator[bytes]:
    """Yield the lines that are not ASCII, long ones cut around their first byte beyond it."""
    for line in chunk.split(b"\n"):
        if not line.isascii() and (high := _HIGH.search(line)):
            yield line[max(high.start() - 200, 0) : high.start() + 400] + b"\n"


class _NarrowScan:
    """Whether a text is UTF-8, and lines of it that are not."""

    def __init__(self) -> None:
        self.damaged = 0
        self.lines = bytearray()
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, chunk: bytes) -> None:
        """Look at more bytes."""
        if chunk.isascii():
            return
        if lost := self.decoder.decode(chunk).count("\ufffd"):
            self.damaged += lost
            if len(self.lines) < SAMPLE:
                self.lines += b"".join(islice(_high_lines(chunk), LINES))

    def encoding(self) -> tuple[str, bool]:
        """Return the encoding, and whether the text is damaged in it."""
        lines = bytes(self.lines[:SAMPLE])
        high = sum(byte > LAST_ASCII for byte in lines)
        if self.damaged < MOST_DAMAGE * high or not high:
            return "utf-8", self.damaged > 0
        scores = {name: prior * _letters(lines, name, set(common)) for name, common, prior in CANDIDATES}
        scores |= {name: prior * _signs(lines, name, standard, firsts) for name, standard, firsts, prior in DOUBLE}
        best = max(scores, key=lambda name: scores[name])
        return (best if scores[best] > LEAST_SCORE else "cp1252"), False


def _letters(lines: bytes, encoding: str, common: set[str]) -> float:
    """Return the share of the letters beyond ASCII that are common, and written as one would inside their words."""
    text = f" {lines.decode(encoding, 'replace')} "
    total = good = 0
    for index, letter in enumerate(text):
        if letter > "\x7f":
            total += 1
            good += letter in common and _is_written(text[index - 1], letter, text[index + 1])
    return good / max(total, 1)


def _is_written(before: str, letter: str, after: str) -> bool:
    """Return whether people write the letter between these two."""
    if letter.isalpha():
        is_mixed = letter >= "\u0370" and ("a" <= before.lower() <= "z" or "a" <= after.lower() <= "z")
        return not (is_mixed or (letter.isupper() and before.islower()) or (letter.islower() and after.isupper()))
    return letter in _INSIDE or not (before.isalpha() and after.isalpha())


def _signs(lines: bytes, encoding: str, standard: str, firsts: range) -> float:
    """Return the share of the letters beyond ASCII that are common in the standard and no part of a Latin word."""
    text = f" {lines.decode(encoding, 'replace')} "
    total = good = 0
    for index, letter in enumerate(text):
        if letter > "\x7f":
            total += 1
            in_word = any("A" <= beside <= "z" for beside in (text[index - 1], text[index + 1]))
            good += not in_word and letter.encode(standard, "replace")[0] in firsts
    return good / max(total, 1)
