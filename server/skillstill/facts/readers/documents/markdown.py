"""Markdown (CommonMark with tables, as well as MDX), by markdown-it-py."""

import re
from collections.abc import Callable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from skillstill.facts.readers.documents.markup import (
    BARE_ADDRESS,
    CodeBlock,
    Heading,
    LineCounter,
    Link,
    Markup,
    bare_address,
)

_HTML_LINK = re.compile(r"""<a\b[^<>]*?\bhref\s*=\s*["']([^"'<>]+)["'][^<>]*>(.*?)</a\s*>""", re.DOTALL | re.IGNORECASE)
_HTML_IMAGE = re.compile(r"""<img\b[^<>]*?\bsrc\s*=\s*["']([^"'<>]+)["'][^<>]*>""", re.IGNORECASE)
_HTML_ALT = re.compile(r"""\balt\s*=\s*["']([^"'<>]*)["']""", re.IGNORECASE)
_HTML_HEADING = re.compile(r"<h([1-6])\b[^<>]*>(.*?)</h\1\s*>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_MARKS = ("[", "<", "://")  # a text without these has no link
_PLACED = ("link", "image", "autolink", "backticks", "html_inline")  # inline rules whose places are noted

_Rule = Callable[[StateInline, bool], bool]
_Place = tuple[int, int, str]  # begin, end, rule


def read_markdown(text: str) -> Markup:
    """Return the markup of a text. Line numbers count from its first line."""
    markup = Markup()
    env: dict[str, list[tuple[str, _Place]]] = {"places": []}
    tokens = _PARSER.parse(text, env)
    for number, token in enumerate(tokens):
        if token.map is None:
            continue
        first, last = token.map[0] + 1, max(token.map[1], token.map[0] + 1)
        if token.type == "heading_open":
            title = _plain(tokens[number + 1].children or [])
            markup.headings.append(Heading(title, int(token.tag[1]), first, last))
        elif token.type in ("fence", "code_block"):
            markup.code_blocks.append(_code_block(token, first, last))
        elif token.type == "html_block":
            _take_html(token.content, first, markup, block=True)
        elif token.type == "inline" and token.children:
            _take_links(token, first, markup)
    return markup


def _code_block(token: Token, first: int, last: int) -> CodeBlock:
    language = (token.info.split() or [""])[0].strip("{}.").partition(",")[0] or None
    lines = token.content.count("\n")
    if token.type == "fence":
        return CodeBlock(language, first, last, first + 1, first + lines)
    return CodeBlock(None, first, first + lines - 1, first, first + lines - 1)


def _take_links(token: Token, first: int, markup: Markup) -> None:
    counter = LineCounter(token.content, first)
    ordered = sorted(place for source, place in token.meta["places"] if source == token.content)
    starts = [begin for begin, _, rule in ordered if rule in ("link", "image", "autolink")]
    for (text, target, kind), begin in zip(_links(token.children or []), starts, strict=False):
        markup.links.append(Link(text, target, kind, counter.line(begin)))
    for match in BARE_ADDRESS.finditer(token.content):
        if not any(begin <= match.start() < end for begin, end, _ in ordered):
            markup.links.append(Link(bare_address(match), bare_address(match), "link", counter.line(match.start())))
    if any(rule == "html_inline" for _, _, rule in ordered):
        _take_html(token.content, first, markup, block=False)


def _links(children: Sequence[Token]) -> Iterator[tuple[str, str, str]]:
    """Yield text, target and kind of the links and images of a text, in the order in which they begin."""
    for number, token in enumerate(children):
        if token.type == "link_open":
            ends = (end for end, other in enumerate(children) if end > number and other.type == "link_close")
            yield _plain(children[number + 1 : next(ends, number)]), str(token.attrGet("href") or ""), "link"
        elif token.type == "image":
            yield _plain(token.children or []), str(token.attrGet("src") or ""), "image"


def _plain(children: Sequence[Token]) -> str:
    """Return the text of tokens without their markup. An image has its description."""
    parts = []
    for token in children:
        if token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type == "image":
            parts.append(_plain(token.children or []))
        elif token.type != "html_inline":
            parts.append(token.content)
    return "".join(parts).strip()


def _take_html(html: str, first: int, markup: Markup, block: bool) -> None:
    counter = LineCounter(html, first)
    for match in _HTML_LINK.finditer(html):
        markup.links.append(Link(_text_of(match[2]), match[1], "link", counter.line(match.start())))
    for match in _HTML_IMAGE.finditer(html):
        alt = _HTML_ALT.search(match[0])
        markup.links.append(Link(alt[1] if alt else "", match[1], "image", counter.line(match.start())))
    for match in _HTML_HEADING.finditer(html) if block else ():
        title, lines = _text_of(match[2]), (counter.line(match.start()), counter.line(match.end() - 1))
        if title:
            markup.headings.append(Heading(title, int(match[1]), *lines))


def _text_of(html: str) -> str:
    return " ".join(_TAG.sub("", html).split())


def _noting_places(rule: _Rule, name: str) -> _Rule:
    """Return an inline rule that also notes where in the text it was met."""

    def noting(state: StateInline, silent: bool) -> bool:
        begin = state.pos
        if not rule(state, silent):
            return False
        if not silent:
            state.env["places"].append((state.src, (begin, state.pos, name)))
        return True

    return noting


def _parse_inline(state: StateCore) -> None:
    """Look into the texts that may have links, and into titles. The others need no second look."""
    previous = ""
    for token in state.tokens:
        if token.type == "inline" and (previous == "heading_open" or any(mark in token.content for mark in _MARKS)):
            state.env["places"] = []
            token.children = []
            state.md.inline.parse(token.content, state.md, state.env, token.children)
            token.meta["places"] = state.env["places"]
        previous = token.type


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table").disable(["text_join"])
    rules = {rule.name: rule.fn for rule in parser.inline.ruler.__rules__}
    for name in _PLACED:
        parser.inline.ruler.at(name, _noting_places(rules[name], name))
    parser.core.ruler.at("inline", _parse_inline)
    return parser


_PARSER = _parser()
