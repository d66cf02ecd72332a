"""Attention over a row that holds several conversations: each by itself, so that none sees another.

One mask over the whole row says the same and costs its full square: a third of a training step on a CPU, for rows of
1,024 tokens that hold four conversations.
"""

from itertools import pairwise
from typing import Any

NAME = "by_conversation"


def register_attention() -> str:
    """Return the name by which transformers knows it from now on.

    It makes no mask for a name that only attention has.
    """
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, attend)
    return NAME


def attend(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float, cu_seq_lens_q: Any, **_: Any
) -> tuple[Any, None]:
    """Turn a query (1, heads, length, width) into (1, length, heads, width); `cu_seq_lens_q` are the ends, from 0."""
    import torch

    ends = cu_seq_lens_q.tolist()
    parts = [
        torch.nn.functional.scaled_dot_product_attention(
            query[:, :, first:end], key[:, :, first:end], value[:, :, first:end],
            scale=scaling, is_causal=True, enable_gqa=True,
        )
        for first, end in pairwise(ends)
    ]  # fmt: skip
    return torch.cat(parts, dim=2).transpose(1, 2), None
