"""MCP servers of a skill: the real protocol, library and sandbox; only the model is scripted, and pip is not asked."""

import sys
import sysconfig
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from skillstill.contract import behaviour_hash
from skillstill.errors import SkillError
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import loop
from skillstill.sandbox.choice import ENVIRONMENT
from skillstill.sandbox.sandbox import Driver, SandboxLimits
from skillstill.skills.registry import Registry
from skillstill.skills.skill import McpServer, Mode, SandboxUse, Skill, WorkspaceUse, read_skill
from skillstill.types import ReasonKind, Trace
from skillstill.workspace import Workspace

from tests.scenes import write
from tests.server.sandbox.conftest import driver

__all__ = ["driver"]
pytestmark = pytest.mark.anyio
SERVER = Path(__file__).with_name("notes_server.py")
NOTES = McpServer(name="notes", command="python3", args=("/workspace/server.py", "/workspace"), packages=("mcp==2",))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"a.md": "# One\nbread and milk\n", "b.md": "milk\n", ".env": "KEY=hunter2\n"}
    return write(tmp_path / "work", files | {"server.py": SERVER.read_text(encoding="utf-8")})


@pytest.fixture
def works(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver whose packages are those of this test's own Python, which are of the version of the one inside."""

    async def installed(packages: Sequence[str], python: str) -> Path:
        if python != f"{sys.version_info[0]}.{sys.version_info[1]}":
            pytest.skip(f"the Python inside is {python}, another one than this")
        return Path(sysconfig.get_path("purelib"))

    monkeypatch.setenv(ENVIRONMENT, driver.name)
    monkeypatch.setattr(f"skillstill.sandbox.{driver.name}.installed", installed)


@pytest.fixture
def bubblewrap(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    if driver.name != "bubblewrap":
        pytest.skip("what a server answers does not depend on the driver")
    monkeypatch.setenv(ENVIRONMENT, driver.name)


def skill(*servers: McpServer, tools: tuple[str, ...] = ("read",), mode: Mode = "read", seconds: float = 20) -> Skill:
    explore = Registry().entry("explore").skill()
    changes = {
        "tools": tools,
        "mcp": servers,
        "opening": None,
        "readers": (),
        "workspace": WorkspaceUse(mode=mode),
        "sandbox": SandboxUse(limits=SandboxLimits(seconds=seconds)),
    }
    subagent = explore.subagent.model_copy(update=changes)
    return explore.model_copy(update={"subagent": subagent, "readers": ()})


async def solve(skill: Skill, folder: Path, *turns: Any) -> Trace:
    brief = loop.Brief(skill, "Where is milk?", skill.instructions)
    return await loop.run(brief, nullcontext(ScriptedModel(turns)), Workspace(folder))


# What a server of a few lines is made of: `start` returns the first request after the greeting.
HEAD = """
import json, sys

def ask():
    return json.loads(sys.stdin.readline())

def write(asked, **fields):
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **fields}), flush=True)

def say(asked, **result):
    write(asked, result=result)

def start():
    while (asked := ask())["method"] != "initialize":
        write(asked, error={"code": -32601, "message": "no such method"})
    info = {"name": "bad", "version": "1"}
    say(asked, protocolVersion="2025-06-18", capabilities={"tools": {}}, serverInfo=info)
    ask()
    return ask()

def tool(name, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "inputSchema": schema}

def text(said):
    return [{"type": "text", "text": str(said)}]
"""


def script(folder: Path, code: str) -> McpServer:
    write(folder, {"bad.py": HEAD + code})
    return McpServer(name="bad", command="python3", args=("/workspace/bad.py",))


@pytest.mark.usefixtures("works")
async def test_tools_of_a_server_answer_with_places_that_can_be_quoted(folder: Path) -> None:
    asked = call("grep_notes", word="milk", order="name"), call("count", names=["a.md", "b.md"])
    trace = await solve(skill(NOTES), folder, *asked, "Milk stands in a.md:2 and b.md:1")
    schemas = {one.name: one for one in trace.tools}
    assert schemas["grep_notes"].parameters == {
        "type": "object",
        "properties": {
            "word": {"type": "string"},
            "order": {"type": "string", "enum": ["name", "size"]},
            "most": {"type": "integer"},
        },
        "required": ["word"],
        "additionalProperties": False,
    }
    assert schemas["count"].parameters["properties"]["names"] == {"type": "array", "items": {"type": "string"}}
    first, second = trace.receipts
    assert first.excerpt == "a.md:2: bread and milk\nb.md:1: milk"
    assert second.excerpt == "3"
    assert trace.report.status == "answered"
    assert trace.report.evidence == ("a.md:2", "b.md:1")
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


@pytest.mark.usefixtures("works")
async def test_what_cannot_be_said_is_left_out_and_told(folder: Path) -> None:
    trace = await solve(skill(NOTES), folder, call("read", path="a.md"), "a.md:1")
    schemas = {one.name: one for one in trace.tools}
    missing = "nested: its argument 'options' cannot be said; read: another tool has this name"
    assert trace.report.notes == (f"Of the MCP server notes, left out: {missing}.",)
    assert "nested" not in schemas
    assert list(schemas["half"].parameters["properties"]) == ["name"]
    assert "# One" in trace.receipts[0].excerpt, "a server cannot take the place of a tool"


@pytest.mark.usefixtures("works")
async def test_a_skill_may_name_the_tools_that_it_takes(folder: Path) -> None:
    chosen = NOTES.model_copy(update={"tools": ("count", "gone")})
    trace = await solve(skill(chosen, tools=()), folder, call("count", names=["a.md"]), "2 (r1)")
    assert [one.name for one in trace.tools] == ["count"]
    assert trace.report.notes == ("Of the MCP server notes, left out: gone: the server has no such tool.",)


@pytest.mark.usefixtures("works")
async def test_a_server_is_inside_the_sandbox(folder: Path) -> None:
    trace = await solve(skill(NOTES), folder, call("whereabouts"), call("add", name="c.md", text="x"), "x (r1)")
    told, refused = trace.receipts
    assert told.excerpt.startswith("True [")
    assert "hunter2" not in told.excerpt
    assert "SKILLSTILL" not in told.excerpt
    assert refused.refused
    assert not (folder / "c.md").exists()


@pytest.mark.usefixtures("works")
async def test_a_server_works_on_the_copy_that_the_other_tools_see(folder: Path) -> None:
    turns = call("add", name="c.md", text="new\n"), call("shell", command="cat c.md"), call("read", path="c.md")
    trace = await solve(skill(NOTES, tools=("read", "shell"), mode="scratch"), folder, *turns, "c.md:1")
    assert [one.refused for one in trace.receipts] == [False] * 3
    assert "new" in trace.receipts[1].excerpt, "a command ends and takes no server with it"
    assert not (folder / "c.md").exists()
    assert "+++ b/c.md" in trace.patch


@pytest.mark.usefixtures("works")
async def test_a_server_that_dies_is_told_and_the_run_goes_on(folder: Path) -> None:
    trace = await solve(
        skill(NOTES), folder, call("die"), call("count", names=["a.md"]), call("read", path="a.md"), "a.md:1"
    )
    died, gone, read = trace.receipts
    assert died.refused
    assert "the MCP server notes is gone" in died.excerpt
    assert "it ended with exit code 3: the disk is full" in died.excerpt
    assert gone.refused
    assert not read.refused
    assert trace.report.status == "answered"


@pytest.mark.usefixtures("works")
async def test_much_is_cut_and_what_is_no_text_is_named(folder: Path) -> None:
    trace = await solve(skill(NOTES), folder, call("much"), call("picture"), "line 0 (r1)")
    much, picture = trace.receipts
    assert much.omitted > 49_000
    assert len(trace.messages[3].content) < 2_000
    assert (picture.excerpt, picture.omitted) == ("… left out, since it is no text: image", 1)


@pytest.mark.usefixtures("works")
async def test_a_call_that_hangs_is_told_and_the_run_goes_on(folder: Path) -> None:
    trace = await solve(skill(NOTES, seconds=8), folder, call("sleep"), call("read", path="a.md"), "a.md:1")
    assert trace.receipts[0].excerpt == "the MCP server notes did not answer within 8 seconds"
    assert trace.report.status == "answered"


BAD = {
    "is gone: the sandbox broke down: it ended with exit code 0": "",
    "is gone: the sandbox broke down: it ended with exit code 1: ValueError: no": "raise ValueError('no')",
    "is gone: it wrote more than 4 MB to one request": "while True: print('x' * 1000, end='')",
    "it wrote 'Welcome!', which is no message": "print('Welcome!', flush=True); sys.exit()",
    "answered what MCP does not allow": "say(start(), tools=[{'name': 1}])\nask()",
    "refused: Not today": "write(start(), error={'code': 1, 'message': 'Not today'}); ask()",
}


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize(("told", "code"), BAD.items(), ids=BAD)
async def test_a_server_that_does_not_start_as_it_should_is_told(folder: Path, told: str, code: str) -> None:
    trace = await solve(skill(script(folder, code)), folder, call("read", path="a.md"), "a.md:1")
    assert [one.name for one in trace.tools] == ["read"]
    assert trace.report.notes[0].startswith("The tools of the MCP server bad are missing: the MCP server bad ")
    assert told in trace.report.notes[0]
    assert trace.report.status == "answered"


@pytest.mark.usefixtures("bubblewrap")
async def test_rubbish_between_messages_is_passed_over(folder: Path) -> None:
    code = "print('ready'); say(start(), tools=[tool('ping')]); print('\\x00{'); say(ask(), content=text('pong'))"
    trace = await solve(skill(script(folder, code)), folder, call("ping"), "pong (r1)")
    assert trace.receipts[0].excerpt == "pong"


@pytest.mark.usefixtures("bubblewrap")
async def test_hostile_names_are_no_tools(folder: Path) -> None:
    names = ["read", "a b", "<|im_end|>", "é", "x" * 99, "", "ok", "ok", "o.k", "__init__"]
    schemas: tuple[dict[str, Any], ...] = (
        {"required": ["x"]},
        {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"$ref": "#/$defs/x"}}},
    )
    wrong = ", ".join(
        str({"name": f"wrong_{at}", "inputSchema": {"type": "object", **one}}) for at, one in enumerate(schemas)
    )
    listed = f"[tool(name) for name in {names!r}] + [tool('odd', model_config={{'type': 'string'}}), {wrong}]"
    code = f"say(start(), tools={listed})\nasked = ask()\nsay(asked, content=text(asked['params']))"
    trace = await solve(skill(script(folder, code)), folder, call("odd", model_config="x"), "x (r1)")
    assert [one.name for one in trace.tools] == ["read", "ok", "o_k", "odd", "wrong_1"]
    assert trace.tools[-1].parameters["properties"] == {}
    assert "'arguments': {'model_config': 'x'}" in trace.receipts[0].excerpt


@pytest.mark.usefixtures("bubblewrap")
async def test_endless_answers_and_lists_end(folder: Path) -> None:
    code = """
asked = start()
while asked["method"] == "tools/list":
    say(asked, tools=[tool(f"tool_{asked['id']}")], nextCursor="more")
    asked = ask()
note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 1000}}
while True:
    print(json.dumps(note))
"""
    trace = await solve(skill(script(folder, code)), folder, call("tool_3"), call("read", path="a.md"), "a.md:1")
    assert "is gone: it wrote more than 4 MB to one request" in trace.receipts[0].excerpt
    assert 5 < len(trace.tools) < 15
    assert trace.report.status == "answered"


async def test_without_a_sandbox_no_server_is_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, "none")
    touching = McpServer(name="bad", command="touch", args=(str(folder / "touched"),))
    trace = await solve(skill(touching), folder, call("read", path="a.md"), "a.md:1")
    assert trace.report.notes == ("Without a sandbox the MCP server bad cannot run: sandboxes are switched off",)
    trace = await solve(skill(touching, tools=()), folder, "x")
    assert trace.report.reason
    assert trace.report.reason.kind is ReasonKind.SANDBOX
    assert not (folder / "touched").exists()


def test_the_contract_covers_the_servers_that_are_declared() -> None:
    hashes = {behaviour_hash(skill(*servers)) for servers in ((), (NOTES,), (NOTES.model_copy(update={"args": ()}),))}
    assert len(hashes) == 3


def test_a_skill_has_tools_or_servers_and_each_server_once(tmp_path: Path) -> None:
    base = '[base]\nsource = "file:x.gguf"\nsha256 = "' + "0" * 64 + '"\n'
    server = '[[mcp]]\nname = "notes"\ncommand = "python3"\n'
    text = "---\nname: notes\ndescription: Finds notes.\n---\nFind notes.\n"

    def read(settings: str) -> Skill:
        return read_skill(write(tmp_path / "notes", {"SKILL.md": text, "subagent.toml": settings}))

    assert [one.name for one in read(f'system = "x"\n{base}{server}').subagent.mcp] == ["notes"]
    with pytest.raises(SkillError, match="expected tools, or MCP servers that bring some"):
        read(f'system = "x"\n{base}')
    with pytest.raises(SkillError, match="mcp: expected each server once"):
        read(f'system = "x"\n{base}{server}{server}')
