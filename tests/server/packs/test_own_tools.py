"""A pack that brings its own tools: they do not run, and it does not answer, until its owner trusts it."""

import json
import sys
from pathlib import Path

import pytest
from skillstill.contract import provenance_hash, serving_hash
from skillstill.errors import ModelError, UntrustedError
from skillstill.models.scripted import ScriptedModel, call
from skillstill.runtime import Runtime
from skillstill.skills.registry import Document, Registry, read_registry, write_registry
from skillstill.skills.skill import load_skill
from skillstill.util.storage import data_folder

from tests.scenes import SHOP, ScriptedModels, write
from tests.server.packs.conftest import Skillstill, everything, released

pytestmark = pytest.mark.anyio
TOOLS = '''from skillstill.tools import Line, Result, tool
from skillstill.types import Span
from .proof import RAN


async def title(workspace, path: str) -> Result:
    """Show the first line of a file."""
    first = workspace.read(path).decode().split("\\n")[0]
    return Result((Line(f"{path}:1: {first}", (Span(path=path, first=1, last=1),)),))


TOOLS = (tool(title),)
'''
GOLDEN = {"title": [{"workspace": "fixture", "arguments": {"path": "a"}, "result": "a:1: A", "spans": [["a", 1, 1]]}]}


@pytest.fixture
def proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that the pack's Python leaves when it runs."""
    monkeypatch.setenv("PROOF", str(tmp_path / "it-ran"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "it-ran"


@pytest.fixture
def registry(tmp_path: Path, base: Path) -> Path:
    """The registry of somebody whose `settings` brings the tool `title`."""
    registry = released(tmp_path / "publisher", base)
    skill = write(registry.parent / "skills" / "settings", {"tools.py": TOOLS, "golden.json": json.dumps(GOLDEN)})
    toml = (skill / "subagent.toml").read_text("utf-8").replace('["search"]', '["search", "title"]')
    (skill / "subagent.toml").write_text(toml, encoding="utf-8")
    (entry,) = read_registry(registry).entries
    hashes = {
        "serving_hash": serving_hash(load_skill(skill), entry.base, entry.adapter),
        "provenance_hash": provenance_hash(skill, "9" * 64),
    }
    write_registry(registry, Document(entries=(entry.model_copy(update=hashes),)))
    return registry


@pytest.fixture
def pack(registry: Path, skillstill: Skillstill, tmp_path: Path, proof: Path) -> Path:
    """The folder of the unpacked pack."""
    file = tmp_path / "settings.skillstill"
    assert skillstill("pack", "settings", "-o", file, "--registry", registry).code == 0
    proof.unlink(missing_ok=True)
    said = skillstill("unpack", file)
    assert (said.code, said.err) == (0, "")
    assert "5 Python files of it do not run, unless you look at them and type:" in said.out
    assert "its own tools are among them: it answers nothing before that" in said.out
    return data_folder() / "packs" / "settings"


def runtime(*turns: object) -> Runtime:
    return Runtime(Registry(), ScriptedModels(ScriptedModel(turns)))  # type: ignore[arg-type]


async def test_its_tools_run_only_once_it_is_trusted(pack: Path, proof: Path, skillstill: Skillstill) -> None:
    asked = "settings", "How does the readme begin?", SHOP
    with pytest.raises(UntrustedError, match=rf"its Python is not trusted: .*type `skillstill trust {pack}`$"):
        await runtime().run(*asked)
    assert not proof.exists()
    before = everything(pack)
    assert skillstill("trust", pack).code == 0
    trace = await runtime(call("title", path="README.md"), "It begins at README.md:1.").run(*asked)
    assert (trace.report.status, trace.report.evidence) == ("answered", ("README.md:1",))
    assert proof.exists()
    assert everything(pack) == before, "no bytecode: it would change what was pinned"
    assert skillstill("trust", pack, "--forget").code == 0
    with pytest.raises(UntrustedError):
        await runtime().run(*asked)


async def test_others_are_served_beside_it(pack: Path) -> None:
    trace = await runtime(call("read", path="README.md"), "It begins at README.md:1.").run("explore", "Where?", SHOP)
    assert trace.report.status == "answered"


def test_list_marks_it_until_it_is_trusted(pack: Path, proof: Path, skillstill: Skillstill) -> None:
    said = skillstill("list")
    assert said.code == 0
    assert f"  cannot run, it brings its own tools: {pack} came from somebody else" in said.out
    entries = {one["name"]: one for one in json.loads(skillstill("list", "--json").out)}
    assert f"type `skillstill trust {pack}`" in entries["settings"]["untrusted"]
    assert "untrusted" not in entries["explore"]
    skillstill("trust", pack)
    assert "cannot run" not in skillstill("list").out
    assert not proof.exists(), "listing runs nothing"


async def test_a_trusted_pack_whose_tools_answer_otherwise_here_is_stale(pack: Path, skillstill: Skillstill) -> None:
    skill = pack / "skill" / "settings"
    (skill / "golden.json").write_text(json.dumps(GOLDEN).replace("a:1: A", "a:1: B"), encoding="utf-8")
    skillstill("trust", pack)
    with pytest.raises(ModelError, match="settings is stale"):
        await runtime().run("settings", "How does the readme begin?", SHOP)
