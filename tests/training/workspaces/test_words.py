"""rename_words: the same program in words of its own."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from skillstill_training.workspaces.steps import vocabulary
from skillstill_training.workspaces.steps.docstrings import strip_docstrings
from skillstill_training.workspaces.steps.notes import read_notes, write_notes
from skillstill_training.workspaces.steps.words import rename_words, renamer

from tests.scenes import write

HTTPFLOW = {
    "httpflow/__init__.py": "from .requesting import Request, send_requests\n",
    "httpflow/requesting.py": '''"""Requests of HttpFlow."""
import json
import subprocess
from urllib.parse import urlencode

MAX_RETRIES = 3


class Request:
    """An envelope around one request."""

    def __init__(self, envelope, timeout=MAX_RETRIES):
        self.envelope = envelope  # the envelope, enveloped
        self.pattern = "\\trequest\\\\d+ \\N{EM DASH} \\x41 0xFACE"

    def sendEnvelope(self, retry: int) -> str:
        return json.dumps({"request": self.envelope, "size": 0xFACE}, sort_keys=True)


def send_requests(requests: list[Request]) -> None:
    subprocess.run(["curl"], capture_output=True)
    for request in requests:
        request.sendEnvelope(retry=MAX_RETRIES)
''',
    "docs/envelopes.md": "# Envelopes\n\nAn envelope holds a request; see `httpflow/requesting.py`.\n",
    "LICENSE": "Permission is hereby granted.\n",
}


def renamed(tmp_path: Path, files: dict[str, str], seed: int = 0) -> tuple[Path, dict[str, Any]]:
    tree = write(tmp_path / "tree", files)
    write_notes(tree, {})
    return tree, rename_words(tree, Random(seed))


@pytest.fixture(autouse=True)
def all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillstill_training.workspaces.steps.words.SHARE", 1.0)


def test_a_word_is_renamed_in_every_form_and_place(tmp_path: Path) -> None:
    tree, notes = renamed(tmp_path, HTTPFLOW)
    words = notes["words"]
    new, flow = words["request"], words["httpflow"]
    assert notes["renamed"] == len(words) == len(set(words.values()))
    text = (tree / flow / f"{new}ing.py").read_text(encoding="utf-8")
    for shown in (
        f"class {new.title()}:",
        f"def {words['send']}_{new}s({new}s: list[{new.title()}])",
        f'"{new}"',
        f"\\t{new}\\\\d+",
    ):
        assert shown in text
    assert f"A {words['envelope']} around one {new}" in text  # not `An`
    everything = "\n".join(path.read_text(encoding="utf-8") for path in tree.rglob("*") if path.is_file())
    assert not re.search("request|envelop|httpflow", everything + str(list(tree.rglob("*"))), re.IGNORECASE)


def test_what_comes_from_outside_stays(tmp_path: Path) -> None:
    tree, notes = renamed(tmp_path, HTTPFLOW)
    text = next(tree.rglob(f"{notes['words']['request']}ing.py")).read_text(encoding="utf-8")
    for kept in ("import json", "import subprocess", "urllib.parse import urlencode", "json.dumps(", "sort_keys=True",
                 "subprocess.run(", "capture_output=True", "\\N{EM DASH} \\x41 0xFACE", "__init__"):  # fmt: skip
        assert kept in text
    assert (tree / "LICENSE").read_text(encoding="utf-8") == HTTPFLOW["LICENSE"]


def test_the_program_keeps_its_shape_and_its_lines(tmp_path: Path) -> None:
    tree, notes = renamed(tmp_path, HTTPFLOW)
    after = next(tree.rglob(f"{notes['words']['request']}ing.py")).read_text(encoding="utf-8")
    before = HTTPFLOW["httpflow/requesting.py"]
    shapes = [[type(node).__name__ for node in ast.walk(ast.parse(text))] for text in (before, after)]
    assert shapes[0] == shapes[1]
    assert before.count("\n") == after.count("\n")


def test_a_seed_gives_one_exchange_and_another_seed_another(tmp_path: Path) -> None:
    one, two, three = (renamed(tmp_path / str(n), HTTPFLOW, seed)[1]["words"] for n, seed in enumerate((1, 1, 2)))
    assert one == two != three


def test_only_the_share_is_renamed_but_always_the_project_s_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillstill_training.workspaces.steps.words.SHARE", 0.0)
    assert list(renamed(tmp_path, HTTPFLOW)[1]["words"]) == ["httpflow"]


def test_a_name_in_two_cases_is_the_package_s() -> None:
    rename = renamer({"langextract": "lumber"}, names=["langextract"])
    text = "LangExtract LANGEXTRACT langextract LangExtractError LangExtraction langextracts"
    assert rename(text) == "Lumber LUMBER lumber LumberError LangExtraction lumbers"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("retry retries retried Retrying retriers RETRY", "walnut walnuts walnuted Walnuting walnuters WALNUT"),
        ("squeeze squeezed squeezing squeezers resqueeze", "melon meloned meloning meloners resqueeze"),
        ("HTTPSqueezeError squeezeRetry _squeeze", "HTTPMelonError melonWalnut _melon"),
        ("plan planned planning", "pillow pillowed pillowing"),
        ("a retry, An entry, an  entry", "a walnut, A badger, a  badger"),
        ("launch launches launched", "weasel weasels weaseled"),
        (r"\retry \nretry \u0041squeeze", r"\retry \nwalnut \u0041melon"),
        ("lett letter letters", "wagon letter letters"),  # no form of it, but a word that any text has
    ],
)  # fmt: skip
def test_endings_and_cases_are_kept(text: str, told: str) -> None:
    words = {"retry": "walnut", "squeeze": "melon", "plan": "pillow", "entry": "badger", "launch": "weasel"}
    assert renamer({**words, "lett": "wagon"})(text) == told


def test_earlier_notes_speak_the_new_words(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", HTTPFLOW)
    write_notes(tree, {})
    write_notes(tree, strip_docstrings(tree, Random(0)))
    words: Any = rename_words(tree, Random(0))["words"]
    new, envelope = words["request"], words["envelope"]
    notes: Any = read_notes(tree)
    assert notes["docstrings"][f"{words['httpflow']}/{new}ing.py"] == {new.title(): f"A {envelope} around one {new}"}


def test_other_languages_have_their_definitions_renamed(tmp_path: Path) -> None:
    files = {
        "src/billing.ts": "import { Ledger } from 'ledger-lib';\nexport class BillingLedger {}\nfunction settle() {}\n",
        "cmd/main.go": 'package main\nimport "example/payments"\nfunc (s *Server) SettleInvoice() {}\n',
    }
    words = renamed(tmp_path, files)[1]["words"]
    assert {"billing", "settle", "invoice"} <= set(words)
    assert not {"ledger", "payment", "payments", "main"} & set(words)


def test_bytes_that_are_no_utf_8_come_out_as_they_were(tmp_path: Path) -> None:
    (tree := tmp_path / "tree").mkdir()
    (tree / "a.py").write_bytes(b"def envelope(): pass  # \xff\n")
    (tree / "b.bin").write_bytes(b"envelope\0")
    write_notes(tree, {})
    words: Any = rename_words(tree, Random(0))["words"]
    assert (tree / "a.py").read_bytes() == f"def {words['envelope']}(): pass  # ".encode() + b"\xff\n"
    assert (tree / "b.bin").read_bytes() == b"envelope\0"


def test_no_new_word_stands_in_the_tree(tmp_path: Path) -> None:
    taken = vocabulary.plain()[: len(vocabulary.plain()) // 2]
    words = renamed(tmp_path, {**HTTPFLOW, "words.txt": " ".join(f"{word}s" for word in taken)})[1]["words"]
    assert not set(words.values()) & set(taken)


def test_the_plain_words_take_every_ending_and_are_many() -> None:
    plain = vocabulary.plain()
    assert len(plain) >= 400
    assert [word for word in plain if not re.fullmatch(r"[b-df-hj-np-tv-z][a-z]{2,}", word)] == []
    assert [word for word in plain if re.search(r"(?:[eysxz]|[cs]h)$", word)] == []
    forms = [word + ending for word in plain for ending in ("", "s", "ed", "ing", "er", "ers")]
    assert len(set(forms)) == len(forms)


def test_the_notes_are_json(tmp_path: Path) -> None:
    assert json.dumps(renamed(tmp_path, HTTPFLOW)[1])
