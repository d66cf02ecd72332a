"""Claude Code's configuration, added to and given back: files, keys, bad input, and the commands that people type."""

import json
import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from skillstill.clients import commands
from skillstill.clients.claude_code import CLAUDE_CODE
from skillstill.clients.client import Scope, serving
from skillstill.errors import ClientError, RegistryError, SkillstillError, UsageError
from skillstill.skills.registry import FEW, Document, bundled, read_registry, user_registry, write_registry
from typer.testing import CliRunner

entry, install, uninstall, snippet = CLAUDE_CODE.entry, CLAUDE_CODE.install, CLAUDE_CODE.uninstall, CLAUDE_CODE.snippet
SCOPES: tuple[Scope, ...] = ("local", "project", "user")
OTHER = {"command": "npx", "args": ["-y", "other"], "env": {"KEY": "ü ${HOME}"}}


@pytest.fixture(autouse=True)
def no_configuration_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "Äpfel & Öl's"
    folder.mkdir()
    return folder


@pytest.fixture
def mcp(project: Path) -> Path:
    return project / ".mcp.json"


def read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def write(file: Path, document: object) -> None:
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False), encoding="utf-8")


def file_of(scope: Scope, project: Path, home: Path) -> Path:
    return project / ".mcp.json" if scope == "project" else home / ".claude.json"


def test_each_scope_has_its_file_and_its_keys(project: Path, home: Path, mcp: Path) -> None:
    for scope in SCOPES:
        assert install(scope, project).did == "added"
    wanted = {"mcpServers": {"skillstill": entry(serving())}}
    assert read(mcp) == wanted
    assert read(home / ".claude.json") == {"projects": {str(project): wanted}, **wanted}


def test_the_entry_starts_the_installed_command_by_its_whole_path(project: Path, mcp: Path) -> None:
    install("project", project, workspace=project)
    written = read(mcp)["mcpServers"]["skillstill"]
    assert written == {
        "type": "stdio",
        "command": str(Path(sys.executable).with_name("skillstill")),
        "args": ["serve", "--workspace", str(project)],
        "alwaysLoad": True,
        "timeout": 600_000,
    }
    subprocess.run([written["command"], "--help"], check=True, capture_output=True)


def test_many_tools_are_left_to_be_searched_for() -> None:
    assert "alwaysLoad" not in entry(["/bin/skillstill", "serve"], always_load=False)


def test_the_change_names_file_and_keys(project: Path, home: Path) -> None:
    changes = [str(install("local", project)), str(install("local", project))]
    changes += [str(uninstall("local", project)), str(uninstall("local", project))]
    place = f"projects > {project} > mcpServers > skillstill in {home / '.claude.json'}"
    assert changes == [
        f"added {place}",
        f"nothing to change: {place} says so already",
        f"removed {place}",
        f"nothing to remove: there is no {place}",
    ]


@pytest.mark.parametrize("scope", SCOPES)
def test_installing_twice_does_not_touch_the_file(scope: Scope, project: Path, home: Path) -> None:
    install(scope, project)
    before = file_of(scope, project, home).stat()
    assert install(scope, project).did == "unchanged"
    after = file_of(scope, project, home).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("scope", SCOPES)
def test_what_install_made_is_gone_after_uninstall(scope: Scope, project: Path, home: Path) -> None:
    install(scope, project)
    assert uninstall(scope, project).did == "removed"
    assert not file_of(scope, project, home).exists()
    assert uninstall(scope, project).did == "absent"


def test_a_second_name_is_kept_when_the_first_one_goes_and_nothing_is_left_after_both(project: Path, mcp: Path) -> None:
    install("project", project)
    install("project", project, name="second")
    uninstall("project", project)
    assert list(read(mcp)["mcpServers"]) == ["second"]
    uninstall("project", project, name="second")
    assert not mcp.exists()


def test_what_the_client_wrote_meanwhile_stays(project: Path, home: Path) -> None:
    install("local", project)
    document = read(home / ".claude.json")
    document["projects"][str(project)]["allowedTools"] = []
    write(home / ".claude.json", {**document, "numStartups": 3})
    uninstall("local", project)
    assert read(home / ".claude.json") == {"projects": {str(project): {"allowedTools": []}}, "numStartups": 3}


def test_a_shared_file_installed_elsewhere_keeps_its_objects(project: Path, mcp: Path) -> None:
    write(mcp, {"mcpServers": {"skillstill": entry(["/elsewhere/skillstill", "serve"])}})
    assert uninstall("project", project).did == "removed"
    assert read(mcp) == {"mcpServers": {}}


json_values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | some.text(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner, max_size=3),
    max_leaves=8,
)
objects = some.dictionaries(some.text(), json_values, max_size=4)
servers = some.dictionaries(some.sampled_from(["skillstill", "other", ""]) | some.text(), json_values, max_size=3)
with_servers = some.fixed_dictionaries({}, optional={"mcpServers": servers | json_values, "x": json_values})


@some.composite
def documents(draw: Callable[..., Any]) -> Callable[[str], Any]:
    """Claude Code's file for a project of this path: near what it writes, or anything at all."""
    own, others = draw(with_servers | json_values), draw(objects)
    projects = draw(some.sampled_from(["none", "empty", "other", "own", "strange"]))
    top, first = draw(with_servers), draw(some.booleans())

    def document(path: str) -> Any:
        held = {"empty": {}, "other": {"/other": {}}, "own": {path: own, "/z": 1}, "strange": own}
        parts = [others, top] if projects == "none" else [others, {"projects": held[projects]}, top]
        return {key: value for part in (parts if first else parts[::-1]) for key, value in part.items()}

    return document


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(documents(), some.sampled_from(SCOPES), some.booleans())
def test_uninstall_gives_back_any_document_and_a_refusal_leaves_it(
    project: Path, home: Path, document: Callable[[str], Any], scope: Scope, escaped: bool
) -> None:
    file, before = file_of(scope, project, home), document(str(project))
    written = json.dumps(before, ensure_ascii=escaped).encode("utf-8", "backslashreplace")
    file.write_bytes(written)
    try:
        install(scope, project)
    except ClientError:
        assert file.read_bytes() == written
        return
    uninstall(scope, project)
    assert file.read_bytes() == written


def test_a_file_keeps_its_order_its_indentation_and_its_last_line(project: Path, mcp: Path) -> None:
    document = {"z": 1, "mcpServers": {"ö": OTHER}, "a": [1.5, {}]}
    for end in ("", "\n"):
        mcp.write_text(json.dumps(document, indent=2, ensure_ascii=False) + end, encoding="utf-8")
        before = mcp.read_text(encoding="utf-8")
        install("project", project)
        assert list(read(mcp)["mcpServers"]) == ["ö", "skillstill"]
        uninstall("project", project)
        assert mcp.read_text(encoding="utf-8") == before


def test_half_a_surrogate_pair_survives(project: Path, mcp: Path) -> None:
    mcp.write_text('{"a": "\\ud800", "b": "\\ud83d\\ude00"}', encoding="utf-8")
    install("project", project)
    uninstall("project", project)
    assert read(mcp) == {"a": "\ud800", "b": "\U0001f600"}


def test_modes_are_kept_and_new_files_are_for_whom_they_should_be(project: Path, home: Path, mcp: Path) -> None:
    def mode(file: Path) -> int:
        return stat.S_IMODE(file.stat().st_mode)

    install("project", project)
    install("user", project)
    assert (mode(mcp), mode(home / ".claude.json")) == (0o644, 0o600)
    mcp.chmod(0o664)
    install("project", project, name="second")
    assert mode(mcp) == 0o664


def test_a_link_is_written_through(project: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.json").write_text("{}", encoding="utf-8")
    (home / ".claude.json").symlink_to(tmp_path / "dotfiles.json")
    install("user", project)
    assert (home / ".claude.json").is_symlink()
    assert "skillstill" in read(tmp_path / "dotfiles.json")["mcpServers"]


def test_another_configuration_folder_counts(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "not there yet"))
    assert install("user", project).place.file == tmp_path / "not there yet" / ".claude.json"
    (tmp_path / "not there yet" / ".config.json").write_text("{}", encoding="utf-8")
    assert install("user", project).place.file == tmp_path / "not there yet" / ".config.json"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "")
    assert install("user", project).place.file == Path.home() / ".claude.json"


def test_a_repository_is_one_project_with_its_folders_and_worktrees(project: Path, home: Path, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, "-C", str(project), *arguments], check=True, capture_output=True)

    git("init")
    git("commit", "--allow-empty", "-m", "first")
    git("worktree", "add", str(tmp_path / "beside"))
    (project / "inner").mkdir()
    (tmp_path / "link").symlink_to(project)
    for folder in (project, project / "inner", tmp_path / "beside", tmp_path / "link"):
        install("local", folder)
    assert list(read(home / ".claude.json")["projects"]) == [str(project)]
    (tmp_path / "beside").rename(tmp_path / "moved")
    install("local", tmp_path / "moved")
    assert list(read(home / ".claude.json")["projects"]) == [str(project), str(tmp_path / "moved")]


def test_a_git_file_that_means_nothing_is_no_reason_to_fail(project: Path, home: Path) -> None:
    (project / ".git").write_bytes(b"gitdir: \0\xff")
    install("local", project)
    assert list(read(home / ".claude.json")["projects"]) == [str(project)]


@pytest.mark.parametrize(
    "args",
    [["serve"], ["serve", "--workspace", "/old"], ["serve", "--registry", "/old.json", "--workspace", "/old"]],
)
@pytest.mark.parametrize("more", [{}, {"type": "stdio", "env": {}}, {"timeout": 1000, "alwaysLoad": False}])
def test_an_older_entry_of_ours_is_brought_up_to_date(
    project: Path, mcp: Path, args: list[str], more: dict[str, Any]
) -> None:
    write(mcp, {"mcpServers": {"skillstill": {"command": "skillstill", "args": args, **more}, "other": OTHER}})
    assert install("project", project).did == "updated"
    assert read(mcp) == {"mcpServers": {"skillstill": entry(serving()), "other": OTHER}}


@pytest.mark.parametrize(
    "found",
    [
        OTHER,
        None,
        [],
        {"type": "http", "url": "https://example.org"},
        {"command": "skillstill", "args": ["serve"], "env": {"SKILLSTILL_THREADS": "4"}},
        {"command": "skillstill", "args": ["serve", "--slots", "8"]},
        {"command": "skillstill", "args": ["serve", "--workspace"]},
        {"command": "skillstill", "args": ["serve", "--workspace", "/a", "--workspace", "/b"]},
        {"command": "skillstill", "args": ["serve"], "note": "mine"},
        {"command": "/opt/other", "args": ["serve"]},
    ],
    ids=str,
)
def test_another_server_of_that_name_is_replaced_only_by_force(project: Path, mcp: Path, found: Any) -> None:
    write(mcp, {"mcpServers": {"skillstill": found}})
    before = mcp.read_bytes()
    with pytest.raises(ClientError, match=r"another server is mcpServers > skillstill in .*: --force replaces it"):
        install("project", project)
    with pytest.raises(ClientError, match="`claude mcp remove skillstill --scope project` removes it"):
        uninstall("project", project)
    assert mcp.read_bytes() == before
    assert install("project", project, force=True).did == "replaced"
    assert read(mcp)["mcpServers"]["skillstill"] == entry(serving())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b'{"a": 1} // mine', "is not JSON"),
        (b"\xff{}", "is not JSON"),
        (b"\xef\xbb\xbf{}", "is not JSON"),
        (b'{"a": NaN}', "no such number: NaN"),
        (b'{"a": 1e999}', "no such number: 1e999"),
        (b'{"a": 1, "a": 2}', "'a' is there twice"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "what it holds is not a JSON object"),
        (b"null", "what it holds is not a JSON object"),
        (b'{"mcpServers": []}', "mcpServers is not a JSON object"),
        (b'{"mcpServers": null}', "mcpServers is not a JSON object"),
    ],
    ids=lambda value: str(value[:20]),
)
def test_a_file_of_another_shape_is_refused_and_left(project: Path, mcp: Path, content: bytes, says: str) -> None:
    mcp.write_bytes(content)
    for change in (install, uninstall):
        with pytest.raises(ClientError, match=says) as refused:
            change("project", project)
        assert str(mcp) in str(refused.value)
        assert "\n" not in str(refused.value)
        assert mcp.read_bytes() == content


@pytest.mark.parametrize("depth", [*range(900, 1000, 10), 5000])
def test_deep_nesting_is_written_again_or_refused(project: Path, mcp: Path, depth: int) -> None:
    content = '{"a": ' + "[" * depth + "]" * depth + "}"
    mcp.write_text(content, encoding="utf-8")
    try:
        install("project", project)
    except ClientError:
        assert mcp.read_text(encoding="utf-8") == content
    else:
        uninstall("project", project)
        assert "".join(mcp.read_text(encoding="utf-8").split()) == content.replace(" ", "")


def test_a_project_of_another_shape_is_refused(project: Path, home: Path) -> None:
    write(home / ".claude.json", {"projects": {str(project): {"mcpServers": "none"}}})
    with pytest.raises(ClientError, match=r"projects > .* > mcpServers is not a JSON object"):
        install("local", project)


def read_only(mcp: Path) -> None:
    mcp.write_text("{}", encoding="utf-8")
    mcp.chmod(0o444)


@pytest.mark.parametrize(
    ("prepare", "says"),
    [
        (read_only, "is read-only"),
        (lambda mcp: mcp.mkdir(), "is not a regular file"),
        (lambda mcp: os.mkfifo(mcp), "is not a regular file"),
        (lambda mcp: mcp.symlink_to(mcp), "cannot be found: Symlink loop"),
        (lambda mcp: mcp.symlink_to("/proc/nowhere/file"), "cannot be written"),
    ],
    ids=["read-only", "folder", "pipe", "loop", "unwritable"],
)
def test_a_file_that_cannot_be_written_is_one_sentence(
    project: Path, home: Path, mcp: Path, prepare: Callable[[Path], object], says: str
) -> None:
    prepare(mcp)
    with pytest.raises(ClientError, match=says) as refused:
        install("project", project)
    assert "\n" not in str(refused.value)
    assert not [made for file in home.rglob("made.json") for made in read(file)], "nothing is remembered of it"


@pytest.mark.parametrize("scope", SCOPES)
def test_a_missing_home_is_one_sentence_and_is_not_made(
    scope: Scope, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    with pytest.raises(ClientError, match=r"there is no home folder .*nobody: set HOME"):
        install(scope, project)
    assert not (tmp_path / "nobody").exists()


def test_a_data_folder_that_cannot_be_written_stops_everything_before_the_change(
    project: Path, mcp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(ClientError, match=r"made\.json cannot be written"):
        install("project", project)
    assert not mcp.exists()


@pytest.mark.parametrize("name", ["", "a b", "ä", "a.b", "-x", "x" * 65, "workspace", "a\n"])
def test_a_name_that_claude_code_refuses_is_refused_here(project: Path, name: str) -> None:
    with pytest.raises(UsageError, match="a server's name is 1 to 64 of"):
        install("project", project, name=name)


@pytest.mark.parametrize(
    ("folder", "says"),
    [("nowhere", "no such folder"), ("file", "not a folder"), ("${HOME}", "replace the"), ("\udce9", "not UTF-8")],
)
def test_a_workspace_that_cannot_be_served_is_refused(project: Path, folder: str, says: str) -> None:
    (project / "file").touch()
    for name in ("${HOME}", "\udce9"):
        (project / name).mkdir()
    with pytest.raises(UsageError, match=says):
        install("project", project, workspace=project / folder)
    assert not (project / ".mcp.json").exists()


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("place", ["/", "~"])
def test_a_workspace_that_no_server_would_start_in_is_refused(
    project: Path, home: Path, scope: Scope, place: str
) -> None:
    for tell in (install, snippet):
        with pytest.raises(UsageError, match="too wide for a workspace"):
            tell(scope, project, workspace=Path(place))
    assert not file_of(scope, project, home).exists()


@pytest.mark.parametrize("scope", ["local", "project"])
def test_the_home_folder_is_no_project_unless_another_folder_is_served(scope: Scope, project: Path, home: Path) -> None:
    with pytest.raises(UsageError, match="too wide for a workspace"):
        install(scope, home)
    assert install(scope, home, workspace=project).did == "added"
    assert install("user", home).did == "added"


def test_without_the_installed_command_it_says_what_to_type(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(ClientError, match=r"type `pip install \.` in its checkout"):
        snippet("local", project)


def test_the_snippet_is_what_install_writes_and_what_a_shell_reads(project: Path, home: Path, mcp: Path) -> None:
    said = snippet("project", project, workspace=project)
    typed = next(line for line in said.splitlines() if line.startswith("claude"))
    *words, added, option, scope = shlex.split(typed)
    assert (words, option, scope) == (["claude", "mcp", "add-json", "skillstill"], "--scope", "project")
    assert not mcp.exists()
    install("project", project, workspace=project)
    assert json.loads(added) == read(mcp)["mcpServers"]["skillstill"]
    assert json.loads(added)["alwaysLoad"], (
        "else the first turns of `claude -p` do not see a server that still connects"
    )
    assert json.loads(said[said.index("Or add to") :].partition(":\n\n")[2]) == read(mcp)
    assert f"{home / '.claude.json'}, under projects > {project}:" in snippet("local", project)


app = typer.Typer()
app.command()(commands.install)
app.command()(commands.uninstall)


def typed(*arguments: str) -> Any:
    return CliRunner().invoke(app, arguments, standalone_mode=False)


def test_the_commands_print_and_write_and_take_away(project: Path, mcp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    printed = typed("install", "claude-code", "--scope", "project")
    assert "claude mcp add-json skillstill '{" in printed.output
    assert not mcp.exists()
    written = typed("install", "claude-code", "--scope", "project", "--write", "-w", ".")
    assert written.output.startswith(f"added mcpServers > skillstill in {mcp}\n")
    assert read(mcp)["mcpServers"]["skillstill"]["args"] == ["serve", "--workspace", str(project)]
    removed = typed("uninstall", "claude-code", "--scope", "project")
    assert removed.output == f"removed mcpServers > skillstill in {mcp}\n"
    assert [outcome.return_value for outcome in (printed, written, removed)] == [0, 0, 0]


def test_a_registry_elsewhere_is_served_by_its_whole_path(
    project: Path, home: Path, mcp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    write_registry(project / "registry.json", Document())
    options = ["--scope", "project", "--registry", "registry.json"]
    whole = ["--registry", str(project / "registry.json")]
    line = next(
        one for one in typed("install", "claude-code", *options).output.splitlines() if one.startswith("claude ")
    )
    assert json.loads(shlex.split(line)[4])["args"] == ["serve", *whole]
    typed("install", "claude-code", *options, "--write")
    assert read(mcp)["mcpServers"]["skillstill"]["args"] == ["serve", *whole]
    both = typed("install", "claude-code", *options, "--write", "-w", ".")
    assert both.output.startswith("updated ")
    assert read(mcp)["mcpServers"]["skillstill"]["args"] == ["serve", "--workspace", str(project), *whole]
    assert typed("uninstall", "claude-code", "--scope", "project").output.startswith("removed ")
    assert isinstance(typed("install", "claude-code", "--registry", "nowhere.json").exception, RegistryError)


def test_the_command_counts_the_subagents(project: Path, mcp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    typed("install", "claude-code", "--scope", "project", "--write")
    assert read(mcp)["mcpServers"]["skillstill"]["alwaysLoad"]
    one = read_registry(bundled() / "registry.json").entries[0]
    many = tuple(one.model_copy(update={"name": f"s{number}"}) for number in range(FEW))
    write_registry(user_registry(), Document(entries=many))
    said = typed("install", "claude-code", "--scope", "project", "--write")
    assert said.output.startswith("updated ")
    assert "alwaysLoad" not in read(mcp)["mcpServers"]["skillstill"]


@pytest.mark.parametrize(
    "arguments",
    [["install"], ["install", "another-client"], ["install", "claude-code", "--scope", "global"], ["uninstall"]],
)
def test_wrong_usage_is_told_as_such(arguments: list[str]) -> None:
    assert isinstance(typed(*arguments).exception, typer.TyperException)


def test_the_commands_raise_sentences(project: Path, mcp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    mcp.write_text("{", encoding="utf-8")
    refused = typed("install", "claude-code", "--scope", "project", "--write").exception
    assert isinstance(refused, SkillstillError)


def test_the_module_of_the_commands_loads_nothing_heavy() -> None:
    look = (
        "import sys, skillstill.clients.commands, skillstill.clients.claude_code\n"
        "assert not {'mcp', 'pydantic', 'rich.console', 'llama_cpp', 'anyio'} & set(sys.modules), sys.modules"
    )
    subprocess.run([sys.executable, "-c", look], check=True)
