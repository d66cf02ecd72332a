"""The MCP front: each registry entry is a tool. It translates; `Runtime` works."""

from skillstill.server.front import build, serve_stdio

__all__ = ["build", "serve_stdio"]
