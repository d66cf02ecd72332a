"""A question unlike those that an adapter learned: no model is asked, and what the files say is read off."""

from base64 import b64encode
from contextlib import AbstractAsyncContextManager, nullcontext
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
