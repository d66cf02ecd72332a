"""Where a word stands in more files than are looked at: what is likely comes first, and what was left out is said."""

from pathlib import Path

import pytest
from skillstill.tools.code import definitions, descriptions

from tests.scenes import write
from tests.server.tools.calling import call, lines

pytestmark = pytest.mark.anyio


def users(name: str, count: int) -> dict[str, str]:
    """Files that come first by their path and only use a name."""
    return {f"a/m{number:03}.py": f"from z.home import {name}\nx = {name}()\n" for number in range(count)}


MANY = definitions.PARSED + 20


@pytest.mark.parametrize(
    ("path", "text", "name", "told"),
    [
        ("z/home.py", "class Client:\n    size = 1\n", "Client", "z/home.py:1: class Client (to line 2)"),
        ("z/home.py", "client = 0\nCLIENT = 5\n", "CLIENT", "z/home.py:2: CLIENT = 5"),
        ("z/home.go", "package z\n\ntype Client struct{}\n", "Client", "z/home.go:3: type Client struct"),
        ("z/Home.java", "class Home {\n  int fetch(int a) {\n  }\n}\n", "fetch", "z/Home.java:2: Home.fetch: "),
    ],
)  # fmt: skip
async def test_a_definition_is_found_behind_any_number_of_files_that_only_use_the_name(
    path: str, text: str, name: str, told: str, tmp_path: Path
) -> None:
    write(tmp_path, {**users(name, MANY), "a/aa.py": f"{name.swapcase()} = 1\n", path: text})
    assert (await lines("outline", tmp_path, target=name))[0].startswith(told)


async def test_a_namesake_in_an_early_file_does_not_hide_a_later_one(tmp_path: Path) -> None:
    write(tmp_path, {**users("fetch", MANY), "a/a.py": "class Old:\n    def fetch(self): ...\n"})
    write(tmp_path, {"z/home.py": "def fetch(url): ...\n"})
    assert (await lines("outline", tmp_path, target="fetch"))[0] == "2 definitions of 'fetch'"


async def test_another_spelling_is_no_substitute_for_files_that_were_not_parsed(tmp_path: Path) -> None:
    write(tmp_path, {**users("Client", MANY), "a/aa.py": "client = 1\n", "z.py": "class Mine(Client): ...\n"})
    result = await call("outline", tmp_path, target="Client")
    assert result.text == (
        "no definition of 'Client' in 300 of 321 files with the word; the word stands in 321 files: use search"
    )
    assert result.missed == "only 300 of 321 files with the word were parsed"
    write(tmp_path, {"a/aa.py": "class client:\n    def start(self): ...\n"})
    assert (await lines("outline", tmp_path, target="Client.start"))[0].endswith("none of them is 'Client.start'")


async def test_search_shows_a_definition_first_behind_any_number_of_files_with_the_word(tmp_path: Path) -> None:
    write(tmp_path, {**users("fetch", MANY), "z/home.py": "def fetch(url): ...\n"})
    assert (await lines("search", tmp_path, pattern="fetch"))[1] == "z/home.py:1: def fetch(url): ..."


async def test_a_description_says_that_files_were_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptions, "READ", 2)
    write(tmp_path, {"a.py": "def one(): ...\n", "b.py": "def two(): ...\n"})
    words = "how long it waits before another attempt"
    assert (await call("search", tmp_path, pattern=words)).missed == ""
    write(tmp_path, {"z.py": "def wait_before_attempt(): ...\n"})
    assert (await call("search", tmp_path, pattern=words)).missed == "only 2 of 3 sources were read"


async def test_words_that_stand_in_every_description_find_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def how_it_is(): ...\n", "b.py": "def retry(): ...\n"})
    text = (await call("search", tmp_path, pattern="how is it that they do this")).text
    assert text.endswith("and none of 2 definitions shares its words")
    shown = await lines("search", tmp_path, pattern="how is it that they do a retry")
    assert shown[1:] == ["b.py:1: def retry()"]
