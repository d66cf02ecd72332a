"""The MCP front: each registry entry is a tool. It translates; `Runtime` works."""

from skillstill.server.front import build, serve_stdio
from skillstill.server.http import HttpOptions, serve_http
from skillstill.server.tokens import read_tokens

__all__ = ["HttpOptions", "build", "read_tokens", "serve_http", "serve_stdio"]
