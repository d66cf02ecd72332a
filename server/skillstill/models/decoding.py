"""How turns are decoded, as values that the serving hash covers."""

DECODING = "greedy/1"  # to be raised if the same prompt and grammar would give another turn
