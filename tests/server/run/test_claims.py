"""What makes an answer unsure: a condition nobody looked for, a value that nothing has shown, a part told as all."""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import loop
from skillstill.run.claims import entities_in
from skillstill.run.finish import finish
from skillstill.skills.registry import Registry
from skillstill.tools import TOOLS, Line, Result, tool
from skillstill.types import Report
from skillstill.workspace import Workspace

from tests.scenes import write

pytestmark = pytest.mark.anyio
LOG = """2019-03-01 10:00:00 ERROR api: connection reset by 10.0.0.7
2019-03-02 11:30:00 ERROR worker: maxRetries reached after 47 tries
2019-03-02 11:31:00 INFO worker: total 1,204.5 of orders.csv
"""
LOOK = call("search", pattern="ERROR")
SHELF = Path(__file__).parents[2] / "fixtures" / "shelf"


async def locate(workspace: Workspace, text: Annotated[str, Field(min_length=1)]) -> Result:
    """Guess where a text leads."""
    if "nothing" in text:
        return Result((Line("no file has a word of it"),), empty=True, guess=True)
    return Result((Line("likeliest places:"), Line.at("app.log", 1, "connection reset")), guess=True)


async def notes_of(skill: str, prompt: str, turns: Sequence[Any], root: Path) -> tuple[str, ...]:
    """Return the notes on an answer of a bundled skill whose model takes these turns."""
    brief = loop.Brief(Registry().entry(skill).skill(), prompt, "system")
    return finish(await loop.run(brief, nullcontext(ScriptedModel(turns)), Workspace(root))).report.notes


async def asked(prompt: str, *turns: Any, root: Path) -> Report:
    skill = Registry().entry("explore").skill()
    workspace = Workspace(write(root / "w", {"app.log": LOG}))
    tools = [tool(locate), *(TOOLS[name] for name in ("list", "search", "read"))]
    brief = loop.Brief(skill, prompt, "system")
    return finish(await loop.run(brief, nullcontext(ScriptedModel(turns)), workspace, tools=tools)).report


@pytest.mark.parametrize(
    ("prompt", "note"),
    [
        ("what failed on 2019-04-01?", '(Not looked for: "2019-04-01".)'),
        ("what failed at 23:15?", '(Not looked for: "23:15".)'),
        ("which error came 4711 times?", '(Not looked for: "4711".)'),
        ("what did 10.0.0.99 do?", '(Not looked for: "10.0.0.99".)'),
        ("errors in billing.log?", '(Not looked for: "billing.log".)'),
        ("who logs 'quota exceeded'?", '(Not looked for: "quota exceeded".)'),
        ("is minBackoff or retry_delay logged, or api.Gateway?", '(Not looked for: "minBackoff", "retry_delay".)'),
    ],
)
async def test_an_answer_names_what_the_question_says_and_nobody_looked_for(
    prompt: str, note: str, tmp_path: Path
) -> None:
    report = await asked(prompt, LOOK, "app.log:1: connection reset", root=tmp_path)
    assert (report.status, report.notes) == ("answered", (note,))


@pytest.mark.parametrize(
    "prompt",
    [
        "what failed on 2019-03-01?",
        "what failed at 10:00?",
        "what failed on 2019/03/01 around 10:00:00?",
        'who says "Connection Reset"?',
        "does app.log name 10.0.0.7?",
        "is there an ERROR, after 5 tries?",
        "Here is maxRetries and billing.log, as I said.\n\nwhat failed first?",
        "first?" + "".join(f" at handler_{n}.py" for n in range(9)),
    ],
)
async def test_what_a_call_or_a_result_behind_the_answer_has_was_looked_for(prompt: str, tmp_path: Path) -> None:
    assert (await asked(prompt, LOOK, "app.log:1: connection reset", root=tmp_path)).notes == ()


@pytest.mark.parametrize("pattern", [r"10\.0\.0\.99", "ERROR.*10[.]0[.]0[.]99"])
async def test_a_condition_may_be_looked_for_in_the_spelling_of_a_pattern(pattern: str, tmp_path: Path) -> None:
    report = await asked(
        "any ERROR of 10.0.0.99?", call("search", pattern=pattern), "There is none (r1).", root=tmp_path
    )
    assert (report.status, report.notes) == ("answered", ())


async def test_a_ranking_for_the_whole_question_is_no_look_for_its_conditions(tmp_path: Path) -> None:
    prompt = "what failed on 2019-04-01?"
    turns = (call("locate", text=prompt), "app.log:1: connection reset")
    assert (await asked(prompt, *turns, root=tmp_path)).notes == ('(Not looked for: "2019-04-01".)',)


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        ("48 tries (r1)", '(Not shown by a result: "48".)'),
        ("It failed on 2019-03-05 (r1)", '(Not shown by a result: "2019-03-05".)'),
        ("It is in `shop/till.py` (r1)", '(Not shown by a result: "shop/till.py".)'),
        ('It says "quota exceeded" (r1)', '(Not shown by a result: "quota exceeded".)'),
        ("4711 and 4712 and 4713 (r1)", '(Not shown by a result: "4711", "4712".)'),
    ],
)
async def test_an_answer_names_its_values_that_no_result_has_shown(answer: str, note: str, tmp_path: Path) -> None:
    report = await asked("what failed?", LOOK, answer, root=tmp_path)
    assert (report.status, report.notes) == ("answered", (note,))


@pytest.mark.parametrize(
    "answer",
    [
        "47 tries, at app.log:2",
        "1204.5 (r2), or 1,204.5",
        "2 errors (r1), on 2019-03-01 10:00 and 2019-03-02",
        'It says "Connection reset" and `maxRetries` at app.log:1',
    ],
)
async def test_a_value_that_was_shown_may_be_written_otherwise(answer: str, tmp_path: Path) -> None:
    assert (await asked("what failed?", LOOK, call("search", pattern="total"), answer, root=tmp_path)).notes == ()


async def test_the_words_of_the_question_show_nothing_unless_they_were_looked_for(tmp_path: Path) -> None:
    prompt = "did it fail 4711 times?"
    notes = (await asked(prompt, LOOK, "Yes, 4711 times (r1).", root=tmp_path)).notes
    assert notes == ('(Not looked for: "4711".)', '(Not shown by a result: "4711".)')
    nothing = call("search", pattern="4711")
    assert (await asked(prompt, nothing, "There is no 4711 (r1).", root=tmp_path)).notes == ()
    assert (await asked("did it?", nothing, "It did 4711 times (r1).", root=tmp_path)).notes != (), "an echo"


MANY = {f"m{at:02}.py": "note = 1\n" for at in range(30)}


@pytest.mark.parametrize(
    ("answer", "notes"),
    [
        ("All of them begin with note (r1).", ("(5 of 30 that r1 found.)",)),
        ("m00.py:1 is the only one.", ("(1 of 30 that r1 found.)",)),
        ("m00.py:1 and no other.", ("(1 of 30 that r1 found.)",)),
        ("m00.py:1: note = 1", ()),
    ],
)
async def test_who_says_that_it_is_all_of_a_cut_result_is_told_of_how_many(
    answer: str, notes: tuple[str, ...], tmp_path: Path
) -> None:
    write(tmp_path / "w", MANY)
    report = await asked("where are notes?", call("search", pattern="note = 1"), answer, root=tmp_path)
    assert report.notes == notes


@pytest.mark.parametrize(
    ("calls", "problem"),
    [
        ([call("locate", text="nothing like it")], "only likely places were looked at"),
        (
            [call("locate", text="nothing like it"), call("read", path="nowhere.py")],
            "only likely places were looked at",
        ),
        ([call("read", path="nowhere.py")], "without a successful tool call"),
    ],
)
async def test_without_another_look_than_a_ranking_there_is_no_absence(
    calls: list[Any], problem: str, tmp_path: Path
) -> None:
    report = await asked("is there a unicorn?", *calls, "There is none (r1).", root=tmp_path)
    assert report.status == "escalate"
    assert problem in report.answer


async def test_the_places_of_a_ranking_do_not_speak_against_an_absence(tmp_path: Path) -> None:
    turns = (call("locate", text="a unicorn"), call("search", pattern="unicorn"), "There is none (r2).")
    assert (await asked("is there a unicorn?", *turns, root=tmp_path)).status == "answered"


@pytest.mark.parametrize("part", ["a-", "a+", "a.", "A1", "a_", "1,", "' ", "a@", "a/b-", "1.1."])
def test_no_question_is_too_much_work(part: str) -> None:
    began = time.process_time()
    assert len([*entities_in(part * 4_000)]) <= 8_000
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("prompt", "said", "notes"),
    [
        ("what region is Siena in?", "The geonameid is 3166548 (r2).", ('(Not asked for: "geonameid".)',)),
        ("the geonames id of Siena", "The geonameid is 3166548 (r2).", ()),
        ("in what countries is a Siena?", "The country is Italy (r2).", ()),
        ("where is Siena?", "It is in Italy (r2).", ()),
        ("which country of a Siena is the least?", "It is NULL (r2).", ('(An empty cell: "NULL".)',)),
        ("is the country of any Siena NULL?", "It is NULL (r2).", ()),
        ("list the countries of Siena", "They are NULL, Italy (r2).", ()),
    ],
)
async def test_an_answer_from_a_column_that_the_question_has_no_word_of_says_so(
    prompt: str, said: str, notes: tuple[str, ...], tmp_path: Path
) -> None:
    root = write(tmp_path, {"cities.csv": "name,country,geonameid\nSiena,Italy,3166548\nSiena,,7\n"})
    skill = Registry().entry("tables").skill()
    turns = (call("sql", query="select * from cities where name = 'Siena'"), said)
    tools = [TOOLS[name] for name in ("describe", "sql")]
    brief = loop.Brief(skill, prompt, "system")
    report = finish(await loop.run(brief, nullcontext(ScriptedModel(turns)), Workspace(root), tools=tools)).report
    assert (report.status, report.notes) == ("answered", notes)


@pytest.mark.parametrize(
    ("prompt", "query", "notes"),
    [
        ("How many by Ada?", "title = 'The Blue Engine'", '"The Blue Engine"'),
        ("How many by Ada Brandt?", "author_id = (select id from author where name = 'Ada Brandt')", ""),
        ("How many thrillers?", "genre = 'Crime'", ""),  # one of a few that are all told
        ("How many by Ben?", "title like 'The Blue%'", '"The Blue%"'),
    ],
)
async def test_what_a_query_looks_for_is_what_was_asked_for(prompt: str, query: str, notes: str) -> None:
    skill = Registry().entry("tables").skill().sized("0.5b")
    turns = ScriptedModel([call("select", query=f"select count(*) from book where {query}"), "8 (r3)."])
    trace = await loop.run(loop.Brief(skill, prompt, "system"), nullcontext(turns), Workspace(SHELF))
    told = [note for note in finish(trace).report.notes if "Not asked for" in note]
    assert told == ([f"(Not asked for: {notes}.)"] if notes else [])


CODE = {"shop.py": "class Cart:\n    pass\n\n\ndef open_cart() -> Cart:\n    return Cart()\n"}


@pytest.mark.parametrize(
    ("prompt", "name", "notes"),
    [
        ("where is Cart used?", "Cart", ('(Not looked for: "used".)',)),
        ("which classes extend Cart?", "Cart", ('(Not looked for: "extend".)',)),
        ("where is Cart tested?", "Cart", ('(Not looked for: "tested".)',)),
        ("where is Cart defined?", "Cart", ()),
        ("what does Cart extend?", "Cart", ()),
        ("is Cart a subclass of Basket?", "Cart", ()),
        ("where is OpenCart defined?", "open_cart", ('(Only in another spelling: "OpenCart".)',)),
        ("where is open_cart defined?", "open_cart", ()),
    ],
)
async def test_a_definition_is_no_answer_to_what_uses_a_thing_or_to_another_name(
    prompt: str, name: str, notes: tuple[str, ...], tmp_path: Path
) -> None:
    turns = call("outline", target=name), f"shop.py:{1 if name == 'Cart' else 5}"
    assert await notes_of("explore", prompt, turns, write(tmp_path, CODE)) == notes


@pytest.mark.parametrize(
    ("prompt", "level", "notes"),
    [
        ("when was the first fatal error?", "error", ('(Not looked for: "fatal".)',)),
        ("when was the first fatal error?", "critical", ()),
        ("when was the first error?", "error", ()),
    ],
)
async def test_an_error_is_not_told_for_a_fatal_one(
    prompt: str, level: str, notes: tuple[str, ...], tmp_path: Path
) -> None:
    root = write(tmp_path, {"app.log": "2026-03-01 10:00:02 ERROR cart: full\n2026-03-01 10:00:03 FATAL cart: gone\n"})
    turns = call("entries", level=level), f"app.log:{1 + (level == 'critical')}"
    assert await notes_of("logs", prompt, turns, root) == notes


async def test_a_log_whose_levels_are_not_read_is_told_beside_the_last_error(tmp_path: Path) -> None:
    error, other = "2026-03-01 10:00:02 ERROR cart: full\n", "2026-03-01 10:00:09 |11| gone\n"
    root = write(tmp_path, {"app.log": error, "other.log": other * 3})
    turns = call("entries", level="error", last=True), "app.log:1"
    assert await notes_of("logs", "the last error", turns, root) == (
        "(No level was recognised in 1 logs, other.log first.)",
    )


@pytest.mark.parametrize(
    ("within", "said", "notes"),
    [
        ("db", "web/app.log:1", ('(Not only from: "db".)',)),
        ("db", "db/db.log:1", ()),
        ("db", "2 errors (r1).", ('(Not only from: "db".)',)),
        ("db/db.log", "db/db.log:1", ()),
        ("Python", "db/db.log:1", ()),
    ],
)
async def test_an_answer_from_elsewhere_than_the_folder_that_was_named_says_so(
    within: str, said: str, notes: tuple[str, ...], tmp_path: Path
) -> None:
    error = "2026-03-01 10:00:02 ERROR cart: full\n"
    root = write(tmp_path, {"db/db.log": error, "web/app.log": error})
    turns = call("entries", level="error"), said
    assert await notes_of("logs", f"In {within}: the last error", turns, root) == notes
