"""list, find and read, over files that people really have."""

import os
from pathlib import Path

import pytest

from tests.scenes import write
from tests.server.tools.calling import call, lines, refused

pytestmark = pytest.mark.anyio


async def test_list_shows_folders_with_counts_then_files_without_ignored_and_secret_ones(tmp_path: Path) -> None:
    files = [".gitignore", "b.py", "a/x.py", "a/y/z.py", "made/m.py", ".env", "debug.log", ".github/ci.yml", "a/made/n"]
    write(tmp_path, dict.fromkeys(files, ""))
    write(tmp_path, {".gitignore": "made/\n*.log\n"})
    assert await lines("list", tmp_path) == [".: 5 files", ".github/ (1) a/ (2)", ".gitignore b.py"]


async def test_ignore_files_of_the_root_count_in_a_folder_below_it(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "made/\n/a/only.py\n", "a/made/n.py": "", "a/only.py": "", "a/x.py": ""})
    assert await lines("list", tmp_path, path="a") == ["a: 1 files", "x.py"]


async def test_list_says_how_many_of_many_it_leaves_out(tmp_path: Path) -> None:
    write(tmp_path, {f"file{n}.py": "" for n in range(100)})
    result = await call("list", tmp_path)
    assert result.text.startswith(".: 100 files\n")
    assert result.text.endswith("\n… 40 more: .py 40")
    assert len(result.spans) == 61


async def test_a_name_with_a_space_is_quoted_among_others(tmp_path: Path) -> None:
    write(tmp_path, {"a b.txt": "", "c.txt": "", "new folder/d.txt": ""})
    assert await lines("list", tmp_path) == [".: 3 files", "'new folder/' (1)", "'a b.txt' c.txt"]


async def test_an_empty_folder_and_a_wholly_ignored_one_have_no_files(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "made/\n", "made/m.py": ""})
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "made"):
        assert await lines("list", tmp_path, path=folder) == [f"{folder}: no files but ignored ones"]


async def test_ignore_files_and_settings_outside_the_workspace_change_nothing(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path / "root", {"a.py": "word\n", ".git/info/exclude": "a.py\n"})
    write(tmp_path, {".gitignore": "*.py\n", ".ignore": "*.py\n", ".rgignore": "*.py\n", "rg.conf": "--invert-match\n"})
    write(home, {".gitignore": "*.py\n", ".config/git/ignore": "*.py\n", "xdg_config_home/git/ignore": "*.py\n"})
    write(home, {".gitconfig": f"[core]\nexcludesFile = {home}/.gitignore\n"})
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rg.conf"))
    assert await lines("list", root) == [".: 1 files", "a.py"]
    assert await lines("search", root, pattern="word") == ["1 hits in 1 files", "a.py:1: word"]


async def test_find_takes_names_globs_braces_folders_and_parts_of_names(shop: Path) -> None:
    for glob in (
        "cart.py",
        "**/cart.py",
        "shop/cart.py",
        "./shop/cart.py",
        "/shop/cart.py",
        "shop/c*.py",
        "[bc]art.py",
    ):
        assert await lines("find", shop, glob=glob) == ["1 files match", "shop/cart.py"]
    assert (await lines("find", shop, glob="*.{go,rs}"))[0] == "2 files match"
    assert (await lines("find", shop, glob="services/"))[0] == "3 files match"
    assert await lines("find", shop, glob="CART.p") == [
        "2 files match, as a part of the name in any case", "shop/cart.py", "tests/test_cart.py",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["[id].tsx", "posts/[id].tsx", "{all}"])
async def test_a_file_whose_name_reads_like_a_glob_is_found_by_it(name: str, tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(["app/posts/[id].tsx", "app/i.tsx", "app/{all}/x.ts", "all"], ""))
    found = "app/{all}/x.ts" if name == "{all}" else "app/posts/[id].tsx"
    assert await lines("find", tmp_path, glob=name) == ["1 files match", found]


async def test_find_shows_neither_ignored_nor_secret_files_though_the_glob_names_them(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.log\nmade/\n", "a.log": "", "made/m.py": "", ".env": "", "x/server.PEM": ""})
    for glob in ("*.log", "a.log", "made/**", "m.py", ".env", "*.PEM", "**/server.*"):
        assert await lines("find", tmp_path, glob=glob) == [f"no file matches {glob!r} among 1 files"]


async def test_read_names_what_the_function_there_calls_of_this_workspace(tmp_path: Path) -> None:
    code = """import json

def load(path):
    with open(path) as file:
        return checked(json.load(file), Shape("box"))

def other():
    return checked(1, 2)
"""
    write(tmp_path, {"a.py": code, "b.rs": "pub fn checked(x: i32) -> i32 { x }\n", "c.py": "class Shape: pass\n"})
    assert (await lines("read", tmp_path, path="a.py", line=3))[-1] == "of what it calls, defined here: checked, Shape"
    assert (await lines("read", tmp_path, path="a.py", line=8))[-1] == "of what it calls, defined here: checked"


@pytest.mark.parametrize(
    "line", [f"{'a' * 140_000}(1)", "func (" * 10_000, ";".join(f"f{n:05}(1)" for n in range(5_000)), "# checked(1)"]
)
async def test_read_bears_odd_source(line: str, tmp_path: Path) -> None:
    write(tmp_path, {"a.py": line, "b.py": "def checked(): pass\n"})
    assert "defined here" not in (await call("read", tmp_path, path="a.py")).text


@pytest.mark.parametrize("path", ["notes.md", "a.py", "app.log"])
async def test_read_names_nothing_where_nothing_of_this_workspace_is_called(path: str, tmp_path: Path) -> None:
    write(tmp_path, {"notes.md": "call main()\n", "a.py": "def main(): print(1)\n", "app.log": "main() failed\n"})
    assert "defined here" not in (await call("read", tmp_path, path=path)).text


@pytest.mark.parametrize("glob", ["!*.py", "--files", "-e", "--pre=sh", "#", "$(id)", "../*", "a\nb", "*a" * 60])
async def test_odd_globs_are_only_globs(shop: Path, glob: str) -> None:
    assert (await lines("find", shop, glob=glob))[0].startswith("no file matches")


@pytest.mark.parametrize("glob", ["[", "{a", "a\\"])
async def test_a_broken_glob_is_answered_with_examples(shop: Path, glob: str) -> None:
    assert (
        await refused("find", shop, glob=glob)
        == f"not a glob: {glob!r}; examples: *.py, src/**/test_*.py, *.{{ts,tsx}}"
    )


@pytest.mark.parametrize("glob", ["/", "./", " ", "//"])
async def test_a_glob_of_nothing_is_refused(shop: Path, glob: str) -> None:
    assert "names nothing" in await refused("find", shop, glob=glob)


async def test_read_shows_twelve_lines_from_two_before_the_line(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "".join(f"line {n}\n" for n in range(1, 51))})
    shown = await lines("read", tmp_path, path="a.txt", line=30)
    assert shown == ["a.txt lines 28-39 of 50", *(f"{n}: line {n}" for n in range(28, 40))]
    assert (await lines("read", tmp_path, path="a.txt", line=50))[0] == "a.txt lines 48-50 of 50"
    assert (await lines("read", tmp_path, path="a.txt"))[0] == "a.txt lines 1-12 of 50"
    assert "there is no line 51" in await refused("read", tmp_path, path="a.txt", line=51)


async def test_where_lines_are_wide_the_head_tells_which_are_shown(tmp_path: Path) -> None:
    write(tmp_path, {"wide.md": ("word " * 60 + "\n") * 30})
    result = await call("read", tmp_path, path="wide.md", line=10)
    assert result.text.startswith("wide.md lines 8-18 of 30\n8: word")
    assert [span.first for span in result.spans] == [0, *range(8, 19)]
    assert "…" in result.text
    assert "left out" not in result.text


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"", ["f is empty"]),
        (b"a", ["f lines 1-1 of 1", "1: a"]),
        (b"\n", ["f lines 1-1 of 1", "1: "]),
        (b"\xef\xbb\xbfa\r\nb\r\n", ["f lines 1-2 of 2", "1: a", "2: b"]),
        ("a\x0cb\u2028c\x85d\x1ce\nf\n".encode(), ["f lines 1-2 of 2", "1: abcde", "2: f"]),
        (b"caf\xe9\nb\n", ["f lines 1-2 of 2", "1: caf�", "2: b"]),
        (b"a\rb\nc", ["f lines 1-2 of 2", "1: ab", "2: c"]),
    ],
)
async def test_only_line_feeds_number_lines(tmp_path: Path, content: bytes, shown: list[str]) -> None:
    (tmp_path / "f").write_bytes(content)
    assert await lines("read", tmp_path, path="f") == shown


async def test_binary_large_and_special_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"a\0b")
    (tmp_path / "utf16.txt").write_text("word", encoding="utf-16")
    (tmp_path / "large").write_bytes(b"a" * 5_000_001)
    os.mkfifo(tmp_path / "pipe")
    assert "is binary" in await refused("read", tmp_path, path="binary")
    assert "is binary" in await refused("read", tmp_path, path="utf16.txt")
    assert "use search" in await refused("read", tmp_path, path="large")
    for name in ("read", "list", "search"):
        arguments = {"path": "pipe"} | ({"pattern": "a"} if name == "search" else {})
        assert "neither a regular file nor a folder" in await refused(name, tmp_path, **arguments)


async def test_a_large_file_is_listed_and_searched(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_bytes(b"filler\n" * 800_000 + b"needle\n")
    assert await lines("list", tmp_path) == [".: 1 files", "large.txt"]
    assert (await lines("search", tmp_path, pattern="needle"))[1] == "large.txt:800001: needle"


async def test_a_minified_line_of_a_megabyte_is_cut(tmp_path: Path) -> None:
    write(tmp_path, {"min.js": "x=1;" * 250_000 + "\n"})
    result = await call("read", tmp_path, path="min.js")
    assert len(result.text) < 200
    assert result.text.endswith("…")


@pytest.mark.parametrize(
    "name", ["a b.py", "-rf", "--files", "a:1: b.py", "a*b?[c].py", "{a,b}!.py", "#x", "ü.py", "$HOME", "a\\b"]
)
async def test_odd_file_names_are_listed_found_read_and_searched(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: "needle\n", "other.py": "needle\n"})
    assert name in (await call("list", tmp_path)).text.replace("'", "")
    assert (await lines("read", tmp_path, path=name))[1] == "1: needle"
    assert await lines("search", tmp_path, pattern="needle", path=name) == ["1 hits in 1 files", f"{name}:1: needle"]


async def test_a_file_name_with_a_line_break_is_shown_on_one_line_and_is_no_evidence(tmp_path: Path) -> None:
    write(tmp_path, {"a\nb.py": "needle\n", "b.py": "none\n"})
    result = await call("search", tmp_path, pattern="needle")
    assert result.text == "1 hits in 1 files\na b.py:1: needle"
    assert result.spans == ()


async def test_a_file_name_that_is_not_utf_8_is_shown_but_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_bytes(b"needle\n")
    (tmp_path / "link.py").symlink_to(os.fsdecode(b"caf\xe9.py"))
    assert await lines("list", tmp_path) == [".: 1 files", "caf�.py"]
    assert (await lines("search", tmp_path, pattern="needle"))[1] == "caf�.py:1: needle"
    assert (await lines("read", tmp_path, path="link.py"))[1] == "1: needle"
    assert "no such path" in await refused("read", tmp_path, path="caf�.py")


async def test_a_base_name_or_an_ending_is_enough_where_it_is_the_only_one(shop: Path) -> None:
    for path in ("retry.py", "/retry.py", "./retry.py", "shop/retry.py", "/shop/retry.py"):
        assert (await lines("read", shop, path=path))[0] == "shop/retry.py lines 1-12 of 27"
    assert (await lines("list", shop, path="labels"))[0] == "services/labels: 1 files"


async def test_an_ambiguous_base_name_is_answered_with_the_candidates(tmp_path: Path) -> None:
    write(tmp_path, {f"{folder}/a.py": "" for folder in "vwxyz"})
    assert await refused("read", tmp_path, path="a.py") == (
        "'a.py' may be v/a.py or w/a.py or x/a.py or y/a.py or 1 others: give the whole path"
    )


async def test_a_wrong_folder_is_answered_with_the_right_one(shop: Path) -> None:
    assert await refused("read", shop, path="lib/retry.py") == "no such path: 'lib/retry.py'; there is shop/retry.py"


async def test_two_calls_give_the_same_result(shop: Path) -> None:
    for name, arguments in (("list", {}), ("find", {"glob": "*"}), ("read", {"path": "shop/cart.py"})):
        assert await call(name, shop, **arguments) == await call(name, shop, **arguments)
