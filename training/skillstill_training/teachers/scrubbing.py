"""Secrets taken out of what people typed, before it is stored or sent.

A table of forms, in the order in which they are tried: those that vendors gave their keys, then what stands behind a
telling word. It misses secrets without a form (a bare password in a sentence, a hash), and takes out some words that
are none; a prompt survives that. No form scans what its next match would begin in, so time grows with the length of a
text and not with its square. detect-secrets 1.5.0 was tried: it is made for files in a repository. Of a private key it
finds the first line only, of a GitHub token the prefix, and asked for a single line it calls plain words secrets.
"""

import re
from collections import Counter

WORDS = (
    r"passw(?:or)?d|passphrase|pwd|(?:client[_-]?)?secret(?:[_-]?(?:access[_-]?)?key)?(?:[_-]?base)?|token|credentials?"
    r"|(?:api|access|account|auth|private|signing|encryption)[_-]?key"
)
# What may follow `token =` in code: a name that is looked up or called, a type, a placeholder, what is removed already.
CODE = (
    r"(?!\[removed|[<{$%]|(?:None|null|true|false|string|optional|undefined|required|include|omit)\b"
    r"|[A-Za-z_]+[.(\[][A-Za-z_.()\[\]]*(?:[\s,;?!\"'`]|$))"
)
SECRETS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            "private key",
            r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,40}-----.*?(?:-----END [A-Z0-9 ]*-----|\Z)",
        ),
        ("Anthropic key", r"\bsk-ant-[\w-]{8,}"),
        ("OpenAI key", r"\bsk-(?=(?:(?!-sk-)[\w-])*\d)[\w-]{20,}"),
        ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"),
        ("GitLab token", r"\bgl(?:pat|ptt|dt|rt|cbt|soat|ft|oas)-[\w.-]{16,}"),
        ("Slack token", r"\bx(?:ox[a-z]|app)-[\w-]{10,}"),
        ("webhook", r"https://(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks)/[\w/-]+"),
        ("AWS key id", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
        ("Google key", r"\b(?:AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,})"),
        ("Stripe key", r"\b(?:[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,})"),
        ("Hugging Face token", r"\bhf_[A-Za-z0-9]{20,}"),
        ("package registry token", r"\b(?:npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,}|dckr_pat_[\w-]{20,})"),
        ("SendGrid key", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
        ("DigitalOcean token", r"\bdo[oprt]_v1_[a-f0-9]{40,}"),
        ("Telegram token", r"\b\d{8,10}:[A-Za-z0-9_-]{35}\b"),
        ("web token", r"\beyJ(?:(?!-eyJ)[\w-]){8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?"),
        ("credentials in an address", r"(?<=://)(?P<secret>[^\s/:@'\"`]*:[^\s/@'\"`]+)(?=@)"),
        ("authorization", r"(?i)\b(?:bearer|basic)\s+(?=\S*\d)(?P<secret>[\w.~+/-]{16,}=*)"),
        ("cookie", r"(?im)\b(?:set-)?cookie:\s*(?!\[removed)(?P<secret>\S.*)$"),
        ("password", r"\bcurl\b(?:(?!\bcurl\b)[^\n])*?\s(?:-u|--user)[\s=]*+(?P<secret>[^\s:]+:[^\s]+)"),
        ("password", rf"(?i)(?:{WORDS})[\"'`]?\s*(?::=|=>|=|:)\s*([\"'`]){CODE}(?P<secret>[^\n]{{4,}}?)(?=\1)"),
        ("password", rf"(?i)--(?:{WORDS})[\s=]+[\"']?{CODE}(?P<secret>[^\s\"'`,;]{{6,}})"),
        ("password", rf"(?i)(?:{WORDS})[\"'`]?\s*(?::=|=>|=|:)\s*[\"'`]?{CODE}(?P<secret>[^\s\"'`,;]{{6,}})"),
        (
            "password",
            r"(?i)\b(?:password|passphrase)\s+(?:is|was)\s+[\"'`]?(?!\[removed)(?P<secret>[^\s\"'`,;]*\d[^\s\"'`,;]*)",
        ),
    )
)
EMAIL = ("e-mail address", re.compile(r"(?<![\w.+-])[.+-]*+(?P<secret>\w[\w.+-]*+@[\w-]+(?:\.[\w-]+)+\b)"))


def scrub(text: str, *, emails: bool = False) -> tuple[str, Counter[str]]:
    """The text with `[removed: KIND]` in place of each secret, and how many of each kind there were."""
    removed: Counter[str] = Counter()
    for kind, pattern in (*SECRETS, *([EMAIL] if emails else [])):
        text, count = pattern.subn(lambda found, kind=kind: _without_secret(found, kind), text)  # type: ignore[misc]
        removed[kind] += count
    return text, +removed


def _without_secret(found: re.Match[str], kind: str) -> str:
    """The match without its group `secret`, or without all of itself where it has no such group."""
    group: str | int = "secret" if "secret" in found.re.groupindex else 0
    start, end = (at - found.start() for at in found.span(group))
    return f"{found[0][:start]}[removed: {kind}]{found[0][end:]}"
