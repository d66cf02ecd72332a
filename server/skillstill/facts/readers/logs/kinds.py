"""What a message holds, as data: expressions for addresses, users, requests, durations and so on, and kinds of keys."""

import re
from collections.abc import Iterator

_IP = r"(?:\d{1,3}\.){3}\d{1,3}"
_UNITS = {
    "ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "msec": 1.0, "msecs": 1.0, "millis": 1.0, "milliseconds": 1.0, "MILLISECONDS": 1.0,
    "s": 1e3, "sec": 1e3, "secs": 1e3, "second": 1e3, "seconds": 1e3, "m": 6e4, "min": 6e4, "mins": 6e4, "minute": 6e4,
    "minutes": 6e4, "h": 36e5, "hour": 36e5, "hours": 36e5,
}  # fmt: skip
_UNIT = "|".join(sorted((unit for unit in _UNITS if unit != "m"), key=len, reverse=True))

# A group is a kind. `key` and `value` are a pair: its kind is told by the key, else by the value; a number may have a `key`.
# The first expression that finds a place keeps it.
_FINDERS = tuple(
    re.compile(one, re.ASCII)
    for one in (
        r"(?P<url>\b[a-z][a-z0-9+.-]{1,15}://[^\s\"'<>|]{1,1000}[^\s\"'<>|.,;:)\]])",
        r"(?P<method>\b(?:GET|POST|PUT|DELETE|HEAD|OPTIONS|PATCH|CONNECT|TRACE|PROPFIND))\b:? (?P<url>[/*][^\s\"]*)"
        r"(?: HTTP/[\d.]+\"?:? ?(?:(?P<status>\d{3})\b)?)?",
        r"\b(?P<exception>(?:[A-Za-z_][\w$]*\.)*[A-Z]\w*(?:Exception|Error|Interrupt|Fault)\b(?!\())",
        r"(?P<id>\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b)",
        r"(?P<email>\b[\w.+-]{1,60}@[\w-]+(?:\.[\w-]+)+\b)",
        r"(?P<time>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?Z?)?(?!\d)|(?:\b[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?: \d{4})?"
        r"|(?<![\w:])\d\d:\d\d:\d\d(?:[.,]\d+)?(?![\w:]))",
        r"(?P<mac>\b(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}\b)",
        r"(?P<key>\b[A-Za-z_][\w.-]{0,60})(?:=| = )(?P<value>\"[^\"]{0,500}\"|'[^']{0,500}'|[^\s,;&()\[\]{}<>\"'=]{1,500})",
        rf"(?<![\w.])(?P<ip>{_IP})(?![\w]|\.\d)(?::(?P<port>\d{{1,5}})\b)?",
        r"(?<![\w:.])(?P<ip>(?:[0-9a-fA-F]{1,4}:){3,7}[0-9a-fA-F]{1,4}|(?:[0-9a-fA-F]{1,4}:){1,6}:(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,5})?)(?![\w:.])",
        r"(?<![\w.-])(?P<host>(?:[a-zA-Z0-9-]{1,63}\.){1,8}[a-z]{2,12})(?::(?P<port>\d{1,5}))(?![\w:])",
        r"(?<![\w.@/-])(?P<host>(?:[a-z0-9-]{1,63}\.){1,8}(?:com|net|org|edu|gov|io|info)|(?:[a-z0-9-]{1,63}\.){2,8}[a-z]{2})(?![\w.(/-])",
        r"\b(?i:(?:invalid |unknown |illegal )?user(?:name)?|account|login)(?: name)?(?:[ :=]+|\()[\"'(\[]?(?!(?:user|is|was|not|name|has|failed|unknown|authentication|from|for|by|with|id)\b)(?P<user>[\w.@\\$+-]{1,64})",
        r"\bfor (?P<user>[\w.@$-]{1,64}) (?=from |by )",
        r"(?i:\bport)[ :=#]{1,3}(?P<port>\d{1,5})\b",
        r"(?i:\b(?:status|code)(?: code)?)[ :=]{1,3}(?P<status>\d{1,5})\b",
        rf"(?<![\w.])(?P<duration_ms>-?\d+(?:\.\d+)? ?(?:{_UNIT}))\b",
        r"(?<![\w.])(?P<bytes>\d+(?:\.\d+)? ?(?:[KMGT]i?B|bytes|kB)\b)",
        r"(?<![\w.])(?P<percent>-?\d+(?:\.\d+)?%)",
        r"(?<![\w.])(?P<path>~?(?:/[\w.+@%~$#,-]+){2,}/?(?<![.,])|/[\w+@%~-]+\.\w+)",
        r"(?<!\w)(?P<path>[A-Za-z]:\\[^\s\"'<>|*?,;]{1,400})",
        r"(?<!\w)\"(?P<quoted>[^\"\n]{1,300})\"|(?<!\w)'(?P<quoted2>[^'\n]{1,300})'(?!\w)",
        r"(?P<id>\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-fA-F]*[0-9])(?=[0-9a-fA-F]*[a-fA-F])[0-9a-fA-F]{8,64}\b)",
        r"(?:(?P<key>\b[A-Za-z_][\w.-]{0,60}?)[)\]\"']?(?: ?[:=#] ?| (?:is|of|to|was) (?:: )?| ))?(?<![\w.:-])(?P<number>-?\d+(?:\.\d+)?)(?![\w:]|\.\d|-\d)",
        r"(?P<id>\b[A-Za-z]\w*[_-]-?\d[\w-]*)",
    )
)  # fmt: skip
_KEY_KINDS = {
    "user": "user username user_name usr login account ruser logname acct login_name",
    "ip": "ip addr address ipaddr client_ip remote_ip remote_addr rhost src_ip dst_ip dest_ip clientip peer c-ip s-ip src dst",
    "host": "host hostname node server domain cs-host vhost",
    "port": "port src_port dst_port dest_port spt dpt s-port",
    "status": "status status_code statuscode http_status sc-status response_code code",
    "method": "method http_method request_method cs-method verb",
    "url": "url uri request_uri referer referrer cs-uri-stem cs-uri cs(referer)",
    "path": "path file filename dir directory exe cwd",
    "id": "id request_id trace_id traceid span_id spanid session session_id sid txid req_id correlation_id jobid",
    "exception": "exception exc_type error.type error_class exception.class exception_class err.type",
    "bytes": "bytes size bytes_sent body_bytes_sent sc-bytes cs-bytes response_size length content_length",
    "duration": "duration elapsed latency took time_taken time-taken response_time request_time responsetime",
    "duration_ms": "duration_ms elapsed_ms latency_ms took_ms durationmillis elapsed_millis",
    "agent": "agent user_agent useragent cs(user-agent)",
}  # fmt: skip
KIND_OF_KEY = {key: kind for kind, keys in _KEY_KINDS.items() for key in keys.split()}
_VALUE_KINDS = (
    ("number", re.compile(r"-?\d+(?:\.\d+)?")),
    (
        "ip",
        re.compile(rf"/?{_IP}(?::\d+)?|[0-9a-fA-F:]*::[0-9a-fA-F:]*|(?:[0-9a-fA-F]{{1,4}}:){{7}}[0-9a-fA-F]{{1,4}}"),
    ),
    ("url", re.compile(r"[a-z][a-z0-9+.-]*://\S+")),
    ("duration_ms", re.compile(rf"-?\d+(?:\.\d+)? ?(?:{_UNIT})")),
    ("path", re.compile(r"(?:/[\w.+@%~-]+)+/?|[A-Za-z]:\\\S*")),
    ("exception", re.compile(r"(?:\w+\.)*[A-Z]\w*(?:Exception|Error)")),
    ("id", re.compile(r"0x[0-9a-fA-F]+|(?=.*\d)[0-9a-fA-F]{8,}|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")),
)
THROWN = re.compile(
    r"\s*(?:Caused by: |Exception in thread \"[^\"]*\" )?((?:[A-Za-z_][\w$]*\.)*[A-Z]\w*(?:Exception|Error|Interrupt|Exit))(?=:|\s*$)",
    re.ASCII,
)
_DURATION = re.compile(rf"(-?\d+(?:\.\d+)?) ?({'|'.join(sorted(_UNITS, key=len, reverse=True))})")
Span = tuple[str, tuple[int, int] | None, int, int]  # kind, place of the name, place of the value


def find_all(message: str) -> list[Span]:
    """Return what the message holds, in its order."""
    taken = bytearray(len(message))
    spans: list[Span] = []
    for finder in _FINDERS:
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
    if kind := KIND_OF_KEY.get(named) or KIND_OF_KEY.get(named.rpartition(".")[2]):
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
