"""search: what comes first, what is counted, what is never searched."""

import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread
from skillstill.errors import Refusal
from skillstill.tools import TOOLS, Result
from skillstill.tools.kit import ripgrep
from skillstill.workspace import Workspace

from tests.scenes import write

pytestmark = pytest.mark.anyio


async def search(root: Path, pattern: str, **arguments: Any) -> Result:
    return await TOOLS["search"].call(Workspace(root), {"pattern": pattern, **arguments})


async def lines(root: Path, pattern: str, **arguments: Any) -> list[str]:
    return (await search(root, pattern, **arguments)).text.split("\n")


async def test_definitions_come_before_other_hits(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "from z import load\nload()\n", "z.py": "x = 1\ndef load():\n    reload()\n"})
    assert await lines(tmp_path, "load") == [
        "4 hits in 2 files; a definition first",
        "z.py:2: def load():",
        "a.py:1: from z import load",
        "a.py:2: load()",
        "z.py:3: reload()",
    ]


@pytest.mark.parametrize("pattern", [r"\bload\b", r"def\s+load", r"load\(", "load|missing"])
async def test_a_definition_is_known_through_a_regular_expression(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, {"a.py": "load(1)\ndef load(): ...\n"})
    assert (await lines(tmp_path, pattern))[1] == "a.py:2: def load(): ..."


async def test_what_only_contains_the_name_or_has_it_in_other_case_is_no_definition(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "class order: ...\nORDER: order = order()\nclass orders: ...\n"})
    assert (await lines(tmp_path, "order"))[:2] == ["3 hits in 1 files; a definition first", "a.py:1: class order: ..."]
    assert (await lines(tmp_path, "rders"))[0] == "1 hits in 1 files"


async def test_other_case_is_tried_only_where_this_case_has_no_hit(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "class Timer: ...\ntimer = 1\n"})
    assert await lines(tmp_path, "Timer") == ["1 hits in 1 files; a definition first", "a.py:1: class Timer: ..."]
    assert (await lines(tmp_path, "TIMER"))[0] == "2 hits in 1 files (none in this case); 2 definitions first"


@pytest.mark.parametrize("pattern", ["total(cart", "f[0]", "a.b(c)", "x\\n", "*args", "a ? b : c", "${name}"])
async def test_what_is_no_regular_expression_or_matches_nothing_as_one_is_taken_literally(
    tmp_path: Path, pattern: str
) -> None:
    write(tmp_path, {"a.txt": f"before\n{pattern}\n"})
    assert await lines(tmp_path, pattern) == ["1 hits in 1 files (taken literally)", f"a.txt:2: {pattern}"]


async def test_no_hits_says_so(shop: Path) -> None:
    assert await lines(shop, "coupon(") == ["no hits for 'coupon(', in any case"]
    assert await lines(shop, "coupon", path="web") == ["no hits for 'coupon' in web, in any case"]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?<=x)foo", "look-around, including look-ahead and look-behind, is not supported"),
        (r"(\w)\1", "backreferences are not supported"),
    ],
)
async def test_a_pattern_that_cannot_be_read_does_not_prove_that_there_is_nothing(
    pattern: str, reason: str, tmp_path: Path
) -> None:
    write(tmp_path, {"a.txt": "xfoo\n"})
    result = await search(tmp_path, pattern)
    assert result.text == f"no hits for {pattern!r}, in any case; not read as a pattern: {reason}"
    assert result.missed == "its pattern could not be read"
    assert (await search(tmp_path, "coupon(")).missed == ""


async def test_three_thousand_hits_are_counted_and_five_shown(tmp_path: Path) -> None:
    write(tmp_path, {f"{name}.txt": "hit\n" * 600 for name in "abcde"})
    result = await search(tmp_path, "hit")
    assert result.text.split("\n") == [
        "3000 hits in 5 files",
        *(f"a.txt:{n}: hit" for n in range(1, 6)),
        "… 2995 more: b.txt 600, c.txt 600, d.txt 600, 2 other places",
    ]
    assert [(span.path, span.first, span.last) for span in result.spans] == [("a.txt", n, n) for n in range(1, 6)]


async def test_more_hits_than_anyone_counts_are_more_than_so_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep, "MAX_OUTPUT", 10_000)
    write(tmp_path, {"a.txt": "hit\n" * 100_000})
    assert (await lines(tmp_path, "hit"))[0].startswith("more than ")


async def test_ignored_and_secret_files_are_not_searched_and_hidden_workflows_are(tmp_path: Path) -> None:
    write(
        tmp_path,
        dict.fromkeys(["made/m.py", "a/made/n.py", ".env", "x.pem", "a/.git/config", ".github/ci.yml"], "word\n"),
    )
    write(tmp_path, {".gitignore": "made/\n"})
    assert await lines(tmp_path, "word") == ["1 hits in 1 files", ".github/ci.yml:1: word"]


async def test_ignore_files_of_the_root_count_in_a_folder_below_it(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "made/\n", "a/made/m.py": "word\n", "a/x.py": "word\n"})
    assert await lines(tmp_path, "word", path="a") == ["1 hits in 1 files", "a/x.py:1: word"]
    with pytest.raises(Refusal, match="a/made holds no files but ignored ones"):
        await search(tmp_path, "word", path="a/made")


async def test_an_ignored_file_that_is_named_is_searched(shop: Path) -> None:
    assert (await lines(shop, "TAX_RATE", path="generated/catalog.py"))[1].startswith("generated/catalog.py:3: ")


async def test_the_path_may_be_a_file_a_folder_or_the_ending_of_one(shop: Path) -> None:
    for path in ("shop/retry.py", "retry.py", "/shop/retry.py"):
        assert (await lines(shop, "NetworkDown", path=path))[0] == "3 hits in 1 files"
    assert (await lines(shop, "panic", path="labels"))[0] == "1 hits in 1 files"


@pytest.mark.parametrize(
    "pattern", ["--files", "-e", "--pre=sh", "-", "--", "-rf", "--no-ignore", "-f/etc/passwd", "@file"]
)
async def test_patterns_that_look_like_options_are_patterns(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, {"a.txt": f"{pattern}\n"})
    assert (await lines(tmp_path, pattern))[1] == f"a.txt:1: {pattern}"


async def test_a_pattern_with_a_line_break_or_nul_is_refused_in_words(shop: Path) -> None:
    with pytest.raises(Refusal, match="a pattern has no line break"):
        await search(shop, "a\nb")
    with pytest.raises(Refusal, match="NUL"):
        await search(shop, "a\0b")


@pytest.mark.parametrize(
    ("content", "hit"),
    [
        (b"\xef\xbb\xbfneedle\r\n", "f:1: needle"),
        (b"a\r\nneedle\r\n", "f:2: needle"),
        ("a\x0cb\u2028c\x85d\nneedle".encode(), "f:2: needle"),
        (b"caf\xe9 needle\n", "f:1: caf� needle"),
        (b"a\n\tif x:\x1b[31m  needle\n", "f:2: if x: needle"),
    ],
)
async def test_lines_are_numbered_as_read_numbers_them(tmp_path: Path, content: bytes, hit: str) -> None:
    (tmp_path / "f").write_bytes(content)
    assert (await lines(tmp_path, "needle$"))[1] == hit
    number = int(hit.split(":")[1])
    shown = (await TOOLS["read"].call(Workspace(tmp_path), {"path": "f", "line": number})).text
    assert f"\n{number}: " in shown
    assert "needle" in shown.split(f"\n{number}: ")[1].split("\n")[0]


async def test_a_match_far_to_the_right_is_what_is_shown_of_its_line(tmp_path: Path) -> None:
    write(
        tmp_path, {"guide.md": "word " * 100 + "needle " + "word " * 100 + "\n", "min.js": "x;" * 500_000 + "needle\n"}
    )
    first, second = (await lines(tmp_path, "needle"))[1:]
    assert first.startswith("guide.md:1: …")
    assert "needle" in first
    assert second.startswith("min.js:1: x;x;")
    assert len(first) < 100
    assert len(second) < 100


async def test_binary_files_give_no_hits_beyond_their_first_nul(tmp_path: Path) -> None:
    (tmp_path / "early.bin").write_bytes(b"needle\0needle\n")
    (tmp_path / "late.bin").write_bytes(b"needle\n" + b"x" * 200_000 + b"\0\nneedle\n")
    write(tmp_path, {"z.txt": "needle\n"})
    assert await lines(tmp_path, "needle") == ["2 hits in 2 files", "late.bin:1: needle", "z.txt:1: needle"]
    assert await lines(tmp_path, "needle", path="early.bin") == ["no hits for 'needle' in early.bin, in any case"]
    assert await lines(tmp_path, "needle", path="late.bin") == ["1 hits in 1 files", "late.bin:1: needle"]


async def test_links_are_not_followed(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.txt": "needle\n"})
    write(tmp_path, {"outside.txt": "needle\n"})
    (root / "out.txt").symlink_to(tmp_path / "outside.txt")
    (root / "up").symlink_to(tmp_path)
    assert (await lines(root, "needle"))[0] == "1 hits in 1 files"


@pytest.mark.parametrize("pattern", ["total", "e", ".", "class", "self|cart", "return"])
async def test_the_line_of_every_place_stands_in_the_text_and_in_the_file(shop: Path, pattern: str) -> None:
    result = await search(shop, pattern)
    assert result.spans
    for span in result.spans:
        assert f"\n{span.path}:{span.first}: " in result.text
        assert span.last <= len((shop / span.path).read_text(encoding="utf-8").split("\n"))
    assert result == await search(shop, pattern)


def stalling(folder: Path) -> tuple[Path, Path]:
    """A program that never ends, and the pipe into which it writes its process id."""
    program, pipe = folder / "rg", folder / "pipe"
    os.mkfifo(pipe)
    program.write_text(f"#!/bin/sh\necho $$ > '{pipe}'\nexec sleep 600\n", encoding="utf-8")
    program.chmod(0o755)
    return program, pipe


async def test_a_cancelled_search_kills_its_process(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, pipe = stalling(tmp_path)
    monkeypatch.setattr(ripgrep, "rg_path", lambda: str(program))
    async with anyio.create_task_group() as group:
        group.start_soon(search, shop, "total")
        process = int(await to_thread.run_sync(pipe.read_text))
        os.kill(process, 0)
        group.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


async def test_a_search_that_takes_too_long_is_given_up_once(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, pipe = stalling(tmp_path)
    monkeypatch.setattr(ripgrep, "rg_path", lambda: str(program))
    monkeypatch.setattr(ripgrep, "SECONDS", 0.3)
    started: list[str] = []

    async def watch() -> None:
        started.append(await to_thread.run_sync(pipe.read_text))

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        with pytest.raises(Refusal, match="name a smaller path"):
            await search(shop, "total(")
    assert len(started) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(int(started[0]), 0)


async def test_files_that_cannot_be_read_do_not_spoil_the_rest(
    tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\nprintf './a.py\\0001:1:total\\n'\nexit 2\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(ripgrep, "rg_path", lambda: str(program))
    assert await lines(shop, "total") == ["1 hits in 1 files", "a.py:1: total"]
