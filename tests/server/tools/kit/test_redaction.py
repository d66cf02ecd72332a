"""Keys in files that anybody may read: a tool shows where they stand, and not what they are."""

import sqlite3
import string
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as some
from skillstill.tools.kit.redaction import redact, redacted_bytes

from tests.scenes import write
from tests.server.tools.calling import call, lines

pytestmark = pytest.mark.anyio
DRAW = Random(0)


def drawn(count: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(DRAW.choices(letters, k=count))


# Made up here, so that no scanner of repositories takes this file for a leak.
CAPITALS = string.ascii_uppercase + "234567"
KEYS = {
    "Anthropic key": "sk-ant-" + f"api03-{drawn(40)}",
    "OpenAI key": "sk-" + f"proj-a1B{drawn(45)}",
    "GitHub token": "ghp_" + drawn(36),
    "GitLab token": "glpat-" + drawn(20),
    "Slack token": "xoxb-" + f"{drawn(12, string.digits)}-{drawn(24)}",
    "Slack webhook": "hooks.slack.com" + f"/services/T{drawn(8)}/B{drawn(8)}/{drawn(24)}",
    "AWS key id": "AKIA" + drawn(16, CAPITALS),
    "Google key": "AIza" + drawn(35),
    "Google token": "ya29." + drawn(40),
    "Google client secret": "GOCSPX-" + drawn(28),
    "Stripe key": "sk_" + f"live_{drawn(24)}",
    "Hugging Face token": "hf_" + drawn(34, string.ascii_letters),
    "npm token": "npm_" + drawn(36),
    "PyPI token": "pypi-" + f"AgE{drawn(60)}",
    "Docker token": "dckr_pat_" + drawn(27),
    "SendGrid key": "SG." + f"{drawn(22)}.{drawn(43)}",
    "DigitalOcean token": "dop_v1_" + drawn(64, "0123456789abcdef"),
    "web token": "eyJ" + f"{drawn(20)}.eyJ{drawn(30)}.{drawn(43)}",
    "age key": "AGE-SECRET-KEY-" + "1" + drawn(58, CAPITALS),
}
BODY = [drawn(64), drawn(64), drawn(11) + "="]
BEGIN, END = ("-----" + f"{word} RSA PRIVATE KEY-----" for word in ("BEGIN", "END"))
PEM = [BEGIN, *BODY, END]
HARMLESS = (
    "task-force-of-the-Ministry-No-1-and-its-long-name", "mask-scale-100-and-other-Names-of-css-classes-here",
    "ghp_short", "AKIAIOSFODNN7EXAMPLE", "hf_hub_download(repo_id=name, filename=file)", "sk-learn-0.24-Compatible",
    "eyJhbGciOiJIUzI1NiJ9", "def npm_install_all_packages(): ...", BEGIN, END, drawn(64), f'if "{BEGIN}" in text:',
    "xoxo-many-kisses-and-hugs-from-all-of-us", "sk_live_key = os.environ['STRIPE']", "SG.example.org",
)  # fmt: skip


@pytest.mark.parametrize(("kind", "key"), KEYS.items(), ids=[*KEYS])
async def test_a_key_is_redacted_and_said_to_be_wherever_a_tool_shows_its_line(
    tmp_path: Path, kind: str, key: str
) -> None:
    write(tmp_path, {"app.py": f"import os\n\ndef connect(key='{key}'):\n    return key\n"})
    write(tmp_path, {"app.log": f"2026-01-02 10:00:00 ERROR refused: {key}\n", "keys.csv": f"name,value\na,{key}\n"})
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE held(v)")
        connection.execute("INSERT INTO held VALUES (?)", (f"is {key}",))
    for name, arguments in (
        ("read", {"path": "app.py"}),
        ("search", {"pattern": "def connect"}),
        ("search", {"pattern": key[-8:], "path": "app.py"}),
        ("outline", {"target": "app.py"}),
        ("entries", {"pattern": "refused"}),
        ("sql", {"query": "SELECT * FROM held"}),
        ("sql", {"query": "SELECT value FROM keys"}),
    ):
        text = (await call(name, tmp_path, **arguments)).text
        assert key[-8:] not in text.replace(f"'{key[-8:]}'", "")
        assert f"[redacted: {kind}]" in text or name == "outline"


async def test_a_private_key_is_redacted_line_by_line_wherever_a_window_begins(tmp_path: Path) -> None:
    write(tmp_path, {"deploy.sh": "\n".join(["#!/bin/sh", "cat > key <<E", *PEM, "E", "echo done", ""])})
    shown = await lines("read", tmp_path, path="deploy.sh")
    assert shown[1:] == [
        "1: #!/bin/sh", "2: cat > key <<E", f"3: {BEGIN}", *(f"{line}: [redacted: private key]" for line in (4, 5, 6)),
        f"7: {END}", "8: E", "9: echo done",
    ]  # fmt: skip
    for part in BODY[:2]:
        found = await lines("search", tmp_path, pattern=part[:20])
        assert found[1].startswith("deploy.sh:")
        assert found[1].endswith("[redacted: private key]")
    window = await lines("read", tmp_path, path="deploy.sh", line=7)
    assert window[1] == "5: [redacted: private key]"


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(PEM),
        "\n".join(f"    {line}" for line in PEM),
        "KEY = (\n" + "\n".join(f'    "{line}\\n"' for line in PEM) + "\n)",
        "\r\n".join(PEM),
        '{"private_key": "' + "\\n".join(PEM) + '", "id": 7}',
        " ".join(PEM),
        "\n".join(PEM[:-1]),
    ],
    ids=["bare", "indented", "quoted", "windows", "json", "one line", "cut"],
)
def test_a_private_key_is_known_however_it_is_written(text: str) -> None:
    shown = redact(text)
    assert "[redacted: private key]" in shown
    assert not any(part[:12] in shown for part in BODY)
    assert shown.count("\n") == text.count("\n")
    if '"id": 7' in text:
        assert shown.endswith('", "id": 7}')


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_a_little_like_a_key_stays(text: str) -> None:
    assert redact(text) == text


def test_a_program_that_looks_for_private_keys_stays_as_it_is() -> None:
    text = f'START = "{BEGIN}"\nSTOP = "{END}"\n\ndef find(text):\n    return configuration_of_the_whole_system\n'
    assert redact(text) == text


@given(some.binary(max_size=200), some.sampled_from([*KEYS.values(), "\n".join(PEM)]))
def test_whatever_stands_around_a_key_no_line_is_lost_and_no_other_byte_changed(before: bytes, key: str) -> None:
    data = before + b"\n" + key.encode() + b"\n" + before
    shown = redacted_bytes(data)
    assert shown.count(b"\n") == data.count(b"\n")
    assert shown.startswith(before + b"\n")
    assert key.encode()[-12:] not in shown or key.endswith("KEY-----")
