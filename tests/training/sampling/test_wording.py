"""From a draft to the words of a prompt."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillstill.errors import GoalsError
from skillstill_training.authoring.checks import Absent
from skillstill_training.authoring.goal import Draft
from skillstill_training.run.recipe import SpeechConfig
from skillstill_training.sampling.wording import loosely, mistyped, normal, say

PLAIN = SpeechConfig(loose=0, typo=0, scoped=0)
DRAFT = Draft(check=Absent(), words={"name": "Retry.back_off"}, loose=("name",), scope="src/http")


def test_slots_are_filled_exactly_where_nobody_is_sloppy() -> None:
    said = say(DRAFT, ["Where is {name} defined?"], PLAIN, Random(1))
    assert said == (["Where is Retry.back_off defined?"], {"name": "Retry.back_off"})


def test_a_prompt_may_be_limited_to_a_place() -> None:
    prompts, _ = say(DRAFT, ["Where is {name}?", "{name}?"], PLAIN.model_copy(update={"scoped": 1.0}), Random(1))
    assert prompts == ["In src/http: Where is Retry.back_off?", "In src/http: Retry.back_off?"]


def test_a_loose_name_is_what_the_goal_remembers_of_its_prompt() -> None:
    prompts, words = say(DRAFT, ["{name}?", "locate {name}"], PLAIN.model_copy(update={"loose": 1.0}), Random(1))
    assert prompts == [f"{words['name']}?", f"locate {words['name']}"]
    assert words["name"] != "Retry.back_off"


@pytest.mark.parametrize(
    ("wording", "prompt"),
    [
        ("How many errors are there {where}?", "How many errors are there?"),
        ("{where}, how many errors?", "how many errors?"),
        ("Of the errors {where}, which came first?", "Of the errors, which came first?"),
        ("count the errors ({where})", "count the errors"),
        ("errors, {where}", "errors"),
    ],
)
def test_who_leaves_a_slot_empty_leaves_no_trace_of_it(wording: str, prompt: str) -> None:
    assert say(Draft(check=Absent(), words={"where": ""}), [wording], PLAIN, Random(1))[0] == [prompt]


def test_people_say_a_name_in_many_ways_that_keep_its_letters() -> None:
    said = {loosely("Retry.backOff", Random(seed)) for seed in range(50)}
    assert said >= {"backOff", "back off", "back_off", "back-off", "retry.backoff"}
    assert all(set("backoff") <= set(one.lower()) for one in said)


def test_a_slot_without_a_word_is_an_error_of_the_author() -> None:
    with pytest.raises(GoalsError, match=r"'Where is \{nme\}\?' has the slot 'nme'; known: name"):
        say(DRAFT, ["Where is {nme}?"], PLAIN, Random(1))


@given(st.integers(0, 10_000))
def test_a_typo_swaps_two_letters_of_one_word_and_leaves_slots_alone(seed: int) -> None:
    wording = "Where does {parameter} get its default value?"
    typed = mistyped(wording, Random(seed))
    assert typed != wording
    assert sorted(typed) == sorted(wording)
    assert "{parameter}" in typed
    assert sum(a != b for a, b in zip(wording, typed, strict=True)) == 2


def test_prompts_that_differ_in_case_and_points_only_are_one() -> None:
    assert normal("Where is `get_all`?") == normal("where is get all")
