"""A file that breaks the rules is understood, and what had to be done for it is said."""

from contextlib import suppress
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skillstill.errors import LibraryError
from skillstill.library.definition import Definition, Licence
from skillstill.library.reading import FileContext, build_definition, decode
from skillstill.library.scanning import scan


def read(folder: Path, name: str, raw: bytes | str) -> Definition:
    """The one definition of a source that holds this one file."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(raw.encode() if isinstance(raw, str) else raw)
    found = scan(folder, "source")
    assert not found.refused, found.refused
    return found.definitions[0]


def said(definition: Definition, kind: str) -> list[str]:
    return [finding.text for finding in definition.findings if finding.kind == kind]


@pytest.mark.parametrize(
    ("name", "raw", "called", "description", "tools", "repair"),
    [
        ("ok/SKILL.md", "---\nname: ok\ndescription: Fine.\nversion: 1.10\n---\nBody", "ok", "Fine.", (), ""),
        (
            "agents/colon.md",
            "---\nname: colon\ndescription: A loop: carts\ntools: Read, Grep\n---\nB",
            "colon",
            "A loop: carts",
            ("Read", "Grep"),
            "front matter: quoted",
        ),
        (
            "at/SKILL.md",
            "---\nname: at\ndescription: @Watch it's\nallowed-tools: Read Bash(git:*) Bash(git log *)\n---\nB",
            "at",
            "@Watch it's",
            ("Read", "Bash(git:*)", "Bash(git log *)"),
            "front matter: quoted",
        ),
        (
            "agents/star.md",
            '---\nname: star\ndescription: *Bold*\ntools: "[\\"Read\\", \\"Edit\\"]"\n---\nB',
            "star",
            "*Bold*",
            ("Read", "Edit"),
            "front matter: quoted",
        ),
        (
            "agents/wrap.md",
            "---\nname: wrap\ndescription: one: half,\nthe other\ntools:\n  - search\n  - edit/file\n---\nB",
            "wrap",
            "one: half,\nthe other",
            ("Grep", "Glob", "Edit"),
            "front matter: read line by line",
        ),
        (
            "commands/hint.md",
            "---\ndescription: Two\nargument-hint: [a] | [b]\n---\nRun",
            "hint",
            "Two",
            (),
            "front matter: quoted",
        ),
        (
            "C# Expert.agent.md",
            b"\xef\xbb\xbf---\r\nname: C# Expert\r\ndescription: Caps\r\ntools: Agent(a, b), *\r\n---",
            "c-expert",
            "Caps",
            ("Agent(a, b)", "*"),
            "",
        ),
        (
            "agents/late.md",
            "<!-- generated -->\n\n---\nname: late\ndescription: d\n---\nB",
            "late",
            "d",
            (),
            "front matter: it begins late",
        ),
        ("none/SKILL.md", "# A title\n\nOnly a body.\n", "none", "Only a body.", (), "description: its first line"),
        (
            "agents/latin.md",
            b"---\nname: latin\ndescription: caf\xe9\ntools: web/fetch read\n---\nB",
            "latin",
            "caf\ufffd",
            ("WebFetch", "Read"),
            "encoding: not UTF-8 at byte 32",
        ),
        (
            "agents/wide.md",
            "---\nname: wide\ndescription: far\n---\nB".encode("utf-16"),
            "wide",
            "far",
            (),
            "encoding: read",
        ),
        (
            "agents/\u4e2d\u6587.md",
            "---\nname: \u4e2d\u6587\ndescription: \u641c\u7d22\n---\nB",
            None,
            "\u641c\u7d22",
            (),
            "",
        ),
        (
            "agents/dup.md",
            "---\nname: dup\nname: dup\ndescription: d\ntools: mcp__db__query, mcp__db__*\n---\nB",
            "dup",
            "d",
            ("mcp__db__query", "mcp__db__*"),
            "",
        ),
        (
            "agents/deep.md",
            f"---\nname: deep\ndescription: d\nx: {'[' * 9_000}\n---\nB",
            "deep",
            "d",
            (),
            "front matter: read",
        ),
        (
            "agents/bomb.md",
            "---\nname: bomb\ndescription: d\na: &a [x]\nb: [*a, *a]\n---\nB",
            "bomb",
            "d",
            (),
            "front matter",
        ),
        ("agents/half.md", '---\nname: half\ndescription: "\\ud800"\n---\nB', "half", "?", (), ""),
    ],
)
def test_each_shape_that_is_seen_in_public_is_understood(
    tmp_path: Path,
    name: str,
    raw: bytes | str,
    called: str | None,
    description: str,
    tools: tuple[str, ...],
    repair: str,
) -> None:
    found = read(tmp_path, name, raw)
    assert found.name == (called or f"unnamed-{found.key[:8]}")
    assert (found.description, found.tools) == (description, tools)
    assert [text[: len(repair)] for text in said(found, "repaired")] == ([repair] if repair else [])


def test_examples_are_moved_out_of_a_description(tmp_path: Path) -> None:
    block = '<example>\\nuser: \\"hi\\"\\n</example>'
    found = read(tmp_path, "agents/a.md", f"---\nname: a\ndescription: Use it: well. Examples: {block} {block}\n---\nB")
    assert found.description == "Use it: well."
    assert [example.split("\n") for example in found.examples] == [['user: \\"hi\\"']] * 2


def test_a_version_stays_as_it_is_written_and_so_does_every_other_field(tmp_path: Path) -> None:
    found = read(tmp_path, "agents/a.md", "---\nname: a\ndescription: d\nversion: 1.10\nno: [no, 1]\nm: {k: 1}\n---\nB")
    assert dict(found.fields) | {"name": 0, "description": 0} == {
        "name": 0, "description": 0, "version": "1.10", "no": ["no", "1"], "m": {"k": "1"}
    }  # fmt: skip


def test_lint_reports_every_rule_that_is_broken_and_refuses_none(tmp_path: Path) -> None:
    (tmp_path / "folder" / "scripts").mkdir(parents=True)
    (tmp_path / "folder" / "scripts" / "there.py").touch()
    body = (
        "[a](scripts/there.py) `scripts/gone.py` [b](../out%20side.md) [c](https://x.y/z.md) `scripts/<name>.py`\n"
        * 600
    )
    front = "name: Other Name\ndescription: " + "d" * 2_000 + "\nmodel: x\nallowed-tools: Read, Grep\nmetadata: [a]\n"
    found = read(tmp_path, "folder/SKILL.md", f"---\n{front}---\n{body}")
    assert found.name == "other-name"
    assert found.title == "Other Name"
    assert [text for text in said(found, "lint") if not text.startswith("dangling")] == [
        "name-invalid: expected 1-64 of a-z, 0-9 and single hyphens, got 'Other Name'",
        "name-differs: expected 'folder', as its folder is called",
        "description-long: expected at most 1024 characters, got 2000",
        "extra-field: model",
        "tools-with-commas: expected allowed-tools with spaces between them",
        "metadata-invalid: expected texts by name",
        "body-lines: expected at most 500 lines, got 601",
        "body-tokens: expected at most about 5000 tokens, got about 15600",
    ]
    dangling = {text for text in said(found, "lint") if text.startswith("dangling")}
    assert dangling == {"dangling-reference: scripts/gone.py", "dangling-reference: ../out%20side.md"}


def test_a_front_matter_without_end_is_read_up_to_a_limit_and_kept_whole(tmp_path: Path) -> None:
    found = read(tmp_path, "agents/a.md", text := f"---\nname: a\ndescription: {'a: ' * 50_000}\n---\nBody")
    assert len(found.description) < 31_000
    assert [line.partition(",")[0] for line in said(found, "repaired")] == [
        "front matter: read up to 30000 characters",
        "front matter: quoted",
    ]
    assert (found.text, found.body) == (text, "Body")


def test_a_definition_by_the_book_has_no_finding(tmp_path: Path) -> None:
    front = (
        "name: good-one\ndescription: d\nlicense: MIT\nmetadata:\n  a: b\nallowed-tools: Read Bash(git log:*, ls:*)\n"
    )
    assert read(tmp_path, "good-one/SKILL.md", f"---\n{front}---\nBody").findings == ()


AROUND = FileContext("s", "", PurePosixPath("a/SKILL.md"), "a", 0o644, Licence(), False, (), lambda _: False)
WORDS = (
    "---\n",
    "\n",
    "\r",
    "name: ",
    "description: ",
    "tools: ",
    "!!python/object:os.system ",
    "<example>",
    "\u200b",
    "x",
)
PIECES = st.sampled_from(("[", "{", "&a ", "*a", "'", '"', "\\", ": ", "- ", "? ", "|", ">", "#", "%", *WORDS))


@settings(deadline=None)
@given(st.binary() | st.lists(PIECES).map(lambda parts: ("---\n" + "".join(parts) + "\n---\nB").encode()))
def test_any_bytes_are_a_definition_or_one_reason(raw: bytes) -> None:
    with suppress(LibraryError):
        found = build_definition(decode(raw), "skill", AROUND)
        assert Definition.model_validate_json(found.model_dump_json()) == found
        assert 1 <= len(found.name) <= 64
