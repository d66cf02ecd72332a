"""A skill folder becomes a value, or one sentence that says what to mend."""

import re
from pathlib import Path

import pytest
import yaml
from skillstill.errors import SkillError
from skillstill.skills.registry import bundled
from skillstill.skills.skill import load_skill

MARKDOWN = """\
---
name: count-words
description: Counts words.
---
Count them.
"""
TOML = f"""\
system = "count-words"
tools = ["list", "read"]

[base]
source = "file:~/base.gguf"
sha256 = "{"0" * 64}"
"""
OPENING = """
[opening]
tool = "{}"
"""


SIZES = """
[[sizes]]
size = "0.5b"
tools = ["list"]
opening = {{ tool = "{}" }}
"""


def written(parent: Path, markdown: str | bytes = MARKDOWN, toml: str | bytes = TOML) -> Path:
    folder = parent / "count-words"
    folder.mkdir()
    for name, content in (("SKILL.md", markdown), ("subagent.toml", toml)):
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def complaint(folder: Path, file: str) -> str:
    """The one sentence of the error, without the file that it begins with."""
    with pytest.raises(SkillError) as caught:
        load_skill(folder)
    start, text = f"{folder / file}: ", str(caught.value)
    assert text.startswith(start)
    assert "\n" not in text
    assert len(text) < len(start) + 300
    return text.removeprefix(start)


def test_the_bundled_skill_obeys_the_specification() -> None:
    folder = bundled() / "skills" / "explore"
    skill = load_skill(folder)
    head = yaml.safe_load((folder / "SKILL.md").read_text("utf-8").split("---\n")[1])
    assert skill.name == head["name"] == folder.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", skill.name)
    assert len(skill.name) <= 64
    assert skill.description == head["description"]
    assert 0 < len(skill.description) <= 1_024
    assert len(skill.instructions.splitlines()) < 500
    assert len(skill.instructions) < 5_000 * 3  # a token of English has some four characters
    assert head["allowed-tools"].split() == list(skill.subagent.tools) == [tool.schema.name for tool in skill.tools]


def test_a_skill_is_its_two_files(tmp_path: Path) -> None:
    skill = load_skill(written(tmp_path))
    assert (skill.name, skill.description, skill.instructions) == ("count-words", "Counts words.", "Count them.")
    assert skill.subagent.system == "count-words"
    assert [tool.schema.name for tool in skill.tools] == ["list", "read"]
    assert skill.subagent.limits.steps == 8


@pytest.mark.parametrize("encode", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_files_of_other_editors_say_the_same(tmp_path: Path, encode: object) -> None:
    assert callable(encode)
    (tmp_path / "other").mkdir()
    other = load_skill(written(tmp_path / "other", encode(MARKDOWN), encode(TOML)))
    assert other == load_skill(written(tmp_path))


def test_fields_beyond_the_specification_are_the_skill_s_own_business(tmp_path: Path) -> None:
    more = "author: me\nmetadata:\n  version: 1.10\n  released: 2026-02-31\nmodel: inherit\n---\nCount"
    assert load_skill(written(tmp_path, MARKDOWN.replace("---\nCount", more))).instructions == "Count them."


def test_a_skill_can_be_named_from_inside_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(written(tmp_path))
    assert load_skill(Path()).name == "count-words"


@pytest.mark.parametrize("file", ["SKILL.md", "subagent.toml"])
def test_a_missing_file_is_named(tmp_path: Path, file: str) -> None:
    folder = written(tmp_path)
    (folder / file).unlink()
    assert complaint(folder, file) == "file: is missing; a skill folder holds SKILL.md and subagent.toml"


@pytest.mark.parametrize("file", ["SKILL.md", "subagent.toml"])
def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path, file: str) -> None:
    folder = written(tmp_path)
    (folder / file).unlink()
    (folder / file).mkdir()
    assert complaint(folder, file).startswith("file: cannot be read as UTF-8 text (")


def test_a_path_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in complaint(tmp_path / "a\0b", "SKILL.md")


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("Count them.\n", "frontmatter: expected a first line '---', YAML fields, and a line '---'"),
        ("---\nname: count-words\n", "frontmatter: expected a first line '---', YAML fields, and a line '---'"),
        ("---\nname: [a\n---\nCount.\n", "frontmatter: is not YAML: while parsing a flow sequence"),
        ("---\nname: a: b\n---\nCount.\n", "frontmatter: is not YAML: mapping values are not allowed here"),
        ("---\njust words\n---\nCount.\n", "frontmatter: expected lines of `field: value`, got 'just words'"),
        ("---\n\n---\nCount.\n", "frontmatter: expected lines of `field: value`, got None"),
        (MARKDOWN.replace("name: count-words\n", ""), "name: Field required"),
        (MARKDOWN.replace("description: Counts words.\n", ""), "description: Field required"),
        (MARKDOWN.replace("count-words", "words"), "name: must equal the folder's name 'count-words', is 'words'"),
        (
            MARKDOWN.replace("count-words", "Count_Words"),
            "name: String should match pattern '^[a-z0-9]+(-[a-z0-9]+)*$'",
        ),
        (MARKDOWN.replace("count-words", "count--words"), "name: String should match pattern"),
        (MARKDOWN.replace("count-words", "-count-words"), "name: String should match pattern"),
        (MARKDOWN.replace("count-words", "a" * 65), "name: String should have at most 64 characters, got 'aaa"),
        (MARKDOWN.replace("count-words", "[count-words]"), "name: Input should be a valid string, got ['count-words']"),
        (MARKDOWN.replace("Counts words.", ""), "description: String should have at least 1 character, got ''"),
        (MARKDOWN.replace("Counts words.", "'  '"), "description: String should have at least 1 character"),
        (MARKDOWN.replace("Counts words.", "a" * 1_025), "description: String should have at most 1024 characters"),
        (MARKDOWN.replace("Count them.\n", ""), "body: expected instructions after the frontmatter"),
        (MARKDOWN.removesuffix("\nCount them.\n"), "body: expected instructions after the frontmatter"),
        (MARKDOWN.replace("---\nCount", "metadata: none\n---\nCount"), "metadata: Input should be a valid dictionary"),
        (b"---\nname: \xff\n---\nCount.\n", "file: cannot be read as UTF-8 text ("),
    ],
)
def test_a_mistake_in_the_markdown_is_one_sentence(tmp_path: Path, markdown: str | bytes, expected: str) -> None:
    assert complaint(written(tmp_path, markdown), "SKILL.md").startswith(expected)


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ("system =\n", "file: is not TOML: Invalid value (at line 1, column 9)"),
        (f"system = {'1' * 5_000}\n", "file: is not TOML: Exceeds the limit"),
        ("", "system: Field required"),
        (b"system = '\xff'\n", "file: cannot be read as UTF-8 text ("),
        ("colour = 'red'\n" + TOML, "colour: Extra inputs are not permitted, got 'red'"),
        (TOML + "[limits]\nstepz = 8\n", "limits.stepz: Extra inputs are not permitted, got 8"),
        (TOML + "[limits]\nsteps = 'many'\n", "limits.steps: Input should be a valid integer, unable to parse"),
        (TOML + "[limits]\nsteps = 0\n", "limits.steps: Input should be greater than or equal to 1, got 0"),
        (TOML + "[limits]\nseconds = nan\n", "limits.seconds: Input should be a finite number, got nan"),
        (
            TOML + "[workspace]\nmode = 'any'\n",
            "workspace.mode: Input should be 'read', 'scratch' or 'write', got 'any'",
        ),
        ("limits = 3\n" + TOML, "limits: Input should be a valid dictionary or instance of Limits, got 3"),
        (TOML.replace('"count-words"', '""'), "system: String should have at least 1 character, got ''"),
        (TOML.replace('"count-words"', f'"{"a" * 121}"'), "system: String should have at most 120 characters"),
        (TOML.replace('"read"', '"rm"'), "tools: no tool called 'rm'; the tools are list, find, search, outline, read"),
        (TOML.replace('"read"', '"list"'), "tools: expected each tool once, got ['list', 'list']"),
        (TOML + OPENING.format("describe"), "opening: expected one of its tools (list, read)"),
        (TOML + OPENING.format("read"), "opening: read wants path, and a run begins with the question at most"),
        (
            TOML + OPENING.format("read") + 'prompt = "text"\n',
            "opening: read has no argument 'text'; it has path, line",
        ),
        (
            TOML + OPENING.format("list") + 'prompt = "path"\nshared = true\n',
            "opening: a call that holds the question cannot be shared by all questions",
        ),
        (TOML.replace('["list", "read"]', "[]"), "mcp: expected tools, or MCP servers that bring some"),
        (TOML.replace('["list", "read"]', '"list"'), "tools: Input should be a valid tuple, got 'list'"),
        (TOML.replace("file:~/base.gguf", "https://example.com/a.gguf"), "base.source: String should match pattern"),
        (TOML.replace("file:~/base.gguf", "hf:owner/name/a.gguf@main"), "base.source: String should match pattern"),
        (TOML.replace("0" * 64, "0" * 63), "base.sha256: String should match pattern '^[0-9a-f]{64}$', got '000"),
        (TOML.replace("0" * 64, "A" * 64), "base.sha256: String should match pattern"),
    ],
)
def test_a_mistake_in_the_toml_is_one_sentence(tmp_path: Path, toml: str | bytes, expected: str) -> None:
    assert complaint(written(tmp_path, toml=toml), "subagent.toml").startswith(expected)


def test_what_aliases_blow_up_is_not_printed(tmp_path: Path) -> None:
    levels = "".join(f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 9)}]\n" for level in range(1, 12))
    assert "name:" in complaint(written(tmp_path, f"---\nl0: &l0 ha\n{levels}name: *l11\n---\nCount.\n"), "SKILL.md")


def test_a_release_on_a_larger_base_may_have_other_tools(tmp_path: Path) -> None:
    skill = load_skill(written(tmp_path, toml=TOML + SIZES.format("list")))
    assert (skill.subagent.tools, skill.subagent.opening) == (("list", "read"), None)
    larger = skill.sized("0.5b").subagent
    assert larger.opening
    assert (larger.tools, larger.opening.tool, larger.system) == (("list",), "list", "count-words")
    assert skill.sized("360m") == skill, "it has nothing of its own"


def test_what_a_size_begins_with_is_one_of_its_own_tools(tmp_path: Path) -> None:
    folder = written(tmp_path, toml=TOML + SIZES.format("read"))
    assert "expected one of its tools (list)" in complaint(folder, "subagent.toml")
