"""Which encoding a text has.

A byte order mark or valid UTF-8 settles it. Else each candidate decodes the parts of a sample that are not ASCII, and
the one whose letters people write wins: an accented capital inside a lower-case word is what a wrong guess looks like.
Only ten letters may be there to tell, such as the names in a list: frequencies of languages need longer texts.
"""

import codecs
import re
from typing import BinaryIO

SAMPLE = 30_000  # bytes with letters beyond ASCII, and what stands around them
CHUNK = 1 << 20
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
_LINE = re.compile(rb"[^\n]{0,200}[\x80-\xff][^\n]{0,400}")
_INSIDE = "’'´"  # signs that stand between letters


def find_encoding(stream: BinaryIO) -> tuple[str, float]:
    """Read the stream to its end. Return its encoding, and the share of its bytes that are damaged in it."""
    head = stream.read(CHUNK)
    for mark, name in MARKS.items():
        if head.startswith(mark):
            return name, 0.0
    if wide := _wide(head[:4_096]):
        return wide, 0.0
    return _find_narrow(head, stream)


def _wide(head: bytes) -> str:
    """Return UTF-16 if every other byte is NUL, as in ASCII text, else nothing."""
    half = len(head) // 2
    if half < 2 or head.count(0) < 0.8 * half:
        return ""
    return {True: "utf-16-le", False: "utf-16-be"}[head[1::2].count(0) > head[::2].count(0)]


def _find_narrow(head: bytes, stream: BinaryIO) -> tuple[str, float]:
    damaged, size, lines = 0, 0, bytearray()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    chunk = head
    while chunk:
        size += len(chunk)
        if not chunk.isascii():
            text = decoder.decode(chunk)
            if lost := text.count("\ufffd"):
                damaged += lost
                if len(lines) < SAMPLE:
                    lines += b"\n".join(_LINE.findall(chunk[:SAMPLE])) + b"\n"
        chunk = stream.read(CHUNK)
    if not damaged:
        return "utf-8", 0.0
    return _choose(bytes(lines), damaged, size) if lines else ("utf-8", damaged / size)


def _choose(lines: bytes, damaged: int, size: int) -> tuple[str, float]:
    """Return UTF-8 with some damage, or the encoding in which the lines read best."""
    high = sum(byte > 127 for byte in lines)
    if damaged < 0.2 * high:
        return "utf-8", damaged / size
    scores = {name: prior * _letters(lines, name, set(common)) for name, common, prior in CANDIDATES}
    scores |= {name: prior * _signs(lines, name, standard, firsts) for name, standard, firsts, prior in DOUBLE}
    best = max(scores, key=lambda name: scores[name])
    return (best if scores[best] > 0.3 else "cp1252"), 0.0


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
