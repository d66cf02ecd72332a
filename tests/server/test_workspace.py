"""The jail: each promise attacked once, then 100,000 paths that nobody would type."""

import os
import socket
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skillstill.errors import Refusal, WorkspaceError
from skillstill.tools import TOOLS
from skillstill.tools.kit.ripgrep import visible_files
from skillstill.workspace import MAX_BYTES, Workspace

OUTSIDE, SECRET = "sentinel-of-the-outside", "sentinel-of-a-secret"


def plant(base: Path) -> Path:
    """A workspace in `base` with everything in it that must not be followed or shown; its root."""
    root = base / "root"
    for folder in (root / "src" / "deep", root / ".ssh", root / ".git", base / "outside", base / "root-sibling"):
        folder.mkdir(parents=True)
    for file in (base / "outside" / "x.txt", base / "root-sibling" / "x.txt", base / "x.txt"):
        file.write_text(f"{OUTSIDE}\n", encoding="utf-8")
    for name in (".env", "server.pem", ".ssh/config", ".git/config", "src/ID_RSA", "src/Credentials.JSON"):
        (root / name).write_text(f"{SECRET}\n", encoding="utf-8")
    (root / "src" / "app.py").write_text("def main(): ...\n", encoding="utf-8")
    (root / "src" / "deep" / "ünïcode name.txt").write_text("inside\n", encoding="utf-8")
    links: dict[str, Path | str] = {
        "out": base / "outside", "out.txt": base / "outside" / "x.txt", "up": base, "slash": "/", "dots": "../x.txt",
        "sibling": base / "root-sibling", "loop": root / "loop", "null": "/dev/null", "dangling": base / "none",
        "key.txt": root / ".env", "chain": root / "out", "inside": root / "src", "environment": "/proc/self/environ",
        "turned": "loop/../out", "turned.txt": "loop/../out.txt",
    }  # fmt: skip
    for link, target in links.items():
        (root / link).symlink_to(target)
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(root / "socket"))  # a relative path, for the sake of its limit of 108 bytes
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return plant(tmp_path)


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises(Refusal) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    assert OUTSIDE not in text
    assert SECRET not in text
    return text


def test_a_path_inside_is_found_by_relative_and_absolute_name_and_through_links_inside(root: Path) -> None:
    workspace = Workspace(root)
    for path in ("src/app.py", "./src//app.py", str(root / "src" / "app.py"), "inside/app.py"):
        assert workspace.resolve(path) == root.resolve() / "src" / "app.py"
    assert workspace.read("inside/app.py") == b"def main(): ...\n"
    assert workspace.relative(workspace.resolve("inside")) == "src"
    assert workspace.relative(workspace.resolve("")) == "."


@pytest.mark.parametrize("path", ["..", "../x.txt", "src/../../x.txt", "src/..", "./..//x.txt", "src/app.py\0", "\0"])
def test_two_dots_and_nul_are_refused_wherever_they_stand(root: Path, path: str) -> None:
    assert "may not contain '..' or NUL" in refusal(lambda: Workspace(root).resolve(path))


@pytest.mark.parametrize("path", ["/", "/etc/passwd", "/dev/zero", "/proc/self/mem", "//etc/passwd", "/root-sibling"])
def test_absolute_paths_outside_are_refused(root: Path, path: str) -> None:
    assert "outside the workspace" in refusal(lambda: Workspace(root).resolve(path))


def test_a_sibling_whose_name_begins_like_the_root_is_outside(root: Path) -> None:
    assert "outside" in refusal(lambda: Workspace(root).resolve(f"{root}-sibling/x.txt"))


@pytest.mark.parametrize(
    "link", ["out/x.txt", "out.txt", "up/x.txt", "slash/etc/passwd", "dots", "sibling/x.txt", "chain/x.txt", "null",
             "environment", "dangling", "turned/x.txt", "turned.txt", "inside/../out.txt"]
)  # fmt: skip
def test_links_out_are_refused(root: Path, link: str) -> None:
    refusal(lambda: Workspace(root).read(link))


def test_a_refusal_does_not_tell_whether_a_path_outside_exists(root: Path) -> None:
    there, not_there = (refusal(partial(Workspace(root).resolve, f"out/{name}")) for name in ("x.txt", "none"))
    assert there.replace("x.txt", "none") == not_there


def test_a_link_through_a_loop_of_links_leads_nowhere(root: Path) -> None:
    """Resolved leniently, `loop/../out` stays a link inside the root."""
    for path in ("turned", "turned/x.txt", "turned.txt"):
        refusal(partial(Workspace(root).resolve, path))


def test_a_loop_of_links_is_no_path(root: Path) -> None:
    assert "no such path" in refusal(lambda: Workspace(root).resolve("loop/x"))


@pytest.mark.parametrize("name", ["pipe", "socket"])
def test_pipes_and_sockets_are_refused_without_waiting(root: Path, name: str) -> None:
    assert "neither a regular file nor a folder" in refusal(lambda: Workspace(root).read(name))


def test_devices_are_refused(root: Path) -> None:
    try:
        os.mknod(root / "device", stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")
    assert "neither a regular file nor a folder" in refusal(lambda: Workspace(root).read("device"))


@pytest.mark.parametrize(
    "path",
    [".env", ".git/config", ".git", "server.pem", ".ssh/config", "key.txt", "src/ID_RSA", "src/Credentials.JSON",
     "./.env", "inside/ID_RSA"],
)  # fmt: skip
def test_likely_secrets_are_not_shown(root: Path, path: str) -> None:
    assert "may hold secrets" in refusal(lambda: Workspace(root).read(path))


WELL_KNOWN = (
    ".aws_credentials", ".config/gh/hosts.yml", ".claude.json", ".claude/.credentials.json", ".bash_history",
    ".zsh_history", ".psql_history", ".mysql_history", ".python_history", ".node_repl_history", ".sqlite_history",
    ".dockerconfigjson", "etc/ssh_host_rsa_key", "ssh_host_ed25519_key", "token.json", "config/secrets/db_password",
    "secrets/prod.yaml", "secrets/a/b.json", "wp-config.php", "rclone.conf", ".config/rclone/rclone.conf",
    ".azure/accessTokens.json", ".config/gcloud/credentials.db", "firebase-adminsdk-1a2b.json",
    "my-service_account.json",
    ".databrickscfg", ".terraformrc", "credentials.tfrc.json", ".vault_pass.txt", "kubeconfig.yaml",
    "etc/kubernetes/admin.conf", ".config/containers/auth.json", ".git-credentials", ".config/hub",
    ".config/glab-cli/config.yml", ".codex/auth.json", ".gemini/oauth_creds.json", ".cache/huggingface/token",
    "kaggle.json", ".m2/settings.xml", ".gradle/gradle.properties", "ngrok.yml", ".pg_service.conf", ".mylogin.cnf",
    ".msmtprc", ".authinfo", "sftp-config.json", ".vscode/sftp.json", "FileZilla.xml", "WinSCP.ini", "office.ovpn",
    "wg0.conf", "ipsec.secrets", "wpa_supplicant.conf", "home.nmconnection", "etc/shadow", "vault.kdbx",
    "login.keychain-db", "logins.json", "key4.db", "passwords.txt", "secret_token.rb", "credentials.xml",
    "credentials.yml", "local.settings.json", "accessKeys.csv", "wallet.dat", "deploy_ed25519", "auth.json",
)  # fmt: skip
SHOWN = (
    "secrets.py", "app/secrets/vault.py", "src/tokens.py", "token.go", "credentials.py", "README.md", ".env.example",
    "settings.py", "access_token.py", "keys.md", "history.md", "config/hosts.yml", "docs/auth.md", "hub/main.go",
    "public.asc", ".gitignore", ".github/workflows/ci.yml", "package.json", "tsconfig.json", "password_reset.html",
)  # fmt: skip


@pytest.mark.parametrize("path", WELL_KNOWN)
def test_names_under_which_programs_keep_secrets_are_not_shown(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(SECRET, encoding="utf-8")
    assert "may hold secrets" in refusal(lambda: Workspace(tmp_path).read(path))


async def visible(root: Path) -> list[str]:
    return await visible_files(Workspace(root))


def test_the_search_leaves_out_the_same_names_and_shows_sources_about_secrets(tmp_path: Path) -> None:
    for path in (*WELL_KNOWN, *SHOWN):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(SECRET, encoding="utf-8")
    (tmp_path / ".gitignore").write_text("", encoding="utf-8")
    assert anyio.run(visible, tmp_path) == sorted(SHOWN)
    for path in SHOWN:
        assert Workspace(tmp_path).resolve(path)


@pytest.mark.parametrize(
    "path",
    ["terraform.tfstate.backup", ".env.live", ".cargo/credentials.toml", "old.pem.bak", "AuthKey_1.p8",
     "gcloud/application_default_credentials.json"],
)  # fmt: skip
def test_copies_and_siblings_of_secrets_are_secrets(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(SECRET, encoding="utf-8")
    assert "may hold secrets" in refusal(lambda: Workspace(tmp_path).read(path))


def test_names_that_only_resemble_secrets_are_shown(root: Path) -> None:
    for name in (".env.example", "environment.py", "keyboard.py", "secrets.py", ".gitignore"):
        (root / name).write_text("fine\n", encoding="utf-8")
        assert Workspace(root).read(name) == b"fine\n"


def test_a_workspace_below_a_folder_with_a_secret_name_is_a_workspace(tmp_path: Path) -> None:
    folder = tmp_path / ".aws" / "project"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("1\n", encoding="utf-8")
    assert Workspace(folder).read(str(folder / "a.py")) == b"1\n"


def test_folders_are_not_read(root: Path) -> None:
    assert refusal(lambda: Workspace(root).read("src")) == "'src' is a folder: use list"


def test_a_large_file_is_refused_with_its_size(root: Path) -> None:
    (root / "large.txt").write_bytes(b"a" * (MAX_BYTES + 1))
    (root / "fits.txt").write_bytes(b"a" * MAX_BYTES)
    assert "has 5,000,001 bytes" in refusal(lambda: Workspace(root).read("large.txt"))
    assert len(Workspace(root).read("fits.txt")) == MAX_BYTES


def test_a_binary_file_is_refused(root: Path) -> None:
    (root / "image.png").write_bytes(b"\x89PNG\0\0")
    assert "is binary" in refusal(lambda: Workspace(root).read("image.png"))


def test_a_link_that_replaces_the_file_while_it_is_opened_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_open = os.open

    def swapped(path: Path, flags: int) -> int:
        path.unlink()
        path.symlink_to(root.parent / "x.txt")
        return real_open(path, flags)

    monkeypatch.setattr(os, "open", swapped)
    assert "cannot be read" in refusal(lambda: Workspace(root).read("src/app.py"))


@pytest.mark.parametrize(
    "path", ["\udcff/\ud800", "a" * 10_000, "a/" * 3_000, "src/app.py/x", "~", "~root", " ", "%2e%2e/x.txt"]
)
def test_odd_paths_are_no_paths(root: Path, path: str) -> None:
    assert "no such path" in refusal(lambda: Workspace(root).resolve(path))


def test_a_name_that_is_not_utf_8_is_printed_with_replacement_characters(root: Path) -> None:
    odd = os.fsdecode(b"caf\xe9")
    (root / odd).mkdir()
    assert Workspace(root).relative(Workspace(root).resolve(odd)) == "caf�"


def test_the_root_the_home_and_what_is_above_it_are_too_wide(home: Path) -> None:
    for folder in (Path("/"), home, home.parent, Path("~"), home / "x" / ".."):
        (home / "x").mkdir(exist_ok=True)
        with pytest.raises(WorkspaceError, match="too wide"):
            Workspace(folder)


def test_a_folder_in_the_home_is_a_workspace(home: Path) -> None:
    (home / "project").mkdir()
    assert Workspace(Path("~/project")).root == (home / "project").resolve()


def test_what_is_no_folder_is_no_workspace(root: Path) -> None:
    for path in (root / "none", root / "loop", Path("a\0b"), Path("~nobody-of-this-name/x")):
        with pytest.raises(WorkspaceError, match="no such folder"):
            Workspace(path)
    with pytest.raises(WorkspaceError, match="not a folder"):
        Workspace(root / "src" / "app.py")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("planted"))


# 256 pieces, one for each byte: hypothesis draws bytes far faster than text, and shrinks them well.
NAMES = [
    "src/app.py", "src/deep/ünïcode name.txt",
    "src", "deep", "app.py", "ünïcode name.txt", "out", "out.txt", "up", "slash", "dots", "sibling", "loop", "null",
    "dangling", "key.txt", "chain", "inside", "environment", "pipe", "socket",
    "turned", "turned.txt", "turned/x.txt", ".env", ".git", ".ssh", "config",
    "server.pem", "ID_RSA", "x.txt", "outside", "root", "root-sibling", "root-sibling/x.txt", "etc", "passwd", "proc",
    "self", "environ", "fd", "cwd", "dev", "zero", "tmp", "home", "ROOT", "BASE", "ROOT/", "BASE/", "BASE/x.txt",
]  # fmt: skip
TRICKS = [
    "/", "/", "/", "/", "//", "///", "/./", "./", ".", "..", "..", "../", "../", "../../", "/..", "/../", "...",
    "....//", "..;/", "..\\", "..\\..\\", "\\", "\0", "\n", "\r", "\t", " ", "~", "~/", "~root", "$HOME", "-", "--",
    "%2e%2e", "%2f", "%2e%2e%2f", "%00", "%c0%ae", "file://", "\u2024\u2024", "\uff0e\uff0e", "\u2215", "\uff0f",
    "\u202e", "\u200b", "\ufeff", "\u0301", "\udcff", "\udc2e", "\ud800", "😀", "a" * 255, "a" * 5_000, "../" * 40,
    "*", "?", "[", "{", ":", "|", ";", "`id`", "$(id)", "CON", "C:\\", "\\\\host\\share\\", "x.txt/", "x.txt/..",
]  # fmt: skip
PIECES = ((NAMES + TRICKS) * 3)[:256]
PATHS_OF_AN_EXAMPLE, LONGEST = 50, 7


def paths_in(data: bytes, root: Path) -> Iterator[str]:
    for start in range(0, len(data), LONGEST + 1):
        length, *chunk = data[start : start + LONGEST + 1]
        separator = "/" if length % 4 else ""
        path = separator.join(PIECES[byte] for byte in chunk[: length % LONGEST + 1])
        yield path.replace("ROOT", str(root)).replace("BASE", str(root.parent))


def seen(workspace: Workspace, path: str) -> bytes:
    """What resolve and read make of a path; asserts, by other means than theirs, that the place is inside."""
    try:
        real = os.path.realpath(workspace.resolve(path))
        assert os.path.commonpath([real, workspace.root]) == str(workspace.root), path
        return workspace.read(path)
    except Refusal:
        return b""


def test_no_path_of_100_000_escapes(planted: Path) -> None:
    workspace, count, distinct, read = Workspace(planted), 0, set(), set()

    @settings(max_examples=2_000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.binary(min_size=8 * PATHS_OF_AN_EXAMPLE, max_size=8 * PATHS_OF_AN_EXAMPLE))
    def attack(data: bytes) -> None:
        nonlocal count
        for path in paths_in(data, planted):
            content = seen(workspace, path)
            assert OUTSIDE.encode() not in content, path
            assert SECRET.encode() not in content, path
            count += 1
            distinct.add(path)
            read.add(content)

    attack()
    assert count >= 100_000
    assert len(distinct) > 50_000
    assert {b"def main(): ...\n", b"inside\n"} <= read, "the attack reaches what it may reach"


async def shown(workspace: Workspace, tool: str, arguments: dict[str, str]) -> str:
    try:
        result = await TOOLS[tool].call(workspace, arguments)
    except Refusal as refusal:
        return str(refusal)
    assert all(os.path.realpath(workspace.root / span.path).startswith(f"{workspace.root}") for span in result.spans)
    return result.text


@pytest.mark.parametrize(
    ("tool", "argument", "given_too"),
    [("read", "path", {}), ("list", "path", {}), ("search", "path", {"pattern": "sentinel|main"}),
     ("find", "glob", {}), ("outline", "target", {}), ("search", "pattern", {})],
)  # fmt: skip
def test_no_tool_shows_what_is_outside_or_secret(
    planted: Path, tool: str, argument: str, given_too: dict[str, str]
) -> None:
    workspace = Workspace(planted)

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join))
    def attack(drawn: str) -> None:
        path = drawn.replace("ROOT", str(planted)).replace("BASE", str(planted.parent))
        text = anyio.run(shown, workspace, tool, {argument: path, **given_too})
        assert OUTSIDE not in text.replace(path, "")
        assert SECRET not in text.replace(path, "")
        assert "root-sibling" not in text.replace(path, "").replace(repr(path), "")

    attack()
