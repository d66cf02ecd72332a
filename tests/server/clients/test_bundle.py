"""The bundle and the registry's entry: what their specifications demand, and that the code in them runs."""

import io
import json
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from skillstill.cli import app
from skillstill.clients import bundle
from skillstill.errors import ClientError, UsageError
from skillstill.skills.registry import bundled, read_registry
from typer.testing import CliRunner

ENTRIES = read_registry(bundled() / "registry.json").entries
NAME = "io.github.somebody/skillstill"
# MCPB 0.4: every key that the schema knows, as it allows no others; those it requires.
MANIFEST_KEYS = {
    *("manifest_version", "name", "display_name", "version", "description", "long_description", "author", "license"),
    *("server", "tools", "tools_generated", "compatibility", "user_config"),
}
MANIFEST_REQUIRED = {"manifest_version", "name", "version", "description", "author", "server"}


@pytest.fixture
def held() -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(bundle.pack_bundle(ENTRIES))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_manifest_is_of_mcpb_0_4(held: dict[str, bytes]) -> None:
    manifest = json.loads(held["manifest.json"])
    assert MANIFEST_REQUIRED <= manifest.keys() <= MANIFEST_KEYS
    assert manifest["manifest_version"] == "0.4"
    assert manifest["author"].keys() <= {"name", "email", "url"}
    server = manifest["server"]
    assert server.keys() <= {"type", "entry_point", "mcp_config"}
    assert (server["type"], server["entry_point"] in held) == ("uv", True)
    assert server["mcp_config"].keys() <= {"command", "args", "env", "platform_overrides"}
    assert all(tool.keys() == {"name", "description"} for tool in manifest["tools"])
    assert {tool["name"] for tool in manifest["tools"]} == {entry.name for entry in ENTRIES}
    for option in manifest["user_config"].values():
        assert {"type", "title", "description"} <= option.keys()
        assert option["type"] in {"string", "number", "boolean", "directory", "file"}
    asked = {
        word.removeprefix("${user_config.").removesuffix("}")
        for word in server["mcp_config"]["args"]
        if "user_" in word
    }
    assert asked == manifest["user_config"].keys()


def test_a_uv_bundle_declares_what_it_needs_and_holds_no_libraries(held: dict[str, bytes]) -> None:
    project = tomllib.loads(held["pyproject.toml"].decode())["project"]
    needed = Requirement(project["dependencies"][0])
    assert (needed.name, needed.extras, str(needed.specifier)) == (
        "skillstill",
        {"embedded"},
        f"=={version('skillstill')}",
    )
    assert set(held) == {"manifest.json", "pyproject.toml", "server.py"}


def test_its_entry_point_is_the_command_that_serves(held: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "server.py").write_bytes(held["server.py"])
    done = subprocess.run(
        [sys.executable, "server.py", "--help"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "Serve every subagent as an MCP tool" in done.stdout


def test_the_same_facts_make_the_same_bytes() -> None:
    assert bundle.pack_bundle(ENTRIES) == bundle.pack_bundle(ENTRIES)


def test_the_listing_is_of_the_registrys_revision() -> None:
    listing: Any = bundle.listing(NAME)
    assert listing["$schema"].endswith("/2025-12-11/server.schema.json")
    assert {"name", "description", "version"} <= listing.keys()
    assert len(listing["description"]) <= 100
    assert len(listing["title"]) <= 100
    for package in listing["packages"]:
        assert {"registryType", "identifier", "transport"} <= package.keys()
        assert package["version"] == listing["version"] == version("skillstill")
        assert package["transport"] == {"type": "stdio"}
        assert package["runtimeHint"], "wanted where there are runtimeArguments"
        for argument in package["runtimeArguments"] + package["packageArguments"]:
            assert argument["type"] in {"named", "positional"}
            assert ("name" in argument) if argument["type"] == "named" else ("value" in argument)
    model = Requirement(listing["packages"][0]["runtimeArguments"][0]["value"])
    assert str(model.specifier).startswith("==")


@pytest.mark.parametrize(
    "name", ["skillstill", "skillstill/x", "io.github.a/b/c", "io.github.a/", "io.é.a/b", "a b.c/d"]
)
def test_a_name_that_the_registry_refuses_is_refused_here(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--name is a domain that is yours, turned round"):
        bundle.write(tmp_path / "out", name)
    assert not (tmp_path / "out").exists()


def test_the_command_writes_both_and_says_what_it_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    said = CliRunner().invoke(app, ["bundle", str(folder)], standalone_mode=False)
    assert "No server.json: --name says" in said.output
    assert {file.name for file in folder.iterdir()} == {"skillstill.mcpb", ".skillstill.json"}
    CliRunner().invoke(app, ["bundle", str(folder), "--name", NAME], standalone_mode=False)
    assert json.loads((folder / "server.json").read_text(encoding="utf-8")) == bundle.listing(NAME)


def test_a_folder_that_is_not_ours_is_left(tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ClientError, match="name a new or an empty folder"):
        bundle.write(tmp_path, NAME, force=True)
    assert {file.name for file in tmp_path.iterdir()} == {"server.json"}
