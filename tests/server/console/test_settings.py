"""The configuration file, the help's panels and the completion of shells, through the command."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from skillstill import cli
from skillstill.console.settings import settings_file
from skillstill.models.pool import LocalOptions
from skillstill.models.scripted import ScriptedModel, call
from skillstill.skills.registry import ENVIRONMENT

from tests.scenes import ROOT, UNTRAINED, ScriptedModels, write

LOOK = call("search", pattern="class Cart")
CLAIM = "Cart is defined in cart.py:3."
ASK = ("run", "explore", "Where is Cart?")
Typed = Callable[..., "Outcome"]


class Outcome:
    def __init__(self, code: int, out: str, err: str, options: LocalOptions | None) -> None:
        self.code, self.out, self.err, self.options = code, out, err, options


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Typed:
    """The command in this process and in a project's folder; what models it would have loaded."""
    write(tmp_path, {"cart.py": "import os\n\nclass Cart(dict):\n    pass\n"})

    def run(*arguments: str) -> Outcome:
        asked: list[LocalOptions] = []

        def models(options: LocalOptions) -> ScriptedModels:
            asked.append(options)
            return ScriptedModels(ScriptedModel([LOOK, CLAIM]))

        monkeypatch.setattr("skillstill.models.pool.LocalModels", models)
        monkeypatch.setattr(sys, "argv", ["skillstill", *arguments])
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SystemExit) as exit:
            cli.main()
        return Outcome(int(exit.value.code or 0), *capsys.readouterr(), asked[0] if asked else None)

    return run


def said(text: str) -> Path:
    return write(settings_file().parent, {settings_file().name: text}) / settings_file().name


def test_a_flag_comes_before_the_environment_the_file_and_the_default(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert typed(*ASK).options == LocalOptions()
    said("threads = 3\ngpu_layers = 7\noffline = true\n")
    assert typed(*ASK).options == LocalOptions(offline=True, gpu_layers=7, threads=3)
    monkeypatch.setenv("SKILLSTILL_THREADS", "4")
    assert typed(*ASK).options == LocalOptions(offline=True, gpu_layers=7, threads=4)
    flags = ("--threads", "5", "--gpu-layers", "auto", "--form", "shipped")
    assert typed(*ASK, *flags).options == LocalOptions(offline=True, threads=5, form="shipped")


@pytest.mark.parametrize("number", ["0", "-1", "257", "2000", "1000000", "99999999999", "many"])
def test_more_threads_than_the_engine_bears_are_wrong_usage(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    flagged = typed(*ASK, "--threads", number)
    monkeypatch.setenv("SKILLSTILL_THREADS", number)
    for outcome in (flagged, typed(*ASK)):
        assert (outcome.code, outcome.out, outcome.options) == (64, "", None)
        assert "--threads" in outcome.err
        assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("number", ["-1", "1000", "99999999999"])
def test_layers_that_no_model_has_are_wrong_usage(typed: Typed, number: str) -> None:
    outcome = typed(*ASK, "--gpu-layers", number)
    assert (outcome.code, outcome.out, outcome.options) == (64, "", None)
    assert outcome.err == f"skillstill: --gpu-layers is `auto` or a number up to 999, not {number!r}\n"


def test_the_file_can_say_that_no_trace_is_kept(typed: Typed) -> None:
    said("no_trace = true")
    assert typed(*ASK).code == 0
    assert "no run is stored yet" in typed("show").err
    assert typed(*ASK, "--trace").code == 0
    assert typed("show").code == 0


def test_its_endpoint_is_used_and_its_offline_holds(typed: Typed) -> None:
    said('endpoint = "https://models.example.org/v1#m"\noffline = true')
    outcome = typed(*ASK)
    assert outcome.code == 64
    assert outcome.err.startswith("skillstill: --offline uses no endpoint off this machine")


def names(outcome: Outcome) -> list[str]:
    return [entry["name"] for entry in json.loads(outcome.out)]


def test_its_registry_lies_beside_it_and_comes_after_flag_and_environment(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    entry = json.loads(UNTRAINED.read_text(encoding="utf-8"))["entries"][0]
    for place, name in ((settings_file().parent, "filed"), (tmp_path / "flag", "flagged")):
        write(place, {"registry.json": json.dumps({"version": 1, "entries": [{**entry, "name": name}]})})
    said('registry = "registry.json"')
    assert "filed" not in names(typed("list", "--json")), "the environment names another"
    monkeypatch.delenv(ENVIRONMENT)
    assert "filed" in names(typed("list", "--json"))
    flagged = names(typed("list", "--json", "--registry", str(tmp_path / "flag" / "registry.json")))
    assert "flagged" in flagged
    assert "filed" not in flagged


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("thread = 3", "there is no setting 'thread'; there are: registry, threads, gpu_layers, endpoint, base,"),
        ("threads = 'many'", "threads: Input should be a valid integer"),
        ("threads = 0", "threads: Input should be greater than or equal to 1"),
        ("threads = 257", "threads: Input should be less than or equal to 256"),
        ("offline = 'yes'", "offline: Input should be a valid boolean"),
        ("threads =", "cannot be read as TOML"),
        ("x = " + "[" * 100_000, "cannot be read as TOML"),
    ],
    ids=["unknown", "text", "small", "large", "word", "broken", "nested"],
)
def test_a_file_with_a_mistake_is_one_sentence(typed: Typed, text: str, says: str) -> None:
    file = said(text)
    outcome = typed(*ASK)
    assert (outcome.code, outcome.out) == (64, "")
    assert outcome.err.startswith(f"skillstill: {file}")
    assert says in outcome.err
    assert outcome.err.count("\n") == 1


def test_the_pipelines_registry_and_base_are_not_those_of_the_file(typed: Typed, tmp_path: Path) -> None:
    said('registry = "nowhere.json"\nbase = "nowhere.gguf"')
    assert "nowhere" not in typed("evaluate", "explore", "--runs", str(tmp_path)).err


# Panels and completion


def test_every_command_stands_in_a_panel(typed: Typed) -> None:
    shown = typed("--help").out
    panels = re.findall(r"─ (\w+) ─", shown)
    assert panels == ["Options", "Use", "Train", "Library", "Share", "Clients"]
    assert "Commands" not in shown


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("ru", ["run"]),
        ("run ex", ["explore"]),
        ("run ", ["explore", "logs", "tables"]),
        ("rollback t", ["tables"]),
        ("show la", ["last"]),
        ("trai", ["train"]),
    ],
)
def test_a_shell_completes_commands_and_names(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, words: str, completed: list[str]
) -> None:
    monkeypatch.setenv("_SKILLSTILL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"skillstill {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" "))))
    assert typed().out.split() == completed


def test_a_shell_completes_the_runs_that_are_stored(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(*ASK)
    run = json.loads(typed("show", "--json").out)["run"]
    monkeypatch.setenv("_SKILLSTILL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"skillstill show {run[:4]}")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert typed().out.split() == [run[:12]]


def test_completion_can_be_installed(typed: Typed, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: ("bash", "/bin/bash"))
    assert typed("--install-completion").code == 0
    assert (home / ".bash_completions" / "skillstill.sh").is_file()


def test_the_documented_file_is_one(typed: Typed) -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    said(page.partition("```toml\n")[2].partition("```")[0])
    outcome = typed("list", "--json")
    assert (outcome.code, outcome.err) == (0, "")
