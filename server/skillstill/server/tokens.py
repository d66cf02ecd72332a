"""Tokens by client: who may call over HTTP, and under which name a client owns its runs."""

import os
import re
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from mcp.server.auth.provider import AccessToken

from skillstill.errors import UsageError

TOKEN = re.compile(r"[\x21-\x7e]{16,}")
NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
SINGLE = "(any)"  # the client's name if there is one token for all; no client in a file can have it
FORM = "expected lines such as `build-server: TOKEN`, the token 16 or more printable ASCII characters without spaces"


def read_tokens(file: Path) -> Mapping[str, str]:
    """Return the tokens in a file by the names of their clients. Raise UsageError, which tells no token."""
    try:
        with file.open(encoding="utf-8") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            lines = opened.read().splitlines()
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read as a file of tokens: {error}") from error
    if stat.S_ISREG(mode) and mode & 0o077:
        raise UsageError(f"others may read the tokens in {file}: type `chmod 600 {file}`")
    return _parse_line(file, lines)


def _parse_line(file: Path, lines: list[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, _, token = (part.strip() for part in line.partition(":"))
        if not NAME.fullmatch(name) or not TOKEN.fullmatch(token):
            raise UsageError(f"{file}, line {number}: {FORM}")
        if name in found or token in found.values():
            raise UsageError(f"{file}, line {number}: expected each name and each token once")
        found[name] = token
    if not found:
        raise UsageError(f"{file} holds no token: {FORM}")
    return found


class TokenTable:
    """The SDK's token verifier for tokens by client. It compares with all of them, so that time tells nothing."""

    def __init__(self, by_client: Mapping[str, str]) -> None:
        self._by_client = {name: token.encode() for name, token in by_client.items()}

    async def verify_token(self, token: str) -> AccessToken | None:
        given = token.encode()
        names = [name for name, known in self._by_client.items() if secrets.compare_digest(given, known)]
        return AccessToken(token="", client_id=names[0], scopes=[]) if names else None
