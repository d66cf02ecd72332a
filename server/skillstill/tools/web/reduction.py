"""A page of the web as a document: HTML reduced to Markdown, without navigation, forms, scripts and images."""

import re
from io import BytesIO

from skillstill.errors import Refusal
from skillstill.facts.reader import Source
from skillstill.facts.readers.documents import DOCUMENTS
from skillstill.tools.kit.redaction import redact
from skillstill.tools.web.passages import Section
from skillstill.tools.web.ranking import Document
from skillstill.tools.web.requests import Response
from skillstill.util.text import clean

HTML = ("text/html", "application/xhtml+xml")
PLAIN = ("text/plain", "text/markdown", "text/x-markdown", "text/x-rst")
ACCEPT = ", ".join((*HTML, *PLAIN))
_ANCHOR = re.compile(r"\[[#§¶🔗]?\]\([^()\s]*\)")  # a link to the title that it stands at


def reduce_page(response: Response, path: str) -> tuple[Document, tuple[str, ...]]:
    """Return the document of a page, and the addresses that it links. Raise Refusal if it is no text."""
    if response.content_type not in (*HTML, *PLAIN):
        raise Refusal(f"{response.url} is {response.content_type or 'of no known type'}: only HTML and text are read")
    markdown = _markdown(response) if response.content_type in HTML else response.text
    text = redact(clean(_ANCHOR.sub("", markdown)))
    data = text.encode()
    sections, code, links = [], [], []
    for facts in DOCUMENTS.read(Source("page.md", len(data), BytesIO(data))):
        for first, last, title, _, above, *_ in facts.rows["sections"]:
            sections.append(Section(_line(first), _line(last), str(title or ""), str(above)))
        code += [(_line(first), _line(last)) for first, last, *_ in facts.rows["code_blocks"]]
        links += [str(target) for _, _, _, target, kind in facts.rows["links"] if kind == "link"]
    return Document(path, text, sections, code), tuple(dict.fromkeys(links))


def _line(cell: object) -> int:
    assert isinstance(cell, int)
    return cell


def _markdown(response: Response) -> str:
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert  # the extra `web`

    options = ConversionOptions(
        preprocessing=PreprocessingOptions(preset="aggressive"),
        extract_metadata=False,
        skip_images=True,
        base_url=response.url,
    )
    return convert(response.text, options).content or ""
