"""Keys and tokens that can be known by their form, taken out of what a file says before anybody reads it.

The forms are those that vendors publish for their keys, as gitleaks collects them. A password without a form of its own
is not found. No line is added or taken away: the places that a tool shows stay true.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """How a kind of key looks. Its `sign` stands in each: a text without it need not be searched."""

    kind: str
    sign: str
    pattern: str


FORMS = (
    Form("Anthropic key", "sk-ant-", r"\bsk-ant-[\w-]{16,}"),
    Form("OpenAI key", "sk-", r"\bsk-(?:proj-|svcacct-)?(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Z])[A-Za-z0-9_-]{32,}"),
    *(Form("GitHub token", f"gh{one}_", rf"\bgh{one}_[A-Za-z0-9]{{20,}}") for one in "pousr"),
    Form("GitHub token", "github_pat_", r"\bgithub_pat_\w{20,}"),
    Form("GitLab token", "glpat-", r"\bglpat-[\w-]{16,}"),
    Form("Slack token", "xox", r"\bxox[abeoprs]-(?=[\w-]*\d)[\w-]{16,}"),
    Form("Slack webhook", "hooks.slack.com/", r"\bhooks\.slack\.com/(?:services|workflows)/[\w/-]{20,}"),
    *(Form("AWS key id", one, rf"\b{one}[A-Z2-7]{{16}}\b(?<!EXAMPLE)") for one in ("AKIA", "ASIA", "ABIA", "ACCA")),
    Form("Google key", "AIza", r"\bAIza[\w-]{35}(?![\w-])"),
    Form("Google token", "ya29.", r"\bya29\.[\w-]{20,}"),
    Form("Google client secret", "GOCSPX-", r"\bGOCSPX-[\w-]{20,}"),
    *(Form("Stripe key", f"{one}_live_", rf"\b{one}_live_[A-Za-z0-9]{{16,}}") for one in ("sk", "rk")),
    Form("Hugging Face token", "hf_", r"\bhf_[A-Za-z]{30,}\b"),
    Form("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    Form("PyPI token", "pypi-", r"\bpypi-AgE[\w-]{40,}"),
    Form("Docker token", "dckr_pat_", r"\bdckr_pat_[\w-]{20,}"),
    Form("SendGrid key", "SG.", r"\bSG\.[\w-]{16,}\.[\w-]{32,}"),
    *(Form("DigitalOcean token", f"do{one}_v1_", rf"\bdo{one}_v1_[a-f0-9]{{64}}") for one in "opr"),
    Form("web token", "eyJ", r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}"),
    Form("age key", "AGE-SECRET-KEY-1", r"\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b"),
)
PRIVATE = "PRIVATE KEY"
BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
# What stands between the two: base64, as a line of its own or in the quotes and escapes of a language.
BODY = re.compile(r"^(\W*)(?:\\[nr])*[A-Za-z0-9+/]{24,}={0,2}(?:\\[nr]|\W)*$")
LAST = re.compile(r"^(\W*)(?:\\[nr])*[A-Za-z0-9+/]+={0,2}(?:\\[nr]|\W)*$")
INSIDE = re.compile(r"[A-Za-z0-9+/]{24,}")  # behind BEGIN, on the same line
_FORMS = tuple((form, re.compile(form.pattern, re.ASCII)) for form in FORMS)


def redact(text: str) -> str:
    """Return the text with `[redacted: KIND]` in place of each key, in as many lines as before."""
    for form, pattern in _FORMS:
        if form.sign in text:
            text = pattern.sub(f"[redacted: {form.kind}]", text)
    return "\n".join(_without_private_keys(text.split("\n"))) if PRIVATE in text else text


def redacted_bytes(data: bytes) -> bytes:
    """Return the same of a file's bytes; those that are not UTF-8 stay as they are."""
    signs = {PRIVATE, *(form.sign for form in FORMS)}
    if not any(sign.encode() in data for sign in signs):
        return data
    return redact(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _without_private_keys(lines: list[str]) -> Iterator[str]:
    inside = hidden = False
    for line in lines:
        begins = BEGIN.search(line)
        if begins:
            rest = line[begins.end() :]
            inside, hidden = not END.search(rest), bool(INSIDE.search(rest))
            yield _headed(line, begins.end()) if hidden else line
        elif END.search(line):
            inside = False
            yield line
        elif inside and (body := (LAST if hidden else BODY).match(line)):
            hidden = True
            yield f"{body[1]}[redacted: private key]"
        else:
            yield line


def _headed(line: str, behind: int) -> str:
    """Return the line without what follows the first line of a key, up to its last one if that stands there, too."""
    end = END.search(line, behind)
    return f"{line[:behind]}[redacted: private key]{line[end.start() :] if end else ''}"


def text_lines(data: bytes) -> Sequence[str]:
    """Return the lines as ripgrep and editors number them, keys redacted. Only a line feed ends one."""
    lines = redacted_bytes(data).decode("utf-8-sig", "replace").split("\n")
    return [line.rstrip("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
