"""A question unlike those that an adapter learned: no model is asked, and what the files say is read off."""

import sqlite3
from base64 import b64encode
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from pathlib import Path

import pytest
from skillstill.facts.readers import BUNDLED
from skillstill.models.scripted import ScriptedModel
from skillstill.run import leads, loop
from skillstill.run.finish import UNSURE, finish_with_index
from skillstill.skills.calibration import Calibration
from skillstill.skills.familiarity import Familiarity
from skillstill.skills.registry import Registry
from skillstill.skills.skill import Skill
from skillstill.types import Model, ReasonKind, Report
from skillstill.util.question_model import FEATURES, question_features
from skillstill.workspace import Workspace

from tests.scenes import HANGS, write

pytestmark = pytest.mark.anyio
FILES = {
    "shop/retry.py": "# How long we wait before a payment is tried again.\nPAYMENT_WAIT_SECONDS = 30\nTRIES = 4\n",
    "shop/cart.py": "class Cart(dict):\n    items = 3\n",
}
NEAR = "where is it set how many seconds we wait before a payment is tried again?"
FAR = "what are all the caveats, and how would you list each of them for the team?"
STRANGE = Familiarity(weights=b64encode(bytes(FEATURES)).decode(), scale=1.0, bias=0.0, least=1.0)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leads, "SECONDS", HANGS)
    monkeypatch.setattr(leads, "EXTRACT_SECONDS", HANGS)


@pytest.fixture
def skill() -> Skill:
    return Registry().entry("explore").skill().model_copy(update={"readers": (BUNDLED["code"],)})


def no_model() -> AbstractAsyncContextManager[Model]:
    raise AssertionError("a model was asked")


class Unasked(AbstractAsyncContextManager[Model]):
    async def __aenter__(self) -> Model:
        return no_model()  # type: ignore[return-value]

    async def __aexit__(self, *_: object) -> None: ...


async def reported(skill: Skill, root: Path, question: str) -> Report:
    trace = await loop.run(loop.Brief(skill, question, "system", familiarity=STRANGE), Unasked(), Workspace(root))
    assert trace.report.reason
    assert trace.report.reason.kind is ReasonKind.UNLIKE
    return (await finish_with_index(trace, skill, Workspace(root), None)).report


async def test_the_likeliest_lines_are_told_as_unsure_with_those_around_the_first(skill: Skill, tmp_path: Path) -> None:
    report = await reported(skill, write(tmp_path, FILES), NEAR)
    assert report.status == "answered"
    assert "shop/retry.py:2: PAYMENT_WAIT_SECONDS = 30" in report.context.split("\n")
    assert "  # How long we wait before a payment is tried again." in report.context.split("\n")
    assert "shop/retry.py:2" in report.evidence
    assert report.notes[-1] == UNSURE
    assert report.leads


async def test_a_question_that_they_hardly_answer_is_handed_back(skill: Skill, tmp_path: Path) -> None:
    report = await reported(skill, write(tmp_path, FILES), FAR)
    assert report.status == "escalate"
    assert "unlike the questions that explore was trained for" in report.answer


@pytest.mark.parametrize("said", ["shop/till.py:9: WAIT = 5", ""])
async def test_what_a_model_claims_or_leaves_out_is_read_off_in_its_place(
    skill: Skill, tmp_path: Path, said: str
) -> None:
    root = Workspace(write(tmp_path, FILES))
    trace = await loop.run(loop.Brief(skill, NEAR, "system"), nullcontext(ScriptedModel([said])), root)
    report = (await finish_with_index(trace, skill, root, None)).report
    assert (report.status, report.evidence[0]) == ("answered", "shop/retry.py:2")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("is there a Prometheus exporter?", 'No text file has the words "Prometheus" and "exporter".'),
        ("hm ok\n\nand do we have any webhooks for a cart?", 'No text file has the word "webhooks".'),
        ("is there any kerberos, oauth, ldap or radius here?", '"kerberos", "oauth" and "ldap".'),
    ],
)
async def test_a_question_for_what_stands_in_no_file_is_told_so(
    skill: Skill, tmp_path: Path, asked: str, said: str
) -> None:
    report = await reported(skill, write(tmp_path, FILES), asked)
    assert report.status == "answered"
    assert report.answer.endswith(said)
    assert "ask for what is not there" in report.notes[0]
    assert report.notes[-1] == UNSURE
    assert report.leads or "cart" not in asked


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"shop/prometheus.bin": "\0"}, "it is the name of a file"),
        ({"shop/data.bin": "\0 and PROMETHEUS"}, "it stands in a binary file"),
        ({"shop/people.csv": "id,name\n1,ann\n"}, "it may be a value of a table"),
    ],
)
async def test_it_is_not_told_so_if_the_word_may_stand_somewhere(
    skill: Skill, tmp_path: Path, files: dict[str, str], why: str
) -> None:
    skill = skill.model_copy(update={"readers": (BUNDLED["code"], BUNDLED["data"])})
    report = await reported(skill, write(tmp_path, FILES | files), "is there any prometheus?")
    assert "No text file" not in report.answer, why


async def test_what_a_table_says_of_itself_is_told_as_unsure(skill: Skill, tmp_path: Path) -> None:
    root = write(tmp_path, {"people.csv": "name,born\n" + "".join(f"ann{at},19{at}\n" for at in range(50, 90))})
    report = await reported(skill.model_copy(update={"readers": (BUNDLED["data"],)}), root, "how many people?")
    assert report.status == "answered"
    assert report.answer.split("\n")[0].startswith("people.csv:1: people: 40 rows, 2 columns: name, born")
    assert report.evidence[0] == "people.csv:1"
    assert report.notes[-1] == UNSURE


async def test_what_a_table_hardly_says_of_itself_is_handed_back(skill: Skill, tmp_path: Path) -> None:
    root = write(tmp_path, {"people.csv": "name,born\nann,1950\n"})
    asked = "list all who were born in a leap year and on which days they married, and each of their children"
    report = await reported(skill.model_copy(update={"readers": (BUNDLED["data"],)}), root, asked)
    assert report.status == "escalate"


SHOP = {
    "data/customers.csv": "customerID,companyName,contactName,country,phone\n"
    "ALFKI,Alfreds Futterkiste,Maria Anders,Germany,030-0074321\n"
    "ERNSH,Ernst Handel,Roland Mendel,Austria,7675-3425\n"
    "BLAUS,Blauer See,Hanna Moos,Germany,0621-08460\n"
    "BOLID,Bolido,Martin Sommer,Spain,91-5552282\n"
    "ROMEY,Romero,Alejandra Camino,spain,91-7456200\n"
    "CHILA,Andina,Patricio Simpson,Chile,1355555\n",
    "data/products.csv": "productID,productName,categoryID,unitPrice\n14,Tofu,7,23.25\n31,Gorgonzola,4,12.5\n",
    "data/categories.csv": "categoryID,categoryName\n4,Dairy\n7,Produce\n",
}


@pytest.fixture
def tables(skill: Skill) -> Skill:
    return skill.model_copy(update={"readers": (BUNDLED["data"],)})


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        (
            "who is the contact at Ernst Handel?",
            [
                "data/customers.csv: customers where companyName is Ernst Handel: 1 row",
                "  contactName Roland Mendel",
            ],
        ),
        ("customers in Germany", ["data/customers.csv: customers where country is Germany: 2 rows"]),
        ("customers in Spain or Chile", ["data/customers.csv: customers where country is Chile or Spain: 3 rows"]),
        (
            "category of Tofu",
            ["data/products.csv: products where productName is Tofu: 1 row", "categoryID 7 (Produce)"],
        ),
        ("product 31 name", ["data/products.csv: products where productID is 31: 1 row", "  productName Gorgonzola"]),
        ("Gorgonzola unit price", ["  unitPrice 12.5"]),
    ],
)
async def test_rows_that_a_question_names_by_their_values_are_told(
    tables: Skill, tmp_path: Path, asked: str, lines: list[str]
) -> None:
    report = await reported(tables, write(tmp_path, SHOP), asked)
    assert report.status == "answered"
    for line in lines:
        assert line in report.answer
    assert "the rows with the values that the question names" in report.notes[0]
    assert report.answer.startswith(f"{report.evidence[0]}: ")


async def test_all_spellings_of_a_value_are_counted(tables: Skill, tmp_path: Path) -> None:
    cities = ["Bonn", "BONN", "bonn", "bonn ", "(Bonn)", "Bonn!", "Köln"]
    root = write(tmp_path, {"people.csv": "name,city\n" + "".join(f"n{n},{city}\n" for n, city in enumerate(cities))})
    report = await reported(tables, root, "the people of city Bonn")
    assert report.answer.startswith("people.csv: people where city is Bonn: 6 rows")


async def test_rows_of_a_very_wide_table_are_told(tables: Skill, tmp_path: Path) -> None:
    names, values = (",".join(f"{word}{number}" for number in range(300)) for word in ("measured_by_sensor_", "v"))
    root = write(tmp_path, {"wide.csv": f"city,{names}\nParis,{values}\nRome,{values}\n"})
    report = await reported(tables, root, "what is in the city Paris?")
    assert report.answer.startswith("wide.csv: wide where city is Paris: 1 row\n  measured_by_sensor_0 v0, ")


async def test_rows_of_a_database_are_told_with_what_their_keys_refer_to(tables: Skill, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.executescript(
            "create table staff (id integer primary key, name text, boss integer references staff (id));"
            "insert into staff values (1, 'Steven Buchanan', null), (2, 'Michael Suyama', 1)"
        )
    report = await reported(tables, tmp_path, "the boss of Michael Suyama")
    assert "staff where name is Michael Suyama: 1 row\n  boss 1 (Steven Buchanan), id 2" in report.answer


async def told(skill: Skill, root: Path, asked: str, said: str, calibration: Calibration | None = None) -> Report:
    """Return the report of a run whose model said that, and was believed."""
    trace = await loop.run(loop.Brief(skill, asked, "system"), nullcontext(ScriptedModel([said])), Workspace(root))
    trace = trace.model_copy(update={"report": Report(answer=said, status="answered")})
    return (await finish_with_index(trace, skill, Workspace(root), calibration)).report


@pytest.mark.parametrize("said", ["There is no Ernst Handel (r1 found nothing).", "There is none (r1 found nothing)."])
async def test_nobody_says_that_there_is_none_of_what_stands_in_a_row(tables: Skill, tmp_path: Path, said: str) -> None:
    report = await told(tables, write(tmp_path, SHOP), "phone of Ernst Handel", said)
    assert "phone 7675-3425" in report.answer
    assert report.notes[-1] == UNSURE


async def test_rows_are_told_in_place_of_what_a_model_is_unsure_of(tables: Skill, tmp_path: Path) -> None:
    unsure = Calibration(means=(0.0,), scales=(1.0,), weights=(1.0,), bias=0.0)
    report = await told(tables, write(tmp_path, SHOP), "phone of Ernst Handel", "The phone is 1 (r1).", unsure)
    assert "phone 7675-3425" in report.answer


def confident(bias: float) -> Calibration:
    """Return one by which any answer is as likely to be right, and none is sure."""
    return Calibration(means=(), scales=(), weights=(), bias=bias)


async def test_lines_are_told_in_place_of_an_answer_that_is_less_likely_to_be_right(
    skill: Skill, tmp_path: Path
) -> None:
    root = write(tmp_path, FILES)
    doubted = await told(skill, root, NEAR, "5 seconds (shop/till.py:1).", confident(-5.0))
    assert doubted.evidence[0] == "shop/retry.py:2"
    believed = await told(skill, root, NEAR, "5 seconds (shop/till.py:1).", confident(4.0))
    assert believed.answer == "5 seconds (shop/till.py:1)."
    sure = await told(
        skill, root, NEAR, "5 seconds (shop/till.py:1).", confident(-5.0).model_copy(update={"threshold": 0.0})
    )
    assert sure.answer == "5 seconds (shop/till.py:1)."
    unknown = await told(skill, root, NEAR, "5 seconds (shop/till.py:1).", None)
    assert unknown.answer == "5 seconds (shop/till.py:1)."


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("phone of Blue Lagoon", "There is no Blue Lagoon (r1 found nothing)."),
        ("the salary of Nancy, our contact in Germany", "There is no contact Nancy in Germany (r1 found nothing)."),
    ],
)
async def test_that_there_is_none_stays_if_no_row_has_what_it_is_about(
    tables: Skill, tmp_path: Path, asked: str, said: str
) -> None:
    assert (await told(tables, write(tmp_path, SHOP), asked, said)).answer == said


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("phone of the Handel", "companyName is Ernst Handel: 1 row"),  # a word that few other values have
        ("the city of Bonn", "escalate"),  # it stands nowhere
        ("the unit price of the product Gorgonzola and of the product Tofu", "productName is"),
    ],
)
async def test_a_value_is_named_by_a_rare_word_of_it(tables: Skill, tmp_path: Path, asked: str, told: str) -> None:
    assert told in (await reported(tables, write(tmp_path, SHOP), asked)).answer


async def test_a_key_in_a_row_is_redacted(tables: Skill, tmp_path: Path) -> None:
    root = write(tmp_path, {"bots.csv": f"bot,token\nhubot,ghp_{'a1B2' * 9}\nlita,none\n"})
    answer = (await reported(tables, root, "token of hubot")).answer
    assert "bots where bot is hubot: 1 row\n  token [redacted" in answer
    whole = (await reported(tables, root, "which columns does bots have?")).answer
    assert "bots.token: " in whole
    assert "a1B2" not in answer + whole


async def test_a_file_that_cannot_be_read_hides_no_row_of_another(tables: Skill, tmp_path: Path) -> None:
    root = write(tmp_path, SHOP | {"data/a.db": "SQLite format 3\0 and nothing more"})
    assert "phone 7675-3425" in (await reported(tables, root, "phone of Ernst Handel")).answer


async def test_values_are_read_again_once_a_table_has_changed(tables: Skill, tmp_path: Path) -> None:
    root = write(tmp_path, SHOP)
    await reported(tables, root, "phone of Ernst Handel")
    write(root, {"data/customers.csv": SHOP["data/customers.csv"].replace("7675-3425", "7675-9999")})
    assert "phone 7675-9999" in (await reported(tables, root, "phone of Ernst Handel")).answer


LOG = "".join(
    f"2024-05-0{day} 10:00:00 {level} shop.pay: {said}\n"
    for day in (1, 2, 3)
    for level, said in (("INFO", "order paid"), ("ERROR", f"card {day} declined"))
)


async def test_a_quoted_entry_is_told_with_those_like_it(skill: Skill, tmp_path: Path) -> None:
    logs = skill.model_copy(update={"readers": (BUNDLED["logs"],)})
    report = await reported(logs, write(tmp_path, {"app.log": LOG}), "where was a card declined?")
    assert "  3 entries like it, 2024-05-01 10:00:00 to 2024-05-03 10:00:00" in report.context.split("\n")


async def test_a_log_is_told_as_a_whole_if_its_entries_are_counted(skill: Skill, tmp_path: Path) -> None:
    logs = skill.model_copy(update={"readers": (BUNDLED["logs"],)})
    report = await reported(logs, write(tmp_path, {"app.log": LOG}), "how many entries has the log altogether?")
    whole = "app.log: 6 entries, 2024-05-01 10:00:00 to 2024-05-03 10:00:00; ERROR 3, INFO 3"
    assert whole in report.answer.split("\n")
    assert "the likeliest log as a whole" in report.notes[0]


async def test_a_log_that_the_question_names_is_the_one_that_is_told(skill: Skill, tmp_path: Path) -> None:
    logs = skill.model_copy(update={"readers": (BUNDLED["logs"],)})
    other = LOG.replace("shop.pay", "log.entries").replace("declined", "has entries") * 3
    root = write(tmp_path, {"a/app.log": LOG, "b/entries.log": other, "b/term.log": "entries\n\x1b[1m(entries)\n"})
    report = await reported(logs, root, "how many entries are in app.log?")
    assert report.answer.split("\n")[-1].startswith("a/app.log: 6 entries, ")
    assert "term.log" not in report.answer


async def test_entries_of_another_level_are_not_like_a_quoted_one(skill: Skill, tmp_path: Path) -> None:
    logs = skill.model_copy(update={"readers": (BUNDLED["logs"],)})
    text = LOG + "".join(f"2024-05-04 10:00:0{n} WARNING shop.pay: card {n} declined\n" for n in range(5))
    report = await reported(logs, write(tmp_path, {"app.log": text}), "which ERROR says that a card was declined?")
    assert "  3 entries like it, 2024-05-01 10:00:00 to 2024-05-03 10:00:00" in report.context.split("\n")


@pytest.mark.parametrize(
    "asked",
    [
        "did last night's CI run pass, and how many seconds did we wait before a payment was tried again?",
        "who on the team decided last month how many seconds we wait before a payment is tried again?",
    ],
)
async def test_what_no_file_tells_is_handed_back_though_lines_are_likely(
    skill: Skill, tmp_path: Path, asked: str
) -> None:
    assert (await reported(skill, write(tmp_path, FILES), asked)).status == "escalate"


async def test_how_something_works_is_no_question_for_what_is_not_there(skill: Skill, tmp_path: Path) -> None:
    report = await reported(skill, write(tmp_path, FILES), "what happens to a cart when prometheus goes down?")
    assert "No text file" not in report.answer


async def test_a_model_that_gives_up_is_believed(skill: Skill, tmp_path: Path) -> None:
    root = Workspace(write(tmp_path, FILES))
    trace = await loop.run(loop.Brief(skill, NEAR, "system"), nullcontext(ScriptedModel(["escalate: no"])), root)
    assert (await finish_with_index(trace, skill, root, None)).report.status == "escalate"


def test_a_question_is_known_by_its_words_whatever_the_names_in_it() -> None:
    weights = bytearray(FEATURES)
    for at, _ in question_features("Where is `a_name` defined?"):
        weights[at] = 100
    learned = Familiarity(weights=b64encode(weights).decode(), scale=0.01, bias=0.0, least=2.0)
    assert learned.knows("Where is shop.Cart defined?")
    assert not learned.knows("who is on call this week")


def test_a_calibration_without_the_questions_that_were_learned_still_reads(tmp_path: Path) -> None:
    old = Calibration(means=(0.0,), scales=(1.0,), weights=(1.0,), bias=0.0)
    assert Calibration.model_validate_json(old.model_dump_json(exclude={"familiarity"})) == old
