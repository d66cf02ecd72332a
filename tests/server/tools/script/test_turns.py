"""How a script is written in a turn of a finetuned model."""

import json

import llguidance
import pytest
from skillstill import chat
from skillstill.chat.grammar import turn_grammar
from skillstill.tools import TOOLS
from skillstill.types import Message, ToolCall

TOOLS_OF = (TOOLS["search"].schema, TOOLS["script"].schema)
CODE = "seen = search('retry')\nfor place in seen.places:\n\n    if \"x\" < place: print(place)\n>search"
ODD = ["a\r\nb", "a\nb\n", "\na\nb", "a\n<|im_end|>\nb", " a\nb", "[1]", "'one line'", "a\nb\n  "]


def call(code: str, **arguments: str) -> ToolCall:
    return ToolCall(name="script", arguments={**arguments, "code": code})


def written(*calls: ToolCall) -> str:
    said = [Message(role="user", content="?"), Message(role="assistant", calls=calls)]
    return chat.render(said, chat.LINES, TOOLS_OF)[-1].text.removesuffix(chat.END)


def is_allowed(text: str) -> bool:
    grammar = turn_grammar(TOOLS_OF, chat.LINES, [Message(role="user", content="Where is retry?")])
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), grammar)
    tokens = [*text.encode()]
    return matcher.try_consume_tokens(tokens) == len(tokens) and bool(matcher.is_accepting())


def test_python_of_several_lines_stands_as_it_is_and_ends_the_turn() -> None:
    assert written(call(CODE, check="len(value) > 1")) == f">script\ncheck: len(value) > 1\ncode:\n{CODE}"


@pytest.mark.parametrize("code", [CODE, *ODD])
def test_any_script_reads_back_as_it_was_written(code: str) -> None:
    made = (call(code, check="value"),)
    assert chat.parse(written(*made), chat.LINES, tools=TOOLS_OF).calls == made


@pytest.mark.parametrize("code", [CODE, *(one for one in ODD if "<|" not in one)])
def test_any_script_may_be_written(code: str) -> None:
    assert is_allowed(written(call(code)))


def test_only_the_last_call_of_a_turn_has_its_script_in_lines() -> None:
    made = (call("a\nb"), call("c\nd"))
    assert written(*made) == ">script\ncode: " + json.dumps("a\nb") + "\n>script\ncode:\nc\nd"
    assert chat.parse(written(*made), chat.LINES, tools=TOOLS_OF).calls == made


def test_other_texts_of_several_lines_stay_json() -> None:
    made = ToolCall(name="search", arguments={"pattern": "one\ntwo"})
    assert written(made) == '>search\npattern: "one\\ntwo"'


@pytest.mark.parametrize("text", [">script\ncode:", ">script\ncode:\n", ">script", ">search\npattern:\nretry\nretry"])
def test_half_a_script_is_not_allowed(text: str) -> None:
    assert not is_allowed(text)


def test_a_script_that_was_cut_off_is_not_run() -> None:
    turn = chat.parse(f">script\ncode:\n{CODE}", chat.LINES, tools=TOOLS_OF, truncated=True)
    assert turn.malformed == "the call has no end"
