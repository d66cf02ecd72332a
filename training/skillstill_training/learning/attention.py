"""Attention over a row that holds several conversations: none sees another, and all see what they begin with.

One mask over the whole row says the same and costs its full square: a third of a training step on a CPU, for rows of
1,024 tokens that hold four conversations.
"""

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
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float, parts: Any, **_: Any
) -> tuple[Any, None]:
    """Turn a query (1, heads, length, width) into (1, length, heads, width).

    `parts` (parts, 4) are stretches of the row: where each begins and ends, and where what it begins with does.
    """
    import torch

    done = [_attend(query, key, value, scaling, *part) for part in parts.tolist()]
    return torch.cat(done, dim=2).transpose(1, 2), None


def _attend(query: Any, key: Any, value: Any, scaling: float, first: int, end: int, start: int, stop: int) -> Any:
    """Return the attention of one part over its beginning (`start` to `stop`) and itself."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    asked, length = query[:, :, first:end], end - first
    if start == stop:
        known, meant, mask = key[:, :, first:end], value[:, :, first:end], None
    else:
        known = torch.cat((key[:, :, start:stop], key[:, :, first:end]), dim=2)
        meant = torch.cat((value[:, :, start:stop], value[:, :, first:end]), dim=2)
        mask = torch.ones(length, stop - start + length, dtype=torch.bool, device=query.device).tril(stop - start)
    return scaled_dot_product_attention(
        asked, known, meant, attn_mask=mask, scale=scaling, is_causal=mask is None, enable_gqa=True
    )
