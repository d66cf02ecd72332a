"""What makes a function a tool, and a result fit for a small context."""

from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field
from skillstill.errors import Refusal
from skillstill.tools import TOOLS, Line, Result, tool
from skillstill.tools.kit.tool import MAX_LINE, MAX_RESULT
from skillstill.types import Span
from skillstill.workspace import Workspace

pytestmark = pytest.mark.anyio


async def count(
    workspace: Workspace,
    word: Annotated[str, Field(description="what to count")],
    least: Annotated[int, Field(ge=1)] = 1,
) -> Result:
    """Count a word,
    wherever it stands."""
    return Result.of_text(f"{word} {least}")


async def refused(name: str, arguments: dict[str, Any], shop: Path) -> str:
    with pytest.raises(Refusal) as caught:
        await TOOLS[name].call(Workspace(shop), arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_signature_and_docstring_are_the_schema() -> None:
    schema = tool(count).schema
    assert (schema.name, schema.description) == ("count", "Count a word, wherever it stands.")
    assert schema.parameters == {
        "type": "object",
        "properties": {
            "word": {"description": "what to count", "type": "string"},
            "least": {"default": 1, "minimum": 1, "type": "integer"},
        },
        "required": ["word"],
        "additionalProperties": False,
    }


async def test_omitted_arguments_take_their_defaults(shop: Path) -> None:
    assert (await tool(count).call(Workspace(shop), {"word": "a"})).text == "a 1"
    assert tool(count).with_defaults({"word": "a"}) == {"word": "a", "least": 1}
    assert tool(count).with_defaults({"least": 0}) == {"least": 0}


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("read", {}, "read: path: Field required; the arguments are path, line"),
        ("list", {"folder": "a"}, "list: folder: Extra inputs are not permitted; the arguments are path"),
        ("read", {"path": 3}, "read: path: Input should be a valid string; the arguments are path, line"),
        ("list", {"path": None}, "list: path: Input should be a valid string; the arguments are path"),
        ("find", {"glob": ""}, "find: glob: String should have at least 1 character; the arguments are glob"),
        ("outline", {"target": ["a"]}, "outline: target: Input should be a valid string; the arguments are target, of"),
    ],
)  # fmt: skip
async def test_wrong_arguments_get_one_sentence(
    name: str, arguments: dict[str, Any], sentence: str, shop: Path
) -> None:
    assert await refused(name, arguments, shop) == sentence


async def test_arguments_of_any_size_get_one_short_sentence(shop: Path) -> None:
    for arguments in ({"path": "a" * 9_000}, {"x\n" * 9_000: 1, "path": "a"}, {"path": "\ud800"}):
        assert len(await refused("read", arguments, shop)) <= 200


@given(st.lists(st.tuples(st.text(max_size=600), st.integers(1, 9)), max_size=40))
def test_a_result_is_bounded_and_keeps_no_place_without_its_line(lines: list[tuple[str, int]]) -> None:
    result = Result(tuple(Line(text, (Span(path="a", first=line, last=line),)) for text, line in lines))
    shown = result.text.split("\n")
    assert len(result.text) <= MAX_RESULT + len("… 40 more lines left out")
    assert all(len(line) <= MAX_LINE for line in shown)
    assert len(result.spans) <= len(shown)


def test_lines_beyond_the_cap_are_counted_and_their_places_dropped() -> None:
    result = Result(tuple(Line("a" * 300, (Span(path="a", first=n, last=n),)) for n in range(1, 10)))
    assert result.text.split("\n")[-1] == "… 4 more lines left out"
    assert [span.first for span in result.spans] == [1, 2, 3, 4, 5]


def test_a_line_that_had_to_be_cut_vouches_for_nothing() -> None:
    assert Result((Line("a" * 500 + ":1: x", (Span(path="a" * 500, first=1, last=1),)),)).spans == ()


def test_escape_sequences_and_invisible_characters_are_taken_out() -> None:
    assert Result.of_text("a\x1b[31mb\u202ec\u200bd\r\x07e\nf").text == "abcde f"
    assert Result.of_text("ok\U000e0154\ufe01\u3164\u115f\u034f").text == "ok"
