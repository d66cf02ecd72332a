"""A call as a few plain lines: `>tool`, then `argument: value` each on its own. For models that are taught it.

A call takes a third of the tokens that it takes in JSON, and what a result showed is copied as it stands, without
quotes and backslashes. A value is JSON if it can be read as JSON, and else the text that it is. Python of several
lines ends its turn: it is all that follows a line `argument:`. Each turn may begin with a line `#intent`: so a small
model forgets less often what it was asked (docs/experiments.md has the figures).
What a tool marks is held to what was said (`Copied`, `Grammar`), and lines of results are pointed at (`references`).
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillstill.chat.dialect import Marker
from skillstill.chat.markers import escape, escaped_json, turn
from skillstill.chat.references import References
from skillstill.types import PYTHON, Context, Copied, DialectName, Grammar, Message, Rules, ToolCall, ToolSchema

INTENT = re.compile(r"#(\w+)(?:\n|\Z)")
CALL = re.compile(r">(\w+)")
CALL_LINE = re.compile(rf"^{CALL.pattern}$", re.MULTILINE)
# What of an answer would be read as a call or an intent.
LIKE_OURS = re.compile(r"\A\s*[>#](?=\w+(\n|\s*\Z))|^>(?=\w+(\s*\Z|$))", re.MULTILINE)
ARGUMENT = re.compile(r"(\w+): (.*)", re.DOTALL)
OPENED = re.compile(r"(\w+):")  # the rest of the turn is its value
SEVERAL_LINES = re.compile(r"[^\s\r][^\r]*\n[^\r]*[^\s\r]")
NUMBER_OR_WORD = r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false|null|NaN|-?Infinity"
# What would be read as JSON, or would not survive as a line of its own.
NOT_PLAIN = re.compile(rf'["\[{{].*|{NUMBER_OR_WORD}|\s.*|.*\s|.*[\r\n].*|', re.DOTALL)
LONGEST = 1_000  # characters of a text whose schema names no limit
WORD = re.compile(r"[A-Za-z_]+")


@dataclass(frozen=True, slots=True)
class Lines:
    name: DialectName = DialectName.LINES
    points: bool = True
    prompted: bool = False

    def write(self, message: Message, tools: Sequence[ToolSchema] = ()) -> str:
        """Return a turn. Calls stand alone: a finetuned model does not think aloud before one."""
        intent = f"#{message.intent}\n" if message.intent else ""
        if message.calls:
            *before, last = message.calls
            return intent + "\n".join([*map(_call_text, before), _last_call_text(last, tools)])
        return intent + LIKE_OURS.sub(lambda found: f"{found[0].strip()} ", escape(message.content))

    def result(self, text: str, *, opens: bool, closes: bool) -> str:
        return turn("tool", text)

    def parse(self, text: str, *, truncated: bool) -> Message:
        begun = INTENT.match(text)
        intent, rest = (begun[1], text[begun.end() :]) if begun else ("", text)
        if not (call := CALL_LINE.search(rest)):
            return Message(role="assistant", intent=intent, content=rest)
        rest = rest[call.start() :]  # an answer that goes on with a call is none yet
        if truncated:
            return Message(role="assistant", intent=intent, content=rest, malformed="the call has no end")
        try:
            return Message(role="assistant", intent=intent, calls=tuple(_read_calls(rest)))
        except ValueError as error:
            return Message(role="assistant", intent=intent, content=rest, malformed=str(error))

    def teach(self, tools: Sequence[ToolSchema]) -> str:
        """Return nothing: this dialect is for models that carry their tools in their weights."""
        return ""

    def rules(self, tools: Sequence[ToolSchema], marker: Marker, said: Sequence[Message]) -> Sequence[str]:
        values = Values(said)
        calls = [rule for tool in tools if (rule := _call_rule(tool, values))]
        if not calls:  # every tool wants something that was not said: a refused call tells more than none at all
            values = Values(())
            calls = [_call_rule(tool, values) for tool in tools]
        return [
            r"intent: /#[a-z_]{1,40}\n/",
            f'call: ">" ({" | ".join(f"call_{index}" for index in range(len(calls)))})',
            f"ANSWER: {values.answer}",
            *[f"call_{index}: {rule}" for index, rule in enumerate(calls)],
            *values.terminals,
        ]


def _call_text(call: ToolCall) -> str:
    values = (f"{name}: {_value_text(value)}" for name, value in call.arguments.items())
    return "\n".join([f">{call.name}", *values])


def _last_call_text(call: ToolCall, tools: Sequence[ToolSchema]) -> str:
    """Return the call that ends a turn: if its last argument is Python of several lines, that stands as it is."""
    schema: Mapping[str, Any] = next(
        (one.parameters.get("properties", {}) for one in tools if one.name == call.name), {}
    )
    name, value = next(reversed(call.arguments.items()), ("", ""))
    is_python = isinstance(value, str) and _is_python(schema.get(name, {}))
    if not (is_python and SEVERAL_LINES.fullmatch(value) and escape(value) == value):
        return _call_text(call)
    before = {key: one for key, one in call.arguments.items() if key != name}
    return f"{_call_text(call.model_copy(update={'arguments': before}))}\n{name}:\n{value}"


def _is_python(schema: Mapping[str, Any]) -> bool:
    return PYTHON.items() <= schema.items()


def _value_text(value: Any) -> str:
    if isinstance(value, str) and not NOT_PLAIN.fullmatch(value) and escape(value) == value:
        return value
    return escaped_json(value)


def _read_calls(text: str) -> Iterator[ToolCall]:
    """Yield a call begins at each line with a `>`."""
    name, arguments = "", dict[str, Any]()
    lines = text.split("\n")
    for index, line in enumerate(lines, 1):
        if opened := CALL.fullmatch(line):
            if name:
                yield ToolCall(name=name, arguments=arguments)
            name, arguments = opened[1], {}
        elif found := ARGUMENT.fullmatch(line):
            arguments[found[1]] = _value(found[2])
        elif (found := OPENED.fullmatch(line)) and index < len(lines):
            arguments[found[1]] = "\n".join(lines[index:])
            break
        else:
            raise ValueError(f"the call's line {line[:80]!r} is not `argument: value`")
    yield ToolCall(name=name, arguments=arguments)


def _value(text: str) -> Any:
    if not NOT_PLAIN.fullmatch(text):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if re.search("[\ud800-\udfff]", json.dumps(value, ensure_ascii=False)):
        raise ValueError("the call holds half a character (a lone surrogate)")
    return value


def _call_rule(tool: ToolSchema, values: "Values") -> str:
    """Return the rule of a call; empty if a required argument can have no value, so that the tool is not called."""
    required = tool.parameters.get("required", [])
    parts = [json.dumps(tool.name)]
    properties = tool.parameters["properties"]
    for name, schema in properties.items():
        value = values.rule(schema, tool.copied.get(name), tool.grammars.of.get(name))
        if name in tool.references:
            value = values.or_letter(value)
        argument = json.dumps(f"\n{name}: ") + " " + value
        if _is_python(schema):
            opening = json.dumps(f"\n{name}:\n")
            argument = f"({argument} | {opening} {values.several_lines})"
        if value:
            parts.append(argument if name in required else f"({argument})?")
        elif name in required:
            return ""
    return " ".join(parts)


class Values:
    """The rules of arguments after what was said; `terminals` are those that they need, and rules in between."""

    def __init__(self, said: Sequence[Message]) -> None:
        self._said = "\n".join(message.content for message in said if message.role in ("user", "tool"))
        self._context = Context(self._said, next((one.terms for one in reversed(said) if one.terms), {}))
        references = References.of(said)
        self._letters, self._whole = list(references.lines), references.names
        self._terminals: dict[str, str] = {}

    @property
    def terminals(self) -> Sequence[str]:
        return [f"{name}: {pattern}" for name, pattern in self._terminals.items()]

    @property
    def answer(self) -> str:
        """Return the terminal of words that are no call and no intent. A line that begins with a reference is one."""
        whole = f"==({'|'.join(self._whole)})|" if self._whole else ""
        return rf"/({whole}=?[^\s<{{\[>#=][^\n]*)(\n({whole}=?[^=\n][^\n]*|=?))*/"

    def rule(self, schema: Mapping[str, Any], copied: Copied | None, grammar: Grammar | None) -> str:
        """Return a terminal for one value: plain text if it is a string, else JSON.

        Empty if nothing can stand there.
        """
        if choices := [one for one in schema.get("enum", ()) if one]:
            return "(" + " | ".join(json.dumps(_value_text(one)) for one in choices) + ")"
        if schema.get("type") != "string":
            return f"%json {json.dumps(schema)}"
        text = self._text(schema, copied, grammar)
        quoted = f"{text}_QUOTED" if f"{text}_QUOTED" in self._terminals else f"%json {json.dumps(schema)}"
        return f"({text} | {quoted})" if text else ""

    @property
    def several_lines(self) -> str:
        return self._terminal("SEVERAL_LINES", rf"/{SEVERAL_LINES.pattern}/")

    def or_letter(self, rule: str) -> str:
        """Return the rule, or a line that was shown."""
        if not self._letters:
            return rule
        letters = " | ".join(json.dumps(f"={letter}") for letter in self._letters)
        return f"({' | '.join(filter(None, (rule, self._terminal('POINTER', letters))))})"

    def _text(self, schema: Mapping[str, Any], copied: Copied | None, grammar: Grammar | None) -> str:
        most = int(schema.get("maxLength", LONGEST))
        plain = _text_pattern(most)
        if self._said and grammar and (known := grammar.rules(self._context)):
            return self._ruled(known, plain)
        if copied is None or not self._said:
            return self._terminal(f"TEXT_{most}", plain)
        held = self._words(copied.but) if copied.but else self._stretch()
        return self._terminal(f"{'WORDS' if copied.but else 'STRETCH'}_{most}", f"{plain} & {held}")

    def _ruled(self, known: Rules, plain: str) -> str:
        """Return the first of the rules.

        Of a terminal, what of it is plain text, and what of it can stand in quotes.
        """
        self._terminals |= {name: rule for name, rule in known.items() if rule}
        name, rule = next(iter(known.items()))
        if rule and name.isupper():
            self._terminals[f"{name}_QUOTED"] = rf'"\"" (({rule}) & /[^"\\\n]+/) "\""'
            self._terminals[name] = f"({rule}) & {plain}"
        return name if rule else ""

    def _terminal(self, name: str, pattern: str) -> str:
        self._terminals[name] = pattern
        return name

    def _stretch(self) -> str:
        """Return one stretch of what was said, from the beginning of a word or sign to the end of one."""
        chunks = re.findall(r"\w+|\W", self._said)
        return f"%regex {json.dumps({'substring_chunks': chunks})}"

    def _words(self, but: Collection[str]) -> str:
        """Return a text whose words were all said, or are among these, in either case."""
        known = {*WORD.findall(self._said), *but, *(word.upper() for word in but)}
        words = "|".join(sorted(known))
        return f"/[^A-Za-z_]*(({words})[^A-Za-z_]+)*({words})?/"


def _text_pattern(most: int) -> str:
    return rf'/[^\s"\[{{]([^\n]{{0,{most - 2}}}[^\s])?/ & ~/{NUMBER_OR_WORD}/'
