"""Remove secrets from what people typed, before it is stored or sent.

SECRETS is a table of patterns in the order in which they are applied: first the key formats of vendors, then the value
after a word like `password`. Secrets without a format are missed (a bare password in a sentence, a hash), and some
other words are removed by mistake; a prompt remains usable. No pattern reads on into text where its next match could
start, so time is linear in the length of a text. detect-secrets 1.5.0 does not fit, because it is made for files in a
repository: it finds only the first line of a private key and the prefix of a GitHub token, and in a single line it
reports plain words as secrets.
"""

import re
from collections import Counter

WORDS = (
    r"passw(?:or)?d|passphrase|pwd|(?:client[_-]?)?secret(?:[_-]?(?:access[_-]?)?key)?(?:[_-]?base)?|token|credentials?"
    r"|(?:api|access|account|auth|private|signing|encryption)[_-]?key"
)
# What may follow `token =` in code: a name that is looked up or called, a type, a placeholder, a removed secret.
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


def redact(text: str, *, emails: bool = False) -> tuple[str, Counter[str]]:
    """Return the text with `[removed: KIND]` in place of each secret, and the number of secrets of each kind."""
    removed: Counter[str] = Counter()
    for kind, pattern in (*SECRETS, *([EMAIL] if emails else [])):
        text, count = pattern.subn(lambda match, kind=kind: _replace_secret(match, kind), text)  # type: ignore[misc]
        removed[kind] += count
    return text, +removed


def _replace_secret(match: re.Match[str], kind: str) -> str:
    """Replace the group `secret` of a match, or the whole match if it has no such group."""
    group: str | int = "secret" if "secret" in match.re.groupindex else 0
    start, end = (at - match.start() for at in match.span(group))
    return f"{match[0][:start]}[removed: {kind}]{match[0][end:]}"
