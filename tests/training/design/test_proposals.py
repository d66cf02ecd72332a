"""A teacher proposes goal families; what it proposes is data, and is kept only where it stands up to being run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from skillstill_training.authoring.families import load_families
from skillstill_training.authoring.proposed import read_proposed
from skillstill_training.design.topics import Topic, topics
from skillstill_training.teachers.ledger import LedgerEntry
from skillstill_training.util.jsonl import read_lines

from tests.server.models.openai_server import OpenAiServer, Said, turn
from tests.training.design.scenes import SETTINGS, Run, services
from tests.training.teachers.toy import called


def tree(*topics: str) -> Said:
    return turn("Here it is:\n" + json.dumps({"branches": [{"branch": "values", "topics": topics}]}))


def asks(*questions: Mapping[str, Any]) -> Said:
    return turn(json.dumps({"questions": questions}))


def value(key: str, gold: str, place: str) -> Mapping[str, Any]:
    answer = f"`{key}` is {gold} ({place})."
    return {"question": f"What is {key} set to?", "answer": answer, "check": {"kind": "value", "gold": gold}}


def solves(key: str, answer: str, times: int = 2) -> list[Said]:
    return [called("search", pattern=key), turn(answer)] * times


CACHE = value("cache_size", "412", "main.ini:1")
POOL = value("pool_limit", "538", "main.ini:1")
SOCKET = value("socket_timeout", "246", "main.ini:1")
COMMON = ("--topics", "1", "--questions", "6", "--few", "1", "--at-once", "1")


def test_what_it_solves_twice_becomes_a_family_and_the_rest_is_listed_with_its_reason(
    design: Run, server: OpenAiServer, tmp_path: Path
) -> None:
    taste = {"question": "Is queue_depth well chosen here?", "answer": "It is large (main.ini:2).", "check": None}
    server.says(
        tree("value of one key", "the value of a key"),
        asks(
            CACHE,
            {**CACHE, "question": "Is cache_size really 412?"},
            {**CACHE, "question": "To what is cache_size set?"},
            {**CACHE, "question": "How large is that cache?", "check": {"kind": "guess"}},
            {
                **CACHE,
                "question": "Where is the cache?",
                "check": {"kind": "locations", "gold": [{"path": "gone.ini"}]},
            },
            taste,
        ),
        asks(POOL, {**POOL, "question": "How many workers fit?", "answer": "It has 99 (main.ini:1)."}),
        asks(SOCKET, {**value("index_path", "/srv/index", "main.ini:2")}),
        *solves("cache_size", CACHE["answer"]),
        *solves("queue_depth", "queue_depth is 977, which is much (main.ini:2).", times=3),
        *solves("pool_limit", POOL["answer"]),
        *solves("socket_timeout", SOCKET["answer"]),
        *solves("index_path", "It is /srv (main.ini:2)."),
    )
    folder = tmp_path / "settings-finder"
    teacher = ("--teacher", f"{server.url}#big", "--price", "1,1,2")
    code, out, _ = design(SETTINGS, "-o", str(folder), *services(tmp_path / "src"), *teacher, *COMMON, "--json")
    told = json.loads(out)
    assert (code, server.turns) == (0, [])
    assert [one["question"] for one in told["proposed"]] == [SOCKET["question"], POOL["question"], CACHE["question"]]
    assert told["goals"] == {"value_of_one_key": {"train": 1, "validation": 1, "test": 1}}
    assert [(one["question"], one["agreed"], one["verified"]) for one in told["soft"]] == [
        (taste["question"], 3, "agreement")
    ]
    rejected = dict(told["rejected"])
    assert rejected["the value of a key"] == "too near to the topic 'value of one key'"
    assert rejected["Is cache_size really 412?"] == "the question gives its answer away"
    assert rejected["To what is cache_size set?"].startswith("a near-duplicate of")
    assert rejected["How large is that cache?"].startswith("its check cannot be read")
    assert rejected["Where is the cache?"] == "its check names gone.ini, which is not there"
    assert rejected["How many workers fit?"].startswith("its check refuses its own answer")
    assert rejected["What is index_path set to?"].startswith("its teacher solved it 0 of 2 times: it does not state")


def test_the_folder_that_it_leaves_holds_what_was_proposed_apart_from_what_is_soft(
    design: Run, server: OpenAiServer, tmp_path: Path
) -> None:
    server.says(tree("value of one key"), asks(CACHE), asks(POOL), asks(SOCKET))
    for one, key in ((CACHE, "cache_size"), (POOL, "pool_limit"), (SOCKET, "socket_timeout")):
        server.says(*solves(key, one["answer"]))
    folder = tmp_path / "settings-finder"
    code, _, err = design(
        SETTINGS, "-o", str(folder), *services(tmp_path / "src"), "--teacher", f"{server.url}#big", *COMMON
    )
    assert (code, "trying What is cache_size set to?" in err) == (0, True)
    (family,) = load_families(folder)
    assert (family.name, family.plan) == ("value_of_one_key", None)
    assert {one.split for one in read_proposed(folder)} == {"train", "validation", "test"}
    assert not (folder / "soft.jsonl").exists()
    assert sum(entry.requests for entry in read_lines(folder / "ledger.jsonl", LedgerEntry)) == len(server.requests)
    assert "It solved each question at least twice" in (folder / "design.md").read_text(encoding="utf-8")


def test_where_nothing_stands_up_nothing_is_written(design: Run, server: OpenAiServer, tmp_path: Path) -> None:
    server.says(tree("value of one key"), asks(CACHE), turn("I would rather not."), asks(SOCKET))
    server.says(*solves("cache_size", CACHE["answer"]), *solves("socket_timeout", SOCKET["answer"]))
    folder = tmp_path / "settings-finder"
    code, _, err = design(
        SETTINGS, "-o", str(folder), *services(tmp_path / "src"), "--teacher", f"{server.url}#big", *COMMON
    )
    assert (code, folder.exists()) == (1, False)
    assert "nothing that the teacher proposed is fit for a goal family" in err


def test_a_check_that_accepts_everything_at_once_is_rejected(design: Run, server: OpenAiServer, tmp_path: Path) -> None:
    def loose(key: str, line: int) -> Mapping[str, Any]:
        check = {"kind": "set", "gold": [key], "precision": 0.1}
        return {"question": f"Which key stands in line {line}?", "answer": f"`{key}` (r1).", "check": check}

    lines = {name: f"{name} = 1\n" for name in ("ash", "elm", "oak", "yew")}
    folders = services(tmp_path / "src")
    (Path(folders[1]) / "main.ini").write_text("".join(lines.values()), encoding="utf-8")
    questions = [
        {**loose(key, at), "question": f"Which key is about {key[0]} number {at}?"} for at, key in enumerate(lines)
    ]
    server.says(tree("value of one key"), asks(*questions), asks(), asks())
    code, _, err = design(SETTINGS, "-o", str(tmp_path / "finder"), *folders, "--teacher", f"{server.url}#big", *COMMON)
    assert (code, "its check accepts everything at once" in err) == (1, True), err


def test_a_spent_budget_ends_it_and_keeps_nothing_half_asked(design: Run, server: OpenAiServer, tmp_path: Path) -> None:
    server.says(tree("value of one key"))
    teacher = ("--teacher", f"{server.url}#big", "--budget", "20")
    code, _, err = design(SETTINGS, "-o", str(tmp_path / "finder"), *services(tmp_path / "src"), *teacher, *COMMON)
    assert (code, "the budget of 20 tokens is used up" in err) == (1, True)


def test_own_folders_are_sent_to_another_machine_only_when_that_is_said(design: Run, tmp_path: Path) -> None:
    teacher = ("--teacher", "https://api.example.com#big")
    code, _, err = design(SETTINGS, "-o", str(tmp_path / "finder"), *services(tmp_path / "src"), *teacher)
    assert (code, "api.example.com would be sent what is in" in err) == (64, True)


@pytest.mark.parametrize(
    ("told", "families"),
    [
        ({"branches": [{"topics": ["Retries", "Time-outs"]}, {"topics": ["Entry points"]}]},
         ["retries", "entry_points", "time_outs"]),
        ({"branches": [{"topics": ["Retries"]}, "odd", {"topics": [7, " "]}]}, ["retries"]),
        ({"branches": [{"topics": ["Callers"]}]}, ["callers_b"]),
        ({"branches": [{"topics": ["调用"]}]}, []),
        ({}, []),
    ],
)  # fmt: skip
def test_topics_are_taken_from_each_branch_in_turn(told: Mapping[str, Any], families: list[str]) -> None:
    assert [one.family for one in topics(told, ["callers"]) if isinstance(one, Topic)] == families
