"""Which functions a failing test blames, by real tests in a real sandbox."""

import json
from pathlib import Path

import pytest
from skillstill.errors import Refusal
from skillstill.sandbox.choice import drivers
from skillstill.sandbox.sandbox import SandboxLimits, SandboxPlan
from skillstill.tools import TOOLS, Result
from skillstill.workspace import Workspace

from tests.scenes import write
from tests.server.sandbox.conftest import inner_pytest

__all__ = ["inner_pytest"]
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("inner_pytest")]
CART = """def net(prices):
    return sum(map(tidy, prices)) + fee(prices)


def tidy(price):
    return round(price, 2)


def fee(prices):
    return 5 if len(prices) < 3 else 0


class Order:
    def is_large(self):
        return fee([1, 2, 3]) > 0
"""
TESTS = """import cart, pytest


def test_net_of_two():
    assert cart.net([10, 20]) == 33


@pytest.mark.parametrize("price", [1, 2])
def test_tidy(price):
    assert cart.tidy(price) == price


def test_nothing():
    assert cart.tidy(cart.net([1, 2, 3, 4])) == 10
"""


async def asked(folder: Path, text: str = "") -> Result:
    return await called(folder, "suspects", text=text)


async def called(folder: Path, tool: str, **arguments: str) -> Result:
    folder.chmod(0o755)
    async with drivers()["bubblewrap"].open(
        folder, SandboxPlan(packages=("pytest",), limits=SandboxLimits(seconds=60))
    ) as sandbox:
        return await TOOLS[tool].call(Workspace(folder, sandbox), arguments)


def project(tmp_path: Path, **more: str) -> Path:
    tmp_path.chmod(0o755)
    return write(tmp_path / "work", {"cart.py": CART, "tests/test_cart.py": TESTS, **more})


async def test_functions_that_only_failing_tests_enter_come_before_those_of_all_and_the_code_of_tests_is_none(
    tmp_path: Path,
) -> None:
    order = "import cart\n\n\ndef test_large():\n    assert cart.Order().is_large()\n"
    found = await asked(project(tmp_path, **{"tests/test_order.py": order}), "why does test_large fail?")
    head, *suspects = found.text[found.text.index("suspects") :].split("\n")
    assert head == "suspects, the likeliest first:"
    assert [line.partition(" (")[0] for line in suspects] == ["cart.py:14: Order.is_large", "cart.py:9: fee"]
    assert suspects[0].endswith("(1 of 1 failing, 0 of 3 passing)")
    assert "tests/test_order.py:5: tests/test_order.py::test_large fails" in found.text
    assert "assert False" in found.text


async def test_the_suspects_are_leads_whose_lines_end_where_the_function_does(tmp_path: Path) -> None:
    found = await asked(project(tmp_path))
    assert found.guess
    spans = {f"{span.path}:{span.first}-{span.last}" for span in found.spans}
    assert {"cart.py:9-10", "cart.py:1-2", "cart.py:5-6"} <= spans


async def test_a_test_that_passes_is_said_to(tmp_path: Path) -> None:
    found = await asked(project(tmp_path), "what is wrong with tests/test_cart.py::test_tidy")
    assert found.text == "tests/test_cart.py::test_tidy[1] passes, like 1 more that are meant"
    assert not found.guess
    assert (await asked(tmp_path / "work", "is test_nothing broken?")).text == "tests/test_cart.py::test_nothing passes"


async def test_without_a_failure_all_tests_pass(tmp_path: Path) -> None:
    folder = project(tmp_path)
    write(folder, {"tests/test_cart.py": TESTS.replace("33", "35")})
    found = await asked(folder)
    assert found.text == "all 4 tests pass"
    assert found.empty


async def test_a_package_below_src_and_options_of_plugins_that_are_not_here_do_no_harm(tmp_path: Path) -> None:
    folder = project(tmp_path, **{"pytest.ini": "[pytest]\naddopts = --cov=cart\n"})
    (folder / "src").mkdir()
    (folder / "cart.py").rename(folder / "src/cart.py")
    found = await asked(folder)
    assert "src/cart.py:9: fee (1 of 1 failing, 1 of 3 passing)" in found.text
    assert (await called(folder, "run_tests")).text.startswith("pytest: 1 failed, 3 passed in ")


async def test_a_test_file_that_cannot_be_imported_fails_and_the_others_count(tmp_path: Path) -> None:
    found = await asked(project(tmp_path, **{"tests/test_other.py": "import absent\n"}), "tests/test_other.py is red")
    assert "tests/test_other.py fails" in found.text
    assert "No module named 'absent'" in found.text
    assert "no function of the project was entered" in found.text


async def test_tests_that_never_end_or_leave_threads_behind_do_not_hang_it(tmp_path: Path) -> None:
    lasting = (
        "import sys, threading, time\n\n\ndef test_thread():\n"
        "    threading.Thread(target=time.sleep, args=(600,)).start()\n    sys.__stdout__.write('{}' * 9)\n"
        "\n\ndef test_for_ever():\n    while True: pass\n"
    )
    found = await asked(project(tmp_path, **{"tests/test_thread.py": lasting}))
    assert "cart.py:9: fee" in found.text


async def test_of_many_failures_some_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    many = (
        "import cart, pytest\n\n\n@pytest.mark.parametrize('n', range(300))\n"
        "def test_many(n):\n    assert cart.fee([]) == -n\n"
    )
    found = await asked(project(tmp_path, **{"tests/test_many.py": many}))
    assert "… and 296 more fail" in found.text
    assert found.omitted == 296
    assert "cart.py:9: fee (20 of 20 failing, 1 of 3 passing)" in found.text


async def test_places_that_a_test_makes_up_are_not_believed(tmp_path: Path) -> None:
    places = [["/etc/passwd", 1], ["cart.py", 999]]
    told = {
        "failing": [{"test": "tests/test_lie.py::test_lie", "places": places, "said": ""}],
        "failed": 1, "passing": 0, "named": [], "left": 0,
        "functions": [
            {"path": path, "first": 1, "last": 2, "name": "f", "failing": [0], "passing": 0}
            for path in ("../outside.py", "absent.py", "cart.py")
        ],
    }  # fmt: skip
    lines = f"\n{json.dumps(told)}\n"
    lie = (
        "import contextlib, os\n\n\ndef test_lie():\n    for stream in range(1, 20):\n"
        f"        with contextlib.suppress(OSError):\n            os.write(stream, {lines!r}.encode())\n"
        "    os._exit(0)\n"
    )
    write(tmp_path, {"outside.py": "a\nb\n"})
    found = await asked(project(tmp_path, **{"tests/test_lie.py": lie}), "tests/test_lie.py")
    assert {f"{span.path}:{span.first}-{span.last}" for span in found.spans} == {"cart.py:1-2"}


async def test_a_folder_without_tests_is_refused_with_what_pytest_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(Refusal, match="pytest ran no test: "):
        await asked(write(tmp_path / "work", {"cart.py": CART}))
    broken = write(tmp_path / "broken", {"conftest.py": "raise ValueError('no')\n", "test_a.py": "def test(): pass\n"})
    with pytest.raises(Refusal, match=r"pytest ran no test: .*ValueError"):
        await asked(broken)
