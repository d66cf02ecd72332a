"""The tool `passages`: which passages of the documents of a folder it shows, and how."""

from pathlib import Path

import pytest
from skillstill.tools.web import passages
from skillstill.tools.web.passages import plain

from tests.scenes import SHOP
from tests.server.tools.calling import call, lines

pytestmark = pytest.mark.anyio
MANUAL = SHOP.parent / "manual"


async def test_a_passage_has_its_place_its_titles_and_its_text() -> None:
    shown = await lines("passages", MANUAL, text="What is the default interval between readings?")
    row = "| `interval` | `60` | Seconds between two readings. Below 5 the probe warms the water. |"
    assert shown[:2] == ["likeliest passages:", f"docs/guide/start.md:23: First hour > Options: {row}"]


async def test_its_span_covers_all_of_its_lines() -> None:
    found = await call("passages", MANUAL, text="what does --once do")
    assert (found.spans[0].first, found.spans[0].last) == (12, 14)
    assert found.guess


async def test_code_is_marked_and_keeps_its_lines_apart() -> None:
    shown = await lines("passages", MANUAL, text="pip install pondkeeper")
    assert "README.md:11: Pondkeeper > Install (code): pip install pondkeeper ⏎ pondkeeper probe --check" in shown


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("how do I calibrate a probe?", "docs/guide/start.md:9"),
        ("since which version is there a ring store", "docs/guide/start.md:17"),
        ("read once and exit", "docs/commands.rst:12"),
        ("which group must the service's user be in", "docs/commands.rst:25"),
        ("where do alarms go without a mail server", "docs/alarms.adoc:5"),
    ],
)
async def test_the_likeliest_passage_answers(question: str, place: str) -> None:
    assert (await lines("passages", MANUAL, text=question))[1].startswith(f"{place}: ")


async def test_a_changed_document_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Colour\n\nThe default colour is teal.\n", encoding="utf-8")
    assert "teal" in (await call("passages", tmp_path, text="default colour")).text
    (tmp_path / "a.md").write_text("# Colour\n\nThe default colour is plum, not what it was.\n", encoding="utf-8")
    assert "plum" in (await call("passages", tmp_path, text="default colour")).text


async def test_news_and_translations_come_later_unless_the_question_is_about_versions(tmp_path: Path) -> None:
    for path in ("CHANGELOG.md", "docs/colour.md", "docs/de-DE/colour.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"# Colour\n\nThe colour is teal, says {path[:6]}.\n", encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text("# 2.0\n\nThe colour is teal, added by us.\n", encoding="utf-8")
    assert (await lines("passages", tmp_path, text="which colour is it, teal"))[1].startswith("docs/colour.md")
    assert (await lines("passages", tmp_path, text="colour teal added in which version"))[1].startswith("CHANGELOG.md")


async def test_the_same_text_is_shown_once(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("# Colour\n\nThe colour is teal.\n", encoding="utf-8")
    assert len(await lines("passages", tmp_path, text="colour")) == 2


async def test_long_paragraphs_are_cut_between_sentences_with_the_lines_of_each(tmp_path: Path) -> None:
    text = "\n".join(f"Sentence {number} says that the word {'very ' * 20}matters." for number in range(6))
    (tmp_path / "a.md").write_text(f"# Long\n\n{text}\n", encoding="utf-8")
    shown = await lines("passages", tmp_path, text="sentence 4 matters")
    assert {line.split(": ")[0] for line in shown[1:]} <= {f"a.md:{number}" for number in range(3, 9)}
    assert all(line.endswith("matters.") for line in shown[1:])
    assert all(len(line) < passages.LONGEST + 40 for line in shown[1:])


async def test_secrets_are_no_documents(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "notes.md").write_text("# Teal\n\nThe colour teal.\n", encoding="utf-8")
    assert (await call("passages", tmp_path, text="teal")).empty


@pytest.mark.parametrize(
    ("marked", "read"),
    [
        ('see [the guide](guide.md "Guide") and ![x](y.png)', "see the guide and"),
        ("use :ref:`the guide <guide>` or :func:`~a.b`", "use `the guide` or `a.b`"),
        ("**bold** ``code`` <br/>a <string> b", "bold `code` a <string> b"),
        ("[brackets] stay, [a][b] does not", "[brackets] stay, a does not"),
    ],
)
async def test_markup_is_left_out_and_placeholders_stay(marked: str, read: str) -> None:
    assert plain(marked) == read
