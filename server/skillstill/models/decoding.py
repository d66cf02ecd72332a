"""How turns are decoded, as values that the serving hash covers."""

from typing import Literal

DECODING = "greedy/1"  # to be raised if the same prompt and grammar would give another turn

# In which form a base is loaded: in a faster one if there is one (`forms`), or as it ships. No part of the hash: either
# solves the same (docs/performance.md).
FormChoice = Literal["fast", "shipped"]
