"""Codex, Gemini CLI, VS Code and Cursor: their files, their words for folders, and every byte given back."""

import json
import shlex
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import example, given, settings
from hypothesis import strategies as some
from skillstill.clients import commands
from skillstill.clients.client import Client, Scope, serving
from skillstill.clients.jsontext import JsonText
from skillstill.clients.others import CODEX, CURSOR, GEMINI, VSCODE
from skillstill.errors import ClientError, UsageError
from typer.testing import CliRunner

CLIENTS = {"codex": CODEX, "gemini": GEMINI, "vscode": VSCODE, "cursor": CURSOR}
FILES: dict[tuple[str, Scope], str] = {
    ("codex", "project"): "project/.codex/config.toml",
    ("codex", "user"): "home/.codex/config.toml",
    ("gemini", "project"): "project/.gemini/settings.json",
    ("gemini", "user"): "home/.gemini/settings.json",
    ("vscode", "project"): "project/.vscode/mcp.json",
    ("vscode", "user"): "home/xdg_config_home/Code/User/mcp.json",
    ("cursor", "project"): "project/.cursor/mcp.json",
    ("cursor", "user"): "home/.cursor/mcp.json",
}
everywhere = pytest.mark.parametrize(("name", "scope"), FILES, ids=lambda value: str(value))
SETTINGS = """// mine
{
    "theme": "dark", // at night
    /* several
       lines */
    "mcpServers": {
        "other": {"command": "npx", "args": ["-y", "other",]},
    },
}
"""
CONFIG = """# mine
model = "o9"   # the big one

[mcp_servers.other] # do not touch
command = "npx"
args = [
  "-y",  # yes
]

[mcp_servers.other.env]
KEY = "[mcp_servers.skillstill]"

# the end
"""
DOTTED = 'mcp_servers.other.command = "x"\n[z]\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def usual_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)


def file_of(name: str, scope: Scope, project: Path, home: Path) -> Path:
    where, _, path = FILES[name, scope].partition("/")
    return {"project": project, "home": home}[where] / path


def servers(file: Path) -> Any:
    text = file.read_text(encoding="utf-8")
    document = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    return document[
        {"config.toml": "mcp_servers", "settings.json": "mcpServers"}.get(file.name) or next(iter(document))
    ]


@everywhere
def test_each_client_has_a_file_for_a_project_and_one_for_the_user(
    name: str, scope: Scope, project: Path, home: Path
) -> None:
    change = CLIENTS[name].install(scope, project, workspace=project)
    file = file_of(name, scope, project, home)
    assert (change.did, change.place.file) == ("added", file)
    command, *arguments = serving(project)
    written = servers(file)["skillstill"]
    assert (written["command"], written["args"]) == (command, arguments)
    assert stat.S_IMODE(file.stat().st_mode) == (0o644 if scope == "project" else 0o600)
    assert CLIENTS[name].install(scope, project, workspace=project).did == "unchanged"


@everywhere
def test_what_was_made_is_gone_with_its_folders(name: str, scope: Scope, project: Path, home: Path) -> None:
    kept = {*project.rglob("*"), *home.rglob("*")}
    CLIENTS[name].install(scope, project, workspace=project)
    assert CLIENTS[name].uninstall(scope, project).did == "removed"
    made = {path for path in {*project.rglob("*"), *home.rglob("*")} - kept if "xdg_data_home" not in path.parts}
    assert not made
    assert CLIENTS[name].uninstall(scope, project).did == "absent"


def test_long_calls_are_allowed_for_where_a_client_has_a_limit(project: Path) -> None:
    codex = CODEX.entry(serving())
    assert (codex["startup_timeout_sec"], codex["tool_timeout_sec"]) == (30, 600)
    assert GEMINI.entry(serving())["timeout"] == 600_000


def test_files_are_found_where_the_environment_says(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "g"))
    assert CODEX.install("user", project).place.file == tmp_path / "c" / "config.toml"
    assert GEMINI.install("user", project).place.file == tmp_path / "g" / ".gemini" / "settings.json"


def test_an_editor_is_asked_for_the_open_folder_where_it_knows_it(project: Path) -> None:
    for client in (VSCODE, CURSOR):
        client.install("project", project)
        args = servers(client.place("project", project, "x").file)["skillstill"]["args"]
        assert args == ["serve", "--workspace", "${workspaceFolder}"]
        with pytest.raises(UsageError, match="does not say which folder is open: name the one to serve by --workspace"):
            client.install("user", project)


@pytest.mark.parametrize(("client", "folder"), [(GEMINI, "a$b"), (VSCODE, "a${b}"), (CURSOR, "a${b}")])
def test_a_path_that_the_client_would_change_is_refused(client: Client, folder: str, project: Path) -> None:
    (project / folder).mkdir()
    with pytest.raises(UsageError, match="would replace the "):
        client.install("project", project, workspace=project / folder)


@pytest.mark.parametrize("client", [GEMINI, CURSOR, VSCODE])
def test_comments_last_commas_and_order_stay(client: Client, project: Path) -> None:
    key = "servers" if client is VSCODE else "mcpServers"
    before = SETTINGS.replace("mcpServers", key)
    if client is GEMINI:
        before = before.replace('",]', '"]').replace("},\n", "}\n")
    file = client.place("project", project, "x").file
    file.parent.mkdir()
    file.write_text(before, encoding="utf-8")
    client.install("project", project)
    client.install("project", project, name="second")
    after = file.read_text(encoding="utf-8")
    for remark in ("// mine", "// at night", "/* several\n       lines */"):
        assert remark in after
    client.uninstall("project", project)
    client.uninstall("project", project, name="second")
    assert file.read_text(encoding="utf-8") == before


def test_a_last_comma_that_gemini_does_not_read_is_refused(project: Path) -> None:
    file = GEMINI.place("project", project, "x").file
    file.parent.mkdir()
    file.write_text('{"ui": {},}', encoding="utf-8")
    with pytest.raises(ClientError, match=r"settings\.json is not JSON that can be changed safely"):
        GEMINI.install("project", project)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "before", [CONFIG, CONFIG.rstrip(), DOTTED, "", "model = 1", "model = 1\n\n\n", "[mcp_servers]\n"]
)
def test_toml_is_given_back_to_the_byte(before: str, newline: str, project: Path) -> None:
    file = CODEX.place("project", project, "x").file
    file.parent.mkdir()
    file.write_bytes(before.replace("\n", newline).encode())
    CODEX.install("project", project)
    assert servers(file)["skillstill"] == CODEX.entry(serving())
    CODEX.install("project", project, workspace=project)
    CODEX.uninstall("project", project)
    assert file.read_bytes().decode() == before.replace("\n", newline)


def test_what_a_client_adds_behind_our_table_stays(project: Path) -> None:
    CODEX.install("project", project)
    file = CODEX.place("project", project, "x").file
    more = '\n# later\n[mcp_servers.skillstill.env]\n\n[projects."/a"]\ntrust_level = "trusted"\n'
    file.write_text(file.read_text(encoding="utf-8") + more, encoding="utf-8")
    CODEX.uninstall("project", project)
    assert file.read_text(encoding="utf-8").strip() == '[projects."/a"]\ntrust_level = "trusted"'


@pytest.mark.parametrize(
    "before",
    [
        'mcp_servers = {other = {command = "x"}}\n',
        "mcp_servers = 3\n",
        "a = \n",
        "[[mcp_servers]]\n",
    ],
)
def test_toml_that_cannot_hold_a_table_of_ours_is_refused_and_left(before: str, project: Path) -> None:
    file = CODEX.place("project", project, "x").file
    file.parent.mkdir()
    file.write_text(before, encoding="utf-8")
    with pytest.raises(ClientError, match=r"config\.toml (stays as it is|is not TOML)") as refused:
        CODEX.install("project", project)
    assert "\n" not in str(refused.value)
    assert file.read_text(encoding="utf-8") == before


def test_a_text_that_looks_like_our_table_is_not_taken_for_it(project: Path) -> None:
    CODEX.install("project", project)
    file = CODEX.place("project", project, "x").file
    before = 'x = """\n[mcp_servers.skillstill]\n"""\n' + file.read_text(encoding="utf-8")
    file.write_text(before, encoding="utf-8")
    with pytest.raises(ClientError, match="has to be changed by hand"):
        CODEX.uninstall("project", project)
    assert file.read_text(encoding="utf-8") == before


def test_an_inline_table_of_ours_is_told_to_be_changed_by_hand(project: Path) -> None:
    file = CODEX.place("project", project, "x").file
    file.parent.mkdir()
    before = '[mcp_servers]\nskillstill = {command = "/a/skillstill", args = ["serve"]}\n'
    file.write_text(before, encoding="utf-8")
    for change in (CODEX.install, CODEX.uninstall):
        with pytest.raises(ClientError, match="has to be changed by hand"):
            change("project", project)
    assert file.read_text(encoding="utf-8") == before


keys = some.sampled_from(["mcpServers", "skillstill", "a", "ö", "//", '"', "\\"])
values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(alphabet='ab/*,"\\ {}[]\n', max_size=6),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
blanks = some.text(alphabet=" \t\n", max_size=3) | some.sampled_from(["// c\n", " /* c */ ", "/*\n}*/", "\r\n"])


@some.composite
def commented(draw: Any) -> str:
    """JSON as people write it: blanks, comments and last commas wherever they may be."""

    def written(value: Any) -> str:
        blank = draw(blanks)
        if isinstance(value, dict):
            parts = [f"{draw(blanks)}{json.dumps(key)}{blank}:{written(inner)}" for key, inner in value.items()]
        elif isinstance(value, list):
            parts = [written(inner) for inner in value]
        else:
            return f"{blank}{json.dumps(value)}{blank}"
        last = "," if parts and draw(some.booleans()) else ""
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return f"{blank}{opening}{','.join(parts)}{last}{draw(blanks)}{closing}{blank}"

    inner = draw(some.dictionaries(keys, values, max_size=3))
    return written(draw(some.sampled_from([inner, {"mcpServers": inner}, {"a": 1, "mcpServers": inner, "b": []}])))


@settings(deadline=None, max_examples=300)
@given(commented())
def test_any_commented_document_is_given_back_to_the_byte(before: str) -> None:
    syntax = JsonText(comments=True, last_commas=True)
    held = syntax.parse(before)
    servers = held.get("mcpServers", {}) if isinstance(held, dict) else None
    if not isinstance(servers, dict) or "skillstill" in servers:
        return
    after = syntax.put(before, ("mcpServers", "skillstill"), {"args": [1]})
    assert syntax.parse(after) == {**held, "mcpServers": {**servers, "skillstill": {"args": [1]}}}
    made = ("mcpServers",) if "mcpServers" not in held else ("mcpServers", "skillstill")
    assert syntax.cut(after, made) == before


@settings(deadline=None, max_examples=300)
@given(commented())
@example('{// c\n"mcpServers":\r\n{}\r\n}')  # the remark's line needs its end
def test_a_member_that_stood_anywhere_is_cut_out_and_nothing_else(before: str) -> None:
    syntax = JsonText(comments=True, last_commas=True)
    held = syntax.parse(before)
    for key in held if isinstance(held, dict) else ():
        left = {other: value for other, value in held.items() if other != key}
        assert syntax.parse(syntax.cut(before, (key,))) == left
        assert syntax.parse(syntax.put(before, (key,), {"new": 1})) == {**left, key: {"new": 1}}


app = typer.Typer()
app.command()(commands.install)
app.command()(commands.uninstall)


def typed(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments, standalone_mode=False)


@everywhere
def test_the_snippet_is_what_install_writes(
    name: str, scope: Scope, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    said = typed("install", name, "--scope", scope, "-w", ".").output
    file = file_of(name, scope, project, home)
    assert not file.exists()
    assert str(file) in said
    written = typed("install", name, "--scope", scope, "-w", ".", "--write").output
    assert written.startswith("added ")
    assert (CLIENTS[name].asks in written) == (scope == "project")
    assert said.endswith(file.read_text(encoding="utf-8"))
    assert typed("uninstall", name, "--scope", scope).output.startswith("removed ")


def test_the_usual_scope_is_the_one_that_works_without_more_words(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    for name in CLIENTS:
        typed("install", name, "--write")
        scope: Scope = "user" if name in {"codex", "gemini"} else "project"
        assert file_of(name, scope, project, home).exists()


def test_a_command_to_type_is_given_where_there_is_one(project: Path) -> None:
    said = CODEX.snippet("user", project, workspace=project)
    line = next(line for line in said.splitlines() if line.startswith("codex"))
    assert shlex.split(line) == ["codex", "mcp", "add", "skillstill", "--", *serving(project)]
    assert CODEX.snippet("project", project).startswith("Add to ")


def test_a_scope_that_a_client_does_not_have_is_wrong_usage(project: Path) -> None:
    with pytest.raises(UsageError, match="--scope for Codex is user or project, not local"):
        CODEX.install("local", project)
    assert isinstance(typed("install", "codex", "--plugin", "x").exception, UsageError)
