"""The grammar of a turn: what it lets through and what it does not, without a model."""

import json

import llguidance
import pytest
from skillstill.grammar import turn_grammar
from skillstill.tools import TOOLS
from skillstill.types import ToolSchema

SCHEMAS = [tool.schema for tool in TOOLS.values()]


@pytest.fixture(scope="module")
def bytes_vocabulary() -> llguidance.LLTokenizer:
    return llguidance.LLTokenizer("byte")


def allowed(vocabulary: llguidance.LLTokenizer, text: str, *, may_answer: bool, tools: list[ToolSchema]) -> bool:
    matcher = llguidance.LLMatcher(vocabulary, turn_grammar(tools, may_answer=may_answer, may_escalate=True))
    assert not matcher.is_error(), matcher.get_error()
    tokens = list(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and bool(matcher.is_accepting())


def written(name: str, arguments: dict[str, object]) -> str:
    call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{call}\n</tool_call>"


GOOD = [
    written("search", {"pattern": "def retry\\(", "path": "src"}),
    written("search", {"pattern": 'naïve "quoted" text'}),
    written("read", {"path": "a b.py", "line": 12}),
    written("list", {}),
    "escalate: no tool can run the tests",
]
BAD = [
    written("delete", {"path": "a"}),
    written("read", {"path": "a", "line": "12"}),
    written("read", {"path": "a", "line": 0}),
    written("read", {"line": 3}),
    written("search", {"pattern": "x", "flags": "-i"}),
    "<tool_call>\n{}\n</tool_call>",
    " leading space",
    'x <<tool_call>\n{"name": "list", "arguments": {}}\n</tool_call>',
    "x <t<tool_call>",
    '{"name": "list", "arguments": {}}',
    "",
    "<|im_end|>",
]


@pytest.mark.parametrize("text", GOOD)
def test_calls_and_hand_offs_are_always_allowed(bytes_vocabulary: llguidance.LLTokenizer, text: str) -> None:
    assert allowed(bytes_vocabulary, text, may_answer=False, tools=SCHEMAS)
    assert allowed(bytes_vocabulary, text, may_answer=True, tools=SCHEMAS)


@pytest.mark.parametrize("text", BAD)
def test_other_tools_arguments_and_markers_are_not(bytes_vocabulary: llguidance.LLTokenizer, text: str) -> None:
    assert not allowed(bytes_vocabulary, text, may_answer=True, tools=SCHEMAS)


@pytest.mark.parametrize(
    "text", ["In src/a.py:3.", "a < b, List<String> and Vec<token>\nsecond line", "`a.py:3` <toast>", "42 (r1)"]
)
def test_an_answer_is_allowed_once_there_are_results(bytes_vocabulary: llguidance.LLTokenizer, text: str) -> None:
    assert allowed(bytes_vocabulary, text, may_answer=True, tools=SCHEMAS)
    assert not allowed(bytes_vocabulary, text, may_answer=False, tools=SCHEMAS)


def test_a_skill_without_a_tool_cannot_call_it(bytes_vocabulary: llguidance.LLTokenizer) -> None:
    only_list = [TOOLS["list"].schema]
    assert not allowed(bytes_vocabulary, written("read", {"path": "a"}), may_answer=False, tools=only_list)


def test_a_model_that_may_do_neither_must_call(bytes_vocabulary: llguidance.LLTokenizer) -> None:
    grammar = turn_grammar(SCHEMAS, may_answer=False, may_escalate=False)
    matcher = llguidance.LLMatcher(bytes_vocabulary, grammar)
    assert matcher.compute_ff_tokens()[: len("<tool_call>")] == list(b"<tool_call>")
