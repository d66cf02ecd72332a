"""Conversations that begin alike are one row, and teach the same as apart."""

from typing import Any

import pytest
from skillstill_training.learning.bundles import Bundle, bundle_rows
from skillstill_training.learning.rows import IGNORED, TrainingRow

BEGINNING = tuple(range(100, 180))


def conversation(*rest: int, beginning: tuple[int, ...] = BEGINNING) -> TrainingRow:
    """One whose last two tokens are learned."""
    labels = (IGNORED,) * (len(beginning) + len(rest) - 2) + rest[-2:]
    return TrainingRow("field", (*beginning, *rest), labels, shared=len(beginning))


def test_what_several_conversations_begin_with_stands_once() -> None:
    (bundle,) = bundle_rows([conversation(1, 2, 3), conversation(4, 5, 6, 7)], 1_000, seed=1)
    assert len(bundle.tokens) == len(BEGINNING) + 7
    assert sorted(bundle.positions[-7:]) == [80, 80, 81, 81, 82, 82, 83]


def test_a_bundle_has_no_more_tokens_than_there_is_room_for() -> None:
    rows = [conversation(number, 1, 2, 3) for number in range(20)]
    bundles = bundle_rows(rows, 100, seed=1)
    assert max(len(bundle.tokens) for bundle in bundles) == 100
    assert sum(len(bundle.ends) - 1 for bundle in bundles) == 20


def test_other_beginnings_and_short_ones_are_not_shared() -> None:
    rows = [conversation(1, 2, beginning=tuple(range(80))), conversation(1, 2)]
    rows += [conversation(number, 2, beginning=(7, 8)) for number in range(2)]
    assert [bundle.ends[0] for bundle in bundle_rows(rows, 1_000, seed=1)] == [0, 0, 0, 0]


def test_the_same_conversation_is_not_twice_in_a_bundle() -> None:
    assert len(bundle_rows([conversation(1, 2), conversation(1, 2)], 1_000, seed=1)) == 2


def test_a_bundle_teaches_what_its_conversations_teach_apart() -> None:
    torch = pytest.importorskip("torch")
    rows = [conversation(1, 2, 3), conversation(4, 5, 6, 7), conversation(8, 9, 10)]
    together = gradient(torch, [Bundle.of(rows)])
    apart = gradient(torch, [Bundle.of([row]) for row in rows])
    assert torch.allclose(together, apart, atol=1e-6)
    assert together.abs().max() > 1e-3


def gradient(torch: Any, bundles: list[Bundle]) -> Any:
    """Return the gradient of a small random model's first layer, as training computes it."""
    from dataclasses import asdict

    from skillstill_training.learning.attention import register_attention
    from skillstill_training.learning.tuning import join_bundles
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 200}
    model = LlamaForCausalLM(LlamaConfig(**sizes, **heads))
    model.set_attn_implementation(register_attention())
    batch = join_bundles([asdict(bundle) for bundle in bundles])
    labels = batch.pop("labels")[:, 1:]
    logits = model(**batch, use_cache=False).logits[:, :-1]
    torch.nn.functional.cross_entropy(logits[labels != IGNORED], labels[labels != IGNORED], reduction="sum").backward()
    return model.model.layers[0].self_attn.q_proj.weight.grad
