"""Which formats a file has: known formats are tried on a sample of lines, and those that fit most are taken."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from skillstill.facts.readers.logs.formats import Format, all_formats
from skillstill.facts.readers.logs.heads import Head, LineReader, PatternLines
from skillstill.facts.readers.logs.objects import ObjectLines
from skillstill.facts.readers.logs.times import SHAPES, gather_evidence, pattern

SAMPLE = 400  # lines
_READERS = 4  # formats of one file
_NEAR = 0.5  # of the lines that the best format fits: a format before it in the table is as good, or better
_FIELDS = re.compile(r"#[Ff]ields:?[ \t](.*)")
_DATE = re.compile(r"#Date:[ \t](\d{4}-\d\d-\d\d)")
_GUESSES = frozenset(("time_level", "time"))
_TIMES = frozenset(SHAPES) - {"epoch", "clock"}


def detect(name: str, lines: Sequence[str], encoding: str = "utf-8", envelopes: bool = True) -> list[LineReader]:
    """Return readers of the formats in a sample of lines, the one that fits most of them first.

    envelopes   whether lines may hold lines of other formats
    """
    end = "\r\n" if 2 * sum(line.endswith("\r") for line in lines) > len(lines) else "\n"
    bare = [line.rstrip("\r") for line in lines if line.strip()]
    chosen: list[LineReader] = []
    left = pick(bare, SAMPLE)
    while left and len(chosen) < _READERS:
        best, fit = _best(left, envelopes)
        if best is None:
            break
        chosen.append(_settle(best, name, bare, end, encoding))
        left = [line for line, fits in zip(left, fit, strict=True) if not fits]
    return [*chosen, *_fallbacks(chosen)]


def _fallbacks(chosen: Sequence[LineReader]) -> Iterator[LineReader]:
    """Yield guesses with the time of the main format, for rare lines that are not in the sample."""
    main = chosen[0] if chosen else None
    if isinstance(main, PatternLines) and main.shape in _TIMES:
        names = {reader.name for reader in chosen}
        yield from (replace(main, form=form) for form in all_formats() if form.name in _GUESSES - names)


def pick(lines: Sequence[str], most: int) -> list[str]:
    """Return that many of the lines, evenly spread."""
    return list(lines[:: max(1, len(lines) // most)])[:most]


def fits(reader: LineReader, line: str) -> bool:
    return isinstance(first_of(reader, line + "\n"), Head)


def first_of(reader: LineReader, text: str) -> Head | str | None:
    return next(iter(reader.scan(text)), None)


def _best(lines: Sequence[str], envelopes: bool) -> tuple[LineReader | None, list[bool]]:
    best: LineReader | None = None
    fit: list[bool] = []
    for reader in _candidates(lines):
        if reader.nested and not envelopes:
            continue
        now = _fit(reader, lines)
        if sum(now) * _NEAR > sum(fit):
            best, fit = reader, now
        if fit and all(fit):
            break
    return (best if any(fit) else None), fit


def _fit(reader: LineReader, lines: Sequence[str]) -> list[bool]:
    if not isinstance(reader, PatternLines):
        return [fits(reader, line) for line in lines]
    if reader.form.height == 1:
        return [reader.head.match(line) is not None for line in lines]
    fit: list[bool] = []
    for head in reader.scan("".join(f"{line}\n" for line in lines)):
        fit += [False] if isinstance(head, str) else [True] * head.height
    return fit


def _candidates(lines: Sequence[str]) -> Iterator[LineReader]:
    if lines[0].startswith(("__CURSOR=", "__REALTIME_TIMESTAMP=")):
        yield ObjectLines("journal", end="\n\n")
        return
    yield ObjectLines("docker", nested=True)
    yield ObjectLines("json")
    for match in filter(None, map(_FIELDS.match, lines)):
        yield PatternLines(w3c(match[1]), _w3c_shape(match[1]))
    shapes = {shape for shape in SHAPES if any(_finder(shape).search(line, 0, 200) for line in pick(lines, 100))}
    for form in all_formats():
        for shape in form.shapes or ("",):
            if not shape or shape in shapes:
                yield compiled(form.name, shape)
        if form.name == "auditd":
            yield ObjectLines("logfmt")
    yield ObjectLines("json", strict=False, has_time=False)


@cache
def _finder(shape: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\d.])" + pattern(shape), re.ASCII)


@cache
def compiled(name: str, shape: str) -> PatternLines:
    form = next(form for form in all_formats() if form.name == name)
    return PatternLines(form, shape)


def _settle(reader: LineReader, name: str, lines: Sequence[str], end: str, encoding: str) -> LineReader:
    """Return the reader with what the file shows of line ends, encoding, years and days."""
    if not isinstance(reader, PatternLines):
        return reader
    evidence = (
        gather_evidence(name, lines, reader.head if reader.lacks == "year" else None)
        if reader.lacks
        else reader.evidence
    )
    if reader.lacks == "day" and (match := next(filter(None, map(_DATE.match, lines)), None)):
        evidence = replace(evidence, day=match[1])
    return replace(reader, end=end, encoding=encoding, evidence=evidence)


def w3c(fields: str) -> Format:
    """Return the format that a header of fields describes: IIS, CloudFront, Zeek."""
    gap = r"\t" if "\t" in fields else r" +"
    names = fields.strip().split("\t" if "\t" in fields else None)
    return Format(
        "w3c",
        r"(?!#)(?P<message>\"?" + gap.join(_w3c_columns(names, gap)) + r"[^\n]*)",
        continues=False,
        told=True,
        fields=tuple(names),
    )


def _w3c_columns(names: Sequence[str], gap: str) -> Iterator[str]:
    text = r"[^\t\n]*" if gap == r"\t" else r"(?:\"[^\"\n]*\"|[^\s\"]\S*)"
    index = 0
    while index < len(names):
        if names[index] == "date" and names[index + 1 : index + 2] == ["time"]:
            yield r"{time}\"?"
            index += 1
        elif names[index] in ("time", "ts") and "date" not in names:
            yield "{time}"
        else:
            yield f"(?P<f_{index}>{text})"
        index += 1


def _w3c_shape(fields: str) -> str:
    names = fields.split()
    return "iso" if "date" in names else "clock" if "time" in names else "epoch" if "ts" in names else ""
