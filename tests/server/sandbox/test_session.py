"""The host's side of a sandbox, whose runner may have been taken over: nothing that it answers is believed."""

import base64
import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from skillstill.errors import Refusal, SandboxError, SandboxLost
from skillstill.sandbox import session
from skillstill.sandbox.sandbox import Held, SandboxLimits
from skillstill.sandbox.session import Session

pytestmark = pytest.mark.anyio
Says = Callable[[dict[str, Any]], bytes]


def good(request: dict[str, Any], **fields: Any) -> bytes:
    answer = {"id": request["id"], **fields}
    if request["do"] == "exec":
        data = base64.b64encode(b"fine").decode()
        answer = {"code": 0, "data": data, "total": 4, "killed": "", "seconds": 0.1} | answer
    return json.dumps(answer).encode() + b"\n"


class Runner:
    """A runner that greets as it should, and then says what it is told to."""

    def __init__(self, says: Says) -> None:
        self.says, self.answers, self.closed = says, list[bytes](), False

    async def send(self, data: bytes) -> None:
        request = json.loads(data)
        self.answers = [good(request) if request["do"] == "greet" else self.says(request)]

    async def receive(self) -> bytes:
        return self.answers.pop() if self.answers else b""

    async def close(self) -> None:
        self.closed = True


def session_of(runners: list[Runner], limits: SandboxLimits | None = None) -> Session:
    waiting = iter(runners)

    async def start() -> Runner:
        return next(waiting)

    return Session(start, limits or SandboxLimits(), Held(driver="a test"))


LIES: dict[str, Says] = {
    "another id": lambda request: good({**request, "id": "0"}),
    "two lines": lambda request: good(request) * 2,
    "no JSON": lambda request: b"{\n",
    "no line": lambda request: good(request)[:-1],
    "no code": lambda request: json.dumps({"id": request["id"]}).encode() + b"\n",
    "another type": lambda request: good(request, code="0x"),
    "another field": lambda request: good(request, path="/etc"),
    "less than nothing": lambda request: good(request, total=-1),
    "no such end": lambda request: good(request, killed="by us"),
    "no base64": lambda request: good(request, data="x"),
    "not a number": lambda request: good(request).replace(b"0.1", b"NaN"),
    "no UTF-8": lambda request: b"\xff\n",
    "too long": lambda request: b"x" * (session.LONGEST_ANSWER + 1),
    "deeply nested": lambda request: b"[" * 1_000_000 + b"\n",
    "the end": lambda request: b"",
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
async def test_a_runner_that_answers_what_it_should_not_is_replaced(lie: Says) -> None:
    liar, honest = Runner(lie), Runner(good)
    box = session_of([liar, honest])
    with pytest.raises(SandboxLost, match="the sandbox broke down"):
        await box.exec(["true"])
    assert liar.closed
    assert (await box.exec(["true"])).output == "fine"
    assert not honest.closed


async def test_a_runner_that_does_not_answer_in_time_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(Runner):
        async def receive(self) -> bytes:
            if b"greet" not in self.said:
                await anyio.sleep_forever()
            return self.answers.pop()

        async def send(self, data: bytes) -> None:
            self.said = data
            await super().send(data)

    monkeypatch.setattr(session, "GRACE", 0.01)
    silent = Silent(good)
    box = session_of([silent, Runner(good)])
    with pytest.raises(SandboxLost, match="no answer within"):
        await box.exec(["true"], seconds=0.01)
    assert silent.closed
    assert (await box.exec(["true"])).code == 0


async def test_more_output_than_was_asked_for_is_cut_here_too() -> None:
    data = base64.b64encode(b"x" * 5_000).decode()
    runner = Runner(lambda request: good(request, data=data, total=5_000))
    done = await session_of([runner], SandboxLimits(output=1)).exec(["true"])
    assert (len(done.output), done.is_cut) == (1_024, True)


async def test_a_letter_that_is_cut_in_two_is_left_out() -> None:
    data = base64.b64encode(b"x" * 1_023 + "ü".encode()).decode()
    runner = Runner(lambda request: good(request, data=data, total=1_025))
    assert (await session_of([runner], SandboxLimits(output=1)).exec(["true"])).output == "x" * 1_023


async def test_the_words_of_a_runner_are_one_line_and_short() -> None:
    box = session_of([Runner(lambda request: good(request, error="no\n\x1b[31m" + "x" * 900))])
    with pytest.raises(Refusal) as caught:
        await box.read("a", 10)
    assert str(caught.value).startswith("'a' cannot be read: no xxx")
    assert len(str(caught.value)) < 250


async def test_no_sandbox_is_had_if_the_first_runner_does_not_greet() -> None:
    class Mute(Runner):
        async def receive(self) -> bytes:
            return b""

    mute = Mute(good)
    with pytest.raises(SandboxError):
        await session_of([mute]).start()
    assert mute.closed
