"""What a definition may try behind its reader's back: characters that nobody sees, and passages that speak to a model
about its rules, about secrets, or about what to hide from the user.

A few careful patterns, shown to a person before anything is kept. What they do not cover: any wording that is not
theirs, other languages than English, pictures, and what a script does. That nothing is found says nothing of trust.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from skillstill.util.text import UNSEEN, one_line

NEAR = 200  # characters between two parts of one passage
SHOWN = 160
_HIDDEN = re.compile(f"[{UNSEEN}]")
_JOINERS = "\u200c\u200d"
_MARKS = "\u200e\u200f\u061c"
_FLAG = "\U0001f3f4"
_SECRETS = (
    r"(?:api[ -]?keys?|access tokens?|passwords?|credentials|secrets|private keys?|ssh keys?|environment variables)"
)
_RULES = r"(?:instructions?|rules|prompts?|guidelines|directives)"
_SENDING = r"(?:curl|wget|scp|rsync|netcat|ncat|nc|Invoke-WebRequest|requests\.post|urlopen|fetch\()"
_KEPT = (
    r"(?:~|\$HOME|/root|/home/\w+)/\.(?:ssh/(?:id_|\W)|aws/credentials|netrc|npmrc|pypirc|git-credentials|kube/config)"
    r"|/etc/(?:passwd|shadow)\b|\.config/gcloud"
)
_PASSAGES = {
    "asks to drop earlier instructions": (
        rf"\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|your|my|of)\s+){{0,3}}"
        rf"(?:previous|prior|above|earlier|preceding|system)\s+{_RULES}\b"
    ),
    "asks to hide something from the user": (
        r"\b(?:(?:do not|don't|never)\s+(?:tell|inform|notify|alert|warn|reveal\s+to|mention\s+(?:it|this|that)\s+to)"
        r"|without\s+(?:telling|informing|notifying|alerting))\s+(?:the\s+)?user\b(?!\s+to\b)"
        r"|\bhide\s+(?:this|it|that|these)\s+from\s+(?:the\s+)?user\b"
    ),
    "asks to send secrets away": (
        rf"\b(?:send|post|upload|exfiltrate|transmit|forward|leak)\s+(?:[\w,'/]+\s+){{0,6}}{_SECRETS}\s+"
        rf"(?:[\w,]+\s+){{0,4}}to\s+(?:https?://|an?\s+(?:external|remote|webhook)|this\s+(?:url|server|address|webhook))"
    ),
    "puts a credential file beside a network command": (
        rf"\b{_SENDING}[^\n]{{0,{NEAR}}}(?:{_KEPT})|(?:{_KEPT})[^\n]{{0,{NEAR}}}\|[^\n]{{0,{NEAR}}}\b{_SENDING}"
        r"|\b(?:cat|base64)\s+\.env\b[^\n]{0,80}\|\s*(?:curl|wget|nc)\b|\bcurl\b[^\n]{0,200}@\.env\b"
    ),
    "runs what it hides in base64": r"\bbase64\s+(?:-d|-D|--decode)\b[^\n]{0,80}\|\s*(?:sudo\s+)?(?:ba|z)?sh\b",
    "speaks in a chat template's own tokens": r"<\|(?:im_start|im_end|system)\|>|<<SYS>>|\[/INST\]",
}
_PATTERNS = {what: re.compile(pattern, re.IGNORECASE) for what, pattern in _PASSAGES.items()}
# Of a text whose words are spelled out letter by letter: where one ends nobody can tell.
_RUN_TOGETHER = {
    what: re.compile(pattern.replace(r"\s+", r"\s*"), re.IGNORECASE) for what, pattern in _PASSAGES.items()
}
_SPELLED = re.compile(r"(?<!\w)\w(?:[ \t.*_-]\w(?!\w)){3,}")
# Cyrillic and Greek letters that look like Latin ones, which NFKC leaves apart.
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0458\u04bb\u0501\u03bf\u03b1\u03b9\u03bd",
    "aeopcyxisjhdoaiv",
)


class Finding(BaseModel):
    """One thing to know about a definition.

    repaired   it could be read only after a repair: which one
    lint       it breaks the specification: which rule
    hidden     it holds characters that a reader does not see
    injection  a passage that speaks to a model about its rules, secrets or what to hide
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["repaired", "lint", "hidden", "injection"]
    text: str
    line: int = Field(default=0, ge=0)  # 1-based; 0 if it has none


def suspicions(text: str, where: str = "") -> tuple[Finding, ...]:
    """Return what a person should see first. `where` names a bundled file."""
    prefix = f"{where}: " if where else ""
    found = (*_hidden_characters(text), *_passages(text))
    return tuple(finding.model_copy(update={"text": prefix + finding.text}) for finding in found)


def _hidden_characters(text: str) -> Iterator[Finding]:
    """Yield one finding for each kind of character, at its first line, with the text that tags spell out."""
    places: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for match in _HIDDEN.finditer(text):
        if not _harmless(text, match.start()):
            name = _name(match[0])
            if name not in places:
                places[name] = text.count("\n", 0, match.start()) + 1
            counts[name] += 1
    spelled = "".join(chr(ord(c) - 0xE0000) for c in text if 0xE0020 <= ord(c) < 0xE007F)
    for name, line in places.items():
        said = f", which spell {one_line(spelled, SHOWN)!r}" if name == "tag characters" and spelled else ""
        yield Finding(kind="hidden", text=f"{name} ({counts[name]}){said}", line=line)


def _harmless(text: str, index: int) -> bool:
    """Return what emoji, right-to-left and Indic scripts, and ideographs need; a byte-order mark that begins a file."""
    character, before = text[index], text[index - 1] if index else ""
    after = text[index + 1 : index + 2]
    if character == "\ufeff":
        return index == 0
    if "\ufe00" <= character <= "\ufe0f" or "\u180b" <= character <= "\u180d":
        return not (before.isascii() and not before.isdigit() and before not in "#*") and not _HIDDEN.match(before)
    if character in _JOINERS:
        return _joinable(before) and _joinable(after)
    if character in _MARKS:
        around = text[max(0, index - 40) : index] + text[index + 1 : index + 40]
        return any(unicodedata.bidirectional(c) in {"R", "AL", "AN"} and c not in _MARKS for c in around)
    if 0xE0020 <= ord(character) <= 0xE007F:
        return _FLAG in text[max(0, index - 7) : index]
    if "\U000e0100" <= character <= "\U000e01ef":
        return unicodedata.category(before or " ") == "Lo" and not "\U000e0100" <= after <= "\U000e01ef"
    return character == "\u00ad" and before.isalpha() and after.isalpha()


def _joinable(character: str) -> bool:
    """Return whether a joiner beside it is writing: a letter of a script that has them, or a picture."""
    return bool(character) and (
        unicodedata.category(character) in {"So", "Sk", "Mn", "Mc"}
        or character == "\ufe0f"
        or (unicodedata.category(character) == "Lo" and unicodedata.bidirectional(character) in {"L", "AL", "R"})
    )


def _name(character: str) -> str:
    if 0xE0000 <= ord(character) <= 0xE007F:
        return "tag characters"
    if ord(character) >= 0xE0100 or "\ufe00" <= character <= "\ufe0f":
        return "variation selectors"
    if unicodedata.category(character) == "Cc":
        return "control characters"
    return f"{unicodedata.name(character, 'unnamed').lower()} U+{ord(character):04X}"


def _passages(text: str) -> Iterator[Finding]:
    """Yield findings in the text as a model reads it: no hidden character, odd letter or space breaks a word."""
    plain = unicodedata.normalize("NFKC", _HIDDEN.sub("", text)).translate(_LOOKALIKES)
    joined, count = _SPELLED.subn(lambda match: re.sub(r"[ \t.*_-]", "", match[0]), plain)
    yield from _matches(plain, _PATTERNS)
    if count and not any(pattern.search(plain) for pattern in _PATTERNS.values()):
        yield from _matches(joined, _RUN_TOGETHER)


def _matches(plain: str, patterns: Mapping[str, re.Pattern[str]]) -> Iterator[Finding]:
    for what, pattern in patterns.items():
        if match := pattern.search(plain):
            start = plain.rfind("\n", 0, match.start()) + 1
            passage = plain[max(start, match.start() - 40) : match.end() + 40]
            line = plain.count("\n", 0, match.start()) + 1
            yield Finding(kind="injection", text=f"{what}: {one_line(passage, SHOWN)}", line=line)
