"""Scripts in the loop: what they get, what of them is shown, what they may claim."""

from pathlib import Path

import pytest
from skillstill.models.scripted import call
from skillstill.run import memory
from skillstill.skills.registry import Registry
from skillstill.types import Message, ReasonKind, Step, Trace
from skillstill.workspace import Workspace

from tests.scenes import write
from tests.server.tools.script.running import FILES, run, script, skill_with_scripts, told

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path, FILES)


BASES = "[read(place).lines[1] for place in search('class .*Cart').places]"


async def test_many_calls_take_one_turn_and_only_the_value_is_read(root: Path) -> None:
    trace = await run(root, [script(BASES), "Two of them, shop/cart.py:3 is the first (r1)."])
    assert trace.tally.turns == 2
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert "hits in" not in trace.messages[3].content, "that is the result of a call of the script"


async def test_each_call_of_a_script_has_a_receipt_inside_that_of_the_script(root: Path) -> None:
    trace = await run(root, [script(BASES), "escalate: enough"])
    assert [receipt.id for receipt in trace.receipts] == ["r1"]
    calls = trace.receipts[0].calls
    assert [(one.id, one.tool) for one in calls] == [("r1.1", "search"), ("r1.2", "read"), ("r1.3", "read")]
    assert calls[1].arguments == {"path": "shop/cart.py", "line": 3}
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


async def test_progress_is_told_of_each_call(root: Path) -> None:
    steps = list[Step]()

    async def note(step: Step) -> None:
        steps.append(step)

    await run(root, [script(BASES), "escalate: enough"], on_step=note)
    assert [step.receipt.id for step in steps if step.receipt] == ["r1.1", "r1.2", "r1.3", "r1"]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("search('class Till').places", "shop/till.py:3"),
        ("search('class Till').lines[0].split(';')[0]", "1 hits in 1 files"),
        ("search(path='shop', pattern='drawer').places[0]", "shop/till.py:4"),
        ("search('drawer', 'shop').found", "True"),
        ("sql('select name, price from rows order by price desc').rows", "gear | 20\nnut | 4\nbolt | 3"),
        ("sum(row[1] for row in sql('select name, price from rows').rows)", "27"),
        ("{name: price for name, price in sql('select name, price from rows').rows}", "bolt: 3\nnut: 4\ngear: 20"),
        ("'shop' in list_().text and len(list((1, 2)))", "2"),
        ("print('two', 'words')", "two words"),
        ("read('shop/cart.py:4').text.split()[-1]", "3"),
        ("seen = search('nowhere')\nnot seen.found and 'none'", "none"),
        ("class Pair:\n    def __init__(self):\n        self.one = 1\nPair()", "one: 1"),
        ("'a  b'", "a  b"),
    ],
)
async def test_a_script_computes_with_results_and_its_value_is_shown(root: Path, code: str, shown: str) -> None:
    assert await told(root, code) == shown


async def test_a_line_that_begins_with_a_place_can_be_referred_to(root: Path) -> None:
    trace = await run(root, [script("[line for line in search('class').lines if 'Till' in line]"), "It is here (r1)."])
    assert [(place.path, place.line) for place in trace.messages[3].places] == [("shop/till.py", 3)]
    assert trace.messages[3].rows


async def test_a_line_of_a_result_shows_in_a_value_what_it_showed_there(root: Path) -> None:
    turns: list[Message | str] = [
        script("'\\n'.join(read('shop/till.py').lines[-2:])"),
        "The drawer is open (shop/till.py:4).",
    ]
    trace = await run(root, turns)
    assert trace.messages[3].content == "r1: 3: class Till(Cart):\n4:     drawer = 'open'"
    assert trace.report.evidence == ("shop/till.py:4",)


async def test_a_line_that_two_files_have_shows_neither(tmp_path: Path) -> None:
    root = write(tmp_path, {"one.py": "x = 1\n", "two.py": "x = 1\n"})
    trace = await run(
        root, [script("[read(f'{name}.py').lines[1] for name in ('one', 'two')][0]"), "It is in one.py:1."]
    )
    assert trace.report.status == "escalate"


async def test_a_value_whose_check_fails_is_no_evidence_and_the_model_may_write_another(root: Path) -> None:
    turns: list[Message | str] = [
        script("search('class').places", check="len(value) == 3"),
        script("search('Cart').places", check="len(value) == 3"),
        "shop/till.py:1 (r2).",
    ]
    trace = await run(root, turns)
    first, second = trace.receipts
    assert first.refused
    assert "the check `len(value) == 3` does not hold: value is ['shop/cart.py:3', 'shop/till.py:3']" in first.excerpt
    assert not second.refused
    assert trace.report.evidence == ("shop/till.py:1", "r2")


@pytest.mark.parametrize("code", ["0", "[]", "None", "''", "search('nowhere')"])
async def test_without_a_check_of_its_own_a_script_must_find_something(root: Path, code: str) -> None:
    assert "the check `value` does not hold" in await told(root, code)


async def test_a_place_that_only_the_script_has_read_is_no_evidence(root: Path) -> None:
    trace = await run(root, [script("len(search('class').places)"), "Two, one is shop/till.py:3 (r1)."])
    assert trace.report.reason
    assert trace.report.reason.kind is ReasonKind.WITHHELD
    assert "shop/till.py:3, which no tool has shown" in trace.report.reason.text


@pytest.mark.parametrize("code", ["'shop/till.py:' + str(90 + 9)", "x = search('class')\n'shop/till.py:2 has it'"])
async def test_a_place_that_no_call_has_shown_cannot_be_the_value(root: Path, code: str) -> None:
    assert "which none of the script's calls has shown" in await told(root, code)


async def test_a_call_of_a_script_cannot_be_cited(root: Path) -> None:
    trace = await run(root, [script("search('class').found"), "Yes, see r1.1."])
    assert trace.report.status == "escalate"


async def test_what_a_script_has_found_and_dropped_speaks_against_an_absence(root: Path) -> None:
    turns: list[Message | str] = [
        script("search('class')\n'none'"),
        call("search", pattern="nowhere"),
        "There is none (r2).",
    ]
    trace = await run(root, turns)
    assert trace.report.reason
    assert "r1.1 shows shop/cart.py:3" in trace.report.reason.text


async def test_an_absence_may_rest_on_a_script_whose_calls_found_nothing(root: Path) -> None:
    code = "[search(word).found for word in ('nowhere', 'nobody')]"
    trace = await run(root, [script(code, check="not any(value)"), "There is none (r1)."])
    assert (trace.report.status, trace.report.evidence) == ("answered", ("r1",))


async def test_a_value_made_of_cut_results_says_so(tmp_path: Path) -> None:
    root = write(tmp_path, {f"part{at}.py": "needle = 1\n" * 40 for at in range(5)})
    shown = await told(root, "len(search('needle').places)")
    assert "(The results that the script read leave " in shown


async def test_calls_of_scripts_count_as_steps(root: Path) -> None:
    trace = await run(root, [script("[search('class', 'shop').found for _ in range(9)]"), "escalate: enough"], steps=4)
    assert trace.receipts[0].refused
    assert "no more than 4 calls are left in this run" in trace.receipts[0].excerpt
    assert len(trace.receipts[0].calls) == 4


async def test_a_run_goes_on_until_its_steps_are_used_up(root: Path) -> None:
    failing = [script(f"search('class')\n{at}", check="False") for at in range(9)]
    trace = await run(root, failing, steps=3)
    assert trace.report.reason
    assert trace.report.reason.kind is ReasonKind.BUDGET
    assert len(trace.receipts) == 3


async def test_a_script_has_no_functions_but_the_skills_other_tools(root: Path) -> None:
    for name in ("script", "tally", "outline"):
        assert f"NameError: name '{name}' is not defined" in await told(root, f"{name}('x')")


def test_releases_have_what_they_were_measured_with(as_shipped: None) -> None:
    assert all("script" not in entry.skill().subagent.tools for entry in map(Registry().entry, ("explore", "tables")))


async def test_an_answer_of_a_script_is_remembered_until_what_its_calls_found_changes(root: Path) -> None:
    workspace, tools = Workspace(root), skill_with_scripts().tools
    asked = memory.Asked("release", "model", "Where is Cart?", root)

    async def remembered() -> bool:
        turns: list[Message | str] = [script("search('class Till').places"), "It is in shop/till.py:3 (r1)."]
        return (await memory.remembered(asked, workspace, tools, lambda: run(root, turns)))[1]

    assert not await remembered()
    write(root, {"notes.txt": "of no interest\n"})
    assert await remembered()
    write(root, {"shop/till.py": "\n" + FILES["shop/till.py"]})
    assert not await remembered()
