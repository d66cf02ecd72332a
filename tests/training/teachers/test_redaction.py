"""Secrets are taken out of prompts, and words that only look like some stay."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillstill_training.teachers.redaction import redact

LONG = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{LONG}\n{LONG}\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    (f"key: {KEY} end", "key: [removed: private key] end"),
    (f"cut off {KEY[:60]}", "cut off [removed: private key]"),
    (f"use sk-ant-api03-{LONG}_-x here", "use [removed: Anthropic key] here"),
    (f"sk-proj-{LONG}", "[removed: OpenAI key]"),
    (f"sk-{LONG}.", "[removed: OpenAI key]."),
    (f"push with ghp_{LONG[:36]}", "push with [removed: GitHub token]"),
    (f"github_pat_11ABC_{LONG}", "[removed: GitHub token]"),
    (f"glpat-{LONG[:20]}", "[removed: GitLab token]"),
    ("xoxb-123456789012-abcdefABCDEF", "[removed: Slack token]"),
    (f"post to https://hooks.slack.com/services/T0/B0/{LONG[:24]}", "post to [removed: webhook]"),
    ("AKIAIOSFODNN7EXAMPLE", "[removed: AWS key id]"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfi", "aws_secret_access_key = [removed: password]"),
    (f"AIza{LONG[:35]}", "[removed: Google key]"),
    (f"sk_live_{LONG}", "[removed: Stripe key]"),
    (f"hf_{LONG}", "[removed: Hugging Face token]"),
    (f"npm_{LONG[:36]}", "[removed: package registry token]"),
    (f"SG.{LONG[:22]}.{LONG}", "[removed: SendGrid key]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.dozjgNryP4J3jVmN", "[removed: web token]"),
    ("psql postgres://me:hunter2@db/x", "psql postgres://[removed: credentials in an address]@db/x"),
    ("redis://:s3cret@cache:6379", "redis://[removed: credentials in an address]@cache:6379"),
    (f"-H 'Authorization: Bearer {LONG}'", "-H 'Authorization: Bearer [removed: authorization]'"),
    ("Cookie: session=abc; id=1\nWhere?", "Cookie: [removed: cookie]\nWhere?"),
    ("curl -s -u me:hunter2 https://x", "curl -s -u [removed: password] https://x"),
    ("mysql --password hunter2", "mysql --password [removed: password]"),
    ("password: correct-horse", "password: [removed: password]"),
    ("the password is hunter2, log in", "the password is [removed: password], log in"),
    ('{"api_key": "0123456789abcdef"}', '{"api_key": "[removed: password]"}'),
    ("export DB_PASSWORD='p4ss;word'", "export DB_PASSWORD='[removed: password]'"),
    ("SECRET_KEY='django-insecure-1'", "SECRET_KEY='[removed: password]'"),
    (f"OPENAI_API_KEY=sk-{LONG}", "OPENAI_API_KEY=[removed: OpenAI key]"),
]

HARMLESS = [
    "Where is the token bucket refilled, and what does `parse_token(text: str)` raise?",
    "Which commit is 1f0c3e5a9b8d7c6e5f4a3b2c1d0e9f8a7b6c5d4e?",
    "Does sk-learn's pipeline set max_tokens=4096 or token_count=100000?",
    "Find where password_hash = bcrypt.hashpw(password, salt) is called",
    "Where is api_key=settings.API_KEY read, and token = get_token()?",
    "What does fetch do with credentials: include?",
    "Is the password required: true or optional?",
    "Which basic misunderstandings does the class sk-loading-spinner-of-the-page-header cause?",
    "Look at https://example.org/a:b/c@2.0 and git@github.com:me/app.git",
    "see shop/cart.py:18 and password: None, token: ${TOKEN}, secret: <your secret>",
]


@pytest.mark.parametrize(("text", "expected"), SECRETS)
def test_a_secret_is_removed_and_counted_once(text: str, expected: str) -> None:
    scrubbed, removed = redact(text)
    assert scrubbed == expected
    assert removed.total() == 1


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize("text", [text for text, _ in SECRETS])
def test_what_is_scrubbed_stays_as_it_is(text: str) -> None:
    once, _ = redact(text)
    assert redact(once) == (once, {})


def test_addresses_are_removed_where_that_is_asked_for() -> None:
    assert redact("Ask me@example.org") == ("Ask me@example.org", {})
    assert redact("Ask ..me@example.org", emails=True)[0] == "Ask ..[removed: e-mail address]"
    assert redact("Ask me@example.org", emails=True) == ("Ask [removed: e-mail address]", {"e-mail address": 1})


@given(st.text())
def test_any_text_can_be_scrubbed(text: str) -> None:
    redact(text, emails=True)


@pytest.mark.parametrize(
    "piece",
    [
        "password=",
        "a.",
        "token: a.b(",
        "-----BEGIN PRIVATE KEY-----",
        "curl -u ",
        "eyJaaaaaaaa.",
        "eyJaaaaaaaa-",
        "sk-",
        "PRIVATE KEY",
    ],
)
def test_eight_times_the_text_takes_about_eight_times_as_long(piece: str) -> None:
    short, long = (piece * (length // len(piece)) for length in (8_000, 64_000))
    assert seconds(long) < 24 * seconds(short), "64 times as long is quadratic"


def seconds(text: str) -> float:
    """Return the least processor time of three, which other programs disturb least."""

    def once() -> float:
        began = time.process_time()
        redact(text, emails=True)
        return time.process_time() - began

    return min(once() for _ in range(3))
