"""What a message holds: addresses, users, requests, durations and so on, by the expressions of `kinds.toml`."""

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files

_DATA = tomllib.loads(files(__package__).joinpath("kinds.toml").read_text(encoding="utf-8"))
_UNITS: dict[str, float] = _DATA["units"]
_UNIT = "|".join(sorted((unit for unit in _UNITS if unit != "m"), key=len, reverse=True))  # `5m` is five metres, too


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("{ip}", _DATA["ip"]).replace("{unit}", _UNIT), re.ASCII)


_FINDERS = tuple((one["needs"], _compile(one["pattern"])) for one in _DATA["finders"])
_VALUE_KINDS = tuple((kind, _compile(pattern)) for kind, pattern in _DATA["values"].items())
_KIND_OF_KEY = {key: kind for kind, keys in _DATA["keys"].items() for key in keys.split()}
_DIGIT = re.compile("[0-9]")
THROWN = re.compile(
    r"\s*(?:Caused by: |Exception in thread \"[^\"]*\" )?"
    r"((?:[A-Za-z_][\w$]*\.)*[A-Z]\w*(?:Exception|Error|Interrupt|Exit))(?=:|\s*$)",
    re.ASCII,
)
_DURATION = re.compile(rf"(-?\d+(?:\.\d+)?) ?({'|'.join(sorted(_UNITS, key=len, reverse=True))})")
Span = tuple[str, tuple[int, int] | None, int, int]  # kind, place of the name, place of the value


def find_all(message: str) -> list[Span]:
    """Return what the message holds, in its order."""
    taken = bytearray(len(message))
    spans: list[Span] = []
    has_digit = _DIGIT.search(message) is not None
    for needs, finder in _FINDERS:
        if not (has_digit if needs == "0" else needs in message):
            continue
        for match in finder.finditer(message):
            new = [span for span in _spans(match) if not any(taken[span[2] : span[3]])]
            for span in new:
                taken[span[2] : span[3]] = b"\1" * (span[3] - span[2])
            spans += new
    return sorted(spans, key=lambda span: span[2])


def _spans(match: re.Match[str]) -> Iterator[Span]:
    groups = match.re.groupindex
    name = match.span("key") if "key" in groups and match["key"] is not None else None
    for group in groups:
        start, end = match.span(group)
        if start < 0 or group == "key" or start == end:
            continue
        if group == "value":
            if match[0][start - match.start()] in "\"'":
                start, end = start + 1, end - 1
            yield kind_of(match["key"], match.string[start:end]), name, start, end
        else:
            yield group.rstrip("2"), name, start, end


def kind_of(key: str, value: str) -> str:
    """Return the kind of a value under a key."""
    named = key.lower()
    if kind := _KIND_OF_KEY.get(named) or _KIND_OF_KEY.get(named.rpartition(".")[2]):
        return kind if kind != "duration" or not _DURATION.fullmatch(value) else "duration_ms"
    if named.endswith(("_id", "-id")):
        return "id"
    return next((kind for kind, shape in _VALUE_KINDS if shape.fullmatch(value)), "value")


def number_of(text: str) -> float | None:
    """Return the number, also of `85%` and `12 bytes`."""
    if text.isdecimal() and text.isascii():
        return float(text) if len(text) < 300 else None
    match = _NUMBER.match(text)
    return float(match[1]) if match else None


def milliseconds(text: str) -> float | None:
    """Return the milliseconds of `35ms` or `1.5 seconds`."""
    match = _DURATION.fullmatch(text)
    return float(match[1]) * _UNITS[match[2]] if match else number_of(text)


_NUMBER = re.compile(r"(-?\d{1,300}(?:\.\d{1,300})?)(?:%| ?(?:[KMGT]i?B|kB|bytes))?$", re.ASCII)
