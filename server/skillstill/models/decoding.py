"""How turns are decoded, as values that the serving hash covers."""

DECODING = "greedy/1"  # to be raised if the same prompt and grammar would give another turn
SECOND_THOUGHTS = 3  # times that a turn is written otherwise because it makes a call that was made before
